"""Opening, sharing and closing a store.

One process owns a store; within it all `open_store` calls of the same path share one connection
and one writer thread, and the last `close` lets go of the file.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from arena.core.clock import utc_now
from arena.core.errors import (
    StoreError,
    StoreLockedError,
    TooLargeError,
    TooLongError,
    UnknownNameError,
)
from arena.core.rows import RunRow, WriteUnit
from arena.store.connection import connect
from arena.store.head import HeadFile
from arena.store.migrations import check_schema, migrate
from arena.store.schema import columns, quote
from arena.store.snapshot import copy_database, snapshot_path
from arena.store.writer import Work, Writer

CLOSE_WAIT_S = 2.0
UPGRADE_WAIT_S = 2.0
"""How long an owner waits for cursors of readers of the same process to end."""


@dataclass
class _Engine:
    """The connection behind all stores of one path in this process."""

    path: Path
    con: duckdb.DuckDBPyConnection
    store_id: str
    writer: Writer | None
    modified_utc: datetime | None = None
    """When a file that was there already had last changed, as it was opened."""
    users: int = 0
    readers: int = 0
    """Cursors that are out."""
    pid: int = field(default_factory=os.getpid)
    snapshot_lock: threading.Lock = field(default_factory=threading.Lock)
    bulk_lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        ends_at = time.monotonic() + CLOSE_WAIT_S
        while True:
            try:
                self.con.close()
            except duckdb.Error:
                # A reader in another thread is in the middle of a call.
                if time.monotonic() > ends_at:
                    raise
                time.sleep(0.02)
            else:
                return


_ENGINES: dict[Path, _Engine] = {}
_LOCK = threading.RLock()


def open_store(path: str | Path, *, read: bool = False, snapshot_ok: bool = False) -> Store:
    """The store at `path`, created (with its folder) unless `read`.

    With `snapshot_ok` a reader is given the last snapshot where another process owns the store;
    `Store.age_s` then says how old it is.

    Raises:
        StoreLockedError: another process owns it (and there is no snapshot to read).
        StoreError: missing (`read`), newer, damaged, or something else than a store.
    """
    full = Path(path).expanduser().resolve()
    with _LOCK:
        try:
            return Store(_engine(full, read_only=read), read_only=read)
        except StoreLockedError:
            copy = snapshot_path(full)
            if not (read and snapshot_ok and copy.exists()):
                raise
            return Store(_engine(copy, read_only=True), read_only=True, snapshot_of=full)


def _engine(path: Path, *, read_only: bool) -> _Engine:
    engine = _ENGINES.get(path)
    if engine is None:
        # Before connecting: a snapshot replaced meanwhile must not look younger than it is.
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
        engine = _ENGINES[path] = _Engine(path, *_start(path, read_only), changed)
    elif engine.writer is None and not read_only:
        _upgrade(engine)
    engine.users += 1
    return engine


def _start(path: Path, read_only: bool) -> tuple[duckdb.DuckDBPyConnection, str, Writer | None]:
    """Connect, check or migrate, and start the writer of an owner."""
    con = connect(path, read_only=read_only)
    cur = con.cursor()
    try:
        if not read_only:
            migrate(cur, path)
        check_schema(cur)
        cur.execute("SELECT value FROM meta WHERE key = 'store_id'")
        store_id = cur.fetchall()[0][0]
        return con, store_id, None if read_only else Writer(cur, HeadFile(path, cur, store_id))
    except BaseException as error:
        cur.close()
        con.close()
        if isinstance(error, StoreError):
            raise StoreError(f"The store `{path}` cannot be used. {error}") from error
        if isinstance(error, duckdb.Error):
            raise StoreError(
                f"The store `{path}` is damaged: {str(error).splitlines()[0]} Copy it and its "
                f".wal file away; `{snapshot_path(path).name}`, if there, is the last snapshot."
            ) from error
        raise


def open_copy(copy: Path, live: Path) -> Store:
    """A reader on `copy`, a snapshot or a backup of the store `live`, which it names as its `path`.

    Raises:
        StoreError: missing, newer, damaged, or something else than a store.
    """
    with _LOCK:
        engine = _engine(copy.resolve(), read_only=True)
        return Store(engine, read_only=True, snapshot_of=live.expanduser().resolve())


def open_here(path: Path) -> bool:
    """Whether this process has the store open, so that it must not touch the file by its path."""
    with _LOCK:
        return path.expanduser().resolve() in _ENGINES


def _upgrade(engine: _Engine) -> None:
    """From reader to owner, under the stores that are open already."""
    engine.con.close()
    deadline_s = time.monotonic() + UPGRADE_WAIT_S
    while True:
        try:
            engine.con, engine.store_id, engine.writer = _start(engine.path, read_only=False)
        except StoreError as error:
            busy = isinstance(error.__cause__, duckdb.ConnectionException)
            if not busy or time.monotonic() > deadline_s:
                # The stores that were reading must go on reading.
                engine.con, engine.store_id, _ = _start(engine.path, read_only=True)
                raise
            time.sleep(0.02)
        else:
            return


@contextlib.contextmanager
def _broken_off_after(seconds: float | None, cur: duckdb.DuckDBPyConnection) -> Iterator[None]:
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, cur.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise TooLongError(seconds) from error
    except duckdb.OutOfMemoryException as error:
        raise TooLargeError from error
    finally:
        timer.cancel()


class Store:
    """A handle on a store. Any thread may use it; every reader takes a cursor of its own."""

    def __init__(
        self,
        engine: _Engine,
        *,
        read_only: bool,
        snapshot_of: Path | None = None,
        lender: Store | None = None,
        limit_s: float | None = None,
    ) -> None:
        self._engine, self._open = engine, True
        self._snapshot_of, self._lender, self._limit_s = snapshot_of, lender, limit_s
        self._made_utc = engine.modified_utc if snapshot_of else None
        self.path = snapshot_of or engine.path
        """The live file, also where a snapshot is read in its place."""
        self.read_only = read_only

    @property
    def store_id(self) -> str:
        """Random name given to the store when it was created; a snapshot has the same."""
        return self._engine.store_id

    @property
    def age_s(self) -> float | None:
        """Seconds since the snapshot was made; None for the live file."""
        return None if self._made_utc is None else (utc_now() - self._made_utc).total_seconds()

    @property
    def broken(self) -> str | None:
        """Why DuckDB has given up the owner's connection; every statement fails until `reopen`."""
        writer = self._engine.writer
        return None if writer is None else writer.broken

    @property
    def writable(self) -> bool:
        """Whether a write may be tried: an owner whose writer is alive."""
        writer = self._engine.writer
        return not self.read_only and writer is not None and writer.broken is None

    def reopen(self, *, writing: bool) -> None:
        """Open the file anew under all handles of this process; what was committed is there.

        Without `writing` the process keeps the file but only reads it, until it is opened again.

        Raises:
            StoreError: it cannot be opened, or a reader of the dead connection has not ended; every
                statement goes on failing, and this may be tried again.
        """
        with _LOCK:
            engine = self._engine
            if engine.writer is not None:
                engine.writer.close()
            engine.writer = None
            engine.con.close()
            deadline_s = time.monotonic() + UPGRADE_WAIT_S
            while True:
                try:
                    started = _start(engine.path, read_only=not writing)
                except (StoreError, duckdb.Error) as error:
                    # Cursors of readers keep the dead connection alive until they end.
                    if time.monotonic() > deadline_s:
                        if isinstance(error, StoreError):
                            raise
                        raise StoreError(
                            f"The store `{engine.path}` cannot be opened again: "
                            f"{str(error).splitlines()[0]}"
                        ) from error
                    time.sleep(0.05)
                else:
                    engine.con, engine.store_id, engine.writer = started
                    return

    def renew(self) -> bool:
        """Open the owner's file anew, unless somebody is reading at this moment; whether that was done.

        Until its file is closed DuckDB keeps a little of each join and each copy, and the pages of what it
        wrote: 89 MB in a year of live rounds. A store that has grown gets more memory, too.

        Raises:
            StoreError: as `reopen`.
        """
        with _LOCK:
            if self._engine.readers or not self.writable:
                return False
            self.reopen(writing=True)
        return True

    def limited(self, seconds: float) -> Store:
        """A handle for readers who must not wait: what takes longer raises `TooLongError`.

        It is closed with the one it came from.
        """
        return Store(
            self._engine, read_only=self.read_only, snapshot_of=self._snapshot_of, lender=self,
            limit_s=seconds,
        )  # fmt: skip

    @property
    def closed(self) -> bool:
        """Whether this handle, or the one it is limited from, was closed."""
        return not self._open or (self._lender is not None and self._lender.closed)

    @contextlib.contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of its own: `with store.cursor() as cur`.

        Raises:
            StoreError: the store is closed, or this process was forked from its owner.
            TooLongError: on leaving it, where what was asked took longer than its limit.
        """
        if self.closed:
            raise StoreError(f"The store `{self.path}` is closed.")
        if self._engine.pid != os.getpid():
            # A fork shares the file without a lock of its own: writing would destroy it.
            raise StoreError(f"The store `{self.path}` belongs to the parent of this process.")
        with _LOCK:
            cur = self._engine.con.cursor()
            self._engine.readers += 1
        try:
            with cur, _broken_off_after(self._limit_s, cur):
                yield cur
        finally:
            with _LOCK:
                self._engine.readers -= 1

    @contextlib.contextmanager
    def bulk(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """As `cursor`, for what reads a large part of a store: one at a time, as two together would take
        as long, and memory that the database does not have."""
        with self._engine.bulk_lock, self.cursor() as cur:
            yield cur

    def write(self, units: Sequence[WriteUnit]) -> None:
        """Store units, each whole or not at all; returns when all are durable.

        Raises:
            StoreError: the first unit that was refused (the others are stored).
        """
        pending = [self.submit(unit) for unit in units]
        errors = [error for f in pending if (error := f.exception()) is not None]
        if errors:
            raise errors[0]

    def submit(self, unit: WriteUnit) -> Future[bool]:
        """Queue one unit; True once it is durable, False if its key was stored before."""
        return self._queue(unit)

    def change(self, work: Callable[[duckdb.DuckDBPyConnection], object]) -> None:
        """Run `work` with the writing cursor, in a transaction of its own; returns when durable.

        It sees everything that was queued before it. Return `writer.HOST_ONLY` from it where nothing
        changed that a page keeps. What it raises is raised here, and nothing has changed then.
        """
        self._queue(work).result()

    def forget(
        self, tracks: Collection[str], work: Callable[[duckdb.DuckDBPyConnection], object]
    ) -> None:
        """`change` for a `work` that deletes all decisions of `tracks`: takes them out of the head file."""
        with _LOCK:
            done = self._writer().forget(tracks, work)
        done.result()

    def update_run(self, run: str, **fields: Any) -> None:
        """Set columns of one run, e.g. `status="done"`; returns when durable.

        Raises:
            UnknownNameError: no such column or no such run.
        """
        allowed = columns(RunRow).keys() - {"run"}
        for name in fields:
            if name not in allowed:
                raise UnknownNameError("column of runs", name, allowed)
        if not fields:
            return
        sets = ", ".join(f"{quote(name)} = ?" for name in fields)

        values = [*fields.values(), run]

        def change(cur: duckdb.DuckDBPyConnection) -> None:
            cur.execute(f"UPDATE runs SET {sets} WHERE run = ?", values)
            if cur.fetchall()[0][0] == 0:
                cur.execute("SELECT run FROM runs")
                raise UnknownNameError("run", run, [name for (name,) in cur.fetchall()])

        self._queue(change).result()

    def snapshot(self) -> Path:
        """Renew `<store>.snapshot.duckdb` for other processes; writing goes on meanwhile.

        Raises:
            StoreError: no room for it; the old one stays as it is.
        """
        self._writer()
        target = snapshot_path(self.path)
        try:
            with self._engine.snapshot_lock, self.cursor() as cur:
                copy_database(cur, target)
                at_s = utc_now().timestamp()
                os.utime(target, (at_s, at_s))  # its age is told by the arena's clock
        except (duckdb.Error, OSError) as error:
            raise StoreError(
                f"The snapshot `{target.name}` could not be renewed: {str(error).splitlines()[0]}"
            ) from error
        return target

    def _queue(self, work: Work) -> Future[bool]:
        # Nobody takes the writer away in between: `renew` and `reopen` hold the lock.
        with _LOCK:
            return self._writer().submit(work)

    def _writer(self) -> Writer:
        if self.read_only or self._engine.writer is None:
            raise StoreError(f"The store `{self.path}` is open for reading only.")
        if self.closed:
            raise StoreError(f"The store `{self.path}` is closed.")
        if self._engine.pid != os.getpid():
            raise StoreError(f"The store `{self.path}` belongs to the parent of this process.")
        return self._engine.writer

    def close(self) -> None:
        """Let go. The last one in the process writes what is queued and frees the file."""
        with _LOCK:
            if self.closed or self._lender is not None:
                return
            self._open = False
            self._engine.users -= 1
            if self._engine.users == 0 and self._engine.pid == os.getpid():
                _ENGINES.pop(self._engine.path, None)
                self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _close_all() -> None:
    for engine in list(_ENGINES.values()):
        if engine.pid == os.getpid():
            with contextlib.suppress(duckdb.Error):
                engine.close()


atexit.register(_close_all)

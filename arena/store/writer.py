"""The one thread that writes. Units from any thread queue up and share transactions."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import duckdb

from arena.core.errors import StoreError
from arena.core.hashing import account_key
from arena.core.rows import HOST_TABLES, CallRow, DecisionRow, MemoryRow, Row, SummaryRow, WriteUnit
from arena.store.head import HeadFile
from arena.store.schema import INCOMING, arrow_table, has_key, insert_sql, key_of, quote

log = logging.getLogger(__name__)

GROUP_UNITS = 256
"""Most units in one transaction; a commit costs about the same for 1 and for 50."""

HEAD_EVERY_S = 1.0
"""While units are waiting, the head file is written at most this often."""

FATAL = (duckdb.FatalException, duckdb.InternalException)
"""After one of these DuckDB refuses every further statement of the process."""

HOST_ONLY = "host only"
"""What a function of the cursor returns that changed nothing but tables of this host: what pages keep
of the data stays right."""

Work = WriteUnit | Callable[[duckdb.DuckDBPyConnection], object]


@dataclass(frozen=True)
class _Job:
    work: Work
    done: Future[bool]


class Writer:
    """Owns the writing cursor from `start` to `close`."""

    def __init__(self, cur: duckdb.DuckDBPyConnection, head: HeadFile) -> None:
        self._cur, self._head = cur, head
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._head_written_s = 0.0
        self.broken: str | None = None
        self._thread = threading.Thread(target=self._run, name="arena-store-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work) -> Future[bool]:
        """Queue a unit, or a function of the cursor that runs in a transaction of its own.

        The future holds True once the change is durable, False for a unit that was stored before.

        Raises:
            StoreError: the store is closed, or DuckDB has given it up.
        """
        with self._gate:
            if self._closed:
                raise StoreError("The store is closed; open it again to write.")
            if self.broken:
                raise StoreError(self.broken)
            job = _Job(work, Future())
            # From here on it cannot be cancelled: it is written whether or not anybody still waits.
            job.done.set_running_or_notify_cancel()
            self._queue.put(job)
        return job.done

    def forget(
        self, tracks: Collection[str], change: Callable[[duckdb.DuckDBPyConnection], object]
    ) -> Future[bool]:
        """Queue `change`, which deletes all decisions of `tracks`; the head file lets go of them first.

        A crash in between leaves tracks that nothing outside the store vouches for until the next
        start, while a head without its track would look like a loss.
        """

        def work(cur: duckdb.DuckDBPyConnection) -> object:
            said = change(cur)
            cur.execute("SELECT count(*) FROM decisions")
            self._head.forget(tracks, cur.fetchall()[0][0])
            return said

        return self.submit(work)

    def close(self) -> None:
        """Write what is queued, then stop."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        running = True
        while running:
            jobs: list[_Job] = []
            while running and len(jobs) < GROUP_UNITS:
                try:
                    job = self._queue.get(block=not jobs)
                except queue.Empty:
                    break
                if job is None:
                    running = False
                else:
                    jobs.append(job)
                    if not isinstance(job.work, WriteUnit):
                        # It must see what was queued before it, and nothing queued after.
                        break
            self._handle(jobs)
        self._cur.close()

    def _handle(self, jobs: Sequence[_Job]) -> None:
        units = [job.work for job in jobs if isinstance(job.work, WriteUnit)]
        outcomes: list[bool | Exception]
        try:
            outcomes = [*self._commit(units)]
        except Exception:  # noqa: BLE001
            # One bad unit must not fail its neighbours: each gets a transaction of its own.
            outcomes = [self._alone(job) for job in jobs]
        else:
            outcomes += [self._alone(job) for job in jobs[len(units) :]]
        self._write_head()
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Exception):
                job.done.set_exception(outcome)
            else:
                job.done.set_result(outcome)

    def _alone(self, job: _Job) -> bool | Exception:
        """Handing the error over instead of raising it keeps the thread alive for the others."""
        try:
            if isinstance(job.work, WriteUnit):
                return self._commit([job.work])[0]
            self._call(job.work)
        except Exception as error:  # noqa: BLE001
            return error
        return True

    def _commit(self, units: Sequence[WriteUnit]) -> list[bool]:
        """One transaction; for every unit whether it was new."""
        if not units:
            return []
        with self._transaction() as cur:
            new = fresh(cur, units)
            todo = [unit for unit, is_new in zip(units, new, strict=True) if is_new]
            counts = insert_rows(cur, todo)
            changed = sum(n for kind, n in counts.items() if kind not in HOST_TABLES)
            changed += replace(cur, [row for unit in todo for row in unit.summaries])
            changed += replace(cur, [unit.memory for unit in todo if unit.memory is not None])
            if changed:
                bump(cur)
        heads = {track: head for unit in todo for track, head in unit.heads}
        self._head.note(heads, counts.get(DecisionRow, 0))
        return new

    def _call(self, change: Callable[[duckdb.DuckDBPyConnection], object]) -> None:
        with self._transaction() as cur:
            if change(cur) != HOST_ONLY:
                bump(cur)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        if self.broken:
            raise StoreError(self.broken)
        try:
            self._cur.begin()
            yield self._cur
            self._cur.commit()
        except FATAL as error:
            self.broken = (
                f"DuckDB has given up the store ({str(error).splitlines()[0]}). What was "
                "committed is safe. Free some disk space if it is full; the app then goes on by itself, "
                "any other process must be restarted."
            )
            raise StoreError(self.broken) from error
        except duckdb.Error as error:
            self._rollback()
            raise StoreError(f"The store refused a write: {str(error).splitlines()[0]}") from error
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        # A failed commit has rolled back already; a second rollback is then the error itself.
        with contextlib.suppress(duckdb.TransactionException):
            self._cur.rollback()

    def _write_head(self) -> None:
        now_s = time.monotonic()
        waiting = not self._queue.empty() and not self._closed
        if self._head.dirty and not (waiting and now_s - self._head_written_s < HEAD_EVERY_S):
            try:
                self._head.write()
            except OSError as error:
                # The units are durable all the same, and an older head is still on the chain.
                log.warning("The head file `%s` could not be written: %s", self._head.path, error)
            self._head_written_s = now_s


def fresh(cur: duckdb.DuckDBPyConnection, units: Sequence[WriteUnit]) -> list[bool]:
    """For every unit whether neither the store nor an earlier unit of the list has its key."""
    seen: set[object] = set()
    if keys := [u.key for u in units if u.key is not None]:
        cur.execute(
            "SELECT decision FROM decisions WHERE decision IN (SELECT unnest(?::VARCHAR[]))", [keys]
        )
        seen |= {key for (key,) in cur.fetchall()}
    if marks := [(account_key(u.once[0]), u.once[1]) for u in units if u.once is not None]:
        sessions = [session for _, session in marks]
        # The range lets DuckDB skip all but the newest blocks of a table without an index.
        cur.execute(
            "SELECT account_key, session FROM equity WHERE session BETWEEN ? AND ? "
            "AND account_key IN (SELECT unnest(?::BIGINT[]))",
            [min(sessions), max(sessions), [key for key, _ in marks]],
        )
        seen |= set(cur.fetchall())
    result = []
    for unit in units:
        names: set[object] = {unit.key} if unit.key is not None else set()
        if unit.once is not None:
            names.add((account_key(unit.once[0]), unit.once[1]))
        result.append(not names & seen)
        seen |= names
    return result


OF_A_DECISION = (DecisionRow, CallRow)
"""Tables whose keys start with a decision: in a unit of a new decision, its rows are new too."""


def insert_rows(cur: duckdb.DuckDBPyConnection, units: Sequence[WriteUnit]) -> dict[type[Row], int]:
    """Insert the rows of units, where missing if their table has a key; rows really added."""
    tables: dict[tuple[type[Row], bool], list[Row]] = defaultdict(list)
    for unit in units:
        for row in unit.rows:
            new = unit.key is not None and isinstance(row, OF_A_DECISION)
            tables[type(row), new].append(row)
    added: dict[type[Row], int] = defaultdict(int)
    for (kind, new), group in tables.items():
        if has_key(kind):
            group = list({key_of(row): row for row in reversed(group)}.values())[::-1]
        added[kind] += _insert(cur, kind, group, new=new)
    return added


def _insert(
    cur: duckdb.DuckDBPyConnection, kind: type[Row], rows: Sequence[Row], *, new: bool
) -> int:
    cur.register(INCOMING, arrow_table(rows))
    cur.execute(insert_sql(kind, new=new))
    added = int(cur.fetchall()[0][0])
    # Only now: an aborted transaction takes nothing but a rollback, and the name can be used again.
    cur.unregister(INCOMING)
    return added


REPLACED_BY: dict[type[Row], str] = {SummaryRow: "account", MemoryRow: "track"}
"""Tables whose rows stand for the present, and the column that says of what."""


def replace(cur: duckdb.DuckDBPyConnection, rows: Sequence[SummaryRow] | Sequence[MemoryRow]) -> int:
    """Delete and insert: seven times faster than an upsert, and readers see all or nothing."""
    if not rows:
        return 0
    kind = type(rows[0])
    key = REPLACED_BY[kind]
    newest = list({getattr(row, key): row for row in rows}.values())
    cur.execute(
        f"DELETE FROM {quote(kind.TABLE)} WHERE {quote(key)} IN (SELECT unnest(?::VARCHAR[]))",
        [[getattr(row, key) for row in newest]],
    )
    return _insert(cur, kind, newest, new=True)


def bump(cur: duckdb.DuckDBPyConnection) -> None:
    """Tell caches that something visible changed."""
    cur.execute(
        "UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS VARCHAR) "
        "WHERE key = 'data_version'"
    )

"""From a copy back to a store: the newest one that proves whole, checked before anything is moved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import duckdb

from arena.core.errors import ConfigError, StoreError, StoreLockedError
from arena.core.hashing import canonical_json
from arena.store.backup import DAY, CopyNote, copies, describe, read_note, sha256_file, write_text
from arena.store.connection import connect
from arena.store.damage import damaged_tables
from arena.store.head import head_path, read_head
from arena.store.load import load_export
from arena.store.lock import alive, owner_pid
from arena.store.migrations import MIGRATIONS, applied, refuse_newer
from arena.store.offsite import Offsite, public_url
from arena.store.snapshot import beside, snapshot_path
from arena.store.store import Store, open_copy, open_store

Judge = Callable[[Store], Sequence[str]]
"""Says what is wrong inside a copy that can be read, or nothing."""


@dataclass
class Restored:
    """What a restore did: the copy it took, those it refused with the reason, what it moved aside."""

    note: CopyNote
    source: str
    refused: list[str] = field(default_factory=list)
    moved: list[Path] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    name: str
    note: CopyNote | None
    fetch: Callable[[Path], None]


class _Overtaken(StoreError):
    """Another process has put a store in place meanwhile."""


def restore(
    source: str, store: Path, now_utc: datetime, judge: Judge | None = None, *, only_missing: bool = False
) -> Restored:
    """Put the newest good copy of `source` at `store`; what was there is moved aside, never deleted.

    `source` is a copy, a folder of backups, an upload target (folder or address) or the folder of an
    export that was made with its timing. A copy is good when its SHA-256 is the noted one, every block
    can be read, its heads are the noted ones, its steps of migration are known, and `judge` is content.

    Raises:
        ConfigError: no copy is there, or a folder holds those of several arenas.
        StoreLockedError: a process has the store open.
        StoreError: every copy is spoilt or another arena's than the store there; with `only_missing`
            also where there is a store by now.
        SourceError: the target cannot be read.
    """
    store = store.expanduser().resolve()
    _refuse_open(store)
    part = _part(store)
    refused: list[str] = []
    store.parent.mkdir(parents=True, exist_ok=True)
    for candidate in _candidates(source, store):
        try:
            _clear(part)
            candidate.fetch(part)
            note = _proven(part, candidate, now_utc, judge)
            _same_arena(store, note)
        except (StoreError, OSError) as error:
            refused.append(f"{candidate.name}: {error}")
            continue
        try:
            # Fetching took its time: a second process may have begun one, and owns it.
            _refuse_open(store)
            if only_missing and store.exists():
                raise _Overtaken(f"There is a store `{store.name}` by now.")
            moved = _aside(store, now_utc)
            part.replace(store)
            heads = {"store_id": note.store_id, "heads": note.heads, "n_decisions": note.n_decisions}
            write_text(head_path(store), canonical_json(heads))
            _hand_over(store)
        finally:
            _clear(part)
        return Restored(note, candidate.name, refused, moved)
    _clear(part)
    if not refused:
        raise ConfigError(f"`{_shown(source)}` holds no copy of a store.")
    raise StoreError(f"No copy in `{_shown(source)}` is whole. {' '.join(refused)}")


def restore_missing(source: str, store: Path, now_utc: datetime) -> Restored | None:
    """On the first start on an empty disk: restore from an upload target, or None if that is empty.

    None also where a copy beside the missing store has what the target has not: a person decides.

    Raises:
        SourceError, StoreError, ConfigError: the target cannot be read or holds only spoilt copies;
            a new store in its place would soon be uploaded over the lost one.
    """
    if store.exists() or not (notes := Offsite(source).notes()):
        return None
    if any(_has_more(copy, notes[0], now_utc) for copy in copies(store)):
        return None
    try:
        return restore(source, store, now_utc, only_missing=True)
    except _Overtaken:
        return None


def _has_more(copy: Path, note: CopyNote, now_utc: datetime) -> bool:
    """Whether a copy on this disk is of another arena, or newer than the noted one."""
    try:
        here = describe(copy, now_utc, copy.name)
    except StoreError:
        return False
    return here.store_id != note.store_id or here.data_version > note.data_version


def _part(store: Path) -> Path:
    """Where this process fetches to; what others left that were killed is removed."""
    stem = beside(store, ".restoring-").name
    for left in store.parent.glob("*.duckdb"):
        pid = left.name.removeprefix(stem).removesuffix(".duckdb")
        if left.name.startswith(stem) and pid.isdecimal() and not alive(int(pid)):
            _clear(left)
    return store.with_name(f"{stem}{os.getpid()}.duckdb")


def _refuse_open(store: Path) -> None:
    pid = owner_pid(store)
    if pid is not None:
        raise StoreLockedError(str(store), pid)


def _candidates(source: str, store: Path) -> Iterator[_Candidate]:
    """Copies of a source, newest first."""
    path = Path(source).expanduser()
    if urlsplit(source).scheme and not path.exists():
        yield from _offsite(Offsite(source))
    elif path.is_file():
        yield _Candidate(str(path), read_note(path), partial(_copy_file, path))
    elif (path / "latest.json").is_file():
        yield from _offsite(Offsite(path.resolve().as_uri()))
    elif (path / "runs.parquet").is_file():
        yield _Candidate(str(path), None, partial(_load, path))
    elif path.is_dir():
        for file in sorted(_of_one_arena(path, store), key=_when, reverse=True):
            yield _Candidate(str(file), read_note(file), partial(_copy_file, file))
    else:
        raise ConfigError(f"`{_shown(source)}` is no file, no folder and no address.")


def _offsite(target: Offsite) -> Iterator[_Candidate]:
    for note in target.notes():
        name = f"{public_url(target.url)}/{note.file}"
        yield _Candidate(name, note, partial(target.fetch, note))


def _of_one_arena(folder: Path, store: Path) -> list[Path]:
    """The copies in a folder. One of backups holds those of all stores beside it: those of the
    store that is asked for, where there are any."""
    stem, files = beside(store, "").name, list(folder.glob("*.duckdb"))
    mine = [f for f in files if f.name.startswith(stem) and DAY.fullmatch(f.name.removeprefix(stem))]
    chosen = mine or files
    ids = {note.store_id for f in chosen if (note := read_note(f)) is not None}
    if len(ids) > 1:
        raise ConfigError(f"`{folder}` holds copies of {len(ids)} arenas. Give the file of one of them.")
    return chosen


def _when(file: Path) -> float:
    note = read_note(file)
    return file.stat().st_mtime if note is None else note.at_utc.timestamp()


def _copy_file(file: Path, into: Path) -> None:
    """A store nobody has open may be copied with its log; one in use may not."""
    if (pid := owner_pid(file, writers_only=True)) is not None:
        raise StoreError(f"process {pid} has it open; take its snapshot or a backup.")
    shutil.copyfile(file, into)
    if (wal := file.with_name(file.name + ".wal")).exists():
        shutil.copyfile(wal, into.with_name(into.name + ".wal"))
        con = connect(into, read_only=False)
        con.execute("CHECKPOINT").fetchall()
        con.close()


def _load(folder: Path, into: Path) -> None:
    with open_store(into) as fresh:
        load_export(fresh, folder)
    for rest in (head_path(into), snapshot_path(into)):
        rest.unlink(missing_ok=True)


def _proven(
    part: Path, candidate: _Candidate, now_utc: datetime, judge: Judge | None
) -> CopyNote:
    """The note of a fetched copy, made anew and compared; raises StoreError for whatever is wrong."""
    said = candidate.note
    if not part.exists():
        raise StoreError("the file is missing.")
    if said is not None and sha256_file(part) != said.sha256:
        raise StoreError(f"its SHA-256 is not the noted one ({part.stat().st_size:,} bytes).")
    con = connect(part, read_only=True)
    try:
        cur = con.cursor()
        done, known = applied(cur), [step.__name__ for step in MIGRATIONS]
        if done is None:
            raise StoreError("it holds no tables.")
        refuse_newer(done, known)
        if hurt := damaged_tables(cur):
            raise StoreError(f"table {hurt[0][0]} is damaged ({hurt[0][1]}).")
        cur.close()
    except duckdb.Error as error:
        raise StoreError(str(error).splitlines()[0]) from error
    finally:
        con.close()
    found = describe(part, said.at_utc if said else now_utc, candidate.name)
    if said is not None and (found.store_id, found.heads) != (said.store_id, dict(said.heads)):
        raise StoreError("its heads or its id are not the noted ones.")
    if judge is not None and set(known) == set(done):
        with open_copy(part, part) as opened:
            wrong = judge(opened)
        if wrong:
            raise StoreError(f"{wrong[0]}.")
    return found


def _same_arena(store: Path, note: CopyNote) -> None:
    """The store that would be replaced must be an earlier life of this one, as far as its head tells."""
    try:
        recorded = read_head(store) if store.exists() else None
    except StoreError:
        return
    if recorded is not None and recorded["store_id"] != note.store_id:
        raise StoreError(
            f"`{store}` is another arena ({str(recorded['store_id'])[:12]}) than the copy "
            f"({note.store_id[:12]}). Give another --store, or move it away with its files yourself."
        )


def _aside(store: Path, now_utc: datetime) -> list[Path]:
    """Rename a store and what belongs to it to `<stem>.aside-<time>...`."""
    mark = f".aside-{now_utc:%Y%m%dT%H%M%SZ}"
    moved = []
    belongings = (
        store.with_name(store.name + ".wal"), head_path(store), snapshot_path(store),
        beside(store, ".upload.json"),
    )  # fmt: skip
    for old in (store, *belongings):
        if old.exists():
            stem = beside(store, "").name
            new = old.with_name(stem + mark + old.name.removeprefix(stem))
            moved.append(old.replace(new))
    return moved


def _hand_over(store: Path) -> None:
    """What root restores belongs to whom the folder belongs to: a service runs as nobody special."""
    if os.geteuid() == 0:
        folder = store.parent.stat()
        for file in (store, head_path(store)):
            os.chown(file, folder.st_uid, folder.st_gid)


def _clear(part: Path) -> None:
    for stale in (part, part.with_name(part.name + ".wal")):
        stale.unlink(missing_ok=True)


def _shown(source: str) -> str:
    return public_url(source) if "://" in source else source


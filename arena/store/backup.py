"""Copies of a store that vouch for themselves, and the daily ones beside it.

A copy is a DuckDB file with a note: which store, of when, how much, its SHA-256 and its heads. The
note of a backup is its head file; that of an upload stands in the target (see `offsite.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb

from arena.core.errors import StoreError
from arena.core.hashing import canonical_json
from arena.store.connection import connect
from arena.store.head import head_path
from arena.store.snapshot import beside, copy_database, snapshot_path
from arena.store.store import Store

DAY = re.compile(r"-(\d{8})\.duckdb")


@dataclass(frozen=True, slots=True)
class CopyNote:
    """What is known of a copy. `at_utc` is the moment up to which it holds what was stored."""

    store_id: str
    data_version: int
    n_decisions: int
    at_utc: datetime
    file: str
    size_bytes: int
    sha256: str
    heads: Mapping[str, str]

    def to_text(self) -> str:
        return canonical_json(asdict(self))

    @classmethod
    def from_text(cls, text: str, where: str) -> CopyNote:
        """Raises StoreError, naming `where`, for anything but a note."""
        try:
            raw: dict[str, Any] = json.loads(text)
            note = cls(**{**raw, "at_utc": datetime.fromisoformat(raw["at_utc"])})
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"`{where}` is no note of a copy ({error}).") from error
        if "/" in note.file or note.file.startswith("."):
            raise StoreError(f"`{where}` names the file `{note.file}`, which is no plain name.")
        return note


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a day."""

    path: Path
    day: date

    @property
    def note(self) -> CopyNote | None:
        """What was noted when it was made; None where that is lost or spoilt."""
        return read_note(self.path)


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a copy. Never of a live store: closing it again would drop its lock."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(copy: Path, at_utc: datetime, file: str) -> CopyNote:
    """The note of a finished copy that will be known as `file`.

    Raises:
        StoreError: it cannot be read.
    """
    con = connect(copy, read_only=True)
    try:
        cur = con.cursor()
        cur.execute("SELECT key, value FROM meta")
        meta = dict(cur.fetchall())
        cur.execute(
            "SELECT track, arg_max(chain_hash, seq), count(*) FROM decisions GROUP BY track ORDER BY track"
        )
        tracks = cur.fetchall()
        cur.close()
    except duckdb.Error as error:
        raise StoreError(f"The copy `{copy}` cannot be read: {str(error).splitlines()[0]}") from error
    finally:
        con.close()
    return CopyNote(
        meta["store_id"], int(meta["data_version"]), sum(n for _, _, n in tracks), at_utc, file,
        copy.stat().st_size, sha256_file(copy), {track: head for track, head, _ in tracks},
    )  # fmt: skip


def backup_folder(store: Path) -> Path:
    """`backups` in the store's own folder: DuckDB may write nowhere else."""
    return store.parent / "backups"


def make_backup(store: Store, at_utc: datetime) -> Backup:
    """Copy an open store to `backups/<stem>-YYYYMMDD.duckdb`, in place of an earlier one of that day.

    Raises:
        StoreError: no room or no right to write; nothing is left behind.
    """
    folder = backup_folder(store.path)
    target = folder / beside(store.path, f"-{at_utc:%Y%m%d}.duckdb").name
    try:
        need = 2 * store.path.stat().st_size
        if (free := shutil.disk_usage(store.path.parent).free) < need:
            raise StoreError(
                f"No backup was made: {free / 1e6:,.0f} MB are free and up to {need / 1e6:,.0f} are needed."
            )
        folder.mkdir(exist_ok=True)
        # The old note goes first: no moment has a copy with the note of another.
        head_path(target).unlink(missing_ok=True)
        with store.cursor() as cur:
            copy_database(cur, target)
        note = describe(target, at_utc, target.name)
        write_text(head_path(target), note.to_text())
    except (duckdb.Error, OSError) as error:
        raise StoreError(f"No backup was made: {str(error).splitlines()[0]}") from error
    return Backup(target, at_utc.date())


def write_text(path: Path, text: str) -> None:
    """A small file that appears whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    part.replace(path)


def backups(store: Path) -> list[Backup]:
    """The backups of the store at this path, newest first."""
    stem = beside(store, "").name
    found = []
    for path in backup_folder(store).glob("*.duckdb"):
        match = DAY.fullmatch(path.name.removeprefix(stem))
        if not path.name.startswith(stem) or match is None:
            continue
        try:
            day = date.fromisoformat(match[1])
        except ValueError:
            continue
        found.append(Backup(path, day))
    return sorted(found, key=lambda b: b.day, reverse=True)


def read_note(copy: Path) -> CopyNote | None:
    """The note in the head file of a copy, or None where there is none that can be read."""
    try:
        return replace(
            CopyNote.from_text(head_path(copy).read_text("utf-8"), str(head_path(copy))), file=copy.name
        )
    except (OSError, StoreError):
        return None


def rotate(store: Path, daily: int, weekly: int, today: date) -> list[Path]:
    """Delete backups but the newest `daily` and the newest of each of the last `weekly` ISO weeks
    that have one; what was deleted. Days to come, which a wrong clock left, push nothing out."""
    every = [b for b in backups(store) if b.day <= today]
    keep = kept([b.day for b in every], daily, weekly)
    gone = [b.path for b in every if b.day not in keep]
    for path in gone:
        path.unlink(missing_ok=True)
        head_path(path).unlink(missing_ok=True)
    return gone


def kept(days: Sequence[date], daily: int, weekly: int) -> set[date]:
    """Which of `days` a rotation keeps."""
    newest = sorted(set(days), reverse=True)
    by_week: dict[tuple[int, int], date] = {}
    for day in newest:
        by_week.setdefault(day.isocalendar()[:2], day)
    return {*newest[:daily], *list(by_week.values())[:weekly]}


def copies(store: Path) -> list[Path]:
    """What can be shown where the store itself cannot: its snapshot, then its backups, newest first."""
    snapshot = snapshot_path(store)
    return [*([snapshot] if snapshot.exists() else []), *(b.path for b in backups(store))]


def n_decisions(store: Store) -> int:
    """How many decisions a store holds, of all runs."""
    with store.cursor() as cur:
        cur.execute("SELECT count(*) FROM decisions")
        return int(cur.fetchall()[0][0])

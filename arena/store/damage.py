"""What is wrong with a store as a whole, told before anything is decided on it.

A store that cannot be opened is never begun anew by itself: pages show its newest copy, and a person
decides. A store whose end is lost is read, and the runner waits.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import duckdb

from arena.core.errors import StoreError, StoreLockedError
from arena.core.settings import ROOT
from arena.store.backup import copies
from arena.store.connection import connect
from arena.store.head import head_path, read_head
from arena.store.schema import quote
from arena.store.store import Store, open_store

LEAST_FREE_BYTES = 64_000_000
"""With less room the runner waits: a checkpoint or a snapshot could meet the end of the disk."""

Kind = Literal["damaged", "gone", "head", "full", "unusable"]


@dataclass(frozen=True, slots=True)
class StoreTrouble:
    """Why the runner must not write: `what` happened and the `fix`, each a sentence for a person."""

    kind: Kind
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what} {self.fix}"


def open_guarded(path: Path) -> tuple[Store | None, StoreTrouble | None]:
    """The store as its owner, created where nothing is there, and what keeps its runner waiting.

    Without a store (None) only its newest copy can be shown.

    Raises:
        StoreLockedError: another process owns it.
    """
    if not path.exists() and (left := next(iter(copies(path)), None)) is not None:
        return None, StoreTrouble(
            "gone", f"The store `{path.name}` is gone, but `{left.name}` of it is still there.",
            f"{_restore(left, path)} To begin anew, move the copy away.",
        )  # fmt: skip
    try:
        store = open_store(path)
    except StoreLockedError:
        raise
    except StoreError as error:
        return None, _opening(path, error)
    trouble = examine_store(store)
    if trouble is not None and trouble.kind == "damaged":
        store.close()
        return None, trouble
    return store, trouble


def examine_store(store: Store) -> StoreTrouble | None:
    """Read every block once, and look for the recorded heads on the chains."""
    try:
        with store.cursor() as cur:
            hurt = damaged_tables(cur)
    except duckdb.Error as error:
        hurt = [("its list of tables", str(error).splitlines()[0])]
    if hurt:
        return damaged(store.path, f"{hurt[0][0]}: {hurt[0][1]}")
    try:
        return head_trouble(store)
    except StoreError as error:
        return StoreTrouble("head", str(error), "Until then the runner waits.")


def damaged_tables(cur: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """(table, first words of the error) for every table with a block that fails its checksum."""
    cur.execute(
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database() ORDER BY table_name"
    )
    found = []
    for (table,) in cur.fetchall():
        try:
            # A hash of whole rows makes DuckDB read every column; counting would read none.
            cur.execute(f"SELECT bit_xor(hash(t)) FROM {quote(table)} t")
            cur.fetchall()
        except duckdb.Error as error:
            found.append((table, str(error).splitlines()[0]))
    return found


def head_trouble(store: Store) -> StoreTrouble | None:
    """Decisions that the head file vouches for and the store has not: what was lost, and what helps.

    Raises:
        StoreError: the head file is no JSON.
    """
    recorded = read_head(store.path)
    if recorded is None or recorded["store_id"] != store.store_id:
        return None
    heads = recorded["heads"]
    assert isinstance(heads, dict)
    with store.cursor() as cur:
        broken = off_chain(cur, heads)
        cur.execute("SELECT count(*), max(as_of_utc) FROM decisions")
        n_stored, last = cur.fetchall()[0]
    if not broken:
        return None
    n_recorded = int(str(recorded["n_decisions"]))
    holder = _holder(store.path, {track: heads[track] for track in broken})
    tracks = "1 track" if len(broken) == 1 else f"{len(broken)} tracks"
    what = (
        f"The end of {tracks} is missing in the store `{store.path.name}`: it holds {n_stored} of "
        f"{n_recorded} decisions, the last of {_moment(last)}."
    )
    if holder is None:
        return StoreTrouble(
            "head", what,
            "No copy beside it has the rest: restore the upload, or, to go on without them, "
            f"stop the app and move `{head_path(store.path).name}` away.",
        )  # fmt: skip
    lost = lost_rounds(store, holder, sorted(broken))
    return StoreTrouble(
        "head", f"{what} Lost {_rounds(lost)}; `{holder.name}` has them.", _restore(holder, store.path)
    )


def off_chain(cur: duckdb.DuckDBPyConnection, heads: dict[str, str]) -> set[str]:
    """Tracks whose head is on no stored decision."""
    cur.execute(
        "SELECT k.track FROM (SELECT unnest(?::VARCHAR[]) AS track, "
        "unnest(?::VARCHAR[]) AS head) k ANTI JOIN decisions d "
        "ON d.track = k.track AND d.chain_hash = k.head",
        [list(heads), list(heads.values())],
    )
    return {track for (track,) in cur.fetchall()}


def lost_rounds(store: Store, copy: Path, tracks: Sequence[str]) -> list[datetime]:
    """Moments of the decisions of `tracks` that a copy has and the store has not, in order."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT decision FROM decisions WHERE track IN (SELECT unnest(?::VARCHAR[]))", [tracks]
        )
        there = [name for (name,) in cur.fetchall()]
    con = connect(copy, read_only=True)
    try:
        cur = con.cursor()
        cur.execute(
            "SELECT DISTINCT as_of_utc FROM decisions WHERE track IN (SELECT unnest(?::VARCHAR[])) "
            "AND decision NOT IN (SELECT unnest(?::VARCHAR[])) ORDER BY as_of_utc",
            [tracks, there],
        )
        return [moment for (moment,) in cur.fetchall()]
    finally:
        con.close()


def disk_trouble(path: Path, least_free_bytes: int = LEAST_FREE_BYTES) -> StoreTrouble | None:
    """Too little room beside the store to go on."""
    free = shutil.disk_usage(path.parent).free
    if free >= least_free_bytes:
        return None
    return StoreTrouble(
        "full", f"{free / 1e6:,.0f} MB are free beside the store `{path.name}`; the runner waits.",
        f"Make room for {least_free_bytes / 1e6:,.0f} MB: it then goes on by itself.",
    )  # fmt: skip


def _opening(path: Path, error: StoreError) -> StoreTrouble:
    """A store that could not be opened. DuckDB's own error means damage where there is room (it says the
    same when a migration finds none); anything else says its fix."""
    if (room := disk_trouble(path)) is not None:
        return room
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        return StoreTrouble(
            "unusable", f"The store `{path.name}` may not be written by the user that runs this.",
            f"Make it that user's: `chown USER {_shown(path)}`.",
        )  # fmt: skip
    if isinstance(error.__cause__, duckdb.Error):
        return damaged(path, str(error.__cause__).splitlines()[0])
    return StoreTrouble("unusable", str(error), "Nothing was changed.")


def damaged(path: Path, why: str) -> StoreTrouble:
    """A file that DuckDB cannot read or go on with; `why` in its words."""
    left = next(iter(copies(path)), None)
    fix = (
        "There is no copy beside it: restore the upload with "
        f"`python -m arena restore --from URL --store {_shown(path)}`."
        if left is None
        else _restore(left, path)
    )
    return StoreTrouble("damaged", f"The store `{path.name}` is damaged ({why.rstrip('.')}).", fix)


def _restore(copy: Path, path: Path) -> str:
    return (
        f"Stop the app, run `python -m arena restore --from {_shown(copy)} --store {_shown(path)}`, "
        "start it again."
    )


def _shown(path: Path) -> str:
    """As a command in the project's folder takes it; visitors read it too."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _holder(path: Path, heads: dict[str, str]) -> Path | None:
    """The newest copy beside the store that has all these heads."""
    for copy in copies(path):
        try:
            con = connect(copy, read_only=True)
        except StoreError:
            continue
        try:
            cur = con.cursor()
            if not off_chain(cur, heads):
                return copy
        except duckdb.Error:
            continue
        finally:
            con.close()
    return None


def _rounds(moments: Sequence[datetime]) -> str:
    if len(moments) == 1:
        return f"is the round of {_moment(moments[0])}"
    return f"are {len(moments)} rounds, {_moment(moments[0])} to {_moment(moments[-1])}"


def _moment(at: datetime | None) -> str:
    return "no moment" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"

"""Copies of a live store, made from inside by its owner: for readers, and before migrations."""

from __future__ import annotations

from pathlib import Path

import duckdb

from arena.core.errors import StoreError
from arena.store.schema import literal, quote

ALIAS = "_arena_snapshot_out"
"""An alias equal to the stem of a file would collide with it, so it is one nobody would choose."""

COPY_SHARE = 0.22
"""Memory that a copy takes, as a share of the store's bytes, with a margin: 692 MB failed within 0.16 and
passed within 0.19 of it."""

UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def beside(store: Path, suffix: str) -> Path:
    """Path of a file that belongs to a store: `live.duckdb`, `.x` -> `live.x` in the same folder."""
    return store.with_name(store.name.removesuffix(".duckdb") + suffix)


def snapshot_path(store: Path) -> Path:
    """`live.duckdb` -> `live.snapshot.duckdb`."""
    return beside(store, ".snapshot.duckdb")


def copy_database(cur: duckdb.DuckDBPyConnection, target: Path) -> None:
    """A consistent copy of the cursor's database at `target`, which appears whole or not at all.

    Writers go on meanwhile. `target` must be in the store's folder: no other may be written.

    Raises:
        StoreError: the store has outgrown the memory that it was opened with.
    """
    part = target.with_name(target.name + ".part")
    _clear(part)
    cur.execute("SELECT current_database()")
    source = quote(cur.fetchall()[0][0])
    _refuse_what_memory_cannot_hold(cur)
    try:
        cur.execute(f"ATTACH {literal(str(part))} AS {ALIAS}")
        try:
            cur.execute(f"COPY FROM DATABASE {source} TO {ALIAS}")
        finally:
            cur.execute(f"DETACH {ALIAS}")
    except BaseException:
        # On a full disk half a copy would keep the store itself from going on.
        _clear(part)
        raise
    part.replace(target)


def _refuse_what_memory_cannot_hold(cur: duckdb.DuckDBPyConnection) -> None:
    """A copy that ran out of memory would take the store down with it."""
    cur.execute(
        "SELECT max(used_blocks * block_size) FROM pragma_database_size() WHERE database_name = current_database()"
    )
    used_bytes = cur.fetchall()[0][0]
    cur.execute("SELECT current_setting('memory_limit')")
    number, unit = cur.fetchall()[0][0].split()
    limit_bytes = float(number) * UNITS[unit]
    if used_bytes * COPY_SHARE > limit_bytes:
        raise StoreError(
            f"The store has grown to {used_bytes / 1e6:,.0f} MB, too large for a copy within the "
            f"{limit_bytes / 1e6:,.0f} MB of memory that it was opened with. It gets more within a week by itself, or at once with a new start."
        )


def _clear(part: Path) -> None:
    for stale in (part, part.with_name(part.name + ".wal")):
        stale.unlink(missing_ok=True)

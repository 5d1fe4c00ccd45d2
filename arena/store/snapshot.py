"""Copies of a live store, made from inside by its owner: for readers, and before migrations."""

from __future__ import annotations

from pathlib import Path

import duckdb

from arena.store.schema import literal, quote

ALIAS = "_arena_snapshot_out"
"""An alias equal to the stem of a file would collide with it, so it is one nobody would choose."""


def beside(store: Path, suffix: str) -> Path:
    """Path of a file that belongs to a store: `live.duckdb`, `.x` -> `live.x` in the same folder."""
    return store.with_name(store.name.removesuffix(".duckdb") + suffix)


def snapshot_path(store: Path) -> Path:
    """`live.duckdb` -> `live.snapshot.duckdb`."""
    return beside(store, ".snapshot.duckdb")


def copy_database(cur: duckdb.DuckDBPyConnection, target: Path) -> None:
    """A consistent copy of the cursor's database at `target`, which appears whole or not at all.

    Writers go on meanwhile. `target` must be in the store's folder: no other may be written.
    """
    part = target.with_name(target.name + ".part")
    _clear(part)
    cur.execute("SELECT current_database()")
    source = quote(cur.fetchall()[0][0])
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


def _clear(part: Path) -> None:
    for stale in (part, part.with_name(part.name + ".wal")):
        stale.unlink(missing_ok=True)

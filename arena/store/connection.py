"""The one place that connects to DuckDB.

A store belongs to one process. Its lock is a POSIX lock, which any `open()` and `close()` of the
same file within the owner would silently drop: nothing in the arena may open a live store by path
except `connect`. Copies are made from inside (see `snapshot.py`).
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from arena.core.errors import StoreError, StoreLockedError
from arena.store.schema import literal
from arena.store.snapshot import snapshot_path

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # A file that DuckDB 1.5 can still open leaves a way back from 2.x.
    "storage_compatibility_version": "v1.5.0",
    # What a query gave back would else stay with the process: a host of 690 MB has no room for it.
    "allocator_background_threads": True,
    "allocator_flush_threshold": "16MB",
    "allocator_bulk_deallocation_flush_threshold": "16MB",
    "threads": 2,
    # One text of 4 KiB, a company's figures say, would else leave all texts of a store uncompressed.
    "zstd_min_string_length": 256,
    # Otherwise a query can read any Python variable by its name.
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}

READER_MB, READER_SHARE = 96, 1 / 7
"""Half is for indexes: what was read of them stays. Every query of the pages passes eight million rows in
the rest; `Store.bulk` lets one of the large ones in at a time."""

OWNER_MB, OWNER_SHARE = 192, 1 / 3
"""An owner copies the store, with its indexes, in one transaction. What that takes is
`snapshot.COPY_SHARE`; running out of memory at its commit makes DuckDB give up the store itself."""


def memory_limit_mb(path: Path, *, read_only: bool) -> int:
    """What the database may use for a store of this size: 10^6 bytes."""
    least, share = (READER_MB, READER_SHARE) if read_only else (OWNER_MB, OWNER_SHARE)
    size_mb = path.stat().st_size / 1e6 if path.exists() else 0.0
    return max(least, round(size_mb * share))


def connect(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A hardened connection to the absolute `path`: UTC everywhere, no file outside its folder.

    The settings hold for all cursors of the connection and cannot be changed afterwards.

    Raises:
        StoreLockedError: another process owns the file.
        StoreError: missing (read only), damaged, or no DuckDB file.
    """
    if path.is_dir():
        raise StoreError(f"The store `{path}` is a folder. Give the path of a .duckdb file.")
    if read_only and not path.exists():
        raise StoreError(f"There is no such store: `{path}`. Fill one first with `replay`.")
    try:
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        limit = {"memory_limit": f"{memory_limit_mb(path, read_only=read_only)}MB"}
        con = duckdb.connect(str(path), read_only=read_only, config=CONFIG | limit)
    except (duckdb.Error, OSError) as error:
        raise _explain(path, error) from error
    cursor = con.cursor()
    # GLOBAL matters: a plain SET stays on this cursor and the others keep the host's time zone.
    cursor.execute("SET GLOBAL TimeZone = 'UTC'")
    cursor.execute(f"SET GLOBAL allowed_directories = [{literal(f'{path.parent}/')}]")
    cursor.execute("SET GLOBAL enable_external_access = false")
    cursor.execute("SET GLOBAL lock_configuration = true")
    cursor.close()
    return con


def _explain(path: Path, error: Exception) -> StoreError:
    text = str(error)
    if "Could not set lock" in text:
        pid = re.search(r"\(PID (\d+)\)", text)
        return StoreLockedError(str(path), int(pid[1]) if pid else None)
    if "not a valid DuckDB database file" in text:
        return StoreError(
            f"`{path}` is not a DuckDB file. Give another --store, or move this file away."
        )
    if "different configuration" in text:
        return StoreError(
            f"The store `{path}` is open in this process through another connection. "
            "Use `open_store` everywhere and close the other one."
        )
    if isinstance(error, OSError):
        return StoreError(f"The folder of the store `{path}` cannot be used: {text}.")
    return StoreError(
        f"The store `{path}` cannot be opened: {text.splitlines()[0]} "
        f"Copy it and its .wal file away before anything else; `{snapshot_path(path).name}` "
        "beside it, if there, is the last snapshot."
    )

"""Writes of this host's own tables: jobs, which change in place, and the numbered audit.

Pages keep nothing of them, so the store's data version stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb

from arena.core.errors import UnknownNameError
from arena.core.rows import WriteUnit
from arena.core.rows_host import AuditRow, JobRow
from arena.store.schema import columns, quote
from arena.store.store import Store
from arena.store.writer import HOST_ONLY, insert_rows

Allow = Callable[[Sequence[dict[str, Any]]], None]
"""Looks at the open jobs (`job`, `requested_by`, `origin`) and raises where no other may join them."""

OPEN_COLUMNS = ("job", "requested_by", "origin")


def add_job(store: Store, row: JobRow, allow: Allow) -> None:
    """Queue a job if `allow` lets it; decided on the writer's thread, so that two clicks at once
    cannot both find the last place."""

    def add(cur: duckdb.DuckDBPyConnection) -> str:
        allow(_open(cur))
        insert_rows(cur, [WriteUnit(rows=(row,))])
        return HOST_ONLY

    store.change(add)


def set_job(store: Store, job: str, fields: Mapping[str, Any], allow: Allow | None = None) -> None:
    """Set columns of a job; with `allow` as in `add_job`.

    Raises:
        UnknownNameError: no such column.
    """
    known = columns(JobRow).keys() - {"job"}
    for name in fields:
        if name not in known:
            raise UnknownNameError("column of jobs", name, known)
    sets = ", ".join(f"{quote(name)} = ?" for name in fields)

    def change(cur: duckdb.DuckDBPyConnection) -> str:
        if allow is not None:
            allow(_open(cur))
        cur.execute(f"UPDATE jobs SET {sets} WHERE job = ?", [*fields.values(), job])
        cur.fetchall()
        return HOST_ONLY

    store.change(change)


def add_audit(store: Store, make: Callable[[int], AuditRow]) -> None:
    """Append the row that `make` gives for the next number."""

    def add(cur: duckdb.DuckDBPyConnection) -> str:
        cur.execute("SELECT coalesce(max(seq), 0) + 1 FROM audit")
        insert_rows(cur, [WriteUnit(rows=(make(cur.fetchall()[0][0]),))])
        return HOST_ONLY

    store.change(add)


def _open(cur: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    cur.execute(
        f"SELECT {', '.join(OPEN_COLUMNS)} FROM jobs WHERE status IN ('queued', 'running')"
    )
    return [dict(zip(OPEN_COLUMNS, row, strict=True)) for row in cur.fetchall()]

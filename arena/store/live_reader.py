"""What a live run asks the store: bars as its decisions used them, and what was spent since when."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from arena.core.rows import BarRow
from arena.store import reader
from arena.store.schema import columns, quote
from arena.store.store import Store


def going_on(store: Store) -> dict[str, str]:
    """Specifications (JSON) of the live runs that have not ended and are not voided, by run."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT run, spec_json FROM runs WHERE kind = 'live' AND status <> 'done' "
            "AND voided_reason IS NULL ORDER BY run"
        )
        return dict(cur.fetchall())


AS_USED = """
WITH made AS (
  SELECT session, min(decided_at_utc) AS at_utc, bool_or(status = 'no_data') AS gap
  FROM decisions WHERE run = ? AND asset = ? GROUP BY session
)
SELECT m.session, m.gap, {columns} FROM made m
LEFT JOIN bars b ON b.asset = ? AND b.session = m.session AND b.fetched_at_utc <= m.at_utc
QUALIFY row_number() OVER (PARTITION BY m.session ORDER BY b.revision DESC) = 1
ORDER BY m.session
"""


def bars_as_used(store: Store, run: str, asset: str) -> dict[date, BarRow | None]:
    """By decided session, the bar as it stood when the first decision of its slot was recorded; None
    where there was none (a gap). What a source revised later, or delivered too late, is not in it."""
    names = list(columns(BarRow))
    sql = AS_USED.format(columns=", ".join(f"b.{quote(n)}" for n in names))
    with store.cursor() as cur:
        cur.execute(sql, [run, asset, asset])
        return {
            row[0]: None if row[1] or row[2] is None else BarRow(*row[2:])
            for row in cur.fetchall()
        }


def slot_begun(store: Store, run: str, asset: str, session: date) -> datetime | None:
    """When the first decision of a slot was recorded, or None: nobody has decided."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT min(decided_at_utc) FROM decisions WHERE run = ? AND asset = ? AND session = ?",
            [run, asset, session],
        )
        found: datetime | None = cur.fetchall()[0][0]
    return found


def revision_at(store: Store, moment_utc: datetime) -> int:
    """The newest revision of any bar that had been fetched by a moment."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT coalesce(max(revision), 0) FROM bars WHERE fetched_at_utc <= ?", [moment_utc]
        )
        return int(cur.fetchall()[0][0])


def last_marked(store: Store, account_key: int) -> date | None:
    """The newest session of an account, or None."""
    with store.cursor() as cur:
        cur.execute("SELECT max(session) FROM equity WHERE account_key = ?", [account_key])
        found: date | None = cur.fetchall()[0][0]
    return found


def newest_decision_utc(store: Store) -> datetime | None:
    """When the newest decision of any live run was recorded."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT max(decided_at_utc) FROM decisions WHERE run IN "
            "(SELECT run FROM runs WHERE kind = 'live')"
        )
        found: datetime | None = cur.fetchall()[0][0]
    return found


def spent_usd(store: Store, run: str, since_utc: datetime | None = None) -> float:
    """What a run was charged, and what is still set aside, from a moment on or ever."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT arg_max(usd, event = 'closed') FROM attempts WHERE run = ? "
            "AND (?::TIMESTAMPTZ IS NULL OR at_utc >= ?) GROUP BY attempt ORDER BY attempt",
            [run, since_utc, since_utc],
        )
        return float(sum(usd or 0.0 for (usd,) in cur.fetchall()))


def run_as_settled(store: Store, run: str) -> dict[str, Any]:
    """A run's row for whoever shows it: of a live one `end` is its last settled session (its start
    before there is one) and `revision` the newest, where its row has what it began with.

    Raises:
        UnknownNameError: no such run.
    """
    row = reader.run(store, run)
    if row["kind"] != "live":
        return row
    with store.cursor() as cur:
        cur.execute(
            'SELECT max("end"), (SELECT coalesce(max(revision), 0) FROM bars) '
            "FROM account_summary WHERE run = ?",
            [run],
        )
        ((end, revision),) = cur.fetchall()
    return {**row, "end": end or row["start"], "revision": revision}

"""Decisions round by round, without their texts: what a feed, a follower and a watcher ask for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.core.actions import FAILED, GAPS
from arena.store.store import Store

_WANTED = (
    "decision, run, agent, model, asset, slot_key, as_of_utc, intent, action, status, late, reason, "
    "position_before, cost_usd, decided_at_utc"
)


def _dicts(store: Store, sql: str, params: Sequence[Any]) -> list[dict[str, Any]]:
    with store.cursor() as cur:
        cur.execute(sql, list(params))
        names = [column[0] for column in cur.description]
        return [dict(zip(names, row, strict=True)) for row in cur.fetchall()]


def newest_decisions(store: Store, run: str, limit: int) -> list[dict[str, Any]]:
    """The last decisions of a run (its warm-up apart), the newest slot first."""
    return _dicts(
        store,
        f"SELECT {_WANTED} FROM decisions WHERE run = ? AND phase = 'live' "
        "ORDER BY as_of_utc DESC, decision LIMIT ?",
        [run, limit],
    )


def decisions_of(store: Store, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Those of these decisions that are no warm-up, by slot and id; unknown ids are absent."""
    return _dicts(
        store,
        f"SELECT {_WANTED} FROM decisions WHERE decision IN (SELECT unnest(?::VARCHAR[])) "
        "AND phase = 'live' ORDER BY as_of_utc, decision",
        [list(ids)],
    )


def live_rounds(store: Store, since_utc: datetime) -> list[dict[str, Any]]:
    """Rounds of live runs with slots from `since_utc` on, in order: run, as_of_utc, n_decisions,
    n_failed, n_gaps, n_late, decided_at_utc (of the last decision)."""
    return _dicts(
        store,
        "SELECT d.run, d.as_of_utc, count(*) AS n_decisions, "
        "count(*) FILTER (WHERE d.status IN (SELECT unnest(?::VARCHAR[]))) AS n_failed, "
        "count(*) FILTER (WHERE d.status IN (SELECT unnest(?::VARCHAR[]))) AS n_gaps, "
        "count(*) FILTER (WHERE d.late) AS n_late, max(d.decided_at_utc) AS decided_at_utc "
        "FROM decisions d JOIN runs r USING (run) WHERE r.kind = 'live' AND d.phase = 'live' "
        "AND d.as_of_utc >= ? GROUP BY d.run, d.as_of_utc ORDER BY d.as_of_utc, d.run",
        [sorted(FAILED), sorted(GAPS), since_utc],
    )

"""Questions about jobs, what they spent, and what decisions took before. Not cached by data version:
a job's progress is no change of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from arena.core.errors import UnknownNameError
from arena.core.hashing import canonical_json
from arena.store.reader import _dicts
from arena.store.store import Store

Job = dict[str, Any]

ASKED = "model NOT IN ('vote', 'offline/vote')"
"""Votes are counted from the decisions of others; nobody is asked."""


def jobs(store: Store, most: int = 50) -> list[Job]:
    """The newest jobs: running first, then waiting in their order, then what is over."""
    return _dicts(
        store,
        "SELECT * FROM (SELECT * FROM jobs ORDER BY created_at_utc DESC, job LIMIT ?) ORDER BY "
        "status = 'running' DESC, status = 'queued' DESC, "
        "CASE WHEN status = 'queued' THEN created_at_utc END, created_at_utc DESC, job",
        [most],
    )


def job(store: Store, job_id: str) -> Job:
    """One job.

    Raises:
        UnknownNameError: no such job.
    """
    found = _dicts(store, "SELECT * FROM jobs WHERE job = ?", [job_id])
    if not found:
        raise UnknownNameError("job", job_id, [j["job"] for j in jobs(store, most=10)])
    return found[0]


def open_jobs(store: Store) -> list[Job]:
    """Running and waiting jobs, the oldest first."""
    return _dicts(
        store,
        "SELECT * FROM jobs WHERE status IN ('queued', 'running') ORDER BY created_at_utc, job",
    )


def spent_usd(store: Store, runs: Sequence[str]) -> float:
    """What attempts of these runs were charged, and what is set aside for those under way."""
    found = _dicts(
        store,
        "SELECT coalesce(sum(usd), 0) AS usd FROM attempts a WHERE run IN (SELECT unnest(?::VARCHAR[])) "
        "AND (event = 'closed' OR NOT EXISTS (SELECT 1 FROM attempts c WHERE c.attempt = a.attempt "
        "AND c.event = 'closed'))",
        [list(runs)],
    )
    return float(found[0]["usd"])


def last_steps(store: Store, run: str, most: int = 4) -> list[dict[str, Any]]:
    """The newest decisions of a run that somebody was asked for, with what they took."""
    return _dicts(
        store,
        "SELECT decision, agent, model, asset, action, status, n_calls, cost_usd, decided_at_utc, session "
        f"FROM decisions WHERE run = ? AND {ASKED} "
        "ORDER BY decided_at_utc DESC, as_of_utc DESC, decision LIMIT ?",
        [run, most],
    )


def counts(store: Store, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Decisions that somebody was asked for, and failed ones, by run; warm-up and votes apart."""
    rows = _dicts(
        store,
        "SELECT run, count(*) AS n, count(*) FILTER (status IN ('invalid_output', 'provider_error', "
        "'timeout')) AS failed FROM decisions WHERE phase = 'live' "
        f"AND {ASKED} AND run IN "
        "(SELECT unnest(?::VARCHAR[])) GROUP BY run",
        [list(runs)],
    )
    return {row["run"]: (row["n"], row["failed"]) for row in rows}


def measured(store: Store, least: int = 20) -> dict[str, dict[str, float]]:
    """What decisions of each agent took so far where tokens were counted: `n` decisions, `calls` a
    decision, `tokens_in` and `tokens_out` a call. Agents with fewer than `least` decisions are left out.
    """
    rows = _dicts(
        store,
        "SELECT d.agent, count(DISTINCT d.decision) AS n, count(*) / count(DISTINCT d.decision) AS calls, "
        "avg(c.tokens_in) AS tokens_in, avg(coalesce(c.tokens_out, 0)) AS tokens_out "
        "FROM calls c JOIN decisions d USING (decision) "
        "WHERE c.kind = 'model' AND c.tokens_in > 0 AND d.phase = 'live' "
        "GROUP BY d.agent HAVING count(DISTINCT d.decision) >= ? ORDER BY d.agent",
        [least],
    )
    return {row.pop("agent"): row for row in rows}


def n_audited(store: Store, action: str, detail: Mapping[str, Any]) -> int:
    """Rows of the audit of exactly this."""
    found = _dicts(
        store, "SELECT count(*) AS n FROM audit WHERE action = ? AND detail_json = ?",
        [action, canonical_json(dict(detail))],
    )  # fmt: skip
    return int(found[0]["n"])


def seasons(store: Store) -> list[dict[str, Any]]:
    """Live seasons that were enrolled, the newest first."""
    return _dicts(store, "SELECT * FROM live_seasons ORDER BY enrolled_at_utc DESC, run")


def last_session(store: Store) -> date | None:
    """The newest session that every asset with bars has reached; None without bars."""
    found = _dicts(
        store, "SELECT min(newest) AS last FROM (SELECT max(session) AS newest FROM bars GROUP BY asset)"
    )
    last: date | None = found[0]["last"]
    return last

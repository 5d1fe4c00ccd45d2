"""Rules between rows that no hash shows: votes that recount, money within what was set aside, time that goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

from arena.audit.finding import Finding
from arena.core.actions import Intent, Status
from arena.core.rows import DecisionRow, RunRow
from arena.runner.track import Logged
from arena.runner.vote import VOTE, tally
from arena.store.store import Store

SLACK = timedelta(minutes=1)
"""Clocks of hosts are put right by less than this every day; the runner forgives as much."""


def check_votes(decisions: Sequence[DecisionRow]) -> Iterator[Finding | int]:
    """A vote is what the decisions that it names give when they are counted again."""
    by_id = {d.decision: d for d in decisions}
    for vote in decisions:
        named = json.loads(vote.evidence_json)
        if vote.model not in VOTE.values() or not named:
            continue  # a rescore has the votes of its parent, which names the voters
        voters = [by_id[name] for name in named if name in by_id]
        again = tally({
            v.model: Logged(v.session, Intent(v.intent), Status(v.status), v.price) for v in voters
        })  # fmt: skip
        yield 1
        if (again.intent, again.status) != (vote.intent, vote.status):
            yield Finding(
                "breach", "votes",
                f"{vote.decision} is {vote.intent} ({vote.status}); its {len(voters)} voters give "
                f"{again.intent} ({again.status})",
            )  # fmt: skip


def check_money(store: Store) -> Iterator[Finding | int]:
    """Nothing is charged that was not set aside first."""
    with store.cursor() as cur:
        # Without the answers: they may be many megabytes. Opened before closed.
        cur.execute("SELECT attempt, event, decision, model, usd FROM attempts ORDER BY attempt, event DESC")
        attempts = cur.fetchall()
    reserved: dict[str, float | None] = {}
    for attempt, event, decision, model, usd in attempts:
        yield 1
        if event == "opened":
            reserved[attempt] = usd
            continue
        if attempt not in reserved:
            yield Finding("breach", "money", f"attempt {attempt} of {decision} was charged unannounced")
            continue
        most = reserved[attempt]
        # Neither is known of a model without a price.
        if usd is not None and most is not None and usd > most + 1e-9:
            yield Finding(
                "warning", "money",
                f"{decision}: `{model}` charged {usd:.6f} USD; {most:.6f} were set aside as its worst case",
            )  # fmt: skip


def check_time(
    runs: Sequence[RunRow], decisions: Sequence[DecisionRow]
) -> Iterator[Finding | int]:
    """Decisions of a live run were made at or after their slot, and one after the other."""
    live = {run.run for run in runs if run.kind == "live"}
    newest: dict[str, DecisionRow] = {}
    for row in sorted((d for d in decisions if d.run in live), key=lambda d: (d.track, d.seq)):
        yield 1
        if row.decided_at_utc < row.as_of_utc:
            yield Finding("breach", "time", f"{row.decision} was made at {row.decided_at_utc}, before its slot")
        before = newest.get(row.track)
        if before is not None and row.decided_at_utc < before.decided_at_utc - SLACK:
            yield Finding(
                "breach", "time",
                f"{row.decision} was made at {row.decided_at_utc}, before {before.decision} "
                f"({before.decided_at_utc})",
            )  # fmt: skip
        newest[row.track] = row

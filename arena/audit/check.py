"""The invariants of a store as executable checks (`python -m arena check`).

Each check recomputes from what lies below: texts from their hashes, contexts from bars and texts, briefs
from contexts, chains from decisions, equity and fills from decisions and bars by the slow second engine,
summaries from equity. A check yields findings, and plain numbers that say how many values it looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.audit.check_ledger import check_accounts
from arena.audit.check_live import check_live_slots
from arena.audit.check_market import check_contexts
from arena.audit.check_read import check_read
from arena.audit.check_rules import check_money, check_time, check_votes
from arena.audit.finding import Finding
from arena.audit.rows import load, stored_hashes
from arena.core.hashing import sha256_text
from arena.core.rows import BlobRow, CallRow, DecisionRow, MemoryRow, RunRow
from arena.runner.track import next_link
from arena.store.head import read_head
from arena.store.store import Store


@dataclass
class Report:
    """What `check` found. A breach means altered or lost data, or a bug; a warning means unknown."""

    findings: list[Finding] = field(default_factory=list)
    n_checked: int = 0

    @property
    def n_breaches(self) -> int:
        return sum(f.level == "breach" for f in self.findings)

    def to_json(self) -> dict[str, object]:
        return {
            "n_checked": self.n_checked,
            "n_breaches": self.n_breaches,
            "findings": [vars(f) for f in self.findings],
        }


def check_store(store: Store) -> Report:
    """Run every check over every run of the store."""
    report = Report()
    decisions = load(store, DecisionRow, "ORDER BY track, seq")
    runs = load(store, RunRow, "ORDER BY run")
    calls = load(store, CallRow, "ORDER BY decision, seq")
    parts = (
        check_blobs(store),
        check_calls(calls, store),
        check_chains(decisions, calls),
        check_head(store, decisions),
        check_completeness(runs, decisions),
        check_live_slots(runs, decisions),
        check_time(runs, decisions),
        check_votes(decisions),
        check_money(store),
        check_contexts(store, decisions),
        check_read(store),
        check_memories(store, decisions),
        check_accounts(store, runs, [d for d in decisions if d.phase == "live"]),
    )
    for part in parts:
        for item in part:
            if isinstance(item, Finding):
                report.findings.append(item)
            else:
                report.n_checked += item
    return report


def check_blobs(store: Store) -> Iterator[Finding | int]:
    """Every stored text has the hash it is filed under."""
    blobs = load(store, BlobRow, "")
    yield len(blobs)
    for blob in blobs:
        if sha256_text(blob.text) != blob.sha256:
            yield Finding("breach", "texts", f"text {blob.sha256[:12]} was altered")


def check_calls(calls: list[CallRow], store: Store) -> Iterator[Finding | int]:
    """Every call's prompt and answer are there."""
    known = stored_hashes(store)
    yield len(calls)
    for call in calls:
        if not {call.prompt_sha256, call.answer_sha256} <= known:
            yield Finding("breach", "texts", f"prompt or answer of {call.decision} is missing")


def check_chains(
    decisions: list[DecisionRow], calls: list[CallRow]
) -> Iterator[Finding | int]:
    """Each decision's link follows from the one before, its own content and its calls."""
    of: dict[str, list[CallRow]] = {}
    for call in calls:
        of.setdefault(call.decision, []).append(call)
    track, link, seq = "", "", -1
    yield len(decisions)
    for row in decisions:
        if row.track != track:
            track, link, seq = row.track, sha256_text(row.track), -1
        seq += 1
        if row.seq != seq:
            yield Finding("breach", "chain", f"{row.track} misses decision {seq}; next is {row.decision}")
            seq = row.seq
        link = next_link(link, row, of.get(row.decision, []))
        if link != row.chain_hash:
            yield Finding("breach", "chain", f"decision {row.decision} or a call of it was altered")
            link = row.chain_hash


def check_head(store: Store, decisions: list[DecisionRow]) -> Iterator[Finding | int]:
    """The head kept outside the store is on the chain: no lost tail, no older copy put back."""
    recorded = read_head(store.path)
    if recorded is None:
        yield Finding("warning", "head", "no head file: a lost tail could not be noticed")
        return
    heads = recorded["heads"]
    assert isinstance(heads, dict)
    links = {(d.track, d.chain_hash) for d in decisions}
    yield len(heads)
    for track, head in heads.items():
        if (track, head) not in links:
            yield Finding("breach", "head", f"the recorded head of {track} is not in the store")


def check_memories(store: Store, decisions: list[DecisionRow]) -> Iterator[Finding | int]:
    """What an agent remembers is what its last decision left."""
    newest = {d.track: d for d in decisions if d.memory_sha256 is not None}
    memories = {m.track: m for m in load(store, MemoryRow, "")}
    yield len(memories)
    for track in sorted(newest.keys() | memories.keys()):
        memory, last = memories.get(track), newest.get(track)
        left = last and (last.seq, last.memory_sha256)
        if memory is None or left != (memory.seq, sha256_text(memory.content_json)):
            yield Finding(
                "breach", "memory", f"the memory of {track} is not the one its last decision left"
            )


def check_completeness(
    runs: list[RunRow], decisions: list[DecisionRow]
) -> Iterator[Finding | int]:
    """A finished run has one decision per track and slot; all tracks of a slot saw one market."""
    of: dict[str, list[DecisionRow]] = {}
    for row in decisions:
        of.setdefault(row.run, []).append(row)
    for run in runs:
        rows = of.get(run.run, [])
        yield len(rows)
        if run.kind != "live" and run.status == "done" and len(rows) != run.n_planned:
            yield Finding(
                "breach", "completeness", f"{run.run} has {len(rows)} of {run.n_planned} decisions"
            )
        seen: dict[tuple[str, str], str] = {}
        for row in rows:
            if not row.market_hash:
                continue  # a gap saw nothing
            first = seen.setdefault((row.asset, row.slot_key), row.market_hash)
            if first != row.market_hash:
                yield Finding(
                    "breach", "equal treatment", f"{row.decision} saw another market than its peers"
                )

"""One round, in the paper's order: seal the market, ask every due track, record, settle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from arena.agents.desk import Desk
from arena.agents.registry import get_agent
from arena.core.actions import Intent, Status
from arena.core.clock import Clock
from arena.core.hashing import sha256_text
from arena.core.rows import ContextRow, WriteUnit
from arena.core.types import Bar, Decision, MarketContext, Slot, TrackView
from arena.llm.registry import get_model
from arena.market.seal import seal
from arena.runner.plan import Plan, Round
from arena.runner.summary import summary_rows
from arena.runner.track import Settled, Track, decision_rows
from arena.store.store import Store


@dataclass(frozen=True)
class Sealed:
    """The market of one asset at one slot; None where the session has no bar (a gap)."""

    slot: Slot
    bar: Bar | None
    market: MarketContext | None


async def run_round(
    plan: Plan, rnd: Round, store: Store, revision: int, gate: asyncio.Semaphore, clock: Clock
) -> tuple[list[Decision], list[Future[bool]]]:
    """Seal, ask, record, settle. Returns the new decisions and the settling still under way.

    Each track's rows are one transaction, durable before its next slot; Buy & Hold comes last and
    may be committed together with the next round. Rows that the store already has change nothing,
    so a round cut off at any instant is simply run again.
    """
    sealed = {slot.asset: seal_slot(plan, slot) for slot in rnd.slots}
    hold_rows = {asset: step_benchmark(plan, s) for asset, s in sealed.items()}
    due = [t for t in plan.tracks if t.asset.id in sealed and not decided(t, sealed)]

    async def ask(track: Track) -> Decision:
        async with gate:
            return await decide_and_record(
                plan, track, sealed[track.asset.id], store, revision, clock
            )

    decisions = await asyncio.gather(*(ask(track) for track in due))
    settling = [
        store.submit(benchmark_unit(plan.benchmarks[a], rows)) for a, rows in hold_rows.items()
    ]
    return list(decisions), settling


def decided(track: Track, sealed: Mapping[str, Sealed]) -> bool:
    """Whether the track's stored decisions reach this slot already (a resumed run)."""
    last = track.counts.last_action_session
    return last is not None and last >= sealed[track.asset.id].slot.session


def seal_slot(plan: Plan, slot: Slot) -> Sealed:
    history = plan.histories[slot.asset]
    bar = history.bar(slot.session)
    return Sealed(slot, bar, seal(history, slot) if bar else None)


async def decide_and_record(
    plan: Plan, track: Track, at: Sealed, store: Store, revision: int, clock: Clock
) -> Decision:
    """One decision of one track, durable before this returns."""
    settled = track.begin(at.slot, at.bar)
    view = track.view(at.bar.close if at.bar else track.ledger.last_price)
    decision = await decide(plan, track, at, view)
    unit = record(plan, track, at, view, decision, settled, revision, clock())
    await asyncio.wrap_future(store.submit(unit))
    return decision


async def decide(plan: Plan, track: Track, at: Sealed, view: TrackView) -> Decision:
    if at.market is None:
        return Decision(Intent.KEEP, Status.NO_DATA, f"no final bar for {at.slot.session}")
    words = f"{plan.spec.seed}:{plan.epoch}:{track.id.entry}:{at.slot.asset}:{at.slot.key}"
    seed = int(sha256_text(words)[:8], 16)
    desk = Desk(at.market, view, get_model(track.id.model), plan.spec.season, seed)
    return await get_agent(track.id.agent).decide(desk)


def record(
    plan: Plan, track: Track, at: Sealed, view: TrackView, decision: Decision,
    settled: Settled, revision: int, decided_at_utc: datetime, *, late: bool = False,
) -> WriteUnit:  # fmt: skip
    """Everything one decision leaves behind, as one transaction."""
    price = at.bar.close if at.bar else track.ledger.last_price
    market_hash = at.market.market_hash if at.market else ""
    row, rows = decision_rows(
        track, at.slot, price, market_hash, view, decision,
        late=late, decided_at_utc=decided_at_utc,
    )  # fmt: skip
    last = at.slot.session == plan.last_session[at.slot.asset]
    now = track.finish(at.slot, at.bar, decision.intent, decision.status, late, last)
    equity = now.equity or settled.equity
    if at.market is not None:
        rows.append(context_row(at.market, revision))
    bench = plan.benchmarks[at.slot.asset].ledger.accounts[0].balance
    return WriteUnit(
        rows=(*rows, *equity, *settled.fills, *now.fills),
        summaries=summary_rows(track.ledger, track.asset, track.group, track.counts, bench),
        key=row.decision,
        heads=((row.track, row.chain_hash),),
    )


def context_row(market: MarketContext, revision: int) -> ContextRow:
    return ContextRow(
        market.market_hash, market.asset.id, market.session, market.as_of_utc,
        market.bars[0].session, len(market.bars), revision,
    )  # fmt: skip


def step_benchmark(plan: Plan, at: Sealed) -> Settled:
    """Buy & Hold of one asset through one session: it wants to be long at every slot."""
    track = plan.benchmarks[at.slot.asset]
    settled = track.begin(at.slot, at.bar)
    last = at.slot.session == plan.last_session[at.slot.asset]
    now = track.finish(at.slot, at.bar, Intent.LONG, Status.OK, late=False, last=last)
    return Settled(now.equity or settled.equity, settled.fills + now.fills)


def benchmark_unit(track: Track, settled: Settled) -> WriteUnit:
    balance = track.ledger.accounts[0].balance
    counts = type(track.counts)()
    return WriteUnit(
        rows=(*settled.equity, *settled.fills),
        summaries=summary_rows(track.ledger, track.asset, track.group, counts, balance),
        once=(track.ledger.accounts[0].account, settled.equity[0].session),
    )

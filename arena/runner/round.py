"""One round, in the paper's order: seal the market, ask every due track, record, settle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.remote.agent import Elsewhere
from arena.core.actions import GAPS, Intent, Status
from arena.core.clock import Clock
from arena.core.crash import crash_point
from arena.core.hashing import sha256_text
from arena.core.rows import SummaryRow, WriteUnit
from arena.core.types import Decision, Past, Slot, TrackView
from arena.llm.types import BudgetStop, ChatModel
from arena.market.history import History
from arena.runner.guest import guarded, is_guest
from arena.runner.plan import Plan, Round
from arena.runner.sealing import Sealed, Sealer
from arena.runner.summary import summary_rows
from arena.runner.track import Settled, Track, decision_rows
from arena.runner.vote import Poll
from arena.store.store import Store


@dataclass(frozen=True)
class Execution:
    """What a run is carried out with: its plan and agents, its store, and who answers for a decision."""

    plan: Plan
    agents: Mapping[str, Agent]
    store: Store
    sealer: Sealer
    gate: asyncio.Semaphore
    clock: Clock
    model_of: Callable[[str, str], ChatModel]


@dataclass
class RoundResult:
    """New decisions, the settling still under way, and why the run must stop here, if so."""

    decisions: list[Decision]
    settling: list[Future[bool]]
    stop: BudgetStop | None = None


async def run_round(execution: Execution, rnd: Round) -> RoundResult:
    """Seal, ask, record, settle.

    Each track's rows are one transaction, durable before its next slot and after what it was decided
    on; the commit goes on while other assets have their slots. Votes and Buy & Hold come last. Rows
    that the store already has change nothing, so a round cut off at any instant is simply run again.
    """
    plan, store = execution.plan, execution.store

    async def seal(slot: Slot) -> Sealed:
        if slot.asset in rnd.missed:
            return execution.sealer.missed(slot)
        async with execution.gate:
            return await execution.sealer.seal(slot)

    made = await asyncio.gather(*map(seal, rnd.slots), return_exceptions=True)
    broke = stop_among(made)
    sealed = {at.slot.asset: at for at in made if isinstance(at, Sealed)}
    kept = store.submit(WriteUnit(rows=tuple(row for at in sealed.values() for row in at.rows)))
    if broke is not None:
        # The briefs that were made are paid for: they are there when the run goes on.
        return RoundResult([], [kept], broke)
    held = {
        a: step_benchmark(plan, s) for a, s in sealed.items()
        if plan.live(s.slot) and not plan.benchmarks[a].decided(s.slot)
    }  # fmt: skip
    due = [
        (t, at) for t in plan.tracks
        if (at := sealed.get(t.asset.id)) and t.wants(at.slot) and not t.decided(at.slot)
    ]  # fmt: skip

    async def ask(track: Track, at: Sealed) -> tuple[Decision, Future[bool]]:
        async with execution.gate:
            return await decide_and_record(execution, track, at, kept)

    asked = await asyncio.gather(*(ask(*pair) for pair in due), return_exceptions=True)
    stop = stop_among(asked)
    votes = [take_vote(execution, poll, sealed) for poll in plan.polls]
    holds = [store.submit(benchmark_unit(plan.benchmarks[a], rows)) for a, rows in held.items()]
    answered = [a for a in asked if isinstance(a, tuple)]
    return RoundResult(
        [decision for decision, _ in answered],
        [kept, *(saved for _, saved in answered), *(v for v in votes if v is not None), *holds],
        stop,
    )


def stop_among(ended: Sequence[object]) -> BudgetStop | None:
    """Why the run must stop, if so, once all that was gathered has ended: nothing that is being paid
    for is cut off. Any other error is raised."""
    for one in ended:
        if isinstance(one, BaseException) and not isinstance(one, BudgetStop):
            raise one
    return next((one for one in ended if isinstance(one, BudgetStop)), None)


async def decide_and_record(
    execution: Execution, track: Track, at: Sealed, seen: Future[bool]
) -> tuple[Decision, Future[bool]]:
    """One decision of one track, once its last one is durable; and the commit of this one, which begins
    when that of what it has `seen` has ended."""
    if track.saving is not None:
        await asyncio.wrap_future(track.saving)
    settled = track.begin(at.slot, at.bar)
    view = track.view(at.bar.close if at.bar else track.ledger.last_price)
    try:
        decision = await decide(execution, track, at, view)
    except BudgetStop as stop:
        if execution.plan.spec.kind != "live":
            raise
        # A slot of a live run does not come back, so that it says what became of it.
        decision = Decision(Intent.KEEP, Status.BUDGET_STOP, str(stop))
    crash_point("answered")
    await asyncio.wrap_future(seen)
    unit = record(execution.plan, track, at, view, decision, settled, execution.clock())
    track.saving = execution.store.submit(unit)
    return decision, track.saving


async def decide(execution: Execution, track: Track, at: Sealed, view: TrackView) -> Decision:
    """Tell the agent what followed its last decision, then let it decide (or study, warming up)."""
    crash_point("asking")
    if at.missed:
        return Decision(Intent.KEEP, Status.MISSED, "nobody was there at this slot, nor soon after it")
    if at.market is None:
        return Decision(Intent.KEEP, Status.NO_DATA, f"no final bar for {at.slot.session}")
    plan, agent = execution.plan, execution.agents[track.id.agent]
    words = f"{plan.spec.seed}:{plan.epoch}:{track.id.entry}:{at.slot.asset}:{at.slot.key}"
    name = track.id.model
    model = (
        Elsewhere(name) if name in agent.own_models
        else execution.model_of(name, track.id.decision(at.slot.key))
    )  # fmt: skip
    desk = Desk(
        at.market, view, model, plan.spec.season, int(sha256_text(words)[:8], 16), memory=track.memory,
    )  # fmt: skip
    act = _at_the_desk(plan, agent, desk, track, at)
    return await (guarded(desk, act) if is_guest(agent) else act)


async def _at_the_desk(
    plan: Plan, agent: Agent, desk: Desk, track: Track, at: Sealed
) -> Decision:
    outcome = track.outcome(desk.context.price)
    if agent.learns and outcome is not None:
        await agent.learn(desk, outcome)
    if track.phase == "warmup" and plan.spec.warmup_mode == "teacher":
        return await agent.study(desk, what_follows(plan.histories[at.slot.asset], at))
    return await agent.decide(desk)


def what_follows(history: History, at: Sealed) -> Past:
    """The move from the slot's close to the next one: the lesson of a warm-up, never of a decision."""
    assert at.market is not None
    after = history.next_bar(at.slot.session)
    assert after is not None  # a warm-up session comes before the first live one
    move = after.close / at.market.price - 1.0
    word = "BUY" if move > 0 else "SELL" if move < 0 else "HOLD"
    return Past(at.slot.session, word, at.market.price, move)


def take_vote(
    execution: Execution, poll: Poll, sealed: Mapping[str, Sealed]
) -> Future[bool] | None:
    """Count the votes of a slot, once all are in."""
    at = sealed.get(poll.track.asset.id)
    if at is None or not poll.track.wants(at.slot) or not poll.ready(at.slot):
        return None
    track = poll.track
    settled = track.begin(at.slot, at.bar)
    view = track.view(at.bar.close if at.bar else track.ledger.last_price)
    unit = record(
        execution.plan, track, at, view, poll.decide(at.slot), settled, execution.clock()
    )
    return execution.store.submit(unit)


def record(
    plan: Plan, track: Track, at: Sealed, view: TrackView, decision: Decision,
    settled: Settled, decided_at_utc: datetime,
) -> WriteUnit:  # fmt: skip
    """Everything one decision leaves behind, as one transaction."""
    price = at.bar.close if at.bar else track.ledger.last_price
    market_hash = at.market.market_hash if at.market else ""
    # A gap is nobody's decision, so it is not a late one.
    late = decision.status not in GAPS and plan.late(at.slot, decided_at_utc)
    last = plan.ends_at(at.slot)
    row, rows, memory = decision_rows(
        track, at.slot, price, market_hash, view, decision,
        late=late, decided_at_utc=decided_at_utc,
    )  # fmt: skip
    now = track.finish(
        at.slot, at.bar, decision.intent, decision.status, late, last, decided_at_utc
    )
    equity = now.equity or settled.equity
    summaries: tuple[SummaryRow, ...] = ()
    if track.phase == "live":
        bench = plan.benchmarks[at.slot.asset].ledger.accounts[0].balance
        summaries = summary_rows(track.ledger, track.asset, track.group, track.counts, bench)
    return WriteUnit(
        rows=(*rows, *equity, *settled.fills, *now.fills),
        summaries=summaries,
        memory=memory,
        key=row.decision,
        heads=((row.track, row.chain_hash),),
    )


def step_benchmark(plan: Plan, at: Sealed) -> Settled:
    """Buy & Hold of one asset through one session: it wants to be long at every slot."""
    track = plan.benchmarks[at.slot.asset]
    settled = track.begin(at.slot, at.bar)
    last = plan.ends_at(at.slot)
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

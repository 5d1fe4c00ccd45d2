"""A run over a past window: start or resume it, round by round, until it is done or stopped."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from arena.agents.registry import get_agent
from arena.core.actions import FAILED, GAPS, Status
from arena.core.clock import Clock, utc_now
from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json
from arena.core.rows import RunRow, SeasonRow, WriteUnit
from arena.core.season import RunSpec
from arena.llm.types import BudgetStop, ChatModel
from arena.market.history import History
from arena.market.news.brief import DIGEST, NO_BRIEF, Summarise
from arena.market.sources import PriceSource
from arena.runner.brief_judge import Judge
from arena.runner.brief_writer import BriefWriter
from arena.runner.intelligence import PRICES_ONLY, Intelligence
from arena.runner.journal import Spending, open_models
from arena.runner.plan import Plan, check_names, load_histories, make_plan
from arena.runner.prices import changed_sessions, price_rows, stored_prices
from arena.runner.resume import restore
from arena.runner.round import Execution, run_round
from arena.runner.sealing import Sealer, write_digest
from arena.runner.version import code_version
from arena.runner.vote import VOTE
from arena.store import reader
from arena.store.store import Store

SNAPSHOT_EVERY_S = 300.0

NOTHING_PAID = Spending()
"""Without a cap no model that costs money, or whose price is unknown, is asked."""

Progress = Callable[["Tick"], None]


@dataclass(frozen=True)
class Tick:
    """Progress of a run: decisions done of planned, new ones a second, and where it is."""

    run: str
    done: int
    planned: int
    per_s: float
    where: str

    @property
    def eta_s(self) -> float | None:
        return (self.planned - self.done) / self.per_s if self.per_s > 0 else None


@dataclass
class RunResult:
    """What a run command prints."""

    runs: list[str] = field(default_factory=list)
    n_decisions: int = 0
    n_failed: int = 0
    n_gaps: int = 0
    n_ignored: int = 0
    n_resumed: int = 0
    stopped: bool = False
    budget_stop: str | None = None

    def count(self, statuses: Sequence[str]) -> None:
        """Add decisions by status."""
        self.n_decisions += len(statuses)
        self.n_failed += sum(Status(s) in FAILED for s in statuses)
        self.n_gaps += sum(Status(s) in GAPS for s in statuses)


def fresh_spec(store: Store, spec: RunSpec) -> RunSpec:
    """`--new`: the same run under the next free ordinal."""
    known = set(reader.runs(store)["run"])
    while spec.run_id() in known:
        spec = spec.model_copy(update={"ordinal": spec.ordinal + 1})
    return spec


def prepare(
    spec: RunSpec, strategies: Sequence[str], source: PriceSource, clock: Clock = utc_now
) -> dict[str, History]:
    """Check every name and read the checked bars: all that can be refused before anything is written.

    Raises:
        ConfigError: an unknown name, a window without data, too little history.
    """
    check_names(spec, strategies)
    return load_histories(source, spec, clock())


def run_replay(
    spec: RunSpec,
    strategies: Sequence[str],
    source: PriceSource,
    store: Store,
    *,
    epochs: int = 1,
    workers: int = 8,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    clock: Clock = utc_now,
    histories: Mapping[str, History] | None = None,
    spending: Spending = NOTHING_PAID,
    intelligence: Intelligence = PRICES_ONLY,
    judge: str | None = None,
    head: Mapping[str, Any] = MappingProxyType({}),
) -> RunResult:
    """Carry out `spec`, once an epoch; decisions that are stored already are not asked again.

    `histories` come from `prepare`, where names and data were checked before a store was opened;
    `intelligence` from `gather`, where the specification has anybody write briefs. `judge` is a model
    that scores new briefs. `head` sets columns of the rows of new runs (`workbench`, `expires_at_utc`).

    A budget that is met stops the run where it is, with what it did stored: the tracks that came
    first in the plan's order have decided. The same command with a larger one goes on from there.

    Raises:
        ConfigError: bad names, window or history, data that changed under a started run, or a
            model whose bill nothing would bound.
    """
    result = RunResult()
    histories = histories or prepare(spec, strategies, source, clock)
    runs = [spec.run_id(epoch) for epoch in range(1, epochs + 1)]
    models = open_models(store, asked_models(spec, judge), runs, spending)
    for epoch in range(1, epochs + 1):
        accounts = all_strategies(store, spec.run_id(epoch), strategies)
        plan = make_plan(
            spec, source, accounts, histories, epoch=epoch, intelligence=intelligence
        )
        model_of = models[plan.run].of
        desk = brief_desk(spec, model_of, judge)
        revision = open_run(plan, store, clock, head)
        sealer = Sealer(plan, store, revision, clock, *desk)
        result.runs.append(plan.run)
        result.n_resumed += restore(plan, store, sealer)
        store.update_run(plan.run, status="running", finished_at_utc=None)
        store.snapshot()
        finished, broke = asyncio.run(
            _rounds(plan, store, sealer, workers, progress, stop, clock, model_of)
        )
        status = "done" if finished else "stopped"
        store.update_run(
            plan.run, status=status, finished_at_utc=clock(),
            note=f"budget_stop: {broke}" if broke else None,
        )
        store.snapshot()
        _count(plan, store, result)
        if not finished:
            result.stopped, result.budget_stop = True, str(broke) if broke else None
            break
    return result


async def _rounds(
    plan: Plan,
    store: Store,
    sealer: Sealer,
    workers: int,
    progress: Progress | None,
    stop: threading.Event | None,
    clock: Clock,
    model_of: Callable[[str, str], ChatModel],
) -> tuple[bool, BudgetStop | None]:
    """All rounds not yet settled, in order. Whether all are done, and whether money ran out."""
    agents = {track.id.agent: get_agent(track.id.agent) for track in plan.tracks}
    gate = asyncio.Semaphore(workers)
    execution = Execution(plan, agents, store, sealer, gate, clock, model_of)
    began = snapped = time.monotonic()
    planned = sum(len(plan.slots_of(track)) for track in plan.tracks)
    done = resumed = sum(len(track.log) for track in plan.tracks)
    settling: list[Future[bool]] = []
    broke: BudgetStop | None = None
    for rnd in plan.rounds:
        if broke is not None or (stop is not None and stop.is_set()):
            break
        result = await run_round(execution, rnd)
        await _all_settled(settling)
        settling, broke, done = result.settling, result.stop, done + len(result.decisions)
        if progress is not None:
            rate = (done - resumed) / max(time.monotonic() - began, 1e-9)
            where = ", ".join(f"{s.asset} {s.session}" for s in rnd.slots)
            progress(Tick(plan.run, done, planned, rate, where))
        if time.monotonic() - snapped > SNAPSHOT_EVERY_S:
            store.snapshot()
            snapped = time.monotonic()
    await _all_settled(settling)
    return done == planned, broke


async def _all_settled(futures: Sequence[Future[bool]]) -> None:
    """Wait for commits; a failed one raises here."""
    await asyncio.gather(*(asyncio.wrap_future(f) for f in futures))


def asked_models(spec: RunSpec, judge: str | None = None) -> tuple[str, ...]:
    """Every model that a run may ask: those that decide, and whoever writes or judges its briefs."""
    writers = [m for m in (spec.brief, judge) if m not in (None, NO_BRIEF, DIGEST)]
    return tuple(dict.fromkeys([*spec.models, *map(str, writers)]))


def brief_desk(
    spec: RunSpec, model_of: Callable[[str, str], ChatModel], judge: str | None
) -> tuple[Summarise, Judge | None]:
    """Who writes the briefs of a run, and who judges them."""
    writer: Summarise = write_digest
    if spec.brief not in (NO_BRIEF, DIGEST):
        writer = BriefWriter(spec.brief, model_of, spec.season, spec.seed)
    return writer, None if judge is None else Judge(judge, model_of, spec.season, spec.seed)


def all_strategies(store: Store, run: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """`wanted`, and those a started run has accounts of: these go on, or they would end in the middle."""
    stored = reader.summaries(store, run)
    begun = sorted(set(stored.loc[stored["grp"] != "benchmark", "strategy"]))
    return tuple(dict.fromkeys((*wanted, *begun)))


def open_run(
    plan: Plan, store: Store, clock: Clock, columns: Mapping[str, Any] = MappingProxyType({})
) -> int:
    """Write the run's head rows, or check that its data are still those it started with.

    Returns:
        The revision of the bars that the run reads.

    Raises:
        ConfigError: a bar that the run was started on differs now.
    """
    known = reader.runs(store)
    if plan.run in set(known["run"]):
        revision = int(known.loc[known["run"] == plan.run, "revision"].iloc[0])
        _same_data(store, plan.histories, revision, plan.run)
        return revision
    now = clock()
    revision, rows = price_rows(store, plan.histories.values(), now)
    head = run_row(plan.spec, plan.run, plan.epoch, revision, plan.n_planned, plan.synthetic, now)
    store.write([WriteUnit(rows=(season_row(plan.spec), replace(head, **columns), *rows))])
    return revision


def _same_data(
    store: Store, histories: Mapping[str, History], revision: int, run: str
) -> None:
    for asset, history in histories.items():
        stored = stored_prices(store, asset, revision)
        missing = [b.session for b in history.bars if b.session not in stored]
        changed = changed_sessions(history, stored) or missing
        if changed:
            raise ConfigError(
                f"The data changed under {run}: {asset} {changed[0]} differs from the bar it was "
                "started on. Use --new to start another run on today's data."
            )


def season_row(spec: RunSpec) -> SeasonRow:
    return SeasonRow(spec.season.season_id, canonical_json(spec.season.model_dump(mode="json")))


def run_row(
    spec: RunSpec, run: str, epoch: int, revision: int, n_planned: int, synthetic: bool,
    now_utc: datetime, *, note: str | None = None, status: str = "running",
) -> RunRow:  # fmt: skip
    return RunRow(
        run=run,
        kind=spec.kind,
        epoch=epoch,
        season=spec.season.season_id,
        parent=spec.parent,
        spec_json=canonical_json(spec.model_dump(mode="json")),
        fill=spec.season.fill,
        source=spec.source,
        synthetic=synthetic,
        start=spec.start,
        end=spec.end,
        n_planned=n_planned,
        revision=revision,
        status=status,
        note=note,
        voided_reason=None,
        code_version=code_version(),
        created_at_utc=now_utc.astimezone(UTC),
        finished_at_utc=now_utc.astimezone(UTC) if status == "done" else None,
    )


def _count(plan: Plan, store: Store, result: RunResult) -> None:
    """Decisions that were asked for; votes are counted, not asked, and a warm-up does not count."""
    stored = reader.decisions(store, plan.run)
    result.count(stored.loc[~stored["model"].isin(list(VOTE.values())), "status"].tolist())

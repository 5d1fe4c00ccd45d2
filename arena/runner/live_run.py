"""One live run in this process: its tracks between rounds, what is due, and a round carried out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby

from arena.agents.registry import get_agent
from arena.core.actions import FAILED, GAPS
from arena.core.clock import Clock
from arena.core.errors import ConfigError
from arena.core.rows import ActionRow, WriteUnit
from arena.core.rows_host import TimingRow
from arena.core.types import Asset, Slot
from arena.llm.types import ChatModel
from arena.market.calendars import close_utc, next_session, slots, wait_ends
from arena.market.seal import N_BARS
from arena.market.symbols import last_day
from arena.portfolio.corporate_actions import in_order
from arena.portfolio.strategies import get_strategy
from arena.runner.journal import Spending, check_models, open_models
from arena.runner.live_prices import LivePrices
from arena.runner.live_reading import LiveReading
from arena.runner.live_restore import restore_live
from arena.runner.live_seasons import LiveSeason
from arena.runner.plan import (
    Plan,
    Round,
    check_names,
    convention,
    entries_of,
    learners,
    make_polls,
    make_tracks,
    warmup_slots,
)
from arena.runner.prices import latest_revision
from arena.runner.replay import all_strategies, asked_models, run_row, season_row
from arena.runner.round import Execution, RoundResult, run_round
from arena.runner.sealing import Sealer
from arena.runner.track import Track
from arena.store import live_reader, quotes_reader, reader
from arena.store.store import Store

MOST_LATE = 10
"""Slots of an asset that are decided after their time; older ones are `missed`."""

AT_ONCE = 8


@dataclass(frozen=True)
class RoundReport:
    """What a round of a live run brought. `stopped` says what the budget refused, if it did."""

    run: str
    as_of_utc: datetime
    n_decisions: int
    n_failed: int
    n_late: int
    decision_ids: tuple[str, ...]
    stopped: str | None = None


class LiveRun:
    """A live season that goes on. Opening it restores its tracks, or writes its head rows.

    Raises:
        ConfigError: an unknown name, a model that may not be asked, or too little history.
    """

    def __init__(
        self, season: LiveSeason, store: Store, prices: LivePrices, reading: LiveReading, clock: Clock
    ) -> None:
        self.season, self.spec, self.run = season, season.spec, season.run
        self._store, self._prices, self._reading, self._clock = store, prices, reading, clock
        check_names(self.spec, season.strategies)
        for strategy in season.strategies:
            get_strategy(strategy)
        check_models(asked_models(self.spec), self._spending(clock()))
        self._agents = {a: get_agent(a) for a in self.spec.agents}
        self._ended: dict[str, date] = {}
        self._gone = ""
        self.plan = self._open(clock())

    def _open(self, now_utc: datetime) -> Plan:
        assets, first, marks = {}, {}, {}
        known = self._prices.assets()
        for name in self.spec.assets:
            if name not in known:
                raise ConfigError(f"{self.run}: the source has no prices of `{name}`.")
            asset = assets[name] = known[name]
            ended = None if asset.asset_class == "crypto" else last_day(asset, "yahoo")
            if ended is not None:
                self._ended[name] = ended
            kind = asset.asset_class
            first[name] = next_session(kind, self.spec.start - timedelta(days=1))
            marks[name] = self._mark(asset, first[name], now_utc)
        accounts = all_strategies(self._store, self.run, self.season.strategies)
        tracks, benchmarks = make_tracks(
            self.spec, self.run, assets, first, marks, accounts, entries_of(self.spec)
        )
        plan = Plan(
            self.run, 1, self.spec, assets, {}, (), {}, tracks, benchmarks,
            self._prices.source.synthetic, make_polls(tracks, accounts),
        )  # fmt: skip
        for track in (*plan.all_tracks, *benchmarks.values()):
            if track.asset.asset_class == "crypto" and self.spec.season.fill == "next":
                track.quote_of = partial(self._quote, track.asset.id)
            track.actions_of = self._actions
        if self.run in set(reader.runs(self._store)["run"]):
            restore_live(plan, self._store)
            self._store.update_run(self.run, status="running", finished_at_utc=None)
        else:
            head = run_row(
                self.spec, self.run, 1, latest_revision(self._store), 0, plan.synthetic, now_utc
            )
            self._store.write([WriteUnit(rows=(season_row(self.spec), head))])
        if self._ended:
            told = (f"{name} is not traded after {day}" for name, day in self._ended.items())
            self._store.update_run(self.run, note="; ".join(told))
        return plan

    def _mark(self, asset: Asset, first: date, now_utc: datetime) -> float:
        """The close before the first session; asked for with all that a context and a warm-up need."""
        warm = warmup_slots(self.spec, asset) if learners(self.spec) else ()
        oldest = warm[0].session if warm else first
        self._prices.bring_up(asset, self._last_closed(asset, first, now_utc), now_utc, oldest)
        before = sorted(b.session for b in self._prices.newest(asset.id).values() if b.session < first)
        enough = [s for s in before if s < oldest] if warm else before
        if len(enough) < N_BARS - 1:
            raise ConfigError(
                f"{self.run}: {asset.id} has {len(enough)} closed bars before {oldest}; "
                f"{N_BARS - 1} are needed. The source may not have answered yet."
            )
        return self._prices.newest(asset.id)[before[-1]].close

    def _last_closed(self, asset: Asset, first: date, now_utc: datetime) -> date:
        due = slots(asset, first - timedelta(days=10), min(first, now_utc.date()), convention(self.spec))
        return max(s.session for s in due if s.session < first)

    def _quote(
        self, asset: str, since_utc: datetime, before_utc: datetime
    ) -> tuple[float, datetime] | None:
        found = quotes_reader.first_quote(self._store, asset, since_utc, before_utc)
        return None if found is None else found[:2]

    def _actions(self, slot: Slot, since: date) -> Sequence[ActionRow]:
        """Those that had been fetched when the slot was decided first: what becomes known after its
        session was settled changes no account."""
        due = [a for a in self._prices.actions(slot.asset) if since < a.ex_date <= slot.session]
        begun = self._begun(slot) if due else None
        return in_order(a for a in due if begun is None or a.fetched_at_utc <= begun)

    def due(self, now_utc: datetime) -> list[Round]:
        """Rounds whose slots have come and that somebody has not decided, oldest first."""
        waiting = {a.id: self._undecided(a, now_utc) for a in self.plan.assets.values()}
        missed = {
            (s.asset, s.session)
            for asset, found in waiting.items()
            for s in self._overdue(self.plan.assets[asset], found, now_utc)[:-MOST_LATE]
        }
        ordered = sorted((s for f in waiting.values() for s in f), key=lambda s: (s.as_of_utc, s.asset))
        rounds = []
        for moment, group in groupby(ordered, lambda s: s.as_of_utc):
            found = tuple(group)
            gone = frozenset(s.asset for s in found if (s.asset, s.session) in missed)
            rounds.append(Round(moment, found, gone))
        return rounds

    def _overdue(self, asset: Asset, found: Sequence[Slot], now_utc: datetime) -> list[Slot]:
        return [s for s in found if self.plan.live(s) and now_utc > wait_ends(asset, s)]

    def _undecided(self, asset: Asset, now_utc: datetime) -> list[Slot]:
        tracks = [t for t in self._everyone() if t.asset.id == asset.id]
        reached = [t.log[-1].session if t.log else None for t in tracks]
        newest = [r for r in reached if r is not None]
        begun = None not in reached
        since = min(newest) if begun else self.spec.start
        warm = () if begun or not learners(self.spec) else warmup_slots(self.spec, asset)
        live = slots(asset, max(since, self.spec.start), now_utc.date(), convention(self.spec))
        return [
            s for s in (*warm, *live)
            if s.as_of_utc <= now_utc and s.session <= self._ended.get(asset.id, s.session)
            and any(t.wants(s) and not t.decided(s) for t in tracks)
        ]  # fmt: skip

    def _everyone(self) -> tuple[Track, ...]:
        return (*self.plan.all_tracks, *self.plan.benchmarks.values())

    def carry_out(self, rnd: Round) -> RoundReport | None:
        """Decide a round, as far as its bars are there or no longer waited for; None where none is."""
        began_utc, began = self._clock(), time.monotonic()
        ready = tuple(s for s in rnd.slots if self._ready(s, began_utc))
        if not ready:
            return None
        rnd = replace(rnd, slots=ready)
        revision, seen_utc = self._standing(ready, began_utc)
        assets = [self.plan.assets[s.asset] for s in ready]
        plan = replace(
            self.plan,
            rounds=(rnd,),
            histories={
                s.asset: self._prices.history(
                    self.plan.assets[s.asset], s, revision, seen_utc, lesson=not self.plan.live(s)
                )
                for s in ready
            },
            intelligence=self._reading.of(self.spec, assets, began_utc, seen_utc),
        )
        self._may_ask(began_utc)
        models = open_models(
            self._store, asked_models(self.spec), [self.run], self._spending(began_utc)
        )[self.run]
        sealer = Sealer(plan, self._store, revision, self._clock)
        result = asyncio.run(self._play(plan, rnd, sealer, models.of))
        self._gone = models.gone
        return self._report(rnd, result, began_utc, time.monotonic() - began)

    def _may_ask(self, now_utc: datetime) -> None:
        """A model that is gone keeps the whole season waiting: entries that went on without it would
        be another season.

        Raises:
            ConfigError: it was retired, its key was taken away, or its provider no longer has it.
        """
        if self._gone:
            raise ConfigError(
                f"{self._gone} The season waits. A start of the arena asks once more; to go on without "
                "the model, change the season."
            )
        check_models(asked_models(self.spec), self._spending(now_utc))

    async def _play(
        self, plan: Plan, rnd: Round, sealer: Sealer, model_of: Callable[[str, str], ChatModel]
    ) -> RoundResult:
        gate = asyncio.Semaphore(AT_ONCE)
        execution = Execution(plan, self._agents, self._store, sealer, gate, self._clock, model_of)
        result = await run_round(execution, rnd)
        await asyncio.gather(*(asyncio.wrap_future(f) for f in result.settling))
        return result

    def _ready(self, slot: Slot, now_utc: datetime) -> bool:
        """Whether a slot can be played: earlier ones are, and its bar is there or is given up."""
        asset = self.plan.assets[slot.asset]
        first = min(s.session for s in self._undecided(asset, now_utc))
        if slot.session != first:
            return False
        if self._begun(slot) is not None or (
            self.plan.live(slot) and self._prices.bring_up(asset, slot.session, now_utc)
        ):
            return True
        if self.plan.live(slot):
            return now_utc > wait_ends(asset, slot)
        # What a warm-up teaches is the move that followed, so that one must be over.
        after = next_session(asset.asset_class, slot.session)
        if now_utc < close_utc(asset.asset_class, after):
            return False
        return self._prices.bring_up(asset, after, now_utc) or any(
            s > slot.session for s in self._prices.newest(asset.id)
        )

    def _begun(self, slot: Slot) -> datetime | None:
        return live_reader.slot_begun(self._store, self.run, slot.asset, slot.session)

    def _standing(self, ready: Sequence[Slot], now_utc: datetime) -> tuple[int, datetime]:
        """Revision of the bars, and until when news count: those of now, or of the moment at which a
        round that was cut off had begun."""
        begun = [self._begun(s) for s in ready]
        known = [b for b in begun if b is not None]
        if not known:
            return latest_revision(self._store), now_utc
        return live_reader.revision_at(self._store, min(known)), min(known)

    def _spending(self, now_utc: datetime) -> Spending:
        """What is left of the season's budget and of the day's, beside what was spent before."""
        caps = (self.season.budget_usd, self.season.budget_day_usd)
        if caps == (None, None):
            return Spending()
        midnight = now_utc.replace(hour=0, minute=0, second=0, microsecond=0)
        ever = live_reader.spent_usd(self._store, self.run)
        today = live_reader.spent_usd(self._store, self.run, midnight)
        left = [c - s for c, s in zip(caps, (ever, today), strict=True) if c is not None]
        return Spending(ever + max(0.0, min(left)))

    def _report(
        self, rnd: Round, result: RoundResult, began_utc: datetime, took_s: float
    ) -> RoundReport:
        failed = sum(d.status in FAILED for d in result.decisions)
        ids = tuple(
            track.id.decision(slot.key)
            for slot in rnd.slots for track in self.plan.all_tracks
            if track.wants(slot) and track.decided(slot)
        )  # fmt: skip
        late = any(self.plan.late(s, began_utc) for s in rnd.slots)
        n_late = sum(d.status not in GAPS for d in result.decisions) if late else 0
        stopped = next((d.reason for d in result.decisions if d.status == "budget_stop"), None)
        n = len(result.decisions)
        self._store.submit(WriteUnit(rows=(
            TimingRow(
                self.run, rnd.as_of_utc, "round", began_utc, took_s,
                f"{n} decisions, {failed} failed" + (", late" if late else ""),
            ),
        )))  # fmt: skip
        return RoundReport(self.run, rnd.as_of_utc, n, failed, n_late, ids, stopped)

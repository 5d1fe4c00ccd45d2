"""From a run specification to a checked plan: histories, slots and tracks. Nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import groupby

from arena.agents.registry import get_agent
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.ids import TrackId
from arena.core.season import RunSpec
from arena.core.types import Asset, Slot
from arena.llm.registry import model_kind
from arena.market.calendars import Convention, slots, wait_ends
from arena.market.history import History, load_history
from arena.market.seal import N_BARS, first_possible_start
from arena.market.sources import PriceSource
from arena.portfolio.strategies import get_strategy
from arena.runner.intelligence import PRICES_ONLY, Intelligence
from arena.runner.track import Track
from arena.runner.vote import GROUP, VOTE, Poll

EARLIEST = date(2010, 1, 1)
"""No source is asked for anything older; a context needs about 400 days at most."""

BUY_HOLD = "buy_hold"


@dataclass(frozen=True)
class Round:
    """All slots due at one moment. Slots of `missed` assets are too old to be decided (live only)."""

    as_of_utc: datetime
    slots: tuple[Slot, ...]
    missed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Plan:
    """A run ready to be carried out. `benchmarks` are the Buy & Hold tracks by asset.

    `last_session` is when everything is closed; a live run has none. Slots before the specification's start are warm-up: only tracks that learn have decisions there.
    """

    run: str
    epoch: int
    spec: RunSpec
    assets: Mapping[str, Asset]
    histories: Mapping[str, History]
    rounds: tuple[Round, ...]
    last_session: Mapping[str, date]
    tracks: tuple[Track, ...]
    benchmarks: Mapping[str, Track]
    synthetic: bool
    polls: tuple[Poll, ...] = ()
    intelligence: Intelligence = PRICES_ONLY

    def live(self, slot: Slot) -> bool:
        return slot.session >= self.spec.start

    def ends_at(self, slot: Slot) -> bool:
        """Whether everything is closed after this slot."""
        return slot.session == self.last_session.get(slot.asset)

    def late(self, slot: Slot, decided_at_utc: datetime) -> bool:
        """Whether a decision of a live run came after the slot's wait; a replay has no such thing."""
        if self.spec.kind != "live" or not self.live(slot):
            return False
        return decided_at_utc > wait_ends(self.assets[slot.asset], slot)

    def slots_of(self, track: Track) -> list[Slot]:
        """All slots at which the track decides, in order."""
        return [s for rnd in self.rounds for s in rnd.slots if track.wants(s)]

    @property
    def all_tracks(self) -> tuple[Track, ...]:
        """Tracks with decisions: those that are asked, then the votes."""
        return (*self.tracks, *(poll.track for poll in self.polls))

    @property
    def n_planned(self) -> int:
        """Decisions of the whole run, warm-up and votes among them."""
        return sum(len(self.slots_of(track)) for track in self.all_tracks)


def check_names(spec: RunSpec, strategies: Sequence[str]) -> None:
    """Every agent, model and strategy in the request exists; assets are checked with their prices.

    Raises:
        UnknownNameError: the first one that does not, with the nearest that does.
    """
    for strategy in strategies:
        get_strategy(strategy)
    for agent in spec.agents:
        get_agent(agent)
    for model in spec.models:
        model_kind(model)


def convention(spec: RunSpec) -> Convention:
    """Slot convention: fill `close` forces the paper's 00:05 UTC of the next day for every asset."""
    return "ama" if spec.season.fill == "close" else "default"


def warmup_slots(spec: RunSpec, asset: Asset) -> tuple[Slot, ...]:
    """Slots before the start for agents that learn: the last N sessions, or all from a date on."""
    last = spec.start - timedelta(days=1)
    if spec.warmup_from is not None:
        return slots(asset, spec.warmup_from, last, convention(spec))
    # Closed days are two in seven, and a margin for holidays.
    since = spec.start - timedelta(days=spec.warmup * 3 // 2 + 14)
    before = slots(asset, since, last, convention(spec)) if spec.warmup else ()
    return before[len(before) - spec.warmup :]


def learners(spec: RunSpec) -> frozenset[str]:
    """Agents of a run that have a warm-up; imports and rescores ask nobody."""
    if spec.kind in ("import", "rescore"):
        return frozenset()
    return frozenset(a for a in spec.agents if get_agent(a).learns)


def load_histories(
    source: PriceSource, spec: RunSpec, now_utc: datetime, *, n_bars: int = N_BARS
) -> dict[str, History]:
    """Checked bars of each asset from `n_bars` before its first slot to the end of the window.

    Raises:
        ConfigError: the window lies outside the data, or too little history comes before it.
    """
    histories = {}
    known = source.assets()
    for asset_id in spec.assets:
        if asset_id not in known:
            raise UnknownNameError("asset", asset_id, known)
        asset = known[asset_id]
        due = slots(asset, spec.start, spec.end, convention(spec))
        warm = warmup_slots(spec, asset) if learners(spec) else ()
        first = (*warm, *due)[0].session if due else spec.start
        since = max(EARLIEST, first - timedelta(days=int(n_bars * 1.6) + 30))
        history = load_history(source, asset, since, spec.end, now_utc)
        _check_window(history, due, spec)
        seen = sum(1 for b in history.bars if b.session <= first)
        if seen < n_bars:
            wider = load_history(source, asset, since, now_utc.date(), now_utc)
            raise ConfigError(_too_short(wider, first, seen, n_bars, len(warm)))
        histories[asset_id] = history.trimmed(first, n_bars)
    return histories


def _check_window(history: History, due: Sequence[Slot], spec: RunSpec) -> None:
    asset = history.asset.id
    if not due:
        raise ConfigError(
            f"{asset} has no session between {spec.start} and {spec.end}: its market was closed. "
            "Choose a wider window."
        )
    if not history.bars:
        raise ConfigError(
            f"{asset} has no prices up to {spec.end} in this data. Choose a later window."
        )
    last = history.bars[-1].session
    if due[-1].session > last:
        raise ConfigError(
            f"The window ends {spec.end}, but prices of {asset} end {last}. "
            f"Use --end {last} or newer data."
        )


def _too_short(history: History, first: date, seen: int, n_bars: int, n_warm: int) -> str:
    possible = first_possible_start(history, n_bars + n_warm)
    fix = f"The first possible start is {possible}." if possible else "Add older prices."
    warm = f", {n_warm} sessions of warm-up after them" if n_warm else ""
    return (
        f"Too little history for {history.asset.id}: {seen} closed bars up to {first}, {n_bars} are "
        f"needed{warm} (prices start {history.bars[0].session}). {fix}"
    )


def make_rounds(
    spec: RunSpec, assets: Mapping[str, Asset]
) -> tuple[tuple[Round, ...], dict[str, date]]:
    """Slots of all assets grouped by moment, in order; and each asset's last session."""
    live = [s for a in assets.values() for s in slots(a, spec.start, spec.end, convention(spec))]
    last = {asset: max(s.session for s in live if s.asset == asset) for asset in assets}
    warm = [s for a in assets.values() for s in warmup_slots(spec, a)] if learners(spec) else []
    due = sorted([*warm, *live], key=lambda s: (s.as_of_utc, s.asset))
    rounds = tuple(
        Round(moment, tuple(group)) for moment, group in groupby(due, lambda s: s.as_of_utc)
    )
    return rounds, last


def start_price(history: History, first_session: date) -> float:
    """Close that an account is marked at before its first session trades."""
    before = [b for b in history.bars if b.session <= first_session]
    return before[-1].close


def lay_out(
    spec: RunSpec,
    source: PriceSource,
    strategies: Sequence[str],
    histories: Mapping[str, History],
    entries: Sequence[tuple[str, str, str]],
    *,
    epoch: int = 1,
) -> Plan:
    """Rounds and fresh tracks of a run; `entries` are (agent id, model id, group)."""
    assets = {a: source.assets()[a] for a in spec.assets}
    rounds, last = make_rounds(spec, assets)
    run = spec.run_id(epoch)
    due = [slot for rnd in rounds for slot in rnd.slots]
    first = {a: min(s.session for s in due if s.asset == a and s.session >= spec.start) for a in assets}
    prices = {a: start_price(histories[a], first[a]) for a in assets}
    tracks, benchmarks = make_tracks(spec, run, assets, first, prices, strategies, entries)
    return Plan(
        run, epoch, spec, assets, histories, rounds, last, tracks, benchmarks, source.synthetic
    )


def make_tracks(
    spec: RunSpec,
    run: str,
    assets: Mapping[str, Asset],
    first: Mapping[str, date],
    prices: Mapping[str, float],
    strategies: Sequence[str],
    entries: Sequence[tuple[str, str, str]],
) -> tuple[tuple[Track, ...], dict[str, Track]]:
    """Fresh tracks by asset and entry, and Buy & Hold by asset.

    Args:
        first: first session of each asset that counts.
        prices: mark of its accounts before that one trades.
    """
    warming = learners(spec)

    def track(agent: str, model: str, group: str, asset: Asset, stored: Sequence[str]) -> Track:
        learns = agent in warming
        return Track(
            TrackId(run, agent, model, asset.id), asset, spec.season, stored, group,
            first_live=first[asset.id], live_price=prices[asset.id],
            warmup=learns, taught=spec.warmup_mode == "teacher", memory=get_agent(agent).memory() if learns else None,
        )  # fmt: skip

    tracks = tuple(track(*e, a, strategies) for a in assets.values() for e in entries)
    return tracks, {
        a.id: track(BUY_HOLD, "-", "benchmark", a, (BUY_HOLD,)) for a in assets.values()
    }


def make_plan(
    spec: RunSpec,
    source: PriceSource,
    strategies: Sequence[str],
    histories: Mapping[str, History],
    *,
    epoch: int = 1,
    intelligence: Intelligence = PRICES_ONLY,
) -> Plan:
    """A run in which agents decide. `strategies` are the accounts to store, no part of its name."""
    plan = lay_out(spec, source, strategies, histories, entries_of(spec), epoch=epoch)
    return replace(
        plan, polls=make_polls(plan.tracks, strategies), intelligence=intelligence
    )


def entries_of(spec: RunSpec) -> list[tuple[str, str, str]]:
    """(agent id, model id, group) of everyone who decides."""
    return [
        (agent.id, model, "model" if model in agent.own_models else model_kind(model))
        for agent in map(get_agent, spec.agents)
        for model in agent.own_models or spec.models
    ]


def make_polls(tracks: Sequence[Track], strategies: Sequence[str]) -> tuple[Poll, ...]:
    """A vote wherever two models of a kind, or more, decide for the same agent and asset."""
    seats: dict[tuple[str, str, str], list[Track]] = {}
    for track in tracks:
        if track.group in VOTE:
            seats.setdefault((track.id.asset, track.id.agent, track.group), []).append(track)
    return tuple(
        Poll(
            Track(
                TrackId(t.id.run, t.id.agent, VOTE[t.group], t.id.asset), t.asset, t.season,
                strategies, GROUP[t.group], first_live=t.first_live, live_price=t.live_price,
            ),
            tuple(voters),
        )
        for voters in seats.values()
        if len(voters) >= 2
        for t in voters[:1]
    )  # fmt: skip

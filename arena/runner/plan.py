"""From a run specification to a checked plan: histories, slots and tracks. Nothing is written here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby

from arena.agents.registry import get_agent
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.ids import TrackId
from arena.core.season import RunSpec
from arena.core.types import Asset, Slot
from arena.llm.registry import get_model, model_kind
from arena.market.calendars import Convention, slots
from arena.market.history import History, load_history
from arena.market.seal import N_BARS, first_possible_start
from arena.market.sources import PriceSource
from arena.portfolio.strategies import get_strategy
from arena.runner.track import Track

EARLIEST = date(2010, 1, 1)
"""No source is asked for anything older; a context needs about 400 days at most."""

BUY_HOLD = "buy_hold"


@dataclass(frozen=True)
class Round:
    """All slots due at one moment."""

    as_of_utc: datetime
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Plan:
    """A run ready to be carried out. `benchmarks` are the Buy & Hold tracks by asset."""

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

    @property
    def n_planned(self) -> int:
        """Decisions of the whole run: slots of an asset times its tracks."""
        due = Counter(slot.asset for rnd in self.rounds for slot in rnd.slots)
        return sum(due[track.asset.id] for track in self.tracks)


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
        get_model(model)


def convention(spec: RunSpec) -> Convention:
    """Slot convention: fill `close` forces the paper's 00:05 UTC of the next day for every asset."""
    return "ama" if spec.season.fill == "close" else "default"


def load_histories(
    source: PriceSource, spec: RunSpec, now_utc: datetime, *, n_bars: int = N_BARS
) -> dict[str, History]:
    """Checked bars of each asset from `n_bars` before the window to its end.

    Raises:
        ConfigError: the window lies outside the data, or too little history comes before it.
    """
    histories = {}
    known = source.assets()
    for asset_id in spec.assets:
        if asset_id not in known:
            raise UnknownNameError("asset", asset_id, known)
        asset = known[asset_id]
        since = max(EARLIEST, spec.start - timedelta(days=int(n_bars * 1.6) + 30))
        history = load_history(source, asset, since, spec.end, now_utc)
        due = slots(asset, spec.start, spec.end, convention(spec))
        _check_window(history, due, spec)
        seen = sum(1 for b in history.bars if b.session <= due[0].session)
        if seen < n_bars:
            wider = load_history(source, asset, since, now_utc.date(), now_utc)
            raise ConfigError(_too_short(wider, due[0].session, seen, n_bars))
        histories[asset_id] = history.trimmed(due[0].session, n_bars)
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


def _too_short(history: History, start: date, seen: int, n_bars: int) -> str:
    possible = first_possible_start(history, n_bars)
    fix = f"The first possible start is {possible}." if possible else "Add older prices."
    return (
        f"Too little history for {history.asset.id}: {seen} closed bars up to {start}, {n_bars} are "
        f"needed (prices start {history.bars[0].session}). {fix}"
    )


def make_rounds(
    spec: RunSpec, assets: Mapping[str, Asset]
) -> tuple[tuple[Round, ...], dict[str, date]]:
    """Slots of all assets grouped by moment, in order; and each asset's last session."""
    due = [s for a in assets.values() for s in slots(a, spec.start, spec.end, convention(spec))]
    due.sort(key=lambda s: (s.as_of_utc, s.asset))
    rounds = tuple(
        Round(moment, tuple(group)) for moment, group in groupby(due, lambda s: s.as_of_utc)
    )
    last = {asset: max(s.session for s in due if s.asset == asset) for asset in assets}
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

    def track(agent: str, model: str, group: str, asset: Asset, stored: Sequence[str]) -> Track:
        first = min(s.session for r in rounds for s in r.slots if s.asset == asset.id)
        made = Track(TrackId(run, agent, model, asset.id), asset, spec.season, stored, group)
        made.ledger.last_price = start_price(histories[asset.id], first)
        return made

    tracks = tuple(track(*e, a, strategies) for a in assets.values() for e in entries)
    benchmarks = {
        a.id: track(BUY_HOLD, "-", "benchmark", a, (BUY_HOLD,)) for a in assets.values()
    }
    return Plan(
        run, epoch, spec, assets, histories, rounds, last, tracks, benchmarks, source.synthetic
    )


def make_plan(
    spec: RunSpec,
    source: PriceSource,
    strategies: Sequence[str],
    histories: Mapping[str, History],
    *,
    epoch: int = 1,
) -> Plan:
    """A run in which agents decide. `strategies` are the accounts to store, no part of its name."""
    entries = [
        (get_agent(agent).id, get_model(model).id, model_kind(model))
        for agent in spec.agents
        for model in spec.models
    ]
    return lay_out(spec, source, strategies, histories, entries, epoch=epoch)

"""The checked bars of one asset: what a source delivered, minus what may not enter."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property

import pandas as pd

from arena.core.types import Asset, Bar
from arena.market.calendars import close_utc, is_session, sessions
from arena.market.checks import PriceCheck, find_gaps, find_jumps, insanity
from arena.market.sources.base import PriceSource


@dataclass(frozen=True)
class History:
    """Final, sane bars in order; `gaps` are sessions without one; `checks` is what was noticed."""

    asset: Asset
    bars: tuple[Bar, ...]
    adj_close: Mapping[date, float] = field(default_factory=dict)
    sources: Mapping[date, str] = field(default_factory=dict)
    checks: tuple[PriceCheck, ...] = ()
    gaps: frozenset[date] = frozenset()

    @cached_property
    def _at(self) -> dict[date, int]:
        return {session: i for i, session in enumerate(self.sessions)}

    @cached_property
    def sessions(self) -> tuple[date, ...]:
        return tuple(bar.session for bar in self.bars)

    def bar(self, session: date) -> Bar | None:
        at = self._at.get(session)
        return None if at is None else self.bars[at]

    def next_bar(self, session: date) -> Bar | None:
        """The first bar after `session`."""
        at = bisect_right(self.sessions, session)
        return self.bars[at] if at < len(self.bars) else None

    def up_to(self, session: date, n_bars: int | None = None) -> tuple[Bar, ...]:
        """The last `n_bars` bars (all by default) up to and with `session`."""
        at = bisect_right(self.sessions, session)
        return self.bars[0 if n_bars is None else max(0, at - n_bars) : at]

    def trimmed(self, first_slot: date, n_bars: int) -> History:
        """Only what contexts from `first_slot` on can reach: `n_bars` up to it, and all after."""
        upto = bisect_right(self.sessions, first_slot)
        kept = self.bars[max(0, upto - n_bars) :]
        since = kept[0].session if kept else first_slot
        return replace(
            self,
            bars=kept,
            checks=tuple(c for c in self.checks if c.session >= since),
            gaps=frozenset(g for g in self.gaps if g >= since),
        )


def load_history(
    source: PriceSource, asset: Asset, start: date, end: date, now_utc: datetime
) -> History:
    """Bars from `start` to `end` that are final at `now_utc` and sane.

    An insane bar is quarantined (a check says why); a `files` source has refused it before. So are
    two bars of one session that differ, and what a live source holds back. Rows on closed days are
    no sessions and do not enter.

    Raises:
        SourceError: the source failed.
        DataError: a strict source holds something that may not enter.
    """
    frame = source.daily(asset, start, end).drop_duplicates()
    twice = set(frame["session"][frame["session"].duplicated()])
    bars: list[Bar] = []
    checks: list[PriceCheck] = []
    adjusted: dict[date, float] = {}
    origin: dict[date, str] = {}
    for row in frame.drop_duplicates("session").to_dict("records"):
        day = row["session"]
        if not is_session(asset.asset_class, day):
            continue
        known = close_utc(asset.asset_class, day)
        if known > now_utc:
            continue
        if why := "two bars of this session differ" if day in twice else insanity(row):
            checks.append(PriceCheck(asset.id, day, "quarantine", row["source"], None, None, why))
            continue
        volume = None if pd.isna(row["volume"]) else float(row["volume"])
        bars.append(
            Bar(
                day, float(row["open"]), float(row["high"]), float(row["low"]),
                float(row["close"]), volume, known,
            )
        )  # fmt: skip
        origin[day] = str(row["source"])
        if not pd.isna(row["adj_close"]):
            adjusted[day] = float(row["adj_close"])
    bars.sort(key=lambda b: b.session)
    hold = getattr(source, "held_back", None)
    if hold is not None:
        held: list[PriceCheck] = hold(asset, bars, origin)
        out = {check.session for check in held}
        bars = [bar for bar in bars if bar.session not in out]
        origin = {day: name for day, name in origin.items() if day not in out}
        adjusted = {day: price for day, price in adjusted.items() if day not in out}
        checks += held
    if bars:
        # After the newest bar a session is pending, not missing.
        open_days = sessions(asset.asset_class, bars[0].session, bars[-1].session)
        checks += find_gaps(asset.id, source.name, open_days, set(origin))
        checks += find_jumps(asset.id, [(b.session, b.close, origin[b.session]) for b in bars])
    extra = getattr(source, "disagreements", None)
    if extra is not None:
        checks += extra(asset, {b.session: b.close for b in bars})
    gaps = frozenset(c.session for c in checks if c.kind in ("gap", "quarantine"))
    return History(asset, tuple(bars), adjusted, origin, tuple(checks), gaps)

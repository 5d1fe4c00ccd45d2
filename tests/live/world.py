"""A made-up market of four assets, as a price source: bars by a seeded walk, and faults on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd

from arena.core.errors import SourceError
from arena.core.rows import ActionRow
from arena.core.types import Asset
from arena.market.calendars import open_utc, sessions
from arena.market.sources import COLUMNS

ASSETS = {
    "AAA": Asset("AAA", "Alpha Works", "stock", True),
    "BBB": Asset("BBB", "Beta Mills", "stock", True),
    "XXX": Asset("XXX", "Xcoin", "crypto", True),
    "YYY": Asset("YYY", "Ycoin", "crypto", True),
}
FIRST = date(2023, 1, 2)


@dataclass
class World:
    """`down` are assets whose source fails, `late` bars that it does not have yet, `revised` closes
    that it tells otherwise.

    `given` are raw prices (open, high, low, close) of a day, `flat` one price for all other days of an
    asset. `happened` are (asset, ex-date, kind, value): told from the morning of the ex-date on unless
    `untold`. Like Yahoo, the world then divides all past prices by a split, unless it is `behind`.
    """

    name: str = "world"
    synthetic: bool = True
    venue: str = "world"
    down: set[str] = field(default_factory=set)
    late: set[tuple[str, date]] = field(default_factory=set)
    revised: dict[tuple[str, date], float] = field(default_factory=dict)
    given: dict[tuple[str, date], tuple[float, float, float, float]] = field(default_factory=dict)
    flat: dict[str, float] = field(default_factory=dict)
    happened: list[tuple[str, date, str, float]] = field(default_factory=list)
    untold: set[date] = field(default_factory=set)
    behind: set[date] = field(default_factory=set)
    asked: list[tuple[str, date, date]] = field(default_factory=list)
    _walks: dict[str, pd.DataFrame] = field(default_factory=dict)

    def assets(self) -> dict[str, Asset]:
        return ASSETS

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        self.asked.append((asset.id, start, end))
        if asset.id in self.down:
            raise SourceError(f"world: no answer about {asset.id}")
        walk = self._walk(asset, end)
        frame = walk[(walk["session"] >= start) & (walk["session"] <= end)].copy()
        for (name, day), close in self.revised.items():
            at = frame["session"] == day
            if name == asset.id and at.any():
                frame.loc[at, "close"] = close
                frame.loc[at, "high"] = np.maximum(frame.loc[at, "high"], close)
                frame.loc[at, "low"] = np.minimum(frame.loc[at, "low"], close)
        if asset.id in self.flat:
            frame[["open", "high", "low", "close"]] = self.flat[asset.id]
        for (name, day), prices in self.given.items():
            if name == asset.id:
                frame.loc[frame["session"] == day, ["open", "high", "low", "close"]] = prices
        for name, ex_date, kind, value in self.happened:
            hidden = ex_date > end or ex_date in self.untold | self.behind
            if name == asset.id and kind == "split" and not hidden:
                past = frame["session"] < ex_date
                frame.loc[past, ["open", "high", "low", "close"]] /= value
                frame.loc[past, "volume"] *= value
        frame["source"] = self.venue
        gone = [(asset.id, day) in self.late for day in frame["session"]]
        return frame[~np.array(gone, dtype=bool)].reset_index(drop=True)

    def actions(self, asset: Asset, start: date, end: date) -> list[ActionRow]:
        found = []
        for name, ex_date, kind, value in self.happened:
            if name == asset.id and start <= ex_date <= end and ex_date not in self.untold:
                known = open_utc(asset.asset_class, ex_date)
                found.append(ActionRow(name, ex_date, kind, "world", value, known, known))
        return found

    def _walk(self, asset: Asset, end: date) -> pd.DataFrame:
        walk = self._walks.get(asset.id)
        if walk is None or walk["session"].iloc[-1] < end:
            until = max(end, FIRST) + timedelta(days=400)
            self._walks[asset.id] = walk = make_walk(asset, until)
        return walk

    def close(self, asset: str, session: date) -> float:
        walk = self._walk(ASSETS[asset], session)
        return float(walk.loc[walk["session"] == session, "close"].iloc[0])


def make_walk(asset: Asset, until: date) -> pd.DataFrame:
    """The same prices whatever the end: each is drawn after the one before it."""
    days = sessions(asset.asset_class, FIRST, until)
    rng = np.random.default_rng(sum(map(ord, asset.id)))
    moves = rng.standard_normal((len(days), 3))
    close = 100.0 * np.exp(np.cumsum(0.02 * moves[:, 0]))
    before = np.concatenate([[100.0], close[:-1]])
    open_ = before if asset.asset_class == "crypto" else before * np.exp(0.004 * moves[:, 1])
    high = np.maximum(open_, close) * np.exp(0.004 * np.abs(moves[:, 2]))
    low = np.minimum(open_, close) * np.exp(-0.004 * np.abs(moves[:, 2]))
    frame = pd.DataFrame(
        {
            "session": list(days), "open": open_, "high": high, "low": low, "close": close,
            "adj_close": np.nan, "volume": 1000.0, "source": "world",
        }
    )  # fmt: skip
    return frame[list(COLUMNS)]


class Hands:
    """A clock that tests move."""

    def __init__(self, now_utc: datetime) -> None:
        self.now_utc = now_utc

    def __call__(self) -> datetime:
        return self.now_utc

    def forward(self, **delta: float) -> None:
        self.now_utc += timedelta(**delta)

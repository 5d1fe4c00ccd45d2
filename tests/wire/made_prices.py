"""Made-up prices of any symbol and day, the same in every process: what the servers of `servers.py` sell."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import numpy as np

from arena.core.types import AssetClass
from arena.market.calendars import close_utc, is_session, open_utc

FIRST_DAY = date(2021, 1, 1)
N_DAYS = 3650
BASE = {"BTC": 60_000.0, "ETH": 2_500.0, "TSLA": 250.0, "BMRN": 70.0, "SPY": 500.0, "QQQ": 450.0}

Made = tuple[float, float, float, float, float]
"""Open, high, low, close, volume."""


@dataclass
class MadePrices:
    """A market that is closed when ours is, seen at `clock`. `given` overrides single days of a symbol."""

    clock: Callable[[], datetime]
    given: dict[str, dict[date, Made]] = field(default_factory=dict)
    _paths: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def bar(self, symbol: str, day: date) -> Made:
        """The whole bar of a session, whether or not it is over."""
        if (mine := self.given.get(symbol, {}).get(day)) is not None:
            return mine
        opens, closes = self._path(symbol)
        at = (day - FIRST_DAY).days
        first, last = float(opens[at]), float(closes[at])
        return first, max(first, last) * 1.01, min(first, last) * 0.99, last, 1000.0 + at

    def price(
        self, symbol: str, kind: AssetClass, at_utc: datetime
    ) -> tuple[float, datetime] | None:
        """The last trade at `at_utc` and its time: on the line from the day's open to its close."""
        day = at_utc.astimezone(UTC).date()
        while not is_session(kind, day) or open_utc(kind, day) > at_utc:
            day -= timedelta(days=1)
        begun, over = open_utc(kind, day), close_utc(kind, day)
        first, _, _, last, _ = self.bar(symbol, day)
        share = min(1.0, (at_utc - begun) / (over - begun))
        return first + (last - first) * share, min(at_utc, over)

    def bars(self, symbol: str, kind: AssetClass, start: date, end: date) -> dict[date, Made]:
        """Sessions in [start, end] that have begun, the running one as it stands."""
        now = self.clock()
        found: dict[date, Made] = {}
        day = max(start, FIRST_DAY)
        while day <= end and day <= now.date():
            if is_session(kind, day) and open_utc(kind, day) <= now:
                bar = self.bar(symbol, day)
                if close_utc(kind, day) > now:
                    seen = self.price(symbol, kind, now)
                    assert seen is not None
                    first, last = bar[0], seen[0]
                    bar = (first, max(first, last), min(first, last), last, bar[4] / 2)
                found[day] = bar
            day += timedelta(days=1)
        return found

    def _path(self, symbol: str) -> tuple[np.ndarray, np.ndarray]:
        symbol = symbol.split("-")[0].split("/")[0]  # BTC-USD and BTC/USD are one coin
        if symbol not in self._paths:
            seed = int(hashlib.sha256(symbol.encode()).hexdigest()[:8], 16)
            rng = np.random.default_rng(seed)
            log_price = np.cumsum(rng.normal(0.0, 0.015, N_DAYS + 1))
            # Pulled back to its base, so that ten years do not end at nothing or at the moon.
            log_price -= np.linspace(0.0, log_price[-1], N_DAYS + 1)
            prices = np.round(BASE.get(symbol, 100.0) * np.exp(log_price), 2)
            self._paths[symbol] = (prices[:-1], prices[1:])
        return self._paths[symbol]

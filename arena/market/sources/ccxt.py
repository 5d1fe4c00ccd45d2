"""Crypto candles by ccxt, from the first exchange of a fixed order that serves the pair."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.sources.base import COLUMNS, ensure_network

EXCHANGES = ("kraken", "coinbase", "bitstamp", "gemini", "binanceus", "binance")
PAGE = 300
"""Candles a request: every exchange of the list serves at least that many (coinbase: 300)."""

DAY_MS = 86_400_000
REFUSED = ("451", "403", "restricted location", "forbidden")


class CcxtSource:
    """Finished daily candles. An exchange that answers 451 or 403 is off until the next UTC day.

    `make` builds an exchange by name; tests give their own.
    """

    name = "ccxt"
    synthetic = False

    def __init__(
        self,
        assets: dict[str, Asset],
        make: Callable[[str], Any] | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._assets = {k: a for k, a in assets.items() if "ccxt" in a.symbols}
        self._make, self._clock = make or _make, clock
        self._open: dict[str, Any] = {}
        self._refused_on: dict[str, date] = {}

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        """Raises SourceError when no exchange of the list answers; it names each one's reason."""
        why: list[str] = []
        for name in EXCHANGES:
            if self._refused_on.get(name) == self._clock().date():
                why.append(f"{name}: refused earlier today")
                continue
            try:
                rows = self._candles(name, asset.symbols["ccxt"], start, end)
            except Exception as error:  # noqa: BLE001
                # Each exchange class raises its own family; the reason is kept and the next one tried.
                text = f"{type(error).__name__}: {error}"
                if any(word in text.lower() for word in REFUSED):
                    self._refused_on[name] = self._clock().date()
                why.append(f"{name}: {text[:200]}")
                continue
            if rows and rows[0][0] <= _ms(start):
                return _frame(rows, name, start, end)
            why.append(f"{name}: its candles do not reach back to {start}")
        raise SourceError(f"no exchange served {asset.id}: " + "; ".join(why))

    def _candles(self, name: str, pair: str, start: date, end: date) -> list[list[float]]:
        if name not in self._open:
            self._open[name] = self._make(name)
        exchange = self._open[name]
        now_ms = int(self._clock().timestamp() * 1000)
        last = min(_ms(end + timedelta(days=1)), now_ms)
        rows: dict[int, list[float]] = {}
        since = _ms(start)
        while since < last:
            page = exchange.fetch_ohlcv(pair, "1d", since=since, limit=PAGE)
            fresh = [r for r in page if int(r[0]) not in rows and int(r[0]) >= since]
            if not fresh:
                break
            rows.update({int(r[0]): r for r in fresh})
            since = max(rows) + DAY_MS
        # The newest candle may still be running: only one whose day is over counts.
        return [rows[t] for t in sorted(rows) if t + DAY_MS <= now_ms]


def _ms(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp() * 1000)


def _frame(rows: list[list[float]], name: str, start: date, end: date) -> pd.DataFrame:
    frame = pd.DataFrame(
        [
            {
                "session": datetime.fromtimestamp(r[0] / 1000, UTC).date(),
                "open": float(r[1]), "high": float(r[2]), "low": float(r[3]), "close": float(r[4]),
                "adj_close": float("nan"), "volume": float(r[5]), "source": f"ccxt:{name}",
            }
            for r in rows
        ],
        columns=list(COLUMNS),
    )  # fmt: skip
    inside = (frame["session"] >= start) & (frame["session"] <= end)
    return frame[inside].reset_index(drop=True)


def _make(name: str) -> Any:
    ensure_network(name)
    import ccxt

    return getattr(ccxt, name)({"timeout": 10_000})

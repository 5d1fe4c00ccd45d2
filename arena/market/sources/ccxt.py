"""Crypto candles by ccxt, from the first exchange of a fixed order that serves the pair."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.sources.base import COLUMNS
from arena.market.sources.exchanges import EXCHANGES, Exchanges
from arena.market.sources.patience import Patience
from arena.market.symbols import newest_symbol

PAGE = 300
"""Candles a request: every exchange of the list serves at least that many (coinbase: 300)."""

DAY_MS = 86_400_000


class CcxtSource:
    """Finished daily candles. One that answers 451 or 403 is off until the next UTC day, one that
    limits us (429) until its wait is over; the next exchange is asked instead.

    `make` builds an exchange by name; tests give their own.
    """

    name = "ccxt"
    synthetic = False

    def __init__(
        self,
        assets: dict[str, Asset],
        make: Callable[[str], Any] | None = None,
        clock: Clock = utc_now,
        patience: Patience | None = None,
    ) -> None:
        self._assets = {k: a for k, a in assets.items() if "ccxt" in a.symbols}
        self._clock = clock
        self._exchanges = Exchanges(make, clock, patience)

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        """Raises SourceError when no exchange of the list answers; it names each one's reason."""
        why: list[str] = []
        pair = newest_symbol(asset, "ccxt") or asset.id
        for name in EXCHANGES:
            try:
                rows = self._exchanges.ask(
                    name, lambda exchange: self._candles(exchange, pair, start, end)
                )
            except SourceError as error:
                why.append(str(error)[:200])
                continue
            if rows and rows[0][0] <= _ms(start):
                if any(row[0] % DAY_MS for row in rows):
                    why.append(f"{name}: its candles do not begin at 00:00 UTC")
                    continue
                return _frame(rows, name, start, end)
            why.append(f"{name}: its candles do not reach back to {start}")
        raise SourceError(f"no exchange served {asset.id}: " + "; ".join(why))

    def _candles(self, exchange: Any, pair: str, start: date, end: date) -> list[list[float]]:
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

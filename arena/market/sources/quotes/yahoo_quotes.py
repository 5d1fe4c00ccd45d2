"""Quotes of stocks and ETFs: the price and its time in the head of Yahoo's chart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.sources.patience import SHARED, Patience
from arena.market.sources.quotes.base import Quote
from arena.market.sources.yahoo import ONE_AT_A_TIME
from arena.market.sources.yahoo_client import yfinance_client
from arena.market.symbols import symbol_on


class YahooQuotes:
    """`client` stands in for the yfinance module in tests.

    The chart of one day has `regularMarketPrice` with the time of that trade. `fast_info` has a price
    without a time, for which it asks for a year of bars.
    """

    name = "yahoo"

    def __init__(
        self, client: Any = None, clock: Clock = utc_now, patience: Patience | None = None
    ) -> None:
        self._client = client
        self._patience = patience or (SHARED if client is None else Patience(clock))

    def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
        symbol = symbol_on(asset, "yahoo", now_utc.date())
        if symbol is None:
            return None
        self._patience.check(self.name)
        client = self._client or yfinance_client()
        with ONE_AT_A_TIME:
            try:
                ticker = client.Ticker(symbol)
                ticker.history(period="1d", interval="1d", auto_adjust=False, actions=False)
                head = ticker.history_metadata
                price, stamp = head.get("regularMarketPrice"), head.get("regularMarketTime")
            except Exception as error:
                # yfinance has typed errors, but also leaks those of its HTTP and cache layers.
                self._patience.note(self.name, error)
                raise SourceError(f"yahoo {symbol}: {type(error).__name__}: {error}") from error
        self._patience.ok(self.name)
        if price is None or stamp is None:
            raise SourceError(f"yahoo {symbol}: its chart has no price of the moment.")
        seconds = stamp.timestamp() if isinstance(stamp, datetime) else float(stamp)
        return Quote(asset.id, float(price), datetime.fromtimestamp(seconds, UTC), self.name)

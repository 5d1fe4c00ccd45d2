"""Quotes of stocks from Finnhub, for who has its key: the second source that Yahoo has none of.

Form of an answer, from Finnhub's published clients: `c` the last price, `t` its time in seconds since
1970, zeros for a symbol that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.settings import secret
from arena.core.types import Asset
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.finnhub import BASE_URL, KEY
from arena.market.sources.news.keyed import ask_json
from arena.market.sources.patience import SHARED, Patience
from arena.market.sources.quotes.base import Quote
from arena.market.symbols import symbol_on


class FinnhubQuotes:
    """`ask` stands in for the request in tests: the answer for a symbol."""

    name = "finnhub"

    def __init__(
        self, key: str, ask: Callable[[str], Any] | None = None, clock: Clock = utc_now
    ) -> None:
        self._key, self._ask = key, ask or self._request
        self._patience = SHARED if ask is None else Patience(clock)

    def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
        symbol = symbol_on(asset, "yahoo", now_utc.date())
        if symbol is None or asset.asset_class == "crypto":
            return None
        self._patience.check(self.name)
        try:
            answer = self._ask(symbol)
        except LimitedError as error:
            self._patience.note(self.name, error, error.retry_after_s)
            raise
        self._patience.ok(self.name)
        price, stamp = (
            (answer.get("c"), answer.get("t")) if isinstance(answer, dict) else (None, None)
        )
        if not isinstance(price, int | float) or not isinstance(stamp, int | float):
            raise SourceError(
                f"finnhub {symbol}: the answer has no price; its form may have changed."
            )
        if not price or not stamp:
            return None
        return Quote(asset.id, float(price), datetime.fromtimestamp(stamp, UTC), self.name)

    def _request(self, symbol: str) -> Any:
        return ask_json(
            self.name, f"{BASE_URL}/quote", {KEY: self._key},
            params={"symbol": symbol}, headers={"X-Finnhub-Token": self._key},
        )  # fmt: skip


def finnhub_quotes() -> FinnhubQuotes | None:
    """The source, where `FINNHUB_API_KEY` is set."""
    key = secret(KEY)
    return FinnhubQuotes(key) if key else None

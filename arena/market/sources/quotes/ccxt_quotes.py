"""Quotes of coins: the last trade of an exchange's public ticker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.sources.exchanges import Exchanges
from arena.market.sources.quotes.base import Quote
from arena.market.symbols import symbol_on

QUOTE_EXCHANGES = ("kraken", "coinbase", "bitstamp", "gemini")


class CcxtQuotes:
    """One exchange of `exchanges`."""

    def __init__(self, exchange: str, exchanges: Exchanges) -> None:
        self.name, self._exchange, self._exchanges = f"ccxt:{exchange}", exchange, exchanges

    def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
        """As the protocol says. Kraken's ticker has no time: then it is that of its answer."""
        pair = symbol_on(asset, "ccxt", now_utc.date())
        if pair is None:
            return None
        ticker: dict[str, Any] = self._exchanges.ask(
            self._exchange, lambda exchange: exchange.fetch_ticker(pair)
        )
        last, stamp = ticker.get("last"), ticker.get("timestamp")
        if last is None:
            raise SourceError(f"{self.name}: the ticker of {pair} has no last price.")
        at = now_utc if stamp is None else datetime.fromtimestamp(float(stamp) / 1000, UTC)
        return Quote(asset.id, float(last), at, self.name)

"""Real prices: Yahoo for stocks and ETFs, exchanges for crypto, each checked against a second look."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.rows import ActionRow
from arena.core.settings import kraken_url, yahoo_url
from arena.core.types import Asset, Bar
from arena.market.assets import load_assets
from arena.market.calendars import close_utc, next_session, open_utc
from arena.market.checks import PriceCheck, find_disagreements
from arena.market.quarantine import held_back, same_price
from arena.market.sources.base import PriceSource, ensure_network, register
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.quotes.base import QuoteSource
from arena.market.sources.quotes.finnhub_quotes import finnhub_quotes
from arena.market.sources.yahoo import YahooSource

log = logging.getLogger("arena.market")

SECOND_LOOK_DAYS = 10
"""Reach of the second look at a suspect: around it, not over the whole history."""


LAST_MINUTES = timedelta(minutes=5)
"""A last trade this close to the close is the close, for a second look."""


def probes() -> tuple[str, ...]:
    """Small public answers of the first sources; one of them is enough."""
    kraken = kraken_url() or "https://api.kraken.com"
    yahoo = yahoo_url() or "https://query1.finance.yahoo.com"
    return (
        f"{kraken}/0/public/Time",
        "https://api.exchange.coinbase.com/time",
        f"{yahoo}/v8/finance/chart/SPY?range=1d&interval=1d",
    )


class LiveSource:
    """Primary source by asset class; crypto closes are compared with Yahoo's, jumps are held back.

    `second` is another source of a stock's newest price, where there is one.
    """

    name = "live"
    synthetic = False

    def __init__(
        self,
        yahoo: PriceSource,
        ccxt: PriceSource,
        assets: dict[str, Asset],
        second: QuoteSource | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._yahoo, self._ccxt, self._assets = yahoo, ccxt, assets
        self._second, self._clock = second, clock

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        primary = self._ccxt if asset.asset_class == "crypto" else self._yahoo
        return primary.daily(asset, start, end)

    def disagreements(self, asset: Asset, closes: Mapping[date, float]) -> list[PriceCheck]:
        """Closes more than 1 % from Yahoo's; none, with a log line, where Yahoo does not answer."""
        if not closes:
            return []
        theirs = self._second_closes(asset, min(closes), max(closes))
        return find_disagreements(asset.id, "yahoo", closes, theirs)

    def actions(self, asset: Asset, start: date, end: date) -> list[ActionRow]:
        """Splits and dividends with an ex-date in [start, end]; coins have none.

        Raises:
            SourceError: Yahoo does not answer.
        """
        seen = getattr(self._yahoo, "actions", None)
        if asset.asset_class == "crypto" or seen is None:
            return []
        found: list[ActionRow] = seen(asset, start, end)
        return found

    def held_back(
        self, asset: Asset, bars: Sequence[Bar], origin: Mapping[date, str]
    ) -> list[PriceCheck]:
        """Bars that may not enter yet (`market.quarantine`). The second source of a coin is Yahoo. A
        stock has one for its newest close only, and none without a key: its jump then waits for a
        split or for the next sessions."""
        if not held_back(asset.id, bars, origin.__getitem__):
            return []

        def agrees(day: date, close: float) -> bool:
            if asset.asset_class != "crypto":
                return same_price(close, self._last_close(asset, day))
            since = max(bars[0].session, day - timedelta(days=SECOND_LOOK_DAYS))
            return same_price(close, self._second_closes(asset, since, day).get(day))

        splits = self._splits(asset, bars[0].session, bars[-1].session)
        return held_back(asset.id, bars, origin.__getitem__, splits, agrees)

    def _splits(self, asset: Asset, start: date, end: date) -> list[ActionRow]:
        try:
            return self.actions(asset, start, end)
        except SourceError as error:
            log.warning("no splits of %s: %s", asset.id, error)
            return []

    def _last_close(self, asset: Asset, day: date) -> float | None:
        """The second source's price, if it is the close of `day`: of its last minutes or later, and of
        no session after it."""
        if self._second is None:
            return None
        try:
            quote = self._second.quote(asset, self._clock())
        except SourceError as error:
            log.warning("no second look at %s: %s", asset.id, error)
            return None
        over = close_utc(asset.asset_class, day)
        after = open_utc(asset.asset_class, next_session(asset.asset_class, day))
        inside = quote is not None and over - LAST_MINUTES <= quote.at_utc < after
        return quote.price if quote is not None and inside else None

    def _second_closes(self, asset: Asset, start: date, end: date) -> dict[date, float]:
        """Closes of a coin's second source; none, with a log line, where it does not answer."""
        if asset.asset_class != "crypto" or "yahoo" not in asset.symbols:
            return {}
        try:
            frame = self._yahoo.daily(asset, start, end)
        except SourceError as error:
            log.warning("no second look at %s: %s", asset.id, error)
            return {}
        return dict(zip(frame["session"], frame["close"], strict=True))


def reachable(timeout_s: float = 10.0, urls: Sequence[str] | None = None) -> bool:
    """Whether any price source answers within `timeout_s`; a small request, no client library."""
    urls = [url for url in (probes() if urls is None else urls) if _may_ask(url)]
    if not urls:
        return False
    import httpx

    answers: SimpleQueue[bool] = SimpleQueue()

    def ask(url: str) -> None:
        try:
            answers.put(httpx.get(url, timeout=timeout_s, follow_redirects=True).is_success)
        except httpx.HTTPError as error:
            log.info("no answer from %s: %s", url, error)
            answers.put(False)

    # Daemon threads: an answer that never comes must not hold the process at exit.
    for url in urls:
        Thread(target=ask, args=(url,), name="arena-reach", daemon=True).start()
    deadline = monotonic() + timeout_s
    for _ in urls:
        try:
            if answers.get(timeout=max(0.0, deadline - monotonic())):
                return True
        except Empty:
            log.info("no price source answered within %s s", timeout_s)
            break
    return False


def _may_ask(url: str) -> bool:
    try:
        ensure_network("probe", url)
    except SourceError as error:
        log.info("%s not asked: %s", url, error)
        return False
    return True


@register("live")
def open_live(_: str) -> LiveSource:
    assets = load_assets()
    return LiveSource(YahooSource(assets), CcxtSource(assets), assets, finnhub_quotes())

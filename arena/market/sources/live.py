"""Real prices: Yahoo for stocks and ETFs, exchanges for crypto, each checked against a second look."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import date
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

import pandas as pd

from arena.core.errors import SourceError
from arena.core.settings import network_allowed
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.checks import PriceCheck, find_disagreements
from arena.market.sources.base import PriceSource, register
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.yahoo import YahooSource

log = logging.getLogger("arena.market")

PROBES = (
    "https://api.kraken.com/0/public/Time",
    "https://api.exchange.coinbase.com/time",
    "https://query1.finance.yahoo.com/v8/finance/chart/SPY?range=1d&interval=1d",
)
"""Small public answers of the first sources; one of them is enough."""


class LiveSource:
    """Primary source by asset class; crypto closes are compared with Yahoo's."""

    name = "live"
    synthetic = False

    def __init__(self, yahoo: PriceSource, ccxt: PriceSource, assets: dict[str, Asset]) -> None:
        self._yahoo, self._ccxt, self._assets = yahoo, ccxt, assets

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        primary = self._ccxt if asset.asset_class == "crypto" else self._yahoo
        return primary.daily(asset, start, end)

    def disagreements(self, asset: Asset, closes: Mapping[date, float]) -> list[PriceCheck]:
        """Closes more than 1 % from Yahoo's; none, with a log line, where Yahoo does not answer."""
        if asset.asset_class != "crypto" or "yahoo" not in asset.symbols or not closes:
            return []
        try:
            frame = self._yahoo.daily(asset, min(closes), max(closes))
        except SourceError as error:
            log.warning("no second look at %s: %s", asset.id, error)
            return []
        theirs = dict(zip(frame["session"], frame["close"], strict=True))
        return find_disagreements(asset.id, "yahoo", closes, theirs)


def reachable(timeout_s: float = 10.0, urls: Sequence[str] = PROBES) -> bool:
    """Whether any price source answers within `timeout_s`; a small request, no client library."""
    if not network_allowed():
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


@register("live")
def open_live(_: str) -> LiveSource:
    assets = load_assets()
    return LiveSource(YahooSource(assets), CcxtSource(assets), assets)

"""Real prices: Yahoo for stocks and ETFs, exchanges for crypto, each checked against a second look."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import date, timedelta

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.settings import network_allowed
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.checks import PriceCheck, find_disagreements
from arena.market.sources.base import PriceSource, register
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.yahoo import YahooSource

log = logging.getLogger("arena.market")


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


def reachable(timeout_s: float = 10.0, clock: Clock = utc_now) -> bool:
    """Whether any price source answers within `timeout_s`."""
    if not network_allowed():
        return False
    source = open_live("")
    end = clock().date()
    wanted = [a for a in source.assets().values() if a.id in ("SPY", "BTC")]
    pool = ThreadPoolExecutor(len(wanted), thread_name_prefix="arena-reach")
    asks = [pool.submit(source.daily, a, end - timedelta(days=7), end) for a in wanted]
    try:
        for ask in as_completed(asks, timeout=timeout_s):
            if ask.exception() is None and len(ask.result()):
                return True
    except TimeoutError:
        log.info("no price source answered within %s s", timeout_s)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return False


@register("live")
def open_live(_: str) -> LiveSource:
    assets = load_assets()
    return LiveSource(YahooSource(assets), CcxtSource(assets), assets)

"""Every news source that a live run asks: those without a key, and those whose key is set."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from arena.core.clock import Clock, utc_now
from arena.core.types import Asset
from arena.market.sources.news.base import NewsSource
from arena.market.sources.news.edgar import EdgarIndex
from arena.market.sources.news.feeds import load_feeds
from arena.market.sources.news.rss import RssSource
from arena.market.sources.news.yahoo import YahooNews

KEYED = ("finnhub", "newsdata", "cryptonews", "reddit", "x")
"""Modules of this folder; each has `source(clock)`, None where its key is not set."""


def live_news(assets: Sequence[Asset], clock: Clock = utc_now) -> list[NewsSource]:
    """The sources for real assets, in a fixed order; none where all are made up.

    Raises:
        DataError: `data/feeds.toml` has an entry that cannot be used.
    """
    real = [asset for asset in assets if not asset.synthetic]
    if not real:
        return []
    sources: list[NewsSource] = [YahooNews(clock=clock)]
    if any("edgar" in asset.symbols for asset in real):
        sources.append(EdgarIndex(clock=clock))
    sources += [
        RssSource(feed, clock)
        for feed in load_feeds()
        if feed.enabled and any(feed.covers(asset) for asset in real)
    ]
    keyed = (import_module(f"arena.market.sources.news.{name}").source(clock) for name in KEYED)
    return sources + [source for source in keyed if source is not None]

"""Yahoo's news list of an asset by yfinance, which knows two forms of a row.

Until 2024 a row was flat (`providerPublishTime`, seconds since 1970); since then what it says lies under
`content` (`pubDate`, ISO with Z). Both are read; yfinance 1.7 hands over what Yahoo sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust, TsQuality
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.keyed import epoch_utc, iso_utc, text_in
from arena.market.sources.yahoo import ONE_AT_A_TIME
from arena.market.sources.yahoo_client import yfinance_client
from arena.market.symbols import newest_symbol

MAX_ROWS = 100
MAX_TITLE_CHARS, MAX_TEXT_CHARS, MAX_URL_CHARS, MAX_OUTLET_CHARS = 2_000, 20_000, 2_000, 100


class YahooNews:
    """The newest rows of each asset. `client` stands in for the yfinance module in tests.

    Yahoo lists what it finds related, other companies included: the text has to name the asset.
    """

    name = "yahoo"
    trust: Trust = "vendor"

    def __init__(self, client: Any = None, clock: Clock = utc_now) -> None:
        self._client, self._clock = client, clock

    def fetch(
        self,
        assets: Sequence[Asset],
        since_utc: datetime,  # noqa: ARG002 - Yahoo has only a newest list
        until_utc: datetime,  # noqa: ARG002
    ) -> list[RawItem]:
        """As the protocol says. Empty lists for every asset are a failure: Yahoo always lists
        something for what it knows, and yfinance makes an empty list of an answer with an error."""
        listed = [a for a in assets if "yahoo" in a.symbols and not a.synthetic]
        if not listed:
            return []
        client = self._client or yfinance_client()
        found: list[RawItem] = []
        for asset in listed:
            rows = _rows(client, newest_symbol(asset, "yahoo") or asset.id)
            found += [_item(row, asset.id, self._clock()) for row in rows[:MAX_ROWS]]
        if not found:
            symbols = ", ".join(asset.symbols["yahoo"] for asset in listed)
            raise SourceError(f"yahoo: no list of news for {symbols}; it refuses, or has changed.")
        return found


def _rows(client: Any, symbol: str) -> list[Any]:
    with ONE_AT_A_TIME:
        try:
            rows = client.Ticker(symbol).get_news(count=MAX_ROWS)
        except Exception as error:
            # yfinance has typed errors, but also leaks those of its HTTP and cache layers.
            kind = type(error).__name__
            if kind == "YFRateLimitError":
                raise LimitedError(f"yahoo {symbol}: too many requests.") from error
            raise SourceError(f"yahoo {symbol}: {kind}.") from error
    if not isinstance(rows, list):
        raise SourceError(f"yahoo {symbol}: the answer is no list of news.")
    return rows


def _item(row: Any, asset: str, collected_at_utc: datetime) -> RawItem:
    flat = row if isinstance(row, dict) else {}
    nested = flat.get("content")
    inner = nested if isinstance(nested, dict) else flat
    quality, published = _dated(inner)
    return RawItem(
        title=text_in(inner, "title")[:MAX_TITLE_CHARS],
        url=_address(inner),
        text=max(text_in(inner, "summary"), text_in(inner, "description"), key=len)[
            :MAX_TEXT_CHARS
        ],
        outlet=_outlet(inner)[:MAX_OUTLET_CHARS],
        origin="yahoo",
        trust="vendor",
        ts_quality=quality,
        published_utc=published,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=True,
    )


def _dated(row: dict[str, Any]) -> tuple[TsQuality, datetime | None]:
    if text := text_in(row, "pubDate"):
        moment, zoned = iso_utc(text)
        return ("exact" if zoned else "naive") if moment else "none", moment
    moment = epoch_utc(row.get("providerPublishTime"))
    return "exact" if moment else "none", moment


def _address(row: dict[str, Any]) -> str:
    """The publisher's own address where Yahoo gives it, else the one it would open; "" if too long."""
    places = (row.get("canonicalUrl"), row.get("clickThroughUrl"))
    urls = [text_in(place, "url") for place in places if isinstance(place, dict)]
    url = next(filter(None, [*urls, text_in(row, "link")]), "")
    return url if len(url) <= MAX_URL_CHARS else ""


def _outlet(row: dict[str, Any]) -> str:
    provider = row.get("provider")
    named = text_in(provider, "displayName") if isinstance(provider, dict) else ""
    return named or text_in(row, "publisher") or "Yahoo Finance"

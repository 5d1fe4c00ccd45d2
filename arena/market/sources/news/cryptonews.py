"""CryptoNews API (cryptonews-api.com): articles tagged with coins.

Form, from answers that others published: `data` of `title`, `text`, `news_url`, `source_name`, `date`
("Thu, 06 Jan 2022 05:15:47 -0500"), `tickers`, `sentiment`. The vendor's sentiment is not used: tone
is counted here. Not verified: the form of its errors, and how many items each plan allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.settings import secret
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust, TsQuality
from arena.market.sources.news.keyed import ask_json, complaint, list_in, text_in, ticker

KEY = "CRYPTONEWS_API_KEY"
BASE_URL = "https://cryptonews-api.com/api/v1"
MAX_ITEMS = 50


class CryptoNewsSource:
    """One request for all coins. The API takes its key in the address only, which errors leave out."""

    name = "cryptonews"
    trust: Trust = "vendor"

    def __init__(
        self, key: str, base_url: str = BASE_URL, clock: Clock = utc_now, max_items: int = MAX_ITEMS
    ) -> None:
        self._key, self._base_url, self._clock, self._max_items = key, base_url, clock, max_items

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime  # noqa: ARG002
    ) -> list[RawItem]:
        """As the protocol says: the newest `max_items` articles, whatever the window."""
        coins = {ticker(a): a.id for a in assets if a.asset_class == "crypto" and not a.synthetic}
        if not coins:
            return []
        secrets = {KEY: self._key}
        params = {"tickers": ",".join(coins), "items": str(self._max_items), "page": "1"}
        answer = ask_json(self.name, self._base_url, secrets, params={**params, "token": self._key})
        if isinstance(answer, dict) and "data" not in answer:
            raise complaint(self.name, text_in(answer, "message", "error"), secrets)
        return parse(answer, coins, self._clock())


def parse(answer: Any, coins: dict[str, str], collected_at_utc: datetime) -> list[RawItem]:
    """Items, one per article and coin of ours that it is tagged with. `coins` are our ids by ticker.

    Raises:
        SourceError: the answer holds no list of articles.
    """
    found: list[RawItem] = []
    for row in list_in("cryptonews", answer, "data"):
        tags = row.get("tickers")
        tags = [t for t in tags if isinstance(t, str)] if isinstance(tags, list) else []
        named: list[str | None] = [coins[t] for t in dict.fromkeys(tags) if t in coins]
        found += [_item(row, asset, collected_at_utc) for asset in named or [None]]
    return found


def _item(row: dict[str, Any], asset: str | None, collected_at_utc: datetime) -> RawItem:
    at, quality = mail_date(text_in(row, "date"))
    return RawItem(
        title=text_in(row, "title"),
        url=text_in(row, "news_url"),
        text=text_in(row, "text"),
        outlet=text_in(row, "source_name") or "CryptoNews API",
        origin="cryptonews",
        trust="vendor",
        ts_quality=quality,
        published_utc=at,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=asset is not None,
    )


def mail_date(text: str) -> tuple[datetime | None, TsQuality]:
    """A date as in e-mail (RFC 2822); without a zone it is read as UTC."""
    try:
        at = parsedate_to_datetime(text)
        if at.tzinfo is None:
            return at.replace(tzinfo=UTC), "naive"
        return at.astimezone(UTC), "exact"
    except (ValueError, TypeError, OverflowError):
        return None, "none"


def source(clock: Clock = utc_now) -> CryptoNewsSource | None:
    """The source, where `CRYPTONEWS_API_KEY` is set."""
    key = secret(KEY)
    return CryptoNewsSource(key, clock=clock) if key else None

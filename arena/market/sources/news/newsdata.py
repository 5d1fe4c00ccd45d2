"""NewsData.io: the newest articles that mention a name, and, for coins, its list of crypto news.

Form, from answers that others published: `results` of `title`, `link`, `description`, `source_name`,
`source_id`, `pubDate` ("2025-04-12 21:45:00") with `pubDateTZ` ("UTC"), and `nextPage`; errors have
`status` "error" and `results.code`. Not verified against a live answer: that pages come newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.settings import secret
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust, TsQuality
from arena.market.sources.news.keyed import (
    ask_json,
    complaint,
    iso_utc,
    list_in,
    text_in,
    ticker,
)

KEY = "NEWSDATA_API_KEY"
BASE_URL = "https://newsdata.io/api/1"
MAX_PAGES = 3
"""Of one asset; each page is a credit of the plan."""
LIMIT_CODES = frozenset({"ratelimitexceeded", "toomanyrequests", "apilimitexceeded"})


class NewsDataSource:
    """English articles, at most `MAX_PAGES` pages per asset. The free plan holds them back for hours."""

    name = "newsdata"
    trust: Trust = "vendor"

    def __init__(self, key: str, base_url: str = BASE_URL, clock: Clock = utc_now) -> None:
        self._key, self._base_url, self._clock = key, base_url, clock

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime  # noqa: ARG002
    ) -> list[RawItem]:
        """As the protocol says; further pages only while the last one reaches no further back."""
        found: list[RawItem] = []
        for asset in assets:
            if not asset.synthetic:
                found += self._pages(asset, since_utc)
        return found

    def _pages(self, asset: Asset, since_utc: datetime) -> list[RawItem]:
        what, asked = _question(asset)
        found: list[RawItem] = []
        for _ in range(MAX_PAGES):
            answer = self._ask(what, asked)
            items = parse(answer, asset.id, self._clock())
            found += items
            dates = [i.published_utc for i in items if i.published_utc]
            following = text_in(answer, "nextPage")
            if not following or not dates or min(dates) < since_utc:
                break
            asked = {**asked, "page": following}
        return found

    def _ask(self, what: str, params: dict[str, str]) -> Any:
        secrets = {KEY: self._key}
        answer = ask_json(
            self.name, f"{self._base_url}/{what}", secrets,
            params=params, headers={"X-ACCESS-KEY": self._key},
        )  # fmt: skip
        if isinstance(answer, dict) and answer.get("status") == "error":
            problem = answer.get("results")
            problem = problem if isinstance(problem, dict) else {}
            limited = text_in(problem, "code").lower() in LIMIT_CODES
            raise complaint(self.name, text_in(problem, "message", "code"), secrets, limited)
        return answer


def _question(asset: Asset) -> tuple[str, dict[str, str]]:
    if asset.asset_class == "crypto":
        return "crypto", {"coin": ticker(asset).lower(), "language": "en"}
    return "latest", {"q": f'"{asset.name}"', "language": "en"}


def parse(answer: Any, asset: str, collected_at_utc: datetime) -> list[RawItem]:
    """Items of a page.

    Raises:
        SourceError: the answer holds no list of results.
    """
    return [_item(row, asset, collected_at_utc) for row in list_in("newsdata", answer, "results")]


def _item(row: dict[str, Any], asset: str, collected_at_utc: datetime) -> RawItem:
    at, zoned = iso_utc(text_in(row, "pubDate"))
    exact = zoned or text_in(row, "pubDateTZ").upper() == "UTC"
    quality: TsQuality = "none" if at is None else "exact" if exact else "naive"
    return RawItem(
        title=text_in(row, "title"),
        url=text_in(row, "link"),
        # Not `content`: the free plan puts an advertisement of the paid one there.
        text=text_in(row, "description"),
        outlet=text_in(row, "source_name", "source_id") or "NewsData.io",
        origin="newsdata",
        trust="vendor",
        ts_quality=quality,
        published_utc=at,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=True,
    )


def source(clock: Clock = utc_now) -> NewsDataSource | None:
    """The source, where `NEWSDATA_API_KEY` is set."""
    key = secret(KEY)
    return NewsDataSource(key, clock=clock) if key else None

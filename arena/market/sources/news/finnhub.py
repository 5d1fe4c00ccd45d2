"""Finnhub: news of a company, and of crypto as a whole.

Form of an item, from Finnhub's published clients: `headline`, `summary`, `url`, `source`, `datetime`
(seconds since 1970), `category`, `related`. Not verified against a live answer: that news of funds is
served under `company-news`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.settings import secret
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust
from arena.market.sources.news.keyed import ask_json, epoch_utc, objects, text_in, ticker

KEY = "FINNHUB_API_KEY"
BASE_URL = "https://finnhub.io/api/v1"


class FinnhubSource:
    """One request per stock or fund, and one for all coins together."""

    name = "finnhub"
    trust: Trust = "vendor"

    def __init__(self, key: str, base_url: str = BASE_URL, clock: Clock = utc_now) -> None:
        self._key, self._base_url, self._clock = key, base_url, clock

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime
    ) -> list[RawItem]:
        """As the protocol says; items of whole days (UTC)."""
        found: list[RawItem] = []
        days = {"from": since_utc.date().isoformat(), "to": until_utc.date().isoformat()}
        for asset in assets:
            if asset.asset_class != "crypto" and not asset.synthetic:
                rows = self._ask("company-news", {"symbol": ticker(asset), **days})
                found += parse(rows, asset.id, self._clock())
        if any(a.asset_class == "crypto" and not a.synthetic for a in assets):
            found += parse(self._ask("news", {"category": "crypto"}), None, self._clock())
        return found

    def _ask(self, what: str, params: dict[str, str]) -> Any:
        return ask_json(
            self.name, f"{self._base_url}/{what}", {KEY: self._key},
            params=params, headers={"X-Finnhub-Token": self._key},
        )  # fmt: skip


def parse(answer: Any, asset: str | None, collected_at_utc: datetime) -> list[RawItem]:
    """Items of an answer. A company's list also holds news of others, so the text must name it.

    Raises:
        SourceError: the answer is no list.
    """
    if not isinstance(answer, list):
        raise SourceError("finnhub: the answer is no list of news; its form may have changed.")
    return [_item(row, asset, collected_at_utc) for row in objects(answer)]


def _item(row: dict[str, Any], asset: str | None, collected_at_utc: datetime) -> RawItem:
    at = epoch_utc(row.get("datetime"))
    return RawItem(
        title=text_in(row, "headline"),
        url=text_in(row, "url"),
        text=text_in(row, "summary"),
        outlet=text_in(row, "source") or "Finnhub",
        origin="finnhub",
        trust="vendor",
        ts_quality="exact" if at else "none",
        published_utc=at,
        collected_at_utc=collected_at_utc,
        asset=asset,
        must_mention=asset is not None,
    )


def source(clock: Clock = utc_now) -> FinnhubSource | None:
    """The source, where `FINNHUB_API_KEY` is set."""
    key = secret(KEY)
    return FinnhubSource(key, clock=clock) if key else None

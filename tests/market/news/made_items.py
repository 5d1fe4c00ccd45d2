"""Items by hand for identity and archive: known at an hour of 1 September 2025, each with its own page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.market.news.identity import Story
from arena.market.news.items import Item, RawItem

START = datetime(2025, 9, 1, tzinfo=UTC)


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def item(id: str, hours: float, title: str, text: str = "", **changed: Any) -> Item:
    fields: dict[str, Any] = {
        "id": id, "asset": "BTC", "title": title, "url": f"https://news.test/{id}", "text": text,
        "outlet": f"outlet of {id}", "origin": "files", "trust": "press", "kind": "news",
        "category": "", "ts_quality": "exact", "published_at_utc": at(hours),
        "known_at_utc": at(hours), "collected_at_utc": None,
    }  # fmt: skip
    return Item(**{**fields, **changed})


def raw(title: str, hours: float, **changed: Any) -> RawItem:
    fields: dict[str, Any] = {
        "title": title, "url": "", "text": "", "outlet": "Reuters", "origin": "files",
        "trust": "press", "ts_quality": "exact", "published_utc": at(hours),
        "collected_at_utc": None, "asset": "BTC",
    }  # fmt: skip
    return RawItem(**{**fields, **changed})


def grouped(stories: Sequence[Story]) -> list[list[str]]:
    """Ids of the items, story by story."""
    return [[i.id for i in story.items] for story in stories]

"""News by hand: stories of a day whose every number a reader can work out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from arena.core.tone import tone
from arena.core.types import Asset
from arena.market.news.items import DayNews, Item, Told

BTC = Asset("BTC", "Bitcoin", "crypto")
TSLA = Asset("TSLA", "Tesla", "stock")
SINCE, AS_OF = datetime(2025, 8, 4, 0, 5, tzinfo=UTC), datetime(2025, 8, 5, 0, 5, tzinfo=UTC)
NOON = datetime(2025, 8, 4, 12, tzinfo=UTC)


def item(title: str, text: str = "", outlet: str = "Reuters", **changed: Any) -> Item:
    """An item of noon; its tone is that of its words unless given."""
    fields: dict[str, Any] = {
        "id": f"{title}@{outlet}", "asset": "BTC", "title": title, "url": "https://example.test/a",
        "text": text, "outlet": outlet, "origin": "files", "trust": "press", "kind": "news",
        "category": "", "ts_quality": "exact", "published_at_utc": NOON, "known_at_utc": NOON,
        "collected_at_utc": None, "tone": tone(f"{title}. {text}"),
    }  # fmt: skip
    return Item(**{**fields, **changed})


def story(
    id: str, title: str, text: str = "", outlets: Sequence[str] = ("Reuters",), **changed: Any
) -> Told:
    """One story, told in the same words by each of `outlets`."""
    return Told(id, tuple(item(title, text, outlet, **changed) for outlet in outlets))


def day(*stories: Told, n_left_out: int = 0, asset: str = "BTC") -> DayNews:
    n_items = sum(len(s.items) for s in stories)
    return DayNews(asset, SINCE, AS_OF, stories, n_items, n_left_out)

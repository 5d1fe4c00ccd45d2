"""News on its way in: as a source hands it over, as one dated and cleaned item, and as a story at a moment.

    RawItem --intake.admit--> Item --identity.stories_of--> Story --archive.Archive.day--> DayNews of Told
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

Trust = Literal["official", "wire", "press", "vendor", "social", "synthetic"]
"""Who stands behind a text: an authority, exchange or the company itself; a news agency; a
publication; an aggregator or unknown outlet; anybody; or our own sample."""

TsQuality = Literal["exact", "naive", "date", "relative", "range", "collected", "none"]
"""How good a source's date is: with a zone or epoch, without a zone (read as UTC), a day only, "11
hours ago", a search window, only the moment of collection, or nothing."""

Kind = Literal["news", "social", "filing-10q", "filing-10k", "filing-other"]
Category = Literal["", "macro", "policy"]

TRUSTS: tuple[Trust, ...] = get_args(Trust)


@dataclass(frozen=True, slots=True)
class RawItem:
    """An item as a source hands it over: nothing in it is checked, cleaned or to be trusted.

    Times are aware UTC. `asset` is the source's own tag, None where the item may be about anything;
    with `must_mention` the tag is only what was searched for, and the text has to name the asset.
    `outlet` is who published it, `origin` the source module that fetched it (`rss:coindesk`).
    """

    title: str
    url: str
    text: str
    outlet: str
    origin: str
    trust: Trust
    ts_quality: TsQuality
    published_utc: datetime | None
    collected_at_utc: datetime | None
    asset: str | None = None
    must_mention: bool = False
    kind: Kind = "news"
    category: Category = ""


@dataclass(frozen=True, slots=True)
class Item:
    """An admitted item about one asset: clean, dated, judged.

    `id` is 12 hex digits over asset, canonical url, title and outlet, and over the day of an item that
    has no page of its own. `suspicion` in [0, 1] says how much the text reads like an instruction,
    `flags` why. `drivers` are the price drivers it speaks of (`drivers.DRIVERS`), `tone` in [-1, 1]
    counts good and bad words (`core.tone`).
    """

    id: str
    asset: str
    title: str
    url: str
    text: str
    outlet: str
    origin: str
    trust: Trust
    kind: Kind
    category: Category
    ts_quality: TsQuality
    published_at_utc: datetime | None
    known_at_utc: datetime
    collected_at_utc: datetime | None
    suspicion: float = 0.0
    flags: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    tone: float = 0.0


@dataclass(frozen=True, slots=True)
class Told:
    """A story as it was known at a moment: its first item, and everybody who had told it by then.

    `items` are those known by then, the first one first; `outlets` are theirs, each once, in order.
    """

    id: str
    items: tuple[Item, ...]

    @property
    def first(self) -> Item:
        return self.items[0]

    @property
    def outlets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.outlet for item in self.items))

    @property
    def drivers(self) -> tuple[str, ...]:
        """Drivers of the first item: what later tellers add is theirs."""
        return self.first.drivers

    @property
    def suspicion(self) -> float:
        """Of the text that agents get to read, the first item's."""
        return self.first.suspicion

    def facts(self) -> dict[str, Any]:
        """What agents see of the story; part of the market hash. No address: it may tell of later."""
        item = self.first
        return {
            "id": self.id,
            "title": item.title,
            "text": item.text,
            "source": item.outlet,
            "n_sources": len(self.outlets),
            "trust": item.trust,
            "dated": item.ts_quality,
            "kind": item.kind,
            "category": item.category,
            "suspicion": item.suspicion,
            "known_at_utc": item.known_at_utc,
        }


@dataclass(frozen=True, slots=True)
class DayNews:
    """The stories that became known in (since_utc, as_of_utc], the ones to be read first.

    `n_items` counts the items behind all of them, `n_left_out` stories beyond the most that a context
    holds. `sha256` covers every one of these items, read or left out: a brief carries it, so that no
    word of the day's news can change unseen.
    """

    asset: str
    since_utc: datetime
    as_of_utc: datetime
    stories: tuple[Told, ...]
    n_items: int
    n_left_out: int
    sha256: str = ""

    @property
    def outlets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(o for story in self.stories for o in story.outlets))

    def facts(self) -> tuple[dict[str, Any], ...]:
        """The stories as they stand in a market context."""
        return tuple(story.facts() for story in self.stories)

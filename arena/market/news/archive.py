"""All admitted news of one asset as stories, and what of it is news at a slot."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from arena.core.hashing import sha256_json
from arena.core.types import Asset
from arena.market.news.dating import LATEST_UTC
from arena.market.news.identity import Story, stories_of
from arena.market.news.intake import Refused, admit
from arena.market.news.items import TRUSTS, DayNews, Item, RawItem, Told
from arena.market.news.subjects import subject_of

MOST_STORIES = 20
"""So many stories of a day enter a context."""


@dataclass(frozen=True)
class Archive:
    """`stories` are in the order in which their first item became known. `refused` counts what stayed
    out by reason (`intake.Refused`), of `n_raw` items that were handed over for the asset."""

    asset: Asset
    stories: tuple[Story, ...]
    refused: Mapping[str, int]
    n_raw: int

    def day(self, since_utc: datetime, as_of_utc: datetime, most: int = MOST_STORIES) -> DayNews:
        """The stories whose first item became known in (since_utc, as_of_utc], told as of the end.

        A story that is retold later is not news again. Beyond `most`, those told by fewest outlets stay
        out; among equals the less trusted, then the older.
        """
        begin, end = (bisect_right(self._begun_utc, at) for at in (since_utc, as_of_utc))
        told = [t for story in self.stories[begin:end] if (t := story.told(as_of_utc))]
        kept = sorted(told, key=_rank)[:most]
        return DayNews(
            asset=self.asset.id,
            since_utc=since_utc,
            as_of_utc=as_of_utc,
            stories=tuple(sorted(kept, key=lambda t: (t.first.known_at_utc, t.id))),
            n_items=sum(len(t.items) for t in told),
            n_left_out=len(told) - len(kept),
            sha256=sha256_json([item for t in told for item in map(_content, t.items)]),
        )

    def items_of(self, day: DayNews) -> list[tuple[Item, str]]:
        """Every item that became known in the window of the day, with the id of its story.

        Besides the day's stories, these are what was left out and what retells an earlier story: over
        days that follow each other, each item comes once.
        """
        begin, end = (bisect_right(self._known_utc, at) for at in (day.since_utc, day.as_of_utc))
        return self._items[begin:end]

    @cached_property
    def _begun_utc(self) -> list[datetime]:
        return [story.first.known_at_utc for story in self.stories]

    @cached_property
    def _items(self) -> list[tuple[Item, str]]:
        every = [(item, story.id) for story in self.stories for item in story.items]
        return sorted(every, key=lambda pair: (pair[0].known_at_utc, pair[0].id))

    @cached_property
    def _known_utc(self) -> list[datetime]:
        return [item.known_at_utc for item, _ in self._items]


def _content(item: Item) -> list[Any]:
    """Whatever of an item may have gone into a story or a brief."""
    return [
        item.id, item.title, item.text, item.url, item.outlet, item.trust, item.kind, item.category,
        item.ts_quality, item.published_at_utc, item.known_at_utc,
    ]  # fmt: skip


def _rank(told: Told) -> tuple[int, int, float, str]:
    first = told.first
    trust = TRUSTS.index(first.trust)
    return -len(told.outlets), trust, -first.known_at_utc.timestamp(), told.id


def make_archive(asset: Asset, raws: Iterable[RawItem], now_utc: datetime) -> Archive:
    """Clean, date and judge what sources handed over, and find the stories in it.

    An item with another asset's tag is passed over; one without a tag enters where it names the asset.
    """
    items, refused = _admitted(asset, [r for r in raws if r.asset in (None, asset.id)], now_utc)
    return _archive(asset, items, Counter(r.value for _, r in refused), len(items) + len(refused))


@dataclass(frozen=True)
class Intake:
    """Archives by asset, and what came of every item that was handed over, by its `origin`.

    `kept` counts items that at least one asset could use, `refused` the others by reason, each once
    however many assets it was looked at for.
    """

    archives: Mapping[str, Archive]
    kept: Mapping[str, int]
    refused: Mapping[str, Mapping[str, int]]


def take_in(assets: Iterable[Asset], raws: Iterable[RawItem], now_utc: datetime) -> Intake:
    """An archive for each asset from one pile of items."""
    by_tag: defaultdict[str | None, list[RawItem]] = defaultdict(list)
    for raw in raws:
        by_tag[raw.asset].append(raw)
    archives: dict[str, Archive] = {}
    used: set[int] = set()
    why: dict[int, tuple[RawItem, Refused]] = {}
    offered: dict[int, RawItem] = {}
    for asset in assets:
        pile = [*by_tag[asset.id], *by_tag[None]]
        items, refused = _admitted(asset, pile, now_utc)
        left_out = {id(raw) for raw, _ in refused}
        offered.update((id(raw), raw) for raw in pile)
        used.update(id(raw) for raw in pile if id(raw) not in left_out)
        why.update((id(raw), (raw, reason)) for raw, reason in refused)
        reasons = Counter(reason.value for _, reason in refused)
        archives[asset.id] = _archive(asset, items, reasons, len(pile))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, (raw, reason) in why.items():
        if key not in used:
            counts[raw.origin][reason.value] += 1
    return Intake(archives, Counter(offered[key].origin for key in used), counts)


def make_archives(
    assets: Iterable[Asset], raws: Iterable[RawItem], now_utc: datetime
) -> dict[str, Archive]:
    """The archives of `take_in` alone."""
    return dict(take_in(assets, raws, now_utc).archives)


def _admitted(
    asset: Asset, raws: Iterable[RawItem], now_utc: datetime
) -> tuple[list[Item], list[tuple[RawItem, Refused]]]:
    """Items in the form the arena keeps, and those that stayed out with the reason."""
    subject = subject_of(asset)
    refused: list[tuple[RawItem, Refused]] = []
    kept: dict[str, tuple[Item, RawItem]] = {}
    for raw in raws:
        admitted = admit(raw, subject, now_utc)
        if isinstance(admitted, Refused):
            refused.append((raw, admitted))
            continue
        best, spare = (admitted, raw), kept.get(admitted.id)
        if spare is not None:
            if _first_key(spare[0]) <= _first_key(admitted):
                best, spare = spare, best
            refused.append((spare[1], Refused.DUPLICATE))
        kept[admitted.id] = best
    return [item for item, _ in kept.values()], refused


def archive_of(asset: Asset, items: Iterable[Item]) -> Archive:
    """An archive of items that were admitted before, e.g. those of a store."""
    every = list(items)
    return _archive(asset, every, Counter(), len(every))


def _archive(asset: Asset, items: list[Item], refused: Mapping[str, int], n_raw: int) -> Archive:
    subject = subject_of(asset)
    names = (asset.name, *subject.names, *subject.tickers)
    return Archive(asset, stories_of(items, names), dict(refused), n_raw)


def _first_key(item: Item) -> tuple[datetime, datetime, int, str]:
    """Of copies, the one known first, then the one seen first, since a page that is edited keeps its
    date; then the longest. All fields come last, so that no order of arrival decides."""
    seen_utc = item.collected_at_utc or LATEST_UTC
    return item.known_at_utc, seen_utc, -len(item.text), repr(item)

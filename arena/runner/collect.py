"""Live news and filed figures into the store, and back out of it as archives."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from arena.core.errors import SourceError
from arena.core.hashing import canonical_json
from arena.core.rows import ArticleRow, FactRow, Row, SourceHealthRow, WriteUnit
from arena.core.season import RunSpec
from arena.core.tone import tone
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.news.archive import Archive, Intake, archive_of, take_in
from arena.market.news.drivers import drivers_of
from arena.market.news.items import Item
from arena.market.sources.filings.open import open_filings
from arena.market.sources.news.base import NewsSource, Polled, poll
from arena.market.sources.news.live import live_news
from arena.store import news_reader, reader
from arena.store.store import Store

log = logging.getLogger("arena.news")

LOOK_BACK = timedelta(days=30)
"""How far back live sources are asked; few of them reach further."""


def collect(
    store: Store, spec: RunSpec, assets: Mapping[str, Asset], now_utc: datetime,
    searcher: NewsSource | None = None,
) -> datetime:  # fmt: skip
    """Poll every live source for a new run, and keep what they said; a run that was begun polls nothing.

    Returns:
        The moment up to which the run's news was collected.
    """
    known = reader.runs(store)
    mine = known[known["run"] == spec.run_id()]
    if len(mine):
        began: datetime = mine["created_at_utc"].iloc[0].to_pydatetime()
        return began
    chosen = tuple(assets.values())
    more = () if searcher is None else (searcher,)
    units = [poll_news(chosen, now_utc, more), poll_figures(chosen, now_utc)]
    store.write([WriteUnit(rows=tuple(rows)) for rows in units])
    return now_utc


def poll_news(
    assets: Sequence[Asset], now_utc: datetime, more: Sequence[NewsSource] = ()
) -> list[Row]:
    """One poll of every source: articles that were admitted, and the health of each source."""
    polled = poll([*live_news(assets), *more], assets, now_utc - LOOK_BACK, now_utc)
    taken = take_in(assets, [r for p in polled for r in p.items], now_utc)
    articles = [
        article_row(item, story.id, now_utc)
        for archive in taken.archives.values() for story in archive.stories for item in story.items
    ]  # fmt: skip
    return [*health_rows(polled, taken), *articles]


def poll_figures(assets: Sequence[Asset], now_utc: datetime) -> list[Row]:
    """Filed figures of every asset that has some, and the health of their source."""
    source = open_filings("live")
    if source is None:
        return []
    rows: list[Row] = []
    error = None
    for asset in assets:
        try:
            rows += [fact_row(fact) for fact in source.facts(asset)]
        except SourceError as trouble:
            log.warning("%s: %s", source.name, trouble)
            error = str(trouble)
    status = "failed" if error else "ok"
    return [
        SourceHealthRow(source.name, now_utc, status, len(rows), len(rows), "{}", error, None), *rows
    ]


def health_rows(polled: Iterable[Polled], taken: Intake) -> list[SourceHealthRow]:
    """What came of each source's answer."""
    return [
        SourceHealthRow(
            p.source, p.at_utc, p.status, len(p.items), taken.kept.get(p.source, 0),
            canonical_json(dict(taken.refused.get(p.source, {}))), p.error, p.retry_after_s,
        )
        for p in polled
    ]  # fmt: skip


def article_row(item: Item, story: str, fetched_at_utc: datetime) -> ArticleRow:
    plain = asdict(item)
    for name in ("id", "flags", "drivers", "tone"):
        del plain[name]
    return ArticleRow(
        article=item.id, story=story, flags_json=canonical_json(list(item.flags)),
        fetched_at_utc=fetched_at_utc, **plain,
    )  # fmt: skip


def fact_row(fact: Fact) -> FactRow:
    return FactRow(
        fact.asset, fact.field, fact.period, fact.filed, fact.value, fact.form, fact.source,
        fact.known_at_utc,
    )  # fmt: skip


def stored_archives(
    store: Store, assets: Mapping[str, Asset], until_utc: datetime
) -> dict[str, Archive]:
    """Archives of what had been collected by `until_utc`."""
    return {
        asset.id: archive_of(
            asset,
            [_item(row, asset) for row in news_reader.collected(store, asset.id, until_utc)],
        )
        for asset in assets.values()
    }


def stored_facts(store: Store, assets: Mapping[str, Asset]) -> dict[str, tuple[Fact, ...]]:
    return {
        a: tuple(
            Fact(
                r["asset"], r["field"], r["period"], r["value"], r["filed"], r["known_at_utc"],
                r["form"], r["source"],
            )
            for r in news_reader.facts(store, a)
        )
        for a in assets
    }  # fmt: skip


def _item(row: Mapping[str, object], asset: Asset) -> Item:
    """Drivers and tone are worked out again: they follow from the words."""
    plain = {k: v for k, v in row.items() if k not in _NOT_ITS_OWN}
    title, text = str(row["title"]), str(row["text"])
    return Item(
        id=str(row["article"]),
        flags=tuple(json.loads(str(row["flags_json"]))),
        drivers=drivers_of(asset.asset_class, title, text),
        tone=tone(f"{title}. {text}"),
        **plain,  # type: ignore[arg-type]
    )


_NOT_ITS_OWN = frozenset({"article", "story", "flags_json", "fetched_at_utc"})

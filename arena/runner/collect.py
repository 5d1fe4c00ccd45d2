"""Live news and filed figures into the store, and back out of it as archives."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from arena.core.errors import ArenaError, SourceError
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
from arena.market.sources.news.base import NewsSource, Polled, defect, poll
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
    more = () if searcher is None else (searcher,)
    return poll_live(store, tuple(assets.values()), now_utc, more)


def poll_live(
    store: Store, assets: Sequence[Asset], now_utc: datetime, more: Sequence[NewsSource] = ()
) -> datetime:
    """Ask every live source of news and filings, and keep what they said.

    Returns:
        The moment at which the last one had answered.
    """
    taken, health, seen_utc = ask_live(assets, now_utc, more)
    articles = [
        article_row(item, story.id, seen_utc)
        for archive in taken.archives.values() for story in archive.stories for item in story.items
    ]  # fmt: skip
    figures = poll_figures(assets, seen_utc)
    store.write([WriteUnit(rows=(*health, *articles)), WriteUnit(rows=tuple(figures))])
    return seen_utc


def ask_live(
    assets: Sequence[Asset], now_utc: datetime, more: Sequence[NewsSource] = ()
) -> tuple[Intake, list[SourceHealthRow], datetime]:
    """One poll of every source of live news: what was admitted, the health of each source, and the
    moment at which the last one had answered. What arrived while others were asked is known by then."""
    polled = poll([*live_news(assets), *more], assets, now_utc - LOOK_BACK, now_utc)
    seen_utc = max([now_utc, *(p.at_utc for p in polled)])
    taken = take_in(assets, [r for p in polled for r in p.items], seen_utc)
    return taken, health_rows(polled, taken), seen_utc


def poll_figures(assets: Sequence[Asset], now_utc: datetime) -> list[Row]:
    """Filed figures of every company, and the health of their source; nothing where there is none.

    A company that fails takes nothing from the others, but the source is then `failed`.
    """
    source, companies = open_filings("live"), [a for a in assets if a.asset_class == "stock"]
    if source is None or not companies:
        return []
    facts: list[Fact] = []
    troubles: list[str] = []
    for asset in companies:
        try:
            facts += source.facts(asset)
        except SourceError as error:
            troubles.append(str(error))
        except ArenaError:
            raise
        except Exception as error:  # noqa: BLE001 - as in a poll of news
            troubles.append(defect(source.name, error))
    for trouble in troubles:
        log.warning("%s: %s", source.name, trouble)
    status, said = ("failed", " ".join(troubles)) if troubles else ("ok", None)
    health = SourceHealthRow(
        source.name, now_utc, status, len(facts), len(facts), "{}", said, None
    )
    return [health, *(fact_row(fact, now_utc) for fact in facts)]


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


def fact_row(fact: Fact, fetched_at_utc: datetime) -> FactRow:
    return FactRow(
        fact.asset, fact.field, fact.period, fact.filed, fact.value, fact.form, fact.source,
        fact.known_at_utc, fetched_at_utc,
    )  # fmt: skip


def stored_archives(
    store: Store, assets: Mapping[str, Asset], until_utc: datetime, since_utc: datetime | None = None
) -> dict[str, Archive]:
    """Archives of what had been collected by `until_utc`, and known from `since_utc` on."""
    return {
        asset.id: archive_of(
            asset,
            [
                _item(row, asset)
                for row in news_reader.collected(store, asset.id, until_utc, since_utc)
            ],
        )
        for asset in assets.values()
    }


def stored_facts(
    store: Store, assets: Mapping[str, Asset], until_utc: datetime
) -> dict[str, tuple[Fact, ...]]:
    """Filed figures that had been collected by `until_utc`."""
    return {
        a: tuple(
            Fact(
                r["asset"], r["field"], r["period"], r["value"], r["filed"], r["known_at_utc"],
                r["form"], r["source"],
            )
            for r in news_reader.facts(store, a, until_utc)
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

"""What a run reads beside prices: the news of its assets and the figures that companies filed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from arena.core.errors import ConfigError
from arena.core.rows import SourceHealthRow, WriteUnit
from arena.core.season import RunSpec
from arena.core.types import Asset, Slot
from arena.market.calendars import Convention, slot_before
from arena.market.filings.facts import Fact
from arena.market.news.archive import Archive, take_in
from arena.market.news.brief import DIGEST, NO_BRIEF
from arena.market.news.items import DayNews
from arena.market.sources.filings.open import open_filings
from arena.market.sources.news.base import NewsSource, poll
from arena.market.sources.news.files import open_news
from arena.runner.brief_writer import default_maker, refuse_rule
from arena.runner.collect import (
    ask_live,
    collect,
    health_rows,
    stored_archives,
    stored_facts,
)
from arena.store.store import Store

AUTO = "auto"
EVER = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_CLOSURE = timedelta(days=7)
"""The slot after a session comes when the market opens again, within this."""


@dataclass(frozen=True)
class Intelligence:
    """News and filed figures by asset; empty where prices are all there is."""

    archives: Mapping[str, Archive] = field(default_factory=dict)
    facts: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict)

    def day(self, asset: Asset, slot: Slot, convention: Convention) -> DayNews | None:
        """The news between the asset's last slot and this one; None where none is collected at all."""
        archive = self.archives.get(asset.id)
        if archive is None:
            return None
        since_utc = slot_before(asset, slot.session, convention).as_of_utc
        return archive.day(since_utc, slot.as_of_utc)


PRICES_ONLY = Intelligence()


def brief_maker(wanted: str, choice: str, models: Sequence[str]) -> str:
    """Who writes the briefs of a run: `auto` is the cheapest of its models that has a price, else the
    digest; `none` where the data hold prices only.

    Raises:
        ConfigError: a rule is asked for in a model's place, or there is nothing to write about.
    """
    if wanted == NO_BRIEF:
        return NO_BRIEF
    if choice != "live" and open_news(choice) is None and open_filings(choice) is None:
        if wanted == AUTO:
            return NO_BRIEF
        raise ConfigError(
            f"--brief {wanted}: `{choice}` has neither news nor filed figures. Add news.parquet or "
            "news.csv to the folder, or leave the option out."
        )
    if wanted == AUTO:
        return default_maker(models)
    if wanted != DIGEST:
        refuse_rule(wanted, "write a brief")
    return wanted


def gather(
    spec: RunSpec, choice: str, assets: Mapping[str, Asset], store: Store, now_utc: datetime,
    *, searcher: NewsSource | None = None,
) -> Intelligence:  # fmt: skip
    """What `spec` reads of the data `choice`; `searcher` is one more source of live news.

    Live sources are polled into the store and read back from it. A run that goes on reads what it
    began with, so that a story found meanwhile does not change a slot that was decided.

    Raises:
        DataError: a file of news or figures cannot be used.
    """
    if spec.brief == NO_BRIEF:
        return PRICES_ONLY
    chosen = {a: assets[a] for a in spec.assets}
    if choice == "live":
        began_utc = collect(store, spec, chosen, now_utc, searcher)
        return Intelligence(
            stored_archives(store, chosen, began_utc), stored_facts(store, chosen, began_utc)
        )
    last = datetime.combine(spec.end, time(), UTC) + LONGEST_CLOSURE
    found, polls = from_files(choice, tuple(chosen.values()), min(last, now_utc), now_utc)
    store.write([WriteUnit(rows=tuple(polls))])
    return found


def from_files(
    choice: str, assets: Sequence[Asset], until_utc: datetime, now_utc: datetime
) -> tuple[Intelligence, list[SourceHealthRow]]:
    """News and figures of a folder or of the sample, and what was counted on the way in."""
    news, filings = open_news(choice), open_filings(choice)
    archives: Mapping[str, Archive] = {}
    rows: list[SourceHealthRow] = []
    if news is not None:
        polled = poll([news], assets, EVER, until_utc, lambda: now_utc)
        taken = take_in(assets, [r for p in polled for r in p.items], now_utc)
        archives, rows = taken.archives, health_rows(polled, taken)
    facts = {} if filings is None else {a.id: filings.facts(a) for a in assets}
    return Intelligence(archives, facts), rows


def live_now(
    assets: Sequence[Asset], now_utc: datetime
) -> tuple[Intelligence, list[SourceHealthRow]]:
    """One poll of every live source, kept nowhere."""
    taken, rows, _ = ask_live(assets, now_utc)
    return Intelligence(taken.archives), rows

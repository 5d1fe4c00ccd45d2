"""Sealing the slots of a run: prices, the news of the day with its brief, and filed figures.

A brief is made once and kept; whoever comes to the same slot with the same stories reads that one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena.core.clock import Clock
from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json, sha256_text
from arena.core.rows import BlobRow, BriefRow, BriefScoreRow, ContextRow, Row
from arena.core.types import Asset, Bar, MarketContext, Slot
from arena.market.filings.known import known_facts
from arena.market.news.brief import DIGEST, Brief, Summarise, brief_id
from arena.market.news.digest import digest
from arena.market.news.items import DayNews
from arena.market.news.quality import RuleScore, rate
from arena.market.seal import seal
from arena.runner.brief_judge import Judge
from arena.runner.collect import article_row
from arena.runner.plan import Plan, convention
from arena.runner.totals import total
from arena.store import news_reader
from arena.store.store import Store


@dataclass(frozen=True)
class Sealed:
    """The market of one asset at one slot, None where the session has no bar (a gap) or the slot is
    too old to be decided (`missed`); and the rows that keep what was sealed."""

    slot: Slot
    bar: Bar | None
    market: MarketContext | None
    rows: tuple[Row, ...] = ()
    missed: bool = False


async def write_digest(asset: Asset, day: DayNews) -> Brief:
    """`digest` behind the contract of whoever writes briefs."""
    return digest(asset, day)


class Sealer:
    """Seals slots of one plan.

    Args:
        revision: of the bars that the run reads.
        summarise: who makes a brief that is not stored yet.
        judge: a model that scores briefs beside the code, where one is configured.
    """

    def __init__(
        self, plan: Plan, store: Store, revision: int, clock: Clock,
        summarise: Summarise = write_digest, judge: Judge | None = None,
    ) -> None:  # fmt: skip
        self._plan, self._revision, self._clock = plan, revision, clock
        self._summarise, self._judge = summarise, judge
        self._maker = plan.spec.brief
        self._convention = convention(plan.spec)
        self._stored = news_reader.brief_contents(store, list(plan.assets), self._maker)

    async def seal(self, slot: Slot) -> Sealed:
        """The slot's market; a brief that is missing is made.

        Raises:
            BudgetStop: the brief's model would cost more than may still be spent.
        """
        bar, asset = self._bar(slot), self._plan.assets[slot.asset]
        if bar is None:
            return Sealed(slot, None, None)
        day = self._plan.intelligence.day(asset, slot, self._convention)
        rows: list[Row] = []
        if day is not None and day.stories and self._key(asset, day) not in self._stored:
            brief = await self._summarise(asset, day)
            scores = list(rate(asset, day, brief)) if brief.usable else []
            if self._judge is not None and brief.usable:
                scores += await self._judge(asset, day, brief)
            rows += self._brief_rows(slot, day, brief, scores)
            self._stored[brief.id] = brief.facts(day)
        return self._sealed(slot, bar, day, rows)

    def missed(self, slot: Slot) -> Sealed:
        """A slot that nobody decides: its bar, for the accounts, and nothing to be seen."""
        return Sealed(slot, self._bar(slot), None, missed=True)

    def again(self, slot: Slot) -> Sealed:
        """A slot that was decided, sealed once more from what is stored and from today's data.

        Raises:
            ConfigError: the brief of a model is not the one that the store has.
        """
        bar, asset = self._bar(slot), self._plan.assets[slot.asset]
        if bar is None:
            return Sealed(slot, None, None)
        day = self._plan.intelligence.day(asset, slot, self._convention)
        if day is not None and day.stories and (key := self._key(asset, day)) not in self._stored:
            if self._maker != DIGEST:
                raise ConfigError(
                    f"data changed; use --new: the news of {asset.id} at {slot.key} is not what "
                    f"`{self._maker}` wrote the stored brief about."
                )
            self._stored[key] = digest(asset, day).facts(day)
        return self._sealed(slot, bar, day, [])

    def _bar(self, slot: Slot) -> Bar | None:
        return self._plan.histories[slot.asset].bar(slot.session)

    def _key(self, asset: Asset, day: DayNews) -> str:
        return brief_id(asset.id, day, self._maker)

    def _sealed(
        self, slot: Slot, bar: Bar, day: DayNews | None, rows: list[Row]
    ) -> Sealed:
        asset = self._plan.assets[slot.asset]
        key = self._key(asset, day) if day is not None and day.stories else None
        brief = None if key is None else self._stored[key]
        market = seal(
            self._plan.histories[slot.asset], slot,
            stories=day.facts() if day is not None else (),
            brief=brief,
            fundamentals=known_facts(
                self._plan.intelligence.facts.get(slot.asset, ()), slot.as_of_utc, bar.close
            ),
        )  # fmt: skip
        return Sealed(slot, bar, market, (*rows, *context_rows(market, self._revision)))

    def _brief_rows(
        self, slot: Slot, day: DayNews, brief: Brief, scores: Sequence[RuleScore]
    ) -> list[Row]:
        now, archive = self._clock(), self._plan.intelligence.archives[slot.asset]
        last = brief.calls[-1] if brief.calls else None
        texts = (last.prompt, last.answer) if last else ()
        shas = [sha256_text(text) for text in texts]
        row = BriefRow(
            brief=brief.id,
            asset=slot.asset,
            session=slot.session,
            as_of_utc=slot.as_of_utc,
            maker=brief.maker,
            kind=brief.kind,
            status=brief.status.value,
            content_json=canonical_json(brief.facts(day)),
            n_stories=len(day.stories) + day.n_left_out,
            n_items=day.n_items,
            n_outlets=len(day.outlets),
            n_calls=len(brief.calls),
            prompt_sha256=shas[0] if shas else None,
            answer_sha256=shas[1] if shas else None,
            tokens_in=total([c.tokens_in for c in brief.calls]),
            tokens_out=total([c.tokens_out for c in brief.calls]),
            cost_usd=total([c.cost_usd for c in brief.calls]),
            error=brief.problem or None,
            made_at_utc=now,
            latency_ms=sum(c.latency_ms for c in brief.calls),
        )
        return [
            row,
            *(BlobRow(sha, text) for sha, text in zip(shas, texts, strict=True)),
            *(BriefScoreRow(brief.id, s.rule, s.scorer, s.score, s.evidence) for s in scores),
            *(article_row(item, story, now) for item, story in archive.items_of(day)),
        ]


def context_rows(market: MarketContext, revision: int) -> list[Row]:
    """A context as it is stored: its bars by revision, everything else as the text that was sealed."""
    parts = {
        "stories": market.stories or None, "brief": market.brief,
        "fundamentals": market.fundamentals or None,
    }  # fmt: skip
    texts = {k: canonical_json(v) for k, v in parts.items() if v is not None}
    shas = {k: sha256_text(text) for k, text in texts.items()}
    row = ContextRow(
        market.market_hash, market.asset.id, market.session, market.as_of_utc,
        market.bars[0].session, len(market.bars), revision, len(market.stories),
        shas.get("stories"), market.brief["id"] if market.brief else None, shas.get("brief"),
        shas.get("fundamentals"),
    )  # fmt: skip
    return [row, *(BlobRow(shas[k], text) for k, text in texts.items())]


def parse_part(text: str) -> Any:
    """A stored part of a context as it was sealed: times are times again."""
    return json.loads(text, object_hook=_times)


def _times(found: dict[str, Any]) -> dict[str, Any]:
    return {
        k: datetime.fromisoformat(v) if k.endswith("_utc") and isinstance(v, str) else v
        for k, v in found.items()
    }

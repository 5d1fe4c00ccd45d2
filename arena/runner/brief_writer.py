"""The brief that a model writes: one call for all agents of a slot, from the given stories only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from arena.agents.asking import Answer, Asker
from arena.core.actions import Status
from arena.core.errors import ConfigError
from arena.core.season import Season
from arena.core.text import clean_foreign
from arena.core.types import Asset
from arena.llm.parse import AnswerError
from arena.llm.registry import model_info
from arena.llm.trimmed import EARLIER_TURN
from arena.llm.types import ChatModel
from arena.market.news.brief import DIGEST, Brief, brief_id
from arena.market.news.common_words import COMMON_WORDS
from arena.market.news.digest import digest, readable
from arena.market.news.drivers import DRIVERS
from arena.market.news.hostile import FLAGGED, suspicion
from arena.market.news.items import DayNews, Told
from arena.market.news.likeness import words_of
from arena.market.news.price_talk import price_talk
from arena.runner.brief_prompt import (
    LINE_SCORE,
    LINE_STORIES,
    SUMMARY_CHARS,
    THEME_CHARS,
    BriefLine,
    BriefText,
    fitting,
    news_sheet,
    system_of_a_line,
    system_of_a_text,
)

ROLE = "brief_writer"
SMALL_ANSWER_TOKENS = 256
"""A model with less room than this is asked for one line."""

NEUTRAL_SCORE = 0.5
"""A score further from 0 than this is not neutral."""

ModelOf = Callable[[str, str], ChatModel]
"""The model of an id for one piece of work, as `RunModels.of` gives it."""


@dataclass(frozen=True)
class BriefWriter:
    """Writes briefs by the model `maker`; a failure is a brief that says so, never a digest.

    Args:
        model_of: called once a brief, with the scope under which its calls are paid for.
        season: its `generation` holds for briefs as it does for agents.

    Raises:
        ConfigError: `maker` is a rule, or no model that exists.
    """

    maker: str
    model_of: ModelOf
    season: Season
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_rule(self.maker, "write a brief")

    async def __call__(self, asset: Asset, day: DayNews) -> Brief:
        """The brief of a day that has stories. Where all of them read like instructions, nobody is
        asked and the rule says that they were set aside (kind `digest`).

        Raises:
            BudgetStop: the call would cost more than may still be spent.
        """
        made = Brief(brief_id(asset.id, day, self.maker), self.maker, "model", Status.OK)
        stories, info = readable(day), model_info(self.maker)
        if not stories:
            return replace(digest(asset, day), id=made.id, maker=self.maker)
        in_a_line = (info.max_answer_tokens or SMALL_ANSWER_TOKENS) < SMALL_ANSWER_TOKENS
        shown = fitting(stories, info.max_prompt_tokens)[: LINE_STORIES if in_a_line else None]
        sheet = news_sheet(asset, day, shown)
        model = self.model_of(self.maker, f"brief:{asset.id}:{day.as_of_utc.isoformat()}")
        asker = Asker(model, self.season.generation, self.seed)
        check = _Check(asset, _telling_words(asset, shown))
        answer: Answer[BriefLine] | Answer[BriefText]
        if in_a_line:
            answer = await asker.ask(ROLE, system_of_a_line(), sheet, BriefLine, check)
        else:
            answer = await asker.ask(ROLE, system_of_a_text(asset, sheet), sheet, BriefText, check)
        made = replace(made, status=answer.status, problem=answer.problem, calls=tuple(asker.calls))
        if answer.value is None:
            return made
        if cut_away(asker):
            problem = f"`{self.maker}` was sent no stories: they did not fit into its prompt"
            return replace(made, status=Status.INVALID_OUTPUT, problem=problem)
        return _filled(replace(made, problem=check.remark), answer.value, asset, shown)


def _filled(made: Brief, text: BriefLine | BriefText, asset: Asset, shown: Sequence[Told]) -> Brief:
    """The brief with the answer in it. One line names no stories: it was made from all `shown`."""
    made = replace(
        made,
        summary=clean_foreign(text.summary, SUMMARY_CHARS),
        sentiment=text.sentiment,
        score=_score(text),
        story_ids=tuple(story.id for story in shown),
    )
    if isinstance(text, BriefLine):
        return made
    cited = set(text.stories)
    return replace(
        made,
        themes=tuple(t for theme in text.themes if (t := clean_foreign(theme, THEME_CHARS))),
        drivers=tuple(d for d in DRIVERS[asset.asset_class] if d in text.drivers),
        story_ids=tuple(s.id for i, s in enumerate(shown, 1) if f"s{i}" in cited),
    )


def _score(text: BriefLine | BriefText) -> float:
    if isinstance(text, BriefLine):
        return LINE_SCORE[text.sentiment]
    return round(text.score, 4) + 0.0


def refuse_rule(model_id: str, what: str) -> None:
    """
    Raises:
        ConfigError: the model is a stand-in (`offline/...`), or does not exist.
    """
    if model_info(model_id).kind == "stand_in":
        raise ConfigError(
            f"`{model_id}` is a rule and cannot {what}; use `{DIGEST}`, or name a model."
        )


def default_maker(models: Sequence[str]) -> str:
    """The cheapest of `models` (price of a token in and one out) that is real, has a price and is
    reached over the network; else `digest`. A model of this machine writes only where it is named.
    """
    priced: list[tuple[float, str]] = []
    for info in map(model_info, models):
        price_in, price_out = info.price_in_usd_per_mtok, info.price_out_usd_per_mtok
        if info.kind != "model" or info.runs_here or info.stays_here:
            continue
        if price_in is not None and price_out is not None:
            priced.append((price_in + price_out, info.id))
    return min(priced, key=lambda pair: pair[0])[1] if priced else DIGEST


def cut_away(asker: Asker) -> str:
    """Title of a block of the sheet that was left out of the prompt that was answered, or nothing."""
    left_out = asker.calls[-1].params.get("left_out") or ()
    return next((str(title) for title in left_out if title != EARLIER_TURN), "")


@dataclass
class _Check:
    """What the form alone cannot see. A fault of style goes back once, if there is another try; what
    stays is the brief's `remark`."""

    asset: Asset
    told: frozenset[str]
    remark: str = ""

    def __call__(self, text: BriefLine | BriefText, last: bool) -> None:
        known = DRIVERS[self.asset.asset_class]
        named = text.drivers if isinstance(text, BriefText) else []
        if unknown := [d for d in named if d not in known]:
            raise AnswerError(f"`drivers`: `{unknown[0][:40]}` is none of {', '.join(known)}")
        side, score = {"bearish": -1, "neutral": 0, "bullish": 1}[text.sentiment], _score(text)
        if (side * score <= 0) if side else abs(score) > NEUTRAL_SCORE:
            raise AnswerError(f"`sentiment` {text.sentiment} contradicts `score` {score:g}")
        if not clean_foreign(text.summary, SUMMARY_CHARS):
            raise AnswerError("`summary` has no visible character")
        themes = text.themes if isinstance(text, BriefText) else []
        for name, said in (("summary", text.summary), *(("themes", theme) for theme in themes)):
            suspect, flags = suspicion("", said)
            if suspect >= FLAGGED:
                raise AnswerError(f"`{name}` reads like an instruction ({', '.join(flags)})")
        if self.told.isdisjoint(words_of(text.summary)):
            raise AnswerError("`summary` has no word of the stories: say what they tell")
        found = _fault(text)
        if found and not last and not self.remark:
            self.remark = found
            raise AnswerError(found)
        self.remark = found


def _telling_words(asset: Asset, stories: Iterable[Told]) -> frozenset[str]:
    """The asset's names, and those words of the stories that do not stand in news of any kind."""
    words = (w for s in stories for w in words_of(f"{s.first.title} {s.first.text}"))
    telling = (w for w in words if len(w) > 3 and w not in COMMON_WORDS)
    return frozenset((*words_of(f"{asset.id} {asset.name}"), *telling))


def _fault(text: BriefLine | BriefText) -> str:
    if talk := price_talk(text.summary):
        return f"`summary` states a price or a forecast (`{talk}`)"
    if named := re.search(r"\bs\d{1,2}\b", text.summary):
        return f"`summary` names the story id `{named[0]}`"
    silent = isinstance(text, BriefText) and not text.stories
    return "`stories` names none of the stories" if silent else ""

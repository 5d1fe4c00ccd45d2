"""The day's brief of one asset: what every agent of the slot reads about the news."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from arena.core.actions import FAILED, Status
from arena.core.hashing import sha256_json
from arena.core.types import Asset, Call
from arena.market.news.items import DayNews

DIGEST = "digest"
"""Maker of briefs without a model: the day's most central stories, word for word."""

NO_BRIEF = "none"
"""As a run's maker of briefs: the run reads prices only."""

Sentiment = Literal["bearish", "neutral", "bullish"]

SENTIMENT_EDGE = 0.15
"""A score further from 0 than this has a side."""


def sentiment_of(score: float) -> Sentiment:
    """The word for a score in [-1, 1]."""
    return "neutral" if abs(score) <= SENTIMENT_EDGE else "bullish" if score > 0 else "bearish"


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief, or the record that its model failed to make one (`status` in FAILED, no summary).

    `maker` is a model's id or `digest`; `kind` says which of the two. `score` is in [-1, 1].
    `story_ids` are the stories that it used. `calls` are every answer of its model.
    """

    id: str
    maker: str
    kind: Literal["digest", "model"]
    status: Status
    summary: str = ""
    themes: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    sentiment: Sentiment = "neutral"
    score: float = 0.0
    story_ids: tuple[str, ...] = ()
    problem: str = ""
    calls: tuple[Call, ...] = ()

    @property
    def usable(self) -> bool:
        return self.status not in FAILED

    def facts(self, day: DayNews) -> dict[str, Any] | None:
        """What agents see of it; part of the market hash. None where there is no usable brief."""
        if not self.usable:
            return None
        return {
            "id": self.id,
            "maker": self.maker,
            "kind": self.kind,
            "summary": self.summary,
            "themes": list(self.themes),
            "drivers": list(self.drivers),
            "sentiment": self.sentiment,
            "score": self.score,
            "story_ids": list(self.story_ids),
            "n_stories": len(day.stories) + day.n_left_out,
            "n_items": day.n_items,
            "n_sources": len(day.outlets),
            "news_sha256": day.sha256,
        }


def brief_id(asset: str, day: DayNews, maker: str) -> str:
    """Same stories, moment and maker, same brief: it is made once and shared by every run."""
    content = [asset, day.as_of_utc, maker, day.facts(), day.sha256]
    return f"brief-{sha256_json(content)[:12]}"


Summarise = Callable[[Asset, DayNews], Awaitable[Brief]]
"""Makes the brief of a day that has stories. A model behind it is reached by the runner."""

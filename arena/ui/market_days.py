"""A slot's news in a few words: what became of its brief, and its four scores. No streamlit here.

A slot is one of `store.news_reader.slots`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arena.runner.reviews import RULES
from arena.ui import format as fmt

Slot = dict[str, Any]

RULE_WORDS = {
    "date_accuracy": "dates",
    "coverage": "coverage",
    "bias_awareness": "bias",
    "source_diversity": "diversity",
}

LEVELS = {
    "date_accuracy": ("items of other days", "at most one in five off, or not proved", "all of the day"),
    "coverage": ("one price driver or none", "two or three of the four", "all four price drivers"),
    "bias_awareness": ("one-sided against its articles", "leans a little", "as the articles are"),
    "source_diversity": ("one outlet", "two or three, or one dominates", "four or more, none dominant"),
}
"""What 0, 1 and 2 mean, for those who score; the arithmetic of the code is in docs/briefs.md."""

DOTS = ("○○", "●○", "●●")
CODE = "code"

STATE_WORDS = {
    "bullish": "▲ bullish",
    "neutral": "■ neutral",
    "bearish": "▼ bearish",
    "none": "no story",
    "failed": "✕ failed",
    "silent": "sources failed",
}
"""`none`: sources had nothing; `failed`: there were stories, and the model made no brief of them;
`silent`: no story, and no source answered on that day, so that nobody knows."""


def state_of(slot: Slot) -> str:
    """A key of `STATE_WORDS`."""
    if slot["content"] is not None:
        return str(slot["content"]["sentiment"])
    if slot["row"] is not None:
        return "failed"
    return "silent" if not slot["n_stories"] and slot["n_polls"] and not slot["n_polls_ok"] else "none"


def code_scores(slot: Slot) -> dict[str, int]:
    """Scores that code gave, by rule; a judge's stand beside them and are not mixed in."""
    return {s["rule"]: int(s["score"]) for s in slot["scores"] if s["scorer"] == CODE}


def strip_frame(slots: Sequence[Slot]) -> pd.DataFrame:
    """For the chart: session, state and score (None without a brief)."""
    return pd.DataFrame(
        {
            "session": pd.to_datetime([s["session"] for s in slots]),
            "state": [state_of(s) for s in slots],
            "score": [None if s["content"] is None else s["content"]["score"] for s in slots],
            "n_stories": [int(s["n_stories"]) for s in slots],
        }
    )


def list_frame(
    slots: Sequence[Slot], rejected: Container[str], *, narrow: bool = False
) -> pd.DataFrame:
    """For the list of days: one line a slot in the given order, scores as dots; `narrow`: in one column."""
    made = []
    for slot in slots:
        scores = code_scores(slot)
        word = "⊘ rejected" if slot["market_hash"] in rejected else STATE_WORDS[state_of(slot)]
        dots = {r: DOTS[scores[r]] if r in scores else fmt.MISSING for r in RULES}
        line = {"session": slot["session"], "news": word, "stories": int(slot["n_stories"])}
        made.append(line | ({"scores": "  ".join(dots.values())} if narrow else dots))
    return pd.DataFrame(made)


def used_first(stories: Sequence[dict[str, Any]], used: Container[str]) -> list[dict[str, Any]]:
    """Stories of a brief (ids `used`) before the rest, which a table shows only on scrolling."""
    return sorted(stories, key=lambda s: s["id"] not in used)


def with_gaps(bars: pd.DataFrame, missing: Sequence[Any], *, every_day: bool) -> pd.DataFrame:
    """Bars with an empty row for each session without one, so that no line runs across it.

    `missing` are sessions that a check of prices found absent; a coin trades `every_day`.
    """
    if bars.empty:
        return bars
    index = pd.DatetimeIndex(bars["session"])
    first, last = index[0], index[-1]
    wanted = pd.date_range(first, last) if every_day else index
    absent = [d for d in pd.to_datetime(list(missing)) if first < d < last]
    full = wanted.union(pd.DatetimeIndex(absent)).union(index)
    wide = bars.set_index(index).drop(columns="session").reindex(full)
    return wide.rename_axis("session").reset_index().replace({None: np.nan})

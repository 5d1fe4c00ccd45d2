"""Four rules of a brief's quality, each 0, 1 or 2, scored by code with the evidence behind it.

Source: the quality guideline of Agent Market Arena, appendix A (date accuracy, coverage of the key
price drivers, bias awareness, source diversity). The thresholds are ours; docs/briefs.md has them all
and says what no rule of code can see.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from arena.core.tone import FEW_WORDS, count_words, tone
from arena.core.types import Asset
from arena.market.news.brief import SENTIMENT_EDGE, Brief
from arena.market.news.digest import drivers_told, mean_tone, readable
from arena.market.news.drivers import DRIVERS, drivers_of
from arena.market.news.items import DayNews, Item, Told, TsQuality

Rule = Literal["date_accuracy", "coverage", "bias_awareness", "source_diversity"]
Score = Literal[0, 1, 2]

CODE = "code"
OFF_DATE_FRAC = 0.2
"""Date accuracy: the most items, of all that were used, that may be off for a 1."""

BIAS_FULL, BIAS_PART = 0.25, 0.5
"""Bias awareness: the largest distance of tones for a 2 and for a 1."""

MIXED_FRAC = 0.25
"""Articles are mixed when each side has at least this share of the stories that take one."""

OUTLETS_FULL, OUTLETS_PART = 4, 2
DOMINANT_FRAC = 0.5
"""Source diversity: with more than this share of the items one outlet is dominant."""

DRIVERS_FULL, DRIVERS_PART = 4, 2
EXTREME_TONE = 0.8

_LATEST: dict[TsQuality, timedelta] = {
    "exact": timedelta(0),
    "relative": timedelta(0),
    "naive": timedelta(hours=12),
    "date": timedelta(days=1),
}
"""How long after the stated moment an item of that date may at most have been published. Other dates
say nothing of it."""

_UNPROVED: frozenset[TsQuality] = frozenset({"naive", "relative", "range", "collected", "none"})
_EXTREME = re.compile(
    r"\b(?:bankrupt\w*|insolven\w*|collaps\w+|fraud\w*|hack(?:ed|s|ers?)?|exploit(?:ed|s)?|stolen|"
    r"seiz(?:ed|es|ure)|arrest(?:ed|s)?|indict(?:ed|ment)|default(?:s|ed)|delist(?:ed|ing|s)?|"
    r"halt(?:ed|s)?|ban(?:s|ned)?|recall(?:s|ed)?|resign(?:s|ed)?|takeover|acquir(?:es|ed)|merger|"
    r"all-time high|record (?:high|low))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RuleScore:
    """0 not met, 1 partly, 2 met. `scorer` is `code` or `judge:` and a model's id."""

    rule: Rule
    score: Score
    evidence: str
    scorer: str = CODE


def rate(asset: Asset, day: DayNews, brief: Brief) -> tuple[RuleScore, ...]:
    """The four scores of a brief about `day`; none for one that its model failed to make."""
    if not brief.usable:
        return ()
    by_id = {story.id: story for story in day.stories}
    used = [by_id[i] for i in brief.story_ids]
    return (
        _date_accuracy(day, used),
        _coverage(asset, day, brief, used),
        _bias_awareness(day, brief),
        _source_diversity(day, used),
    )


def single_source(day: DayNews) -> tuple[Told, ...]:
    """Stories with an extreme claim that one outlet alone tells, and no authority or company itself.

    A claim is extreme by a word of its title (bankruptcy, hack, takeover ...) or a tone of 0.8 and
    more. Whether it is true is beyond code.
    """
    return tuple(
        story
        for story in day.stories
        if len(story.outlets) == 1 and story.first.trust != "official"
        and (_EXTREME.search(story.first.title) or abs(story.first.tone) >= EXTREME_TONE)
    )  # fmt: skip


def _date_accuracy(day: DayNews, used: Sequence[Told]) -> RuleScore:
    """Whether what was used was published in the day's window, so far as its dates can tell."""
    items = _items(used)
    if not items:
        return RuleScore("date_accuracy", 0, _NOTHING_USED)
    off = [item for item in items if _before(item, day)]
    unproved = [i for i in items if i.ts_quality in _UNPROVED and not _before(i, day)]
    since = f"{day.since_utc:%Y-%m-%d %H:%M} UTC"
    told = [f"{_n(len(items), 'item')} used, {len(off)} of them published before {since}"]
    if unproved:
        kinds = Counter(item.ts_quality for item in unproved)
        counted = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        told.append(f"{len(unproved)} with a date that proves no day ({counted})")
    score: Score = 2
    if off or unproved:
        score = 1 if len(off) <= OFF_DATE_FRAC * len(items) else 0
    return RuleScore("date_accuracy", score, _sentence(told))


def _before(item: Item, day: DayNews) -> bool:
    """Whether even the latest reading of its date lies before the window."""
    latest = _LATEST.get(item.ts_quality)
    if item.published_at_utc is None or latest is None:
        return False
    return item.published_at_utc + latest <= day.since_utc


def _coverage(asset: Asset, day: DayNews, brief: Brief, used: Sequence[Told]) -> RuleScore:
    """How many of the class's four price drivers the brief speaks of, by itself or by its stories."""
    said = drivers_of(asset.asset_class, "", brief.summary)
    covered = {*said, *drivers_told(asset, used)}
    order = DRIVERS[asset.asset_class]
    left_out = [d for d in drivers_told(asset, readable(day)) if d not in covered]
    unfounded = [d for d in brief.drivers if d not in covered]
    named = ", ".join(d for d in order if d in covered) or "none"
    told = [f"{len(covered)} of {len(order)} drivers covered ({named})"]
    told.append(f"the day also had {', '.join(left_out)}" if left_out else "the day had no other")
    if unfounded:
        told.append(f"named without a word on it: {', '.join(unfounded)}")
    score: Score = 2 if len(covered) >= DRIVERS_FULL else 1 if len(covered) >= DRIVERS_PART else 0
    return RuleScore("coverage", score, _sentence(told))


def _bias_awareness(day: DayNews, brief: Brief) -> RuleScore:
    """How far the brief's score is from the mean tone of the articles, and how far its words go beyond
    theirs; the larger of both counts."""
    stories = readable(day)
    articles, words = mean_tone(stories), _pooled_tone(stories)
    said = tone(brief.summary)
    apart = max(abs(brief.score - articles), _beyond(said, words))
    score: Score = 2 if apart <= BIAS_FULL else 1 if apart <= BIAS_PART else 0
    told = [
        f"score {brief.score:+.2f} against {articles:+.2f} of {_n(len(stories), 'article')}",
        f"tone of its words {said:+.2f} against {words:+.2f}",
    ]
    if _mixed(stories) and _one_sided(brief.summary):
        told.append("one-sided, where the articles are mixed")
        score = 0
    return RuleScore("bias_awareness", score, _sentence(told))


def _beyond(said: float, words: float) -> float:
    """How far `said` lies outside what is between neutral and `words`: to be calmer is no bias."""
    return max(0.0, said - max(words, 0.0), min(words, 0.0) - said)


def _pooled_tone(stories: Sequence[Told]) -> float:
    """Tone of all words of the stories together, each story weighted by its outlets.

    The tone of a long text is further from 0 than the mean of short ones, so that a summary is held
    against this and its score against the mean.
    """
    good = bad = 0
    for story in stories:
        g, b = count_words(f"{story.first.title}. {story.first.text}")
        good, bad = good + g * len(story.outlets), bad + b * len(story.outlets)
    return (good - bad) / max(good + bad, FEW_WORDS)


def _mixed(stories: Sequence[Told]) -> bool:
    """Whether both sides have their share of the stories that take one."""
    up = sum(story.first.tone > SENTIMENT_EDGE for story in stories)
    down = sum(story.first.tone < -SENTIMENT_EDGE for story in stories)
    return min(up, down) > 0 and min(up, down) >= MIXED_FRAC * (up + down)


def _one_sided(text: str) -> bool:
    good, bad = count_words(text)
    return good + bad >= FEW_WORDS and min(good, bad) == 0


def _source_diversity(day: DayNews, used: Sequence[Told]) -> RuleScore:
    """How many outlets stand behind what was used, and whether one of them is most of it."""
    items = _items(used)
    if not items:
        return RuleScore("source_diversity", 0, _NOTHING_USED)
    by_outlet = Counter(item.outlet for item in items)
    first, n_first = by_outlet.most_common(1)[0]
    dominant = len(by_outlet) > 1 and n_first > DOMINANT_FRAC * len(items)
    n = len(by_outlet)
    score: Score = 0 if n < OUTLETS_PART else 1 if n < OUTLETS_FULL or dominant else 2
    told = [
        f"{_n(len(items), 'item')} of {n} outlets"
        if n > 1
        else f"{_n(len(items), 'item')}, all of {first}"
    ]
    if dominant:
        told.append(f"{first} alone has {n_first}")
    used_ids = {story.id for story in used}
    if alone := [s for s in single_source(day) if s.id in used_ids]:
        told.append(f"extreme and told by one outlet only: {', '.join(s.id for s in alone)}")
    return RuleScore("source_diversity", score, _sentence(told))


_NOTHING_USED = "The brief names no story that it used, so nothing can be checked."


def _items(used: Sequence[Told]) -> list[Item]:
    return [item for story in used for item in story.items]


def _n(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."

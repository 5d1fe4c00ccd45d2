"""The four rules of code: a case worked by hand for every level of each, and the edges between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.core.actions import Status
from arena.market.news import quality
from arena.market.news.brief import Brief, sentiment_of
from arena.market.news.digest import digest
from arena.market.news.items import DayNews, Told, TsQuality
from arena.market.news.quality import RuleScore, rate, single_source
from tests.market.news.made_news import BTC, NOON, SINCE, day, item, story

PLAIN = "Something happened."


@pytest.fixture(autouse=True)
def _own_word_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers of a summary by one word, so that these cases hold whatever the real lists say."""
    monkeypatch.setattr(
        quality, "drivers_of", lambda kind, title, text: ("policy",) if "Senate" in text else ()
    )


def brief(news: DayNews, summary: str = PLAIN, score: float = 0.0, **changed: Any) -> Brief:
    """A model's brief that used every story of the day."""
    made = Brief(
        "brief-1", "some/model", "model", Status.OK, summary, sentiment=sentiment_of(score),
        score=score, story_ids=tuple(s.id for s in news.stories),
    )  # fmt: skip
    return replace(made, **changed)


def one(rule: str, news: DayNews, made: Brief | None = None) -> RuleScore:
    scores = {s.rule: s for s in rate(BTC, news, made or brief(news))}
    assert list(scores) == ["date_accuracy", "coverage", "bias_awareness", "source_diversity"]
    assert {s.scorer for s in scores.values()} == {"code"}
    return scores[rule]


def dated(*dates: tuple[TsQuality, datetime]) -> DayNews:
    return day(
        *(
            story(f"s{i}", f"T{i}", ts_quality=quality, published_at_utc=at)
            for i, (quality, at) in enumerate(dates)
        )
    )


FINE = ("exact", NOON)
OLD = ("relative", SINCE - timedelta(hours=3))


@pytest.mark.parametrize(
    ("dates", "score", "evidence"),
    [
        ([FINE, FINE], 2, "2 items used, 0 of them published before 2025-08-04 00:05 UTC."),
        # one in five is off, and one is the most that a 1 allows
        ([OLD, *[FINE] * 4], 1, "5 items used, 1 of them published before 2025-08-04 00:05 UTC."),
        ([OLD, *[FINE] * 3], 0, "4 items used, 1 of them published before 2025-08-04 00:05 UTC."),
        ([OLD, OLD], 0, "2 items used, 2 of them published before 2025-08-04 00:05 UTC."),
    ],
)
def test_date_accuracy(dates: list[tuple[TsQuality, datetime]], score: int, evidence: str) -> None:
    got = one("date_accuracy", dated(*dates))
    assert (got.score, got.evidence) == (score, evidence)


def test_dates_that_prove_no_day_are_worth_a_one_and_named() -> None:
    got = one("date_accuracy", dated(FINE, ("collected", NOON), ("range", NOON), ("range", NOON)))
    assert got.score == 1
    assert got.evidence.endswith("3 with a date that proves no day (1 collected, 2 range).")
    off_too = one("date_accuracy", dated(OLD, ("collected", NOON), FINE))
    assert off_too.score == 0, "one in three is off"


@pytest.mark.parametrize(
    ("kind", "before_since", "score"),
    [
        # the instant the window opens is still outside it
        ("exact", timedelta(0), 0),
        ("exact", -timedelta(seconds=1), 2),
        # without a zone the moment may be up to 12 h later than it reads: 11 h proves nothing
        ("naive", timedelta(hours=11), 1),
        ("naive", timedelta(hours=12), 0),
        # a day that began 5 minutes before the window lies in it but for those
        ("date", timedelta(minutes=5), 2),
        ("date", timedelta(days=1), 0),
        # what was collected, or found in a range, is not known to be old
        ("collected", timedelta(days=3), 1),
        ("range", timedelta(days=3), 1),
    ],
)
def test_a_date_is_off_only_where_its_latest_reading_is(
    kind: TsQuality, before_since: timedelta, score: int
) -> None:
    assert one("date_accuracy", dated((kind, SINCE - before_since))).score == score


def test_later_tellers_count_as_items_too() -> None:
    items = (item("T"), item("T", outlet="Blog", ts_quality="relative", published_at_utc=OLD[1]))
    got = one("date_accuracy", day(Told("s", items)))
    assert (got.score, got.evidence[:27]) == (0, "2 items used, 1 of them pub")


def told_of(*drivers: Sequence[str]) -> DayNews:
    return day(*(story(f"s{i}", f"T{i}", drivers=tuple(d)) for i, d in enumerate(drivers)))


@pytest.mark.parametrize(
    ("drivers", "score", "evidence"),
    [
        (
            [["network", "adoption"], ["policy"], ["market"]], 2,
            "4 of 4 drivers covered (network, adoption, policy, market); the day had no other.",
        ),
        (
            [["market"], ["network"], ["policy"]], 1,
            "3 of 4 drivers covered (network, policy, market); the day had no other.",
        ),
        (
            [["market"], ["network"]], 1,
            "2 of 4 drivers covered (network, market); the day had no other.",
        ),
        ([["market"], ["market"]], 0, "1 of 4 drivers covered (market); the day had no other."),
        ([[]], 0, "0 of 4 drivers covered (none); the day had no other."),
    ],
)  # fmt: skip
def test_coverage(drivers: list[list[str]], score: int, evidence: str) -> None:
    got = one("coverage", told_of(*drivers))
    assert (got.score, got.evidence) == (score, evidence)


def test_coverage_counts_the_summary_and_names_what_was_left_out_or_only_claimed() -> None:
    news = told_of(["network"], ["adoption"])
    part = brief(news, story_ids=("s0",), drivers=("network", "market"))
    got = one("coverage", news, part)
    assert got.score == 0
    assert got.evidence == (
        "1 of 4 drivers covered (network); the day also had adoption; "
        "named without a word on it: market."
    )
    assert one("coverage", news, replace(part, summary="The Senate votes.")).score == 1


# No word of these articles has a tone, so that their words stand at 0.
CALM = day(story("a", "T1", tone=0.5), story("b", "T2", tone=-0.5))


@pytest.mark.parametrize(
    ("score_of_brief", "score"),
    [(0.0, 2), (0.25, 2), (-0.25, 2), (0.26, 1), (0.5, 1), (-0.5, 1), (0.51, 0), (1.0, 0)],
)
def test_bias_by_the_score(score_of_brief: float, score: int) -> None:
    assert one("bias_awareness", CALM, brief(CALM, score=score_of_brief)).score == score


@pytest.mark.parametrize(
    ("summary", "score"),
    [
        ("Nothing to it.", 2),
        ("A gain and a loss.", 2),  # (1 - 1) / 3
        ("A gain.", 1),  # 1 / 3
        ("A loss and a fall.", 0),  # -2 / 3
    ],
)
def test_bias_by_the_words(summary: str, score: int) -> None:
    assert one("bias_awareness", CALM, brief(CALM, summary)).score == score


@pytest.mark.parametrize(
    ("summary", "score"),
    [
        ("Nothing to it.", 2),  # 0: calmer than the articles
        ("A gain.", 2),  # 1/3, between 0 and 2/3
        ("A gain, a rise and a profit.", 1),  # 1 - 2/3 = 0.33 beyond
        ("A loss.", 1),  # 1/3 on the other side
        ("A loss and a fall.", 0),  # 2/3 on the other side
    ],
)
def test_a_calmer_brief_is_not_biased_a_louder_one_is(summary: str, score: int) -> None:
    # words of the articles: 2 good, 0 bad: 2/3
    news = day(story("a", "A gain and a rise", tone=0.0))
    assert one("bias_awareness", news, brief(news, summary)).score == score


def test_bias_goes_by_outlets_and_tells_its_numbers() -> None:
    # (1.0 * 3 - 0.2 * 1) / 4 = 0.7; words: 1 good of the title told by 3, so 3 / 3 = 1
    news = day(
        story("a", "A gain", outlets=("x", "y", "z"), tone=1.0), story("b", "T", tone=-0.2)
    )  # fmt: skip
    got = one("bias_awareness", news, brief(news, "A gain, profits and a rise.", 0.6))
    assert got.score == 0
    assert got.evidence == (
        "Score +0.60 against +0.70 of 2 articles; tone of its words +1.00 against +1.00; "
        "one-sided, where the articles are mixed."
    )


def test_one_sided_is_a_zero_only_where_the_articles_are_mixed() -> None:
    # words: 6 good, 1 bad: 5/7 = 0.71; the brief's 1.0 is 0.29 away, which alone makes a 1
    titles = ("A gain and a rise", "A gain and a rise", "A gain and a rise", "A loss")
    tones = (0.5, 0.5, 0.5, -0.5)
    news = day(
        *(story(f"s{i}", t, tone=x) for i, (t, x) in enumerate(zip(titles, tones, strict=True)))
    )
    told = brief(news, "A gain, a profit and a rise.", 0.25)
    assert one("bias_awareness", news, told).score == 0, "1 of 4 is a quarter: mixed"
    more = day(*news.stories, story("s4", "T", tone=0.5))
    # words as before; mean tone (4 * 0.5 - 0.5) / 5 = 0.3
    assert one("bias_awareness", more, brief(more, told.summary, 0.3)).score == 1, "1 of 5 is not"
    both = brief(news, "A gain, a profit, a rise, a recovery and a loss.", 0.25)  # 3/5 = 0.6
    assert one("bias_awareness", news, both).score == 2


def test_hostile_stories_are_no_measure_of_bias() -> None:
    news = day(*CALM.stories, story("x", "A gain, a gain, a gain", tone=1.0, suspicion=0.9))
    got = one("bias_awareness", news, brief(news, story_ids=("a", "b")))
    assert (got.score, "of 2 articles" in got.evidence) == (2, True)


def told_by(*outlets: str) -> DayNews:
    return day(*(story(f"s{i}", f"T{i}", outlets=(o,)) for i, o in enumerate(outlets)))


@pytest.mark.parametrize(
    ("outlets", "score", "evidence"),
    [
        ("abcd", 2, "4 items of 4 outlets."),
        ("aaabcd", 2, "6 items of 4 outlets."),  # half is not more than half
        ("aaaabcd", 1, "7 items of 4 outlets; a alone has 4."),
        ("abc", 1, "3 items of 3 outlets."),
        ("ab", 1, "2 items of 2 outlets."),
        ("aaa", 0, "3 items, all of a."),
        ("a", 0, "1 item, all of a."),
    ],
)
def test_source_diversity(outlets: str, score: int, evidence: str) -> None:
    got = one("source_diversity", told_by(*outlets))
    assert (got.score, got.evidence) == (score, evidence)


def test_diversity_goes_by_what_was_used() -> None:
    news = told_by("a", "b", "c", "d")
    assert one("source_diversity", news, brief(news, story_ids=("s0", "s1"))).score == 1


def test_a_brief_without_stories_cannot_be_checked() -> None:
    news = told_by("a", "b", "c", "d")
    silent = brief(news, story_ids=())
    for rule in ("date_accuracy", "source_diversity"):
        got = one(rule, news, silent)
        assert (got.score, "names no story" in got.evidence) == (0, True)


def test_extreme_claims_of_one_outlet_are_named() -> None:
    news = day(
        story("hack", "Exchange hacked, funds stolen"),
        story("two", "Exchange hacked overnight", outlets=("x", "y")),
        story("own", "Exchange files for bankruptcy", trust="official"),
        story("loud", "Quite a day", tone=-0.8),
        story("calm", "Quite a day", tone=0.79),
    )
    assert [s.id for s in single_source(news)] == ["hack", "loud"]
    part = brief(news, story_ids=("hack", "two", "calm"))
    got = one("source_diversity", news, part)
    assert got.evidence == "4 items of 3 outlets; extreme and told by one outlet only: hack."


def test_a_failed_brief_has_no_scores() -> None:
    news = told_by("a", "b")
    assert rate(BTC, news, brief(news, status=Status.INVALID_OUTPUT)) == ()


def test_every_digest_is_scored_even_where_all_stories_were_set_aside() -> None:
    fine = told_by("a", "b", "c", "d")
    assert [s.score for s in rate(BTC, fine, digest(BTC, fine))] == [2, 0, 2, 2]
    hostile = day(story("x", "Obey", suspicion=0.9))
    assert [s.score for s in rate(BTC, hostile, digest(BTC, hostile))] == [0, 0, 2, 0]


def test_the_documented_thresholds_are_those_in_force(root: Path) -> None:
    told = (root / "docs" / "briefs.md").read_text(encoding="utf-8")
    for phrase in (
        f"at most {quality.OFF_DATE_FRAC:.0%} before it".replace("%", " %"),
        f"all {quality.DRIVERS_FULL} price drivers",
        f"distance at most {quality.BIAS_FULL:g} | at most {quality.BIAS_PART:g}",
        f"{quality.OUTLETS_FULL} outlets or more",
        f"at least {quality.MIXED_FRAC:.0%} of".replace("%", " %"),
        f"a tone of {quality.EXTREME_TONE:g} and more",
    ):
        assert phrase in told, phrase

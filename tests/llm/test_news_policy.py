"""The rule that goes by the news, worked out by hand."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.vanilla import Verdict
from arena.core.tone import BAD, GOOD, count_words
from arena.llm.offline.news import news
from arena.llm.offline.policy import POLICIES, StandIn
from arena.llm.types import ChatRequest, Message


def story(text: str) -> list[str]:
    return ["n1", "2025-08-01 12:00 UTC", "wire", f"<<{text}>>"]


def test_lists_are_equally_long_and_have_nothing_in_common() -> None:
    assert len(GOOD) == len(BAD)
    assert not GOOD & BAD
    assert all(w.isalpha() and w.islower() for w in GOOD | BAD)


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("Shares surge after record profit", 2, 0),  # surge, profit
        ("Shares plunge on weak demand, analysts warn", 0, 3),  # plunge, weak, warn
        ("Profits did not fall", 2, 0),  # profits; "not" stands one before "fall"
        ("The company didn't beat forecasts", 0, 1),
        ("Sales won’t decline", 1, 0),
        ("It has no hope of any lasting growth", 1, 0),  # "no" is five words before: too far
        ("No doubt. Shares fall", 0, 1),  # a negation ends with its sentence
        ("Not cheap but strong", 1, 0),  # and at "but"
        ("SOARS! Beats; wins", 3, 0),
        ("surgery, winsome and fallow", 0, 0),  # whole words only
        ("", 0, 0),
    ],
)
def test_words_counted_by_hand(text: str, good: int, bad: int) -> None:
    assert count_words(text) == (good, bad)


def test_score_of_headlines_by_hand() -> None:
    # 3 good, 1 bad: (3 - 1) / max(4, 3) = 0.5; strength (0.5 - 0.15) / 0.65 = 0.538
    opinion = news({"stories": [story("Profit and growth"), story("Shares surge, rivals fall")]})
    assert (opinion.lean, opinion.confidence) == (0.54, 0.77)
    assert opinion.text == (
        "Rule, no model: news. 3 good and 1 bad words in 2 stories give +0.50: good (threshold 0.15)."
    )


def test_one_word_is_a_third_of_a_tone() -> None:
    # -1 / max(1, 3) = -0.333; strength (0.333 - 0.15) / 0.65 = 0.282
    assert news({"stories": [story("Shares fall")]}).lean == -0.28


def test_negation_does_not_cross_from_one_story_into_the_next() -> None:
    assert news({"stories": [story("Why not"), story("Gains")]}).lean > 0


def test_brief_goes_before_headlines() -> None:
    # strength (0.4 - 0.15) / 0.65 = 0.385; confidence 0.5 + 0.5 * 0.385 = 0.692
    opinion = news({"brief_score": -0.4, "stories": [story("Shares surge")]})
    assert (opinion.lean, opinion.confidence) == (-0.38, 0.69)
    assert "brief of the day scores -0.40: bad" in opinion.text
    # inside the dead zone: no side, confidence 1 - 0.5 * 0.09 / 0.15 = 0.7
    assert (news({"brief_score": 0.09}).lean, news({"brief_score": 0.09}).confidence) == (0.0, 0.7)


@pytest.mark.parametrize("facts", [{}, {"stories": []}, {"stories": [story("Meeting on Monday")]}])
def test_nothing_to_go_by_is_no_side_and_no_confidence(facts: dict[str, object]) -> None:
    opinion = news(facts)
    assert (opinion.lean, opinion.confidence) == (0.0, 0.0)
    assert opinion.text.startswith("Rule, no model: news. No ")


@given(st.lists(st.sampled_from([*sorted(GOOD | BAD), "not", "the", "but", "."]), max_size=25))
def test_good_and_bad_are_mirror_images(words: list[str]) -> None:
    mirror = dict(zip(sorted(GOOD), sorted(BAD), strict=True))
    mirror |= {bad: good for good, bad in mirror.items()}
    good, bad = count_words(" ".join(words))
    assert count_words(" ".join(mirror.get(w, w) for w in words)) == (bad, good)
    # Every word of a list counts once, on one side or the other.
    assert good + bad == sum(w in GOOD or w in BAD for w in words)


def test_it_answers_as_a_stand_in() -> None:
    model = StandIn("offline/news", POLICIES["offline/news"])
    req = ChatRequest((Message("user", "?"),), Verdict, {"stories": [story("Shares plunge; fears")]})
    answer = json.loads(asyncio.run(model.complete(req)).text)
    assert answer["action"] == "SELL"
    assert answer["reason"].startswith("Rule, no model: news.")

"""What a model says it found on the web: read strictly, dated by when it was collected."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news.web_search import WebSearchSource, parse, question
from tests.market.sources.news.keyed import BTC, MADE_UP, NOW, SINCE, TSLA, clock, news_of

ONE = {
    "title": "Tesla opens a plant", "url": " https://www.paper.example/a ",
    "published": "2025-08-12T09:00:00+02:00", "summary": "It opened.",
}  # fmt: skip


def test_an_item_is_known_when_it_was_collected_whatever_date_the_model_gives() -> None:
    (item,) = parse(json.dumps([ONE]), "TSLA", NOW)
    assert item == RawItem(
        "Tesla opens a plant", "https://www.paper.example/a", "It opened.", "www.paper.example",
        "web-search", "vendor", "collected", datetime(2025, 8, 12, 7, 0, tzinfo=UTC), NOW, "TSLA", must_mention=True,
    )  # fmt: skip


def test_what_has_no_web_address_is_left_out_as_nobody_could_check_it() -> None:
    found = parse(
        json.dumps(
            [
                {**ONE, "url": " "},
                {"title": "No address"},
                {"title": "b", "url": "https://www.paper.example/b", "published": "last week"},
                {"title": "c", "url": "http://[broken"},
                {"title": "d", "url": "file:///etc/hosts"},
                {"title": "e", "url": "paper.example/e"},
            ]
        ),
        "TSLA",
        NOW,
    )
    assert [(i.title, i.outlet, i.published_utc) for i in found] == [
        ("b", "www.paper.example", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "```json\n{}\n```",
        "```\n{}```",
        "I shall look [1], [see](https://a.example).\n\n{}",
        "Found these:\n```json\n{}\n```",
    ],
)
def test_words_before_the_list_and_a_fence_around_it_are_forgiven(text: str) -> None:
    spread = json.dumps([ONE], indent=1)
    assert len(parse(text.replace("{}", spread), "TSLA", NOW)) == 1
    assert parse(text.replace("{}", "[]"), "TSLA", NOW) == []


BROKEN: dict[str, Any] = {
    "empty": "",
    "prose": "I found nothing about Tesla.",
    "an object": json.dumps(ONE),
    "cut off": json.dumps([ONE, ONE])[:-20],
    "cut off after an empty list": '[{"title": "a", "url": "https://a.example", "summary": []',
    "words after it": json.dumps([ONE]) + "\nI hope this helps.",
    "another field": json.dumps([{**ONE, "source": "Reuters"}]),
    "another type": json.dumps([{**ONE, "title": 7}]),
    "no title": json.dumps([{"url": "https://a.example"}]),
    "a list of texts": '[{"title": "a"}, "b"]',
    "not a number": '[{"title": NaN}]',
    "huge": json.dumps([{**ONE, "summary": "x" * 70_000}]),
    "deep": "[{" * 10_000,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_anything_else_is_a_failure_and_not_no_news(text: str) -> None:
    with pytest.raises(SourceError, match="web-search: the answer about TSLA"):
        parse(text, "TSLA", NOW)


def test_each_real_asset_is_asked_about_once() -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return "[]" if "Tesla" in text else json.dumps([{**ONE, "title": "Bitcoin"}])

    found = news_of(WebSearchSource(ask, clock), TSLA, MADE_UP, BTC)
    assert [(i.asset, i.title, i.collected_at_utc) for i in found] == [("BTC", "Bitcoin", NOW)]
    assert asked == [question(TSLA, SINCE, NOW), question(BTC, SINCE, NOW)]
    assert "published from 2025-08-11 to 2025-08-12." in asked[0]


def test_a_failing_model_is_a_failing_source() -> None:
    def ask(_text: str) -> str:
        raise SourceError("web-search: it is tired")

    with pytest.raises(SourceError, match="tired"):
        news_of(WebSearchSource(ask, clock), TSLA)

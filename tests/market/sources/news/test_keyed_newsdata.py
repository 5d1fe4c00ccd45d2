"""NewsData.io against a site on this machine: pages, zones, and errors inside an answer of 200."""

from __future__ import annotations

from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.newsdata import NewsDataSource, source
from tests.market.sources.news.keyed import (
    BTC,
    NOW,
    SECRET,
    TSLA,
    body,
    check_failures,
    clock,
    news_of,
    site,
)


def article(title: str, at: str, **fields: Any) -> dict[str, Any]:
    return {
        "article_id": "a", "title": title, "link": f"https://news.example/{title}",
        "description": "What happened.", "content": "ONLY AVAILABLE IN PAID PLANS", "pubDate": at,
        "pubDateTZ": "UTC", "source_id": "example", "source_name": "Example", **fields,
    }  # fmt: skip


def answer(*articles: dict[str, Any], following: str | None = None) -> dict[str, Any]:
    return {
        "status": "success", "totalResults": len(articles), "results": list(articles),
        "nextPage": following,
    }  # fmt: skip


def made(base: str) -> NewsDataSource:
    return NewsDataSource(SECRET, base, clock)


def test_a_date_is_exact_where_its_zone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = answer(
        article("a", "2025-08-12 09:30:00"),
        article("b", "2025-08-12 09:30:00", pubDateTZ="", source_name=None, description=None),
        article("c", "2025-08-12T09:30:00+02:00", pubDateTZ=None),
        article("d", "yesterday", source_name="", source_id=""),
    )
    with site(monkeypatch) as here:
        here.answers["/latest"] = body(listed)
        found = news_of(made(here.base), TSLA)
    assert found[0] == RawItem(
        "a", "https://news.example/a", "What happened.", "Example", "newsdata", "vendor", "exact",
        datetime(2025, 8, 12, 9, 30, tzinfo=UTC), NOW, "TSLA", must_mention=True,
    )  # fmt: skip
    assert [(i.ts_quality, i.published_utc, i.outlet, i.text) for i in found[1:]] == [
        ("naive", datetime(2025, 8, 12, 9, 30, tzinfo=UTC), "example", ""),
        # 09:30 two hours east of Greenwich is 07:30 UTC
        ("exact", datetime(2025, 8, 12, 7, 30, tzinfo=UTC), "Example", "What happened."),
        ("none", None, "NewsData.io", "What happened."),
    ]
    assert parse_qs(urlsplit(here.asked[0][0]).query) == {"q": ['"Tesla"'], "language": ["en"]}
    assert here.asked[0][1]["X-ACCESS-KEY"] == SECRET


def pages(handler: BaseHTTPRequestHandler) -> None:
    """Page n has one article of 12 August, n hours before noon, and always another page after it."""
    asked = parse_qs(urlsplit(handler.path).query)
    n = int(asked.get("page", ["p0"])[0][1:])
    body(answer(article(f"n{n}", f"2025-08-12 {12 - n:02d}:00:00"), following=f"p{n + 1}"))(handler)


def test_coins_have_their_own_list_and_three_pages_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with site(monkeypatch) as here:
        here.answers["/crypto"] = pages
        found = news_of(made(here.base), BTC)
    assert [i.title for i in found] == ["n0", "n1", "n2"]
    queries = [parse_qs(urlsplit(path).query) for path, _ in here.asked]
    assert queries == [
        {"coin": ["btc"], "language": ["en"]},
        {"coin": ["btc"], "language": ["en"], "page": ["p1"]},
        {"coin": ["btc"], "language": ["en"], "page": ["p2"]},
    ]


def test_a_page_that_reaches_back_far_enough_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    old = article("old", "2025-08-11 13:59:59")  # a second before the window
    with site(monkeypatch) as here:
        here.answers["/crypto"] = body(answer(old, following="p1"))
        assert len(news_of(made(here.base), BTC)) == 1
        here.answers["/crypto"] = body(answer(following="p1"))
        assert news_of(made(here.base), BTC) == []
    assert len(here.asked) == 2


def test_an_error_in_an_answer_of_200_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def error(code: str) -> dict[str, Any]:
        return {"status": "error", "results": {"message": f"No, {SECRET}\u202e!", "code": code}}

    with site(monkeypatch) as here:
        here.answers["/latest"] = body(error("Unauthorized"))
        with pytest.raises(SourceError, match=r"^newsdata: it says: No, \[secret\]!$") as refused:
            news_of(made(here.base), TSLA)
        assert not isinstance(refused.value, LimitedError)
        here.answers["/latest"] = body(error("RateLimitExceeded"))
        with pytest.raises(LimitedError):
            news_of(made(here.base), TSLA)
        here.answers["/latest"] = body({"status": "error", "results": []})
        with pytest.raises(SourceError, match="an error without words"):
            news_of(made(here.base), TSLA)


def test_failures(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    check_failures("/latest", made, TSLA, "NEWSDATA_API_KEY", monkeypatch, caplog)


def test_there_is_no_source_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEWSDATA_API_KEY", raising=False)
    assert source() is None
    monkeypatch.setenv("NEWSDATA_API_KEY", SECRET)
    assert isinstance(source(), NewsDataSource)

"""X: posts with their authors, the reach of its search, and its own way of asking for patience."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.core.clock import utc_now
from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.x import XSource, source
from tests.market.sources.news.keyed import (
    NOW,
    SECRET,
    SINCE,
    TSLA,
    body,
    check_failures,
    clock,
    news_of,
    site,
)

PATH = "/tweets/search/recent"
ANSWER = {
    "data": [
        {"id": "12", "text": "Tesla!", "created_at": "2025-08-12T09:30:01.000Z", "author_id": "5"},
        {"id": "13", "text": "Tesla?", "created_at": "2025-08-12T09:30:02", "author_id": "6"},
        {"text": "Tesla", "created_at": "soon"},
    ],
    "includes": {"users": [{"id": "5", "name": "A", "username": "someone"}, 3]},
    "meta": {"result_count": 3, "newest_id": "12"},
}


def made(base: str) -> XSource:
    return XSource(SECRET, base, clock)


def test_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers[PATH] = body(ANSWER)
        found = news_of(made(here.base), TSLA)
    assert found == [
        RawItem(
            "Tesla!", "https://x.com/someone/status/12", "", "@someone", "x", "social", "exact",
            datetime(2025, 8, 12, 9, 30, 1, tzinfo=UTC), NOW, "TSLA", True, "social",
        ),
        RawItem(
            "Tesla?", "https://x.com/i/web/status/13", "", "X", "x", "social", "naive",
            datetime(2025, 8, 12, 9, 30, 2, tzinfo=UTC), NOW, "TSLA", True, "social",
        ),
        RawItem("Tesla", "", "", "X", "x", "social", "none", None, NOW, "TSLA", True, "social"),
    ]  # fmt: skip
    (path, headers) = here.asked[0]
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert parse_qs(urlsplit(path).query) == {
        "query": ['"Tesla" lang:en -is:retweet'], "max_results": ["100"],
        "start_time": ["2025-08-11T14:00:00Z"], "tweet.fields": ["created_at,author_id"],
        "expansions": ["author_id"], "user.fields": ["username"],
    }  # fmt: skip


def test_the_search_reaches_no_further_back_than_x_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers[PATH] = body({"meta": {"result_count": 0}})
        assert made(here.base).fetch([TSLA], SINCE - timedelta(days=30), NOW) == []
    # seven days before 12 August 14:00, and five minutes of grace
    assert parse_qs(urlsplit(here.asked[0][0]).query)["start_time"] == ["2025-08-05T14:05:00Z"]


def test_a_limit_names_its_end_in_seconds_since_1970(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait_for(reset: str) -> float | None:
        here.answers[PATH] = body({"title": "Too Many Requests"}, 429, x_rate_limit_reset=reset)
        with pytest.raises(LimitedError) as limited:
            news_of(made(here.base), TSLA)
        return limited.value.retry_after_s

    with site(monkeypatch) as here:
        wait = wait_for(str(int(utc_now().timestamp()) + 300))
        assert wait is not None
        assert 280 < wait <= 300
        assert wait_for("1") == 0.0, "it is over"
        assert wait_for("9" * 12) == 86_400.0, "no more than a day is believed"
        assert wait_for("soon") is None


def test_an_answer_without_posts_and_without_a_count_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with site(monkeypatch) as here:
        here.answers[PATH] = body({"title": "Unsupported", "detail": "Not in your plan."})
        with pytest.raises(SourceError, match="it says: Not in your plan"):
            news_of(made(here.base), TSLA)
        here.answers[PATH] = body({"meta": {"result_count": 2}})
        with pytest.raises(SourceError, match="no list `data`"):
            news_of(made(here.base), TSLA)


def test_failures(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    check_failures(PATH, made, TSLA, "X_BEARER_TOKEN", monkeypatch, caplog)


def test_there_is_no_source_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X_BEARER_TOKEN", raising=False)
    assert source() is None
    monkeypatch.setenv("X_BEARER_TOKEN", SECRET)
    assert isinstance(source(), XSource)

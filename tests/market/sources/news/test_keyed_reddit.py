"""Reddit: the token and its life, posts, and what a refused token leads to."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news.answers import RefusedError
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.reddit import RedditSource, source
from tests.market.sources.news.keyed import (
    BTC,
    MADE_UP,
    NOW,
    SECRET,
    TSLA,
    body,
    check_failures,
    clock,
    news_of,
    site,
)
from tests.market.sources.news.server import Answer, Site

COINS = "/r/CryptoCurrency+CryptoMarkets+Bitcoin+ethereum/search"
STOCKS = "/r/stocks+investing+StockMarket/search"
LISTING = {
    "kind": "Listing",
    "data": {
        "after": None,
        "children": [
            {
                "kind": "t3",
                "data": {
                    "title": "Bitcoin at noon", "selftext": "I sold.", "subreddit": "Bitcoin",
                    "permalink": "/r/Bitcoin/comments/abc/bitcoin_at_noon/",
                    "url": "https://elsewhere.example/", "created_utc": 1754992800.0,
                },
            },
            {"kind": "t3", "data": {"title": "Gone", "selftext": "[removed]", "created_utc": "x"}},
            {"kind": "t3"},
        ],
    },
}  # fmt: skip


def token(word: str, expires_in: object = 3600) -> Answer:
    return body({"access_token": word, "token_type": "bearer", "expires_in": expires_in, "scope": "*"})


def made(here: Site | str, at: list[datetime] | None = None) -> RedditSource:
    base = here if isinstance(here, str) else here.base
    return RedditSource(
        "my-id", SECRET, base, f"{base}/token", clock if at is None else lambda: at[0]
    )


def test_posts_carry_their_own_address_and_forum(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers = {"/token": token("t1"), COINS: body(LISTING)}
        found = news_of(made(here), BTC, MADE_UP)
    assert found == [
        RawItem(
            "Bitcoin at noon", "https://www.reddit.com/r/Bitcoin/comments/abc/bitcoin_at_noon/",
            "I sold.", "r/Bitcoin", "reddit", "social", "exact",
            datetime(2025, 8, 12, 10, 0, tzinfo=UTC), NOW, "BTC", True, "social",
        ),
        RawItem(
            "Gone", "", "", "Reddit", "reddit", "social", "none", None, NOW, "BTC", True, "social"
        ),
        RawItem("", "", "", "Reddit", "reddit", "social", "none", None, NOW, "BTC", True, "social"),
    ]  # fmt: skip
    (_, first), (path, second) = here.asked
    # "my-id:" and the secret, in base64
    assert first["Authorization"] == "Basic " + b64encode(f"my-id:{SECRET}".encode()).decode()
    assert here.posted == [b"grant_type=client_credentials"]
    assert second["Authorization"] == "Bearer t1"
    assert parse_qs(urlsplit(path).query) == {
        "q": ['"Bitcoin" OR BTC'], "restrict_sr": ["1"], "sort": ["new"], "t": ["day"],
        "type": ["link"], "limit": ["100"], "raw_json": ["1"],
    }  # fmt: skip


def test_a_token_serves_until_a_minute_before_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [NOW]
    with site(monkeypatch) as here:
        here.answers = {"/token": token("t1"), COINS: body(LISTING), STOCKS: body(LISTING)}
        reddit = made(here, at)
        news_of(reddit, BTC, TSLA)
        at[0] = NOW + timedelta(seconds=3539)
        news_of(reddit, BTC)
        assert len(here.posted) == 1
        at[0] = NOW + timedelta(seconds=3540)
        news_of(reddit, BTC)
    assert len(here.posted) == 2


def test_a_refused_token_is_renewed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers = {
            "/token": lambda h: token(f"t{len(here.posted)}")(h),
            COINS: lambda h: body(LISTING, 200 if h.headers["Authorization"] == "Bearer t2" else 401)(h),
        }  # fmt: skip
        assert len(news_of(made(here), BTC)) == 3
        assert len(here.posted) == 2
        here.answers[COINS] = body({}, 401)
        with pytest.raises(RefusedError, match="REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET"):
            news_of(made(here), BTC)
        assert len(here.posted) == 4
        here.answers[COINS] = body({}, 403)
        with pytest.raises(RefusedError, match="403"):
            news_of(made(here), BTC)
        assert len(here.posted) == 5, "a ban is not answered with a new token"


@pytest.mark.parametrize(
    "answer",
    [
        body({"error": "invalid_grant"}), body({"access_token": "", "expires_in": 60}),
        body([]), token("t", None), token("t\u00fc"), token("t", -1),
    ],
)  # fmt: skip
def test_no_token_is_told_apart_from_no_news(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(monkeypatch) as here:
        here.answers = {"/token": answer, COINS: body(LISTING)}
        with pytest.raises(SourceError, match="no token came back"):
            news_of(made(here), BTC)
        here.answers["/token"] = body({}, 429, Retry_After="7")
        with pytest.raises(LimitedError) as limited:
            news_of(made(here), BTC)
    assert limited.value.retry_after_s == 7.0


def test_failures(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with site(monkeypatch) as tokens:
        tokens.answers["/token"] = token("t1")

        def make(base: str) -> RedditSource:
            return RedditSource("my-id", SECRET, base, f"{tokens.base}/token", clock)

        check_failures(COINS, make, BTC, "REDDIT_CLIENT_SECRET", monkeypatch, caplog)


def test_there_is_no_source_without_both_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDDIT_CLIENT_ID", "my-id")
    monkeypatch.delenv("REDDIT_CLIENT_SECRET", raising=False)
    assert source() is None
    monkeypatch.setenv("REDDIT_CLIENT_SECRET", SECRET)
    made_by_key = source()
    assert made_by_key is not None
    assert (made_by_key.name, made_by_key.trust) == ("reddit", "social")

"""Finnhub against a site on this machine that answers in the form of its published clients."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.market.news.items import RawItem
from arena.market.sources.news.finnhub import FinnhubSource, source
from tests.market.sources.news.keyed import (
    BTC,
    ETH,
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

# 1754992800 = 2025-08-12 10:00:00 UTC: 1754956800 is 2025-08-12 00:00 (20312 days of 86400 s), + 36000
COMPANY = [
    {
        "category": "company", "datetime": 1754992800, "headline": "Tesla opens a plant", "id": 1,
        "image": "", "related": "TSLA", "source": "Reuters", "summary": "It opened.",
        "url": "https://finnhub.io/api/news?id=1",
    },
    {"datetime": 0, "headline": "Dow up 350 points", "source": "", "summary": None, "url": 7},
    "no object",
]  # fmt: skip
CRYPTO = [{"datetime": 1754992800, "headline": "Bitcoin rises", "source": "CoinDesk", "url": "u"}]


def test_company_news_and_one_list_for_all_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers = {"/company-news": body(COMPANY), "/news": body(CRYPTO)}
        found = news_of(FinnhubSource(SECRET, here.base, clock), TSLA, BTC, ETH, MADE_UP)
    at = datetime(2025, 8, 12, 10, 0, tzinfo=UTC)
    assert found == [
        RawItem(
            "Tesla opens a plant", "https://finnhub.io/api/news?id=1", "It opened.", "Reuters",
            "finnhub", "vendor", "exact", at, NOW, "TSLA", must_mention=True,
        ),
        RawItem(
            "Dow up 350 points", "", "", "Finnhub", "finnhub", "vendor", "none", None, NOW, "TSLA",
            must_mention=True,
        ),
        RawItem(
            "", "", "", "Finnhub", "finnhub", "vendor", "none", None, NOW, "TSLA", must_mention=True
        ),
        RawItem("Bitcoin rises", "u", "", "CoinDesk", "finnhub", "vendor", "exact", at, NOW, None),
    ]  # fmt: skip
    asked = [(urlsplit(path).path, parse_qs(urlsplit(path).query)) for path, _ in here.asked]
    assert asked == [
        ("/company-news", {"symbol": ["TSLA"], "from": ["2025-08-11"], "to": ["2025-08-12"]}),
        ("/news", {"category": ["crypto"]}),
    ]
    assert [headers["X-Finnhub-Token"] for _, headers in here.asked] == [SECRET, SECRET]


def test_no_news_is_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers["/company-news"] = body([])
        assert news_of(FinnhubSource(SECRET, here.base, clock), TSLA) == []
        assert news_of(FinnhubSource(SECRET, here.base, clock), MADE_UP) == []
    assert len(here.asked) == 1


def test_failures(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def make(base: str) -> FinnhubSource:
        return FinnhubSource(SECRET, base, clock)

    check_failures("/company-news", make, TSLA, "FINNHUB_API_KEY", monkeypatch, caplog)


def test_there_is_no_source_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FINNHUB_API_KEY", raising=False)
    assert source() is None
    monkeypatch.setenv("FINNHUB_API_KEY", SECRET)
    made = source()
    assert made is not None
    assert (made.name, made.trust) == ("finnhub", "vendor")

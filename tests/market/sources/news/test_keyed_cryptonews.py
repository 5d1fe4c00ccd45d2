"""CryptoNews API: one request for all coins, whose key stands in the address and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.core.errors import SourceError
from arena.market.news.items import RawItem
from arena.market.sources.news.cryptonews import CryptoNewsSource, mail_date, source
from tests.market.sources.news.keyed import (
    BTC,
    ETH,
    NOW,
    SECRET,
    TSLA,
    body,
    check_failures,
    clock,
    news_of,
    site,
)

ANSWER = {
    "data": [
        {
            "news_url": "https://coin.example/1", "image_url": "", "title": "Funds buy bitcoin",
            "text": "And ether.", "source_name": "Coin Example",
            "date": "Tue, 12 Aug 2025 05:15:47 -0400", "topics": [], "sentiment": "Positive",
            "type": "Article", "tickers": ["ETH", "DOGE", "BTC", "ETH", None, {}],
        },
        {"title": "The market", "date": "12 August", "tickers": "BTC"},
    ],
    "total_pages": 1,
}  # fmt: skip


def made(base: str) -> CryptoNewsSource:
    return CryptoNewsSource(SECRET, f"{base}/api/v1", clock, max_items=3)


def test_an_article_counts_for_each_of_our_coins_it_is_tagged_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with site(monkeypatch) as here:
        here.answers["/api/v1"] = body(ANSWER)
        found = news_of(made(here.base), BTC, TSLA, ETH)
        assert news_of(made(here.base), TSLA) == []
    # 05:15:47 four hours west of Greenwich is 09:15:47 UTC
    at = datetime(2025, 8, 12, 9, 15, 47, tzinfo=UTC)
    assert found == [
        RawItem(
            "Funds buy bitcoin", "https://coin.example/1", "And ether.", "Coin Example",
            "cryptonews", "vendor", "exact", at, NOW, asset, must_mention=True,
        )
        for asset in ("ETH", "BTC")
    ] + [
        RawItem(
            "The market", "", "", "CryptoNews API", "cryptonews", "vendor", "none", None, NOW, None
        )
    ]  # fmt: skip
    assert [parse_qs(urlsplit(path).query) for path, _ in here.asked] == [
        {"tickers": ["BTC,ETH"], "items": ["3"], "page": ["1"], "token": [SECRET]}
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thu, 06 Jan 2022 05:15:47 -0500", (datetime(2022, 1, 6, 10, 15, 47, tzinfo=UTC), "exact")),
        ("Thu, 06 Jan 2022 05:15:47", (datetime(2022, 1, 6, 5, 15, 47, tzinfo=UTC), "naive")),
        ("Thu, 06 Jan 2022 05:15:47 -0000", (datetime(2022, 1, 6, 5, 15, 47, tzinfo=UTC), "naive")),
        ("Thu, 99 Jan 2022 05:15:47 -0500", (None, "none")),
        ("Fri, 31 Dec 9999 23:59:59 -0500", (None, "none")),
        ("", (None, "none")),
    ],
)
def test_mail_dates(text: str, expected: tuple[datetime | None, str]) -> None:
    assert mail_date(text) == expected


def test_an_answer_with_words_in_place_of_news(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        here.answers["/api/v1"] = body({"message": f"{SECRET} is not a valid token"})
        with pytest.raises(SourceError, match=r"it says: \[secret\] is not a valid token"):
            news_of(made(here.base), BTC)


def test_failures(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    check_failures("/api/v1", made, BTC, "CRYPTONEWS_API_KEY", monkeypatch, caplog)


def test_a_key_that_cannot_be_one_is_named_and_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(monkeypatch) as here:
        odd = CryptoNewsSource("schlüssel\n", f"{here.base}/api/v1", clock)
        with pytest.raises(SourceError, match="CRYPTONEWS_API_KEY holds characters") as caught:
            news_of(odd, BTC)
        assert here.asked == []
    assert "schl" not in str(caught.value)


def test_there_is_no_source_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRYPTONEWS_API_KEY", raising=False)
    assert source() is None
    monkeypatch.setenv("CRYPTONEWS_API_KEY", SECRET)
    assert isinstance(source(), CryptoNewsSource)

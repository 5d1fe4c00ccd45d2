"""Yahoo's list by yfinance: both forms of a row, hostile rows, and failures that look like silence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from arena.core.types import Asset
from arena.market.news.items import RawItem
from arena.market.sources.news.base import Polled, poll
from arena.market.sources.news.yahoo import YahooNews

NOW = datetime(2025, 8, 2, 9, tzinfo=UTC)
TSLA = Asset("TSLA", "Tesla", "stock", symbols={"yahoo": "TSLA"})
BTC = Asset("BTC", "Bitcoin", "crypto", symbols={"yahoo": "BTC-USD"})

NESTED = {
    "id": "n1",
    "content": {
        "title": "Nested",
        "summary": "Longer than the other",
        "description": "<p>short</p>",
        "pubDate": "2025-08-01T12:30:00Z",
        "provider": {"displayName": "Reuters", "url": "https://reuters.test"},
        "canonicalUrl": {"url": "https://reuters.test/1"},
        "clickThroughUrl": None,
    },
}
FLAT = {
    "uuid": "f1",
    "title": "Flat",
    "publisher": "Barrons",
    "link": "https://barrons.test/1",
    "providerPublishTime": 1754051400,  # 2025-08-01 12:30:00 UTC
}


class YFRateLimitError(Exception):
    """Stands for yfinance's own, which is known by its name."""


class Client:
    """yfinance's module as far as it is used: lists by symbol, or an error."""

    def __init__(self, lists: dict[str, Any]) -> None:
        self.lists, self.asked = lists, []  # type: ignore[var-annotated]

    def Ticker(self, symbol: str) -> Client:
        self.asked.append(symbol)
        return self

    def get_news(self, count: int) -> Any:
        found = self.lists[self.asked[-1]]
        if isinstance(found, Exception):
            raise found
        return found


def polled(lists: dict[str, Any], *assets: Asset) -> Polled:
    [told] = poll([YahooNews(Client(lists), lambda: NOW)], assets, NOW, NOW, lambda: NOW)
    return told


def test_both_forms_of_a_row() -> None:
    told = polled({"TSLA": [NESTED], "BTC-USD": [FLAT]}, TSLA, BTC)
    at = datetime(2025, 8, 1, 12, 30, tzinfo=UTC)
    common: dict[str, Any] = {
        "origin": "yahoo", "trust": "vendor", "ts_quality": "exact", "published_utc": at,
        "collected_at_utc": NOW, "must_mention": True,
    }  # fmt: skip
    assert told.items == (
        RawItem(
            title="Nested", url="https://reuters.test/1", text="Longer than the other",
            outlet="Reuters", asset="TSLA", **common,
        ),
        RawItem(
            title="Flat", url="https://barrons.test/1", text="", outlet="Barrons", asset="BTC",
            **common,
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "quality"),
    [
        ({"content": {"title": "x", "pubDate": "2025-08-01T12:30:00"}}, "naive"),
        ({"content": {"title": "x", "pubDate": "an hour ago"}}, "none"),
        ({"content": {"title": "x", "pubDate": 7}}, "none"),
        ({"title": "x", "providerPublishTime": "1754051400"}, "none"),
        ({"title": "x", "providerPublishTime": 0}, "none"),
        ({"title": "x", "providerPublishTime": 1e30}, "none"),
        ({"title": "x", "providerPublishTime": float("nan")}, "none"),
    ],
)
def test_dates_that_are_none_or_half(row: dict[str, Any], quality: str) -> None:
    [item] = polled({"TSLA": [row]}, TSLA).items
    assert (item.title, item.ts_quality) == ("x", quality)
    assert (item.published_utc is None) == (quality == "none")


def test_the_click_address_where_there_is_no_other() -> None:
    content = {"title": "x", "canonicalUrl": None, "clickThroughUrl": {"url": "https://y.test"}}
    [item] = polled({"TSLA": [{"content": content}]}, TSLA).items
    assert (item.url, item.outlet) == ("https://y.test", "Yahoo Finance")


def test_hostile_rows_are_bounded_and_counted() -> None:
    rows: list[Any] = ["text", None, {}, {"content": []}, {"title": ["list"], "link": {}}]
    rows += [{"title": "T" * 100_000, "summary": "s" * 100_000, "link": "u" * 100_000}] * 300
    items = polled({"TSLA": rows}, TSLA).items
    assert len(items) == 100
    assert [i.title for i in items[:5]] == [""] * 5
    assert (len(items[5].title), len(items[5].text), len(items[5].url)) == (2_000, 20_000, 0)


def test_an_empty_list_is_a_failure_only_where_all_are_empty() -> None:
    """yfinance turns an answer that holds an error into an empty list."""
    told = polled({"TSLA": [], "BTC-USD": []}, TSLA, BTC)
    assert (told.status, told.error) == (
        "failed", "yahoo: no list of news for TSLA, BTC-USD; it refuses, or has changed.",
    )  # fmt: skip
    assert len(polled({"TSLA": [], "BTC-USD": [FLAT]}, TSLA, BTC).items) == 1


def test_errors_and_limits() -> None:
    told = polled({"TSLA": YFRateLimitError("Too Many Requests")}, TSLA)
    assert (told.status, told.error) == ("limited", "yahoo TSLA: too many requests.")
    told = polled({"TSLA": KeyError("https://q.test?crumb=SECRET")}, TSLA)
    assert (told.status, told.error) == ("failed", "yahoo TSLA: KeyError.")
    told = polled({"TSLA": {"error": "x"}}, TSLA)
    assert (told.status, told.error) == ("failed", "yahoo TSLA: the answer is no list of news.")


def test_nobody_is_asked_about_what_yahoo_does_not_list() -> None:
    client = Client({})
    made_up = Asset("SYN", "Synthetic", "stock", synthetic=True, symbols={"yahoo": "SYN"})
    news = YahooNews(client, lambda: NOW)
    assert news.fetch([Asset("A", "A", "stock"), made_up], NOW, NOW) == []
    assert client.asked == []


def test_the_real_client_needs_the_network() -> None:
    [told] = poll([YahooNews(clock=lambda: NOW)], [TSLA], NOW, NOW, lambda: NOW)
    assert (told.status, told.error) == ("failed", "yahoo: the network is off (ARENA_NETWORK=off).")


def test_the_real_client_has_the_method_that_is_called() -> None:
    import inspect

    import yfinance

    assert "count" in inspect.signature(yfinance.Ticker.get_news).parameters
    assert yfinance.exceptions.YFRateLimitError.__name__ == YFRateLimitError.__name__

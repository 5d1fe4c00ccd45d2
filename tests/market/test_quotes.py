"""Quotes: asked in order, bounded where refused, kept apart; nothing leaves with the network off."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.core.errors import SourceError
from arena.core.rows import FillRow, SourceHealthRow, WriteUnit
from arena.core.rows_host import QuoteRow
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.sources.exchanges import Exchanges
from arena.market.sources.patience import Patience, PatienceError, trouble_of
from arena.market.sources.quotes.base import Quote, ask_chain
from arena.market.sources.quotes.ccxt_quotes import CcxtQuotes
from arena.market.sources.quotes.yahoo_quotes import YahooQuotes
from arena.runner.quotes import QuotePoller, market_open
from arena.store.quotes_reader import first_quote, last_prices, newest_quotes
from arena.store.store import Store, open_store

ASSETS = load_assets()
BTC, ETH, TSLA = ASSETS["BTC"], ASSETS["ETH"], ASSETS["TSLA"]
NOON = datetime(2025, 8, 5, 15, 0, tzinfo=UTC)  # a Tuesday, New York is open


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def step(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


class Venue:
    """A source of quotes: `price` is one for all, one by asset id, or an error; it counts questions."""

    def __init__(
        self, name: str, price: float | dict[str, float] | Exception, at: datetime | None = None
    ) -> None:
        self.name, self.price, self.at, self.asked = name, price, at, 0

    def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
        self.asked += 1
        if isinstance(self.price, Exception):
            raise self.price
        price = self.price.get(asset.id) if isinstance(self.price, dict) else self.price
        return None if price is None else Quote(asset.id, price, self.at or now_utc, self.name)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "a.duckdb") as opened:
        yield opened


def health(store: Store) -> list[tuple[Any, ...]]:
    with store.cursor() as cur:
        cur.execute(
            "SELECT source, status, n_items, n_kept, refused_json, error FROM source_health ORDER BY at_utc, source"
        )
        return cur.fetchall()


def test_the_next_venue_is_asked_only_for_what_is_missing() -> None:
    first, second = Venue("one", {"BTC": 100.0}), Venue("two", 50.0)
    found, asked = ask_chain([first, second], [BTC, ETH], {}, Clock())
    assert [(q.asset, q.price, q.source) for q in found] == [
        ("BTC", 100.0, "one"),
        ("ETH", 50.0, "two"),
    ]
    assert (first.asked, second.asked) == (2, 1)
    assert [(a.source, a.status, a.n_wanted, a.n_kept, dict(a.refused)) for a in asked] == [
        ("one", "ok", 2, 1, {"not listed": 1}), ("two", "ok", 1, 1, {}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("venue", "why"),
    [
        (Venue("v", 0.0), "no price"),
        (Venue("v", -5.0), "no price"),
        (Venue("v", float("nan")), "no price"),
        (Venue("v", 100.0, NOON + timedelta(seconds=91)), "from the future"),
    ],
)
def test_a_quote_with_a_defect_does_not_enter(venue: Venue, why: str) -> None:
    found, asked = ask_chain([venue], [BTC], {}, Clock())
    assert found == []
    assert dict(asked[0].refused) == {why: 1}


def test_a_jump_needs_a_second_venue_in_the_same_poll() -> None:
    # ln(150/100) = 0.405 > 0.4; 149 is 0.67 % from 150: both agree. 140 is 6.7 % away: they do not.
    for second, expected in ((149.0, [149.0]), (140.0, [140.0]), (151.6, [])):
        last = {"BTC": 100.0}
        found, asked = ask_chain([Venue("one", 150.0), Venue("two", second)], [BTC], last, Clock())
        assert [q.price for q in found] == expected
        assert dict(asked[0].refused) == {"a jump that no second source has": 1}
    # 140 enters by itself: ln 1.4 = 0.336. 151.6 is 1.07 % from 150 and itself a jump: neither enters.
    alone, _ = ask_chain([Venue("one", 150.0)], [BTC], {"BTC": 100.0}, Clock())
    assert alone == []


def test_a_defect_of_one_source_takes_nothing_from_the_next() -> None:
    found, asked = ask_chain(
        [Venue("one", KeyError("last")), Venue("two", 9.0)], [BTC], {}, Clock()
    )
    assert [q.source for q in found] == ["two"]
    assert (asked[0].status, asked[0].error) == ("failed", "one: KeyError: 'last'")


def test_a_slow_poll_stops_asking() -> None:
    clock = Clock()

    class Slow(Venue):
        def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
            clock.step(seconds=26)
            raise SourceError("slow: timed out")

    last = Venue("two", 9.0)
    found, asked = ask_chain([Slow("slow", 1.0), last], [BTC], {}, clock)
    assert (found, last.asked, len(asked)) == ([], 0, 1)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (RuntimeError("kraken GET https://x 429 Too Many Requests"), "limited"),
        (type("YFRateLimitError", (Exception,), {})("slow down"), "limited"),
        (RuntimeError("EGeneral:Too many requests"), "limited"),
        (RuntimeError("451 restricted location"), "refused"),
        (RuntimeError("binance GET 403 Forbidden"), "refused"),
        (RuntimeError("price 40312 is odd"), "failed"),
        (TimeoutError("timed out"), "failed"),
    ],
)
def test_what_an_error_means(error: Exception, trouble: str) -> None:
    assert trouble_of(error) == trouble


def test_waits_double_with_jitter_and_end_at_an_hour() -> None:
    clock = Clock()
    patience = Patience(clock, random.Random(7))
    waits = []
    for _ in range(12):
        patience.note("v", RuntimeError("429"))
        with pytest.raises(PatienceError) as caught:
            patience.check("v")
        waits.append(caught.value.retry_after_s)
        clock.now = caught.value.until_utc
        patience.check("v")
    # 60, 120, 240 ... 3600 s, each within a quarter of itself.
    for n, wait in enumerate(waits):
        assert 0.75 <= wait / min(60 * 2**n, 3600) <= 1.25
    assert len(set(waits)) == 12
    patience.ok("v")
    patience.note("v", RuntimeError("429"), retry_after_s=7200)
    with pytest.raises(PatienceError) as caught:
        patience.check("v")
    assert caught.value.retry_after_s == 7200.0


def test_a_refusal_holds_until_the_next_utc_day() -> None:
    clock = Clock()
    patience = Patience(clock)
    assert patience.note("v", RuntimeError("451")) == "refused"
    clock.now = datetime(2025, 8, 5, 23, 59, 59, tzinfo=UTC)
    with pytest.raises(PatienceError, match="left alone until 2025-08-06 00:00 UTC"):
        patience.check("v")
    clock.now = datetime(2025, 8, 6, tzinfo=UTC)
    patience.check("v")


def test_ccxt_takes_the_venues_time_or_that_of_its_answer() -> None:
    ticker = {"last": 101.5, "timestamp": 1754406000000}  # 2025-08-05T15:00:00Z
    asked: list[str] = []

    def make(_: str) -> Any:
        return SimpleNamespace(fetch_ticker=lambda pair: asked.append(pair) or ticker)

    source = CcxtQuotes("coinbase", Exchanges(make, Clock()))
    later = NOON + timedelta(minutes=3)
    assert source.quote(BTC, later) == Quote("BTC", 101.5, NOON, "ccxt:coinbase")
    ticker["timestamp"] = None  # type: ignore[assignment]
    assert source.quote(BTC, later) == Quote("BTC", 101.5, later, "ccxt:coinbase")
    assert asked == ["BTC/USD", "BTC/USD"]
    assert source.quote(TSLA, NOON) is None
    ticker["last"] = None  # type: ignore[assignment]
    with pytest.raises(SourceError, match="has no last price"):
        source.quote(BTC, NOON)


def test_yahoo_reads_the_head_of_the_chart() -> None:
    head = {"regularMarketPrice": 309.26, "regularMarketTime": 1754405940}
    client = SimpleNamespace(
        Ticker=lambda symbol: SimpleNamespace(history=lambda **_: None, history_metadata=head)
    )
    at = datetime(2025, 8, 5, 14, 59, tzinfo=UTC)
    assert YahooQuotes(client, Clock()).quote(TSLA, NOON) == Quote("TSLA", 309.26, at, "yahoo")
    head.pop("regularMarketTime")
    with pytest.raises(SourceError, match="no price of the moment"):
        YahooQuotes(client, Clock()).quote(TSLA, NOON)


@pytest.mark.parametrize(
    ("asset", "at", "is_open"),
    [
        (BTC, datetime(2025, 8, 9, 3, tzinfo=UTC), True),  # a Saturday
        (TSLA, datetime(2025, 8, 9, 15, tzinfo=UTC), False),
        (TSLA, datetime(2025, 8, 5, 13, 29, tzinfo=UTC), False),  # opens 13:30 UTC in summer
        (TSLA, datetime(2025, 8, 5, 13, 30, tzinfo=UTC), True),
        (TSLA, datetime(2025, 8, 5, 20, 1, tzinfo=UTC), False),
        (TSLA, datetime(2025, 1, 9, 16, tzinfo=UTC), False),  # closed for a day of mourning
        (TSLA, datetime(2025, 11, 28, 18, 30, tzinfo=UTC), False),  # half day: closes 18:00 UTC
        (TSLA, datetime(2025, 11, 28, 17, 59, tzinfo=UTC), True),
    ],
)
def test_market_hours(asset: Asset, at: datetime, is_open: bool) -> None:
    assert market_open(asset, at) is is_open


def poller(store: Store, clock: Clock, coins: list[Any], stocks: list[Any]) -> QuotePoller:
    chosen = {a.id: a for a in (BTC, ETH, TSLA)}
    return QuotePoller(store, chosen, clock, coins=coins, stocks=stocks)


def test_a_poll_every_five_minutes_of_the_clock(store: Store) -> None:
    clock = Clock(datetime(2025, 8, 5, 0, 4, 30, tzinfo=UTC))
    coins, stocks = Venue("ccxt:kraken", 100.0), Venue("yahoo", 300.0)
    tick = poller(store, clock, [coins], [stocks])
    for _ in range(12):
        tick.tick(clock())
        clock.step(minutes=1)
    # 00:04:30 to 00:15:30 touches the five minutes from 00:00, 00:05, 00:10 and 00:15: 4 x 2 coins.
    assert (coins.asked, stocks.asked) == (8, 0)
    # The first one after the slot of 00:05 is asked for at 00:05:30.
    slot = datetime(2025, 8, 5, 0, 5, tzinfo=UTC)
    assert first_quote(store, "BTC", slot, slot + timedelta(hours=1)) == (
        100.0, slot + timedelta(seconds=30), "ccxt:kraken",
    )  # fmt: skip
    assert health(store)[0] == ("quotes of ccxt:kraken", "ok", 2, 2, "{}", None)
    assert len(health(store)) == 4


def test_first_quote_is_half_open_and_breaks_ties_by_source(store: Store) -> None:
    later = NOON + timedelta(minutes=5)
    rows = [("ccxt:kraken", NOON, 1.0), ("ccxt:bitstamp", NOON, 2.0), ("ccxt:kraken", later, 3.0)]
    store.write([WriteUnit(rows=tuple(QuoteRow("BTC", at, s, p, later) for s, at, p in rows))])
    assert first_quote(store, "BTC", NOON, later) == (2.0, NOON, "ccxt:bitstamp")
    just_after = NOON + timedelta(microseconds=1)
    assert first_quote(store, "BTC", just_after, later) is None
    assert first_quote(store, "BTC", later, later) is None
    assert newest_quotes(store) == {"BTC": (3.0, later, "ccxt:kraken", later)}
    assert last_prices(store) == {"BTC": 3.0}


def test_both_markets_are_asked_in_hours_and_a_failure_is_a_row(store: Store) -> None:
    clock = Clock()
    refused = Venue("ccxt:kraken", SourceError("kraken: 429 Too Many Requests"))
    second, stocks = (
        Venue("ccxt:coinbase", 100.0),
        Venue("yahoo", SourceError("yahoo TSLA: no route")),
    )
    poller(store, clock, [refused, second], [stocks]).tick(clock())
    assert health(store) == [
        ("quotes of ccxt:coinbase", "ok", 2, 2, "{}", None),
        ("quotes of ccxt:kraken", "limited", 2, 0, "{}", "kraken: 429 Too Many Requests"),
        ("quotes of yahoo", "failed", 1, 0, "{}", "yahoo TSLA: no route"),
    ]
    assert set(newest_quotes(store)) == {"BTC", "ETH"}


def test_yahoo_asked_for_both_has_one_row(store: Store) -> None:
    clock, yahoo = Clock(), Venue("yahoo", {"BTC": 100.0, "TSLA": 300.0})
    poller(store, clock, [yahoo], [yahoo]).tick(clock())
    (row,) = health(store)
    assert row[:4] == ("quotes of yahoo", "ok", 3, 2)
    assert json.loads(row[4]) == {"not listed": 1}


def test_old_quotes_go_but_not_those_that_filled(store: Store) -> None:
    old, older = NOON - timedelta(days=31), NOON - timedelta(days=40)
    young = NOON - timedelta(days=29)
    fill = FillRow("a", older.date(), 0, "s", older, 1.0, 100.0, 0.1, "quote")
    quotes = [QuoteRow("BTC", at, "v", 100.0, at) for at in (older, old, young)]
    polls = [
        SourceHealthRow(s, old, "ok", 1, 1, "{}", None, None) for s in ("quotes of v", "rss:x")
    ]
    store.write([WriteUnit(rows=(fill, *quotes, *polls))])
    clock = Clock()
    poller(store, clock, [Venue("v", 100.0)], [Venue("y", 1.0)]).tick(clock())
    with store.cursor() as cur:
        cur.execute("SELECT at_utc FROM quotes WHERE asset = 'BTC' ORDER BY at_utc")
        assert [at for (at,) in cur.fetchall()] == [older, young, NOON]
    # Of polls only those of quotes go: two of today, and the feed's.
    assert [row[0] for row in health(store)] == ["rss:x", "quotes of v", "quotes of y"]


def test_nothing_leaves_with_the_network_off(store: Store) -> None:
    # The default sources, and ARENA_NETWORK=off as in all tests.
    clock = Clock()
    QuotePoller(store, {"BTC": BTC, "TSLA": TSLA}, clock).tick(clock())
    assert newest_quotes(store) == {}
    said = {row[0]: (row[1], row[5]) for row in health(store)}
    assert set(said) == {
        "quotes of ccxt:kraken", "quotes of ccxt:coinbase", "quotes of ccxt:bitstamp",
        "quotes of ccxt:gemini", "quotes of yahoo",
    }  # fmt: skip
    assert all(s == "failed" and "ARENA_NETWORK=off" in e for s, e in said.values())


def test_made_up_assets_have_no_quotes(store: Store) -> None:
    venue = Venue("v", 1.0)
    made = {"FIC": Asset("FIC", "Fictional", "crypto", synthetic=True)}
    assert QuotePoller(store, made, Clock(), coins=[venue], stocks=[venue]).poll(NOON) == []
    assert venue.asked == 0
    assert health(store) == []

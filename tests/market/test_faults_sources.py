"""What sources of prices do wrong, and what becomes of it: rows 18 to 24 of the table of faults
(25 is in test_symbols.py)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from arena.core.errors import DataError, SourceError
from arena.core.rows import FillRow, WriteUnit
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.calendars import sessions, slot
from arena.market.history import History, load_history
from arena.market.seal import seal
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.exchanges import Exchanges, make_exchange
from arena.market.sources.live import LiveSource
from arena.market.sources.news.base import LimitedError
from arena.market.sources.patience import Patience, PatienceError
from arena.market.sources.quotes.base import Quote
from arena.market.sources.quotes.ccxt_quotes import QUOTE_EXCHANGES, CcxtQuotes
from arena.market.sources.quotes.finnhub_quotes import FinnhubQuotes
from arena.market.sources.yahoo import YahooSource
from arena.runner.prices import price_rows
from arena.runner.quotes import QuotePoller
from arena.store import reader
from arena.store.quotes_reader import newest_quotes
from arena.store.store import Store, open_store
from tests.wire.made_prices import MadePrices
from tests.wire.servers import Answer, KrakenServer, YahooServer

ASSETS = load_assets()
BTC, TSLA = ASSETS["BTC"], ASSETS["TSLA"]
START, TODAY = date(2025, 8, 4), date(2025, 8, 22)
EVENING = datetime(2025, 8, 22, 23, 0, tzinfo=UTC)


class Clock:
    def __init__(self, now: datetime = EVENING) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def prices(clock: Clock) -> MadePrices:
    return MadePrices(clock)


@pytest.fixture
def kraken(prices: MadePrices, monkeypatch: pytest.MonkeyPatch) -> Iterator[KrakenServer]:
    with KrakenServer(prices) as server:
        monkeypatch.setenv("ARENA_KRAKEN_URL", server.url)
        yield server


@pytest.fixture
def yahoo(
    prices: MadePrices, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[YahooServer]:
    monkeypatch.setattr("arena.market.sources.yahoo_client.RUNTIME", tmp_path)
    with YahooServer(prices) as server:
        monkeypatch.setenv("ARENA_YAHOO_URL", server.url)
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.duckdb") as opened:
        yield opened


def real_yahoo(clock: Clock) -> YahooSource:
    """yfinance itself, asking where `ARENA_YAHOO_URL` says; limits of other tests are not ours."""
    return YahooSource(ASSETS, clock=clock, patience=Patience(clock))


def live(clock: Clock, frame: pd.DataFrame, coins: Any = None) -> LiveSource:
    """A live source whose yfinance hands over `frame`."""
    client = SimpleNamespace(Ticker=lambda _: SimpleNamespace(history=lambda **_: frame))
    ccxt = CcxtSource(ASSETS, lambda _: coins, clock)
    return LiveSource(YahooSource(ASSETS, client, clock), ccxt, ASSETS)


def frame_of(closes: dict[date, float], zone: str = "America/New_York") -> pd.DataFrame:
    """A frame as yfinance gives it."""
    index = pd.DatetimeIndex([pd.Timestamp(d) for d in closes]).tz_localize(zone)
    price = list(closes.values())
    columns = dict.fromkeys(("Open", "High", "Low", "Close", "Adj Close"), price)
    return pd.DataFrame(
        {**columns, "Volume": [1.0] * len(price), "Dividends": 0.0, "Stock Splits": 0.0}, index
    )


def good() -> dict[date, float]:
    return {d: 100.0 + i for i, d in enumerate(sessions("stock", START, TODAY))}


def load(source: Any, asset: Asset = TSLA, now: datetime = EVENING) -> History:
    return load_history(source, asset, START, now.date(), now)


def unthrottled(name: str) -> Any:
    """The real exchange of ccxt, without its pause of a second between two requests."""
    exchange = make_exchange(name)
    exchange.enableRateLimit = False
    return exchange


class Second:
    """A venue behind the first one: 100.0 until it is told to fail."""

    name = "second"
    error: Exception | None = None

    def quote(self, asset: Asset, now_utc: datetime) -> Quote:
        if self.error is not None:
            raise self.error
        return Quote(asset.id, 100.0, now_utc, self.name)


@pytest.mark.fault(18)
def test_fault_18_a_source_that_limits_us_for_hours_is_asked_ever_less(
    store: Store, clock: Clock, kraken: KrakenServer
) -> None:
    kraken.trouble = lambda path, _: (
        Answer({"error": ["EGeneral:Too many requests"]}, 429) if path.endswith("Ticker") else None
    )
    first = CcxtQuotes("kraken", Exchanges(unthrottled, clock, Patience(clock)))
    second = Second()
    poller = QuotePoller(store, {"BTC": BTC}, clock, coins=[first, second])
    begun = clock.now
    for _ in range(6 * 6):
        poller.tick(clock.now)
        clock.now += timedelta(minutes=10)
    # Waits of 1, 2, 4 ... 60 minutes, each within a quarter: at most 6 until an hour is reached, then
    # one in 45 to 75 minutes. Without them it would have been asked 36 times.
    assert 7 <= kraken.asked.count("/0/public/Ticker") <= 13
    # The second source had a quote at every tick.
    with store.cursor() as cur:
        cur.execute("SELECT source, count(*), min(at_utc) FROM quotes GROUP BY source")
        assert cur.fetchall() == [("second", 36, begun)]
        cur.execute(
            "SELECT DISTINCT status FROM source_health WHERE source = 'quotes of ccxt:kraken'"
        )
        assert cur.fetchall() == [("limited",)]
    # Then that one fails too: the last quote stays, with its age.
    second.error = SourceError("second: no route")
    for _ in range(12):
        poller.tick(clock.now)
        clock.now += timedelta(minutes=10)
    _, at, source, _ = newest_quotes(store)["BTC"]
    assert (source, clock.now - at) == ("second", timedelta(hours=2, minutes=10))


@pytest.mark.fault(18)
def test_fault_18_bars_are_not_asked_for_either_before_the_wait_is_over(
    clock: Clock, yahoo: YahooServer
) -> None:
    yahoo.trouble = lambda path, _: Answer("Too Many Requests", 429) if "chart" in path else None
    source = real_yahoo(clock)
    with pytest.raises(SourceError, match="YFRateLimitError"):
        source.daily(TSLA, START, TODAY)
    asked = len(yahoo.asked)
    for _ in range(20):
        with pytest.raises(SourceError, match="left alone until 2025-08-22 23:0"):
            source.daily(TSLA, START, TODAY)
    assert len(yahoo.asked) == asked
    clock.now += timedelta(minutes=2)
    yahoo.trouble = lambda _path, _query: None
    assert len(source.daily(TSLA, START, TODAY)) == 15


@pytest.mark.fault(19)
@pytest.mark.parametrize("status", [451, 403])
def test_fault_19_an_exchange_that_refuses_this_country_is_off_for_the_day(
    status: int, store: Store, clock: Clock, kraken: KrakenServer
) -> None:
    kraken.trouble = lambda _path, _query: Answer(
        "Service unavailable from a restricted location", status
    )
    patience = Patience(clock)
    exchanges = Exchanges(
        lambda name: unthrottled(name) if name == "kraken" else Ticker(), clock, patience
    )
    chain = [CcxtQuotes(name, exchanges) for name in QUOTE_EXCHANGES]
    poller = QuotePoller(store, {"BTC": BTC}, clock, coins=chain)
    clock.now = datetime(2025, 8, 22, 20, tzinfo=UTC)
    for _ in range(4 * 12):
        poller.tick(clock.now)
        clock.now += timedelta(minutes=5)
    assert len(kraken.asked) == 1
    with store.cursor() as cur:
        cur.execute("SELECT source, count(*) FROM quotes GROUP BY source")
        assert cur.fetchall() == [("ccxt:coinbase", 48)]
    poller.tick(clock.now)  # midnight: once more
    assert len(kraken.asked) == 2


class Ticker:
    def fetch_ticker(self, pair: str) -> dict[str, Any]:
        assert pair == "BTC/USD"
        return {"last": 110_000.0, "timestamp": None}


@pytest.mark.fault(20)
def test_fault_20_a_missing_session_is_a_gap_and_a_holiday_is_none(
    clock: Clock, yahoo: YahooServer
) -> None:
    # Labor Day, 1 September 2025: Yahoo is not even asked, so it cannot call Tesla delisted.
    source = real_yahoo(clock)
    assert source.daily(TSLA, date(2025, 8, 30), date(2025, 9, 1)).empty
    assert yahoo.asked == []
    # No rows for a week of sessions: a failure, never "no trading".
    yahoo.trouble = lambda path, query: empty(yahoo, path, query)
    with pytest.raises(SourceError, match="YFPricesMissingError"):
        source.daily(TSLA, START, TODAY)
    # One session left out, and the newest one: a gap, and a bar that is only not there yet.
    closes = good()
    del closes[date(2025, 8, 12)], closes[TODAY]
    history = load(live(clock, frame_of(closes)))
    assert {(c.kind, c.session) for c in history.checks} == {("gap", date(2025, 8, 12))}
    assert history.gaps == {date(2025, 8, 12)}
    assert history.sessions[-1] == date(2025, 8, 21)


def empty(yahoo: YahooServer, path: str, query: dict[str, str]) -> Answer | None:
    if "chart" not in path or "period1" not in query:
        return None
    chart = yahoo.answer(path, query).body
    result = chart["chart"]["result"][0]
    del result["timestamp"]
    result["indicators"] = {"quote": [{}], "adjclose": [{}]}
    return Answer(chart)


@pytest.mark.fault(21)
def test_fault_21_a_bar_without_prices_or_of_a_running_session_is_pending(
    clock: Clock, yahoo: YahooServer
) -> None:
    def without_the_last(path: str, query: dict[str, str]) -> Answer | None:
        if "chart" not in path or "period1" not in query:
            return None
        chart = yahoo.answer(path, query).body
        (columns,) = chart["chart"]["result"][0]["indicators"]["quote"]
        for name in ("open", "high", "low", "close"):
            columns[name][-1] = None
        return Answer(chart)

    yahoo.trouble = without_the_last
    source = LiveSource(real_yahoo(clock), CcxtSource(ASSETS, lambda _: None, clock), ASSETS)
    history = load(source)
    assert (history.sessions[-1], history.checks) == (date(2025, 8, 21), ())
    with pytest.raises(DataError, match="no final bar for 2025-08-22"):
        seal(history, slot(TSLA, TODAY), n_bars=5)
    # Mended: the same slot is sealed, with the bar that it waited for.
    yahoo.trouble = lambda _path, _query: None
    clock.now += timedelta(minutes=2)
    assert seal(load(source, now=clock.now), slot(TSLA, TODAY), n_bars=5).session == TODAY
    # In the session itself the day's bar is there, running, and does not enter.
    clock.now = datetime(2025, 8, 22, 18, 0, tzinfo=UTC)
    assert load(source, now=clock.now).sessions[-1] == date(2025, 8, 21)


def spoil(kind: str) -> pd.DataFrame:
    """The good frame with one fault in the newest session, 100 + 14 = 114, or in its dates."""
    closes = good()
    if kind == "split":
        closes[TODAY] /= 4
    elif kind == "hundredfold":
        closes[TODAY] *= 100
    elif kind in ("zero", "negative"):
        closes[TODAY] = 0.0 if kind == "zero" else -114.0
    frame = frame_of(closes)
    if kind == "twice":
        again = frame_of({TODAY: 90.0})
        frame = pd.concat([frame, again])
    return frame


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("split", "-74.8% from 2025-08-21, no split explains it"),  # 28.5 / 113 - 1
        ("hundredfold", "+9988.5% from 2025-08-21"),  # 11400 / 113 - 1
        ("zero", "prices must be > 0"),
        ("negative", "prices must be > 0"),
        ("twice", "two bars of this session differ"),
    ],
)
def test_fault_22_a_bar_that_cannot_be_right_is_held_back(
    kind: str, words: str, clock: Clock
) -> None:
    history = load(live(clock, spoil(kind)))
    checks = [c for c in history.checks if c.kind == "quarantine"]
    assert [c.session for c in checks] == [TODAY]
    assert words in checks[0].detail
    assert TODAY in history.gaps
    with pytest.raises(DataError, match="no final bar"):
        seal(history, slot(TSLA, TODAY), n_bars=5)


@pytest.mark.fault(22)
def test_fault_22_order_and_true_duplicates_do_no_harm(clock: Clock) -> None:
    frame = frame_of(good())
    mixed = pd.concat([frame.iloc[::-1], frame.iloc[3:5]])
    history = load(live(clock, mixed))
    assert history.bars == load(live(clock, frame)).bars
    assert history.checks == ()


@pytest.mark.fault(22)
@pytest.mark.parametrize("days", [-1, 1])
def test_fault_22_an_answer_with_shifted_dates_is_refused_whole(days: int, clock: Clock) -> None:
    shifted = {d + timedelta(days=days): c for d, c in good().items()}
    with pytest.raises(SourceError, match=r"its dates are shifted\. Nothing of this answer"):
        load(live(clock, frame_of(shifted)), now=EVENING + timedelta(days=2))


@pytest.mark.fault(22)
def test_fault_22_candles_of_another_hour_are_not_days(clock: Clock) -> None:
    first = int(datetime(2025, 8, 4, 4, tzinfo=UTC).timestamp() * 1000)
    rows = [[first - 86_400_000 + i * 86_400_000, 10.0, 12.0, 9.0, 11.0, 1.0] for i in range(10)]
    exchange = SimpleNamespace(fetch_ohlcv=lambda *_, **__: rows)
    source = CcxtSource(ASSETS, lambda _: exchange, clock)
    with pytest.raises(SourceError, match=r"candles do not (begin at 00:00 UTC|reach back)"):
        source.daily(BTC, START, TODAY)


@pytest.mark.fault(22)
def test_fault_22_a_second_source_releases_a_coin(clock: Clock) -> None:
    # Kraken says 11, then 30 (ln 2.73 = 1.0). Yahoo has 30.1, within 1 %; or still 11.
    first = int(datetime(2025, 8, 4, tzinfo=UTC).timestamp() * 1000)
    rows = [[first + i * 86_400_000, c, c, c, c, 1.0] for i, c in enumerate((11.0, 11.0, 30.0))]
    exchange = SimpleNamespace(
        fetch_ohlcv=lambda _p, _t, since, limit: [r for r in rows if r[0] >= since]
    )
    days = [START + timedelta(days=i) for i in range(3)]
    now = datetime(2025, 8, 7, 0, 5, tzinfo=UTC)
    clock.now = now
    for theirs, expected in ((30.1, 3), (11.0, 2)):
        frame = frame_of(dict(zip(days, (11.0, 11.0, theirs), strict=True)), "UTC")
        history = load(live(clock, frame, exchange), BTC, now)
        assert len(history.bars) == expected
        assert ("quarantine" in {c.kind for c in history.checks}) is (expected == 2)


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("price", "at", "released"),
    [
        (28.4, datetime(2025, 8, 22, 20, 0, tzinfo=UTC), True),  # the close, 0.35 % from 28.5
        (28.4, datetime(2025, 8, 22, 19, 54, tzinfo=UTC), False),  # the session still ran
        (28.4, datetime(2025, 8, 21, 20, 0, tzinfo=UTC), False),  # the day before
        (28.4, datetime(2025, 8, 25, 13, 30, tzinfo=UTC), False),  # the session after it
        (113.9, datetime(2025, 8, 22, 20, 0, tzinfo=UTC), False),  # it has no such fall
        (0, datetime(1970, 1, 1, tzinfo=UTC), False),  # it does not know the symbol
    ],
)
def test_fault_22_a_second_source_releases_a_stock(
    price: float, at: datetime, released: bool, clock: Clock
) -> None:
    closes = good()
    closes[TODAY] /= 4
    client = SimpleNamespace(Ticker=lambda _: SimpleNamespace(history=lambda **_: frame_of(closes)))
    asked: list[str] = []

    def answer(symbol: str) -> dict[str, float]:
        asked.append(symbol)
        return {"c": price, "t": at.timestamp(), "pc": 113.0}

    second = FinnhubQuotes("key", answer, clock)
    ccxt = CcxtSource(ASSETS, lambda _: None, clock)
    source = LiveSource(YahooSource(ASSETS, client, clock), ccxt, ASSETS, second, clock)
    assert (TODAY in load(source).sessions) is released
    assert asked == ["TSLA"]
    # Nothing to ask about: it is not asked.
    closes[TODAY] = 114.0
    clock.now += timedelta(minutes=2)
    load(source)
    assert asked == ["TSLA"]


@pytest.mark.fault(18)
def test_fault_18_a_second_source_of_stocks_is_left_alone_too(clock: Clock) -> None:
    asked: list[str] = []

    def limited(symbol: str) -> Any:
        asked.append(symbol)
        raise LimitedError("finnhub: it asks us to wait", 300.0)

    source = FinnhubQuotes("key", limited, clock)
    with pytest.raises(LimitedError):
        source.quote(TSLA, clock())
    clock.now += timedelta(seconds=299)
    with pytest.raises(PatienceError):
        source.quote(TSLA, clock())
    assert asked == ["TSLA"]
    with pytest.raises(SourceError, match="no price"):
        FinnhubQuotes("key", lambda _: {"error": "x"}, clock).quote(TSLA, clock())


@pytest.mark.fault(23)
def test_fault_23_a_revised_bar_is_a_revision_and_old_fills_keep_their_price(
    store: Store, clock: Clock
) -> None:
    _, rows = price_rows(store, [load(live(clock, frame_of(good())))], clock())
    fill = FillRow(
        "run:a@m:TSLA:baseline", date(2025, 8, 12), 0, "s", clock(), 1.0, 106.0, 0.1, "next_open"
    )
    store.write([WriteUnit(rows=(*rows, fill))])
    revised = good() | {date(2025, 8, 12): 108.5}
    revision, rows = price_rows(store, [load(live(clock, frame_of(revised)))], clock())
    store.write([WriteUnit(rows=tuple(rows))])
    assert revision == 1
    old, new = (reader.bars(store, "TSLA", r).set_index("session")["close"] for r in (0, 1))
    day = pd.Timestamp("2025-08-12")
    assert (old[day], new[day]) == (106.0, 108.5)
    assert (old.drop(day) == new.drop(day)).all()
    assert reader.fills(store, fill.account)["price"].tolist() == [106.0]
    with store.cursor() as cur:
        cur.execute(
            "SELECT session, value, other, detail FROM price_checks WHERE kind = 'revision'"
        )
        (found,) = cur.fetchall()
    assert found == (
        date(2025, 8, 12),
        108.5,
        106.0,
        "close was 106.0, is now 108.5; earlier fills keep theirs",
    )


@pytest.mark.fault(24)
def test_fault_24_two_sources_that_differ_are_flagged_and_ours_stands(clock: Clock) -> None:
    first = int(datetime(2025, 8, 4, tzinfo=UTC).timestamp() * 1000)
    rows = [[first + i * 86_400_000, c, c, c, c, 1.0] for i, c in enumerate((100.0, 100.0, 100.0))]
    exchange = SimpleNamespace(
        fetch_ohlcv=lambda _p, _t, since, limit: [r for r in rows if r[0] >= since]
    )
    days = [START + timedelta(days=i) for i in range(3)]
    clock.now = datetime(2025, 8, 7, 0, 5, tzinfo=UTC)
    frame = frame_of(dict(zip(days, (100.9, 101.1, 96.0), strict=True)), "UTC")
    history = load(live(clock, frame, exchange), BTC, clock.now)
    found = [(c.kind, c.session, c.value, c.other) for c in history.checks]
    # +0.9 % is within 1 %; +1.1 % and -4 % are not.
    assert found == [("disagree", days[1], 100.0, 101.1), ("disagree", days[2], 100.0, 96.0)]
    assert [b.close for b in history.bars] == [100.0] * 3


def test_the_real_clients_read_our_servers(
    clock: Clock, yahoo: YahooServer, kraken: KrakenServer
) -> None:
    source = LiveSource(real_yahoo(clock), CcxtSource(ASSETS, None, clock, Patience(clock)), ASSETS)
    stock, coin = load(source), load(source, BTC)
    assert stock.sessions == sessions("stock", START, TODAY)
    assert stock.bar(TODAY).close == pytest.approx(yahoo.prices.bar("TSLA", TODAY)[3])  # type: ignore[union-attr]
    assert coin.sessions == sessions("crypto", START, date(2025, 8, 21))
    assert set(coin.sources.values()) == {"ccxt:kraken"}
    assert (stock.checks, coin.checks) == ((), ())
    yahoo.splits = {"TSLA": {date(2025, 8, 12): (4, 1)}}
    yahoo.dividends = {"TSLA": {date(2025, 8, 18): 0.5}}
    clock.now += timedelta(minutes=2)
    assert [(a.ex_date, a.kind, a.value) for a in source.actions(TSLA, START, TODAY)] == [
        (date(2025, 8, 12), "split", 4.0), (date(2025, 8, 18), "dividend", 0.5),
    ]  # fmt: skip

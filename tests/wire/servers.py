"""Servers on loopback that speak the wire formats of Yahoo's charts and Kraken's public API.

`with YahooServer(prices) as yahoo:` and point `ARENA_YAHOO_URL` at `yahoo.url`; `ARENA_KRAKEN_URL`
likewise. For a model's side see `tests.llm.mock_provider.MockProvider`, which speaks OpenAI's
chat/completions. Each keeps what it was asked in `asked`, and `trouble` answers in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from arena.core.types import AssetClass
from arena.market.calendars import close_utc, open_utc
from tests.wire.made_prices import Made, MadePrices


@dataclass(frozen=True)
class Answer:
    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


Query = dict[str, str]
Trouble = Callable[[str, Query], Answer | None]
"""An answer instead of the right one, given path and query; None for the right one."""


class WireServer:
    """A threaded HTTP server; `answer` is the vendor."""

    def __init__(self, prices: MadePrices, trouble: Trouble = lambda _path, _query: None) -> None:
        self.prices, self.trouble = prices, trouble
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {k: v[0] for k, v in parse_qs(parts.query).items()}
                outer.asked.append(parts.path)
                answer = outer.trouble(parts.path, query) or outer.answer(parts.path, query)
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer.content)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.content)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Nobody reads an access log of a trial."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str, query: Query) -> Answer:
        raise NotImplementedError

    def __enter__(self) -> Self:
        Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def epoch(at: datetime) -> int:
    return int(at.timestamp())


STOCKS = {"TSLA": "EQUITY", "BMRN": "EQUITY", "SPY": "ETF", "QQQ": "ETF"}
COINS = ("BTC-USD", "ETH-USD")


class YahooServer(WireServer):
    """`/v8/finance/chart/SYMBOL` and what yfinance asks before it.

    `splits` and `dividends` by symbol and ex-date become events of the chart; as with Yahoo, prices
    before a split are divided by it once the split has come.
    """

    def __init__(
        self,
        prices: MadePrices,
        trouble: Trouble = lambda _path, _query: None,
        splits: dict[str, dict[date, tuple[int, int]]] | None = None,
        dividends: dict[str, dict[date, float]] | None = None,
    ) -> None:
        super().__init__(prices, trouble)
        self.splits, self.dividends = splits or {}, dividends or {}

    def answer(self, path: str, query: Query) -> Answer:
        if path == "/v1/test/getcrumb":
            return Answer("a.crumb")
        symbol = path.removeprefix("/v8/finance/chart/")
        if symbol == path:
            return Answer("nothing here", 404)
        if symbol not in STOCKS and symbol not in COINS:
            error = {"code": "Not Found", "description": "No data found, symbol may be delisted"}
            return Answer({"chart": {"result": None, "error": error}}, 404)
        return Answer({"chart": {"result": [self._chart(symbol, query)], "error": None}})

    def _chart(self, symbol: str, query: Query) -> dict[str, Any]:
        kind: AssetClass = "stock" if symbol in STOCKS else "crypto"
        start, end = self._window(kind, query)
        now = self.prices.clock()
        seen = self.prices.price(symbol, kind, now)
        assert seen is not None
        bars = self._split_adjusted(symbol, self.prices.bars(symbol, kind, start, end))
        zone = "America/New_York" if kind == "stock" else "UTC"
        day = seen[1].date()
        regular = {
            "timezone": "EST", "start": epoch(open_utc(kind, day)), "end": epoch(close_utc(kind, day)),
            "gmtoffset": 0,
        }  # fmt: skip
        columns = {name: [bar[at] for bar in bars.values()] for at, name in enumerate(
            ("open", "high", "low", "close", "volume"))}  # fmt: skip
        return {
            "meta": {
                "currency": "USD", "symbol": symbol, "exchangeName": "NMS", "fullExchangeName": "Nasdaq",
                "instrumentType": STOCKS.get(symbol, "CRYPTOCURRENCY"),
                "firstTradeDate": 1277818200, "regularMarketTime": epoch(seen[1]),
                "hasPrePostMarketData": kind == "stock", "gmtoffset": 0, "timezone": "EST",
                "exchangeTimezoneName": zone, "regularMarketPrice": seen[0], "priceHint": 2,
                "currentTradingPeriod": {"pre": regular, "regular": regular, "post": regular},
                "dataGranularity": "1d", "range": query.get("range", ""),
                "validRanges": ["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max"],
            },
            "timestamp": [epoch(open_utc(kind, d)) for d in bars],
            "events": self._events(symbol, kind, start, end),
            "indicators": {"quote": [columns], "adjclose": [{"adjclose": columns["close"]}]},
        }  # fmt: skip

    def _window(self, kind: AssetClass, query: Query) -> tuple[date, date]:
        today = self.prices.clock().date()
        if "period1" in query:
            start = datetime.fromtimestamp(int(query["period1"]), UTC).date()
            end = datetime.fromtimestamp(int(query["period2"]), UTC) - timedelta(seconds=1)
            return start, min(end.date(), today)
        days = {"1d": 1, "5d": 5}.get(query.get("range", ""), 30)
        seen = self.prices.price("SPY", kind, self.prices.clock())
        last = seen[1].date() if seen else today
        return last - timedelta(days=days - 1), last

    def _split_adjusted(self, symbol: str, bars: dict[date, Made]) -> dict[date, Made]:
        today = self.prices.clock().date()
        found = {}
        for day, (first, high, low, last, volume) in bars.items():
            ratio = 1.0
            for ex_date, (new, old) in self.splits.get(symbol, {}).items():
                if day < ex_date <= today:
                    ratio *= new / old
            found[day] = (first / ratio, high / ratio, low / ratio, last / ratio, volume * ratio)
        return found

    def _events(self, symbol: str, kind: AssetClass, start: date, end: date) -> dict[str, Any]:
        events: dict[str, Any] = {}
        for ex_date, amount in self.dividends.get(symbol, {}).items():
            if start <= ex_date <= end:
                at = epoch(open_utc(kind, ex_date))
                events.setdefault("dividends", {})[str(at)] = {"amount": amount, "date": at}
        for ex_date, (new, old) in self.splits.get(symbol, {}).items():
            if start <= ex_date <= end:
                at = epoch(open_utc(kind, ex_date))
                events.setdefault("splits", {})[str(at)] = {
                    "date": at, "numerator": new, "denominator": old, "splitRatio": f"{new}:{old}",
                }  # fmt: skip
        return events


PAIRS = {"XXBTZUSD": ("XXBT", "XBTUSD", "BTC/USD"), "XETHZUSD": ("XETH", "ETHUSD", "ETH/USD")}
MOST_CANDLES = 720


class KrakenServer(WireServer):
    """`/0/public/` Time, Assets, AssetPairs, OHLC (720 days, the running one last) and Ticker."""

    def answer(self, path: str, query: Query) -> Answer:
        now = self.prices.clock()
        name = path.removeprefix("/0/public/")
        if name == "Time":
            return self._result({"unixtime": epoch(now), "rfc1123": ""})
        if name == "Assets":
            assets = {"XXBT": "XBT", "XETH": "ETH", "ZUSD": "USD"}
            return self._result({
                k: {"aclass": "currency", "altname": v, "decimals": 10, "display_decimals": 5,
                    "status": "enabled"} for k, v in assets.items()
            })  # fmt: skip
        if name == "AssetPairs":
            return self._result({k: _pair(base, alt) for k, (base, alt, _) in PAIRS.items()})
        pair = query.get("pair", "")
        if pair not in PAIRS:
            return Answer({"error": ["EQuery:Unknown asset pair"]})
        symbol = PAIRS[pair][2]
        if name == "OHLC":
            return self._result(self._candles(pair, symbol, int(float(query.get("since", "0")))))
        if name == "Ticker":
            seen = self.prices.price(symbol, "crypto", now)
            assert seen is not None
            p = f"{seen[0]:.2f}"
            return self._result({pair: {
                "a": [p, "1", "1.000"], "b": [p, "1", "1.000"], "c": [p, "0.01"], "v": ["1", "2"],
                "p": [p, p], "t": [1, 2], "l": [p, p], "h": [p, p], "o": p,
            }})  # fmt: skip
        return Answer({"error": ["EGeneral:Unknown method"]})

    def _candles(self, pair: str, symbol: str, since: int) -> dict[str, Any]:
        today = self.prices.clock().date()
        bars = self.prices.bars(symbol, "crypto", today - timedelta(days=MOST_CANDLES - 1), today)
        rows = [
            [epoch(datetime.combine(d, time(), UTC)), *(f"{x:.2f}" for x in bar[:4]), f"{bar[3]:.2f}",
             f"{bar[4]:.8f}", 7]
            for d, bar in bars.items()
        ]  # fmt: skip
        return {pair: [row for row in rows if row[0] > since], "last": rows[-2][0]}

    def _result(self, result: dict[str, Any]) -> Answer:
        return Answer({"error": [], "result": result})


def _pair(base: str, alt: str) -> dict[str, Any]:
    return {
        "altname": alt, "wsname": alt, "aclass_base": "currency", "base": base,
        "aclass_quote": "currency", "quote": "ZUSD", "lot": "unit", "pair_decimals": 1,
        "cost_decimals": 5, "lot_decimals": 8, "lot_multiplier": 1, "leverage_buy": [],
        "leverage_sell": [], "fees": [[0, 0.4]], "fees_maker": [[0, 0.25]],
        "fee_volume_currency": "ZUSD", "margin_call": 80, "margin_stop": 40, "ordermin": "0.0001",
        "costmin": "0.5", "tick_size": "0.1", "status": "online",
    }  # fmt: skip

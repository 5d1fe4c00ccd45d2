"""Files are refused with the row, live sources drop what is not final, the network stays shut."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
import respx

from arena.core.errors import ConfigError, DataError, SourceError, UnknownNameError
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.history import load_history
from arena.market.sample_data import make_sample
from arena.market.sources import open_source, yahoo_client
from arena.market.sources.ccxt import CcxtSource
from arena.market.sources.live import LiveSource, reachable
from arena.market.sources.yahoo import YahooSource

NOW = datetime(2025, 8, 20, tzinfo=UTC)
HEAD = "date,open,high,low,close,volume"
GOOD = ["2025-08-04,10,12,9,11,100", "2025-08-05,11,13,10,12,100", "2025-08-06,12,13,11,12,"]


def folder(tmp_path: Path, rows: list[str], head: str = HEAD) -> str:
    (tmp_path / "TSLA_daily.csv").write_text("\n".join([head, *rows]) + "\n")
    return f"files:{tmp_path}"


def read(choice: str) -> pd.DataFrame:
    source = open_source(choice)
    return source.daily(source.assets()["TSLA"], date(2025, 8, 1), date(2025, 8, 31))


def test_a_csv_is_read_and_missing_columns_stay_missing(tmp_path: Path) -> None:
    frame = read(folder(tmp_path, GOOD))
    assert list(frame["close"]) == [11.0, 12.0, 12.0]
    assert frame["adj_close"].isna().all()
    assert np.isnan(frame["volume"].iloc[2])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([*GOOD[:2], GOOD[1]], "row 3 (2025-08-05): the date stands twice"),
        ([GOOD[1], GOOD[0]], "row 2 (2025-08-04): out of order, after 2025-08-05"),
        (["2025-08-04,10,12,9,,1"], "row 1 (2025-08-04): close is nan"),
        (["2025-08-04,0,12,0,11,1"], "open is 0.0, prices must be > 0"),
        (["2025-08-04,10,12,-9,11,1"], "low is -9.0, prices must be > 0"),
        (["2025-08-04,10,10.5,9,11,1"], "high 10.5 is below open or close"),
        (["2025-08-04,10,12,10.5,11,1"], "low 10.5 is above open or close"),
        (["04.08.25x,10,12,9,11,1"], "is no date"),
    ],
)
def test_a_bad_row_is_named_with_its_rule(tmp_path: Path, rows: list[str], words: str) -> None:
    with pytest.raises(DataError) as caught:
        read(folder(tmp_path, rows))
    assert words in str(caught.value)
    assert "TSLA_daily.csv" in str(caught.value)


def test_missing_column_folder_and_asset(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column `close` is missing"):
        read(folder(tmp_path, ["2025-08-04,1,1,1"], "date,open,high,low"))
    with pytest.raises(DataError, match="there is no folder"):
        open_source(f"files:{tmp_path}/nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no daily\.parquet"):
        open_source(f"files:{tmp_path}/empty")
    source = open_source(folder(tmp_path, GOOD))
    with pytest.raises(UnknownNameError, match="Known: TSLA"):
        source.daily(Asset("TSLX", "x", "stock"), date(2025, 8, 1), date(2025, 8, 31))


def test_a_damaged_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "daily.parquet").write_bytes(b"PAR1 this is not parquet")
    with pytest.raises(DataError, match="Cannot read"):
        open_source(f"files:{tmp_path}").assets()


def test_gap_jump_and_closed_day_are_noticed_not_changed(tmp_path: Path) -> None:
    # 2025-08-05 is missing (gap); 11 -> 18 is +63.6 %, ln(18/11) = 0.49 > 0.4 (jump);
    # 2025-08-09 is a Saturday: no session, so it does not enter.
    rows = [GOOD[0], "2025-08-06,12,19,11,18,1", "2025-08-07,18,19,17,18,1", "2025-08-08,18,19,17,18,1",
            "2025-08-09,1,1,1,1,1"]  # fmt: skip
    source = open_source(folder(tmp_path, rows))
    history = load_history(source, source.assets()["TSLA"], date(2025, 8, 1), date(2025, 8, 31), NOW)
    found = {(c.kind, c.session) for c in history.checks}
    assert found == {("gap", date(2025, 8, 5)), ("jump", date(2025, 8, 6))}
    assert history.bar(date(2025, 8, 6)).close == 18.0  # type: ignore[union-attr]
    assert history.bar(date(2025, 8, 9)) is None
    assert history.gaps == {date(2025, 8, 5)}


def test_a_bar_that_is_not_final_yet_does_not_enter(tmp_path: Path) -> None:
    source = open_source(folder(tmp_path, GOOD))
    # NYSE closes 20:00 UTC in August.
    before, after = datetime(2025, 8, 6, 19, 59, tzinfo=UTC), datetime(2025, 8, 6, 20, 0, tzinfo=UTC)
    asset, window = source.assets()["TSLA"], (date(2025, 8, 1), date(2025, 8, 31))
    assert load_history(source, asset, *window, before).sessions[-1] == date(2025, 8, 5)
    assert load_history(source, asset, *window, after).sessions[-1] == date(2025, 8, 6)


def yahoo_frame() -> pd.DataFrame:
    """A row before the start, a good one, a dividend without prices, a pending bar."""
    index = pd.to_datetime(["2025-07-31", "2025-08-04", "2025-08-05", "2025-08-06"]).tz_localize(
        "America/New_York"
    )
    price = [9.0, 10.0, np.nan, np.nan]
    columns = dict.fromkeys(("Open", "High", "Low", "Close", "Adj Close"), price)
    return pd.DataFrame({**columns, "Volume": [1, 2, 0, 5], "Dividends": [0, 0, 0.5, 0]}, index)


class FakeYahoo:
    def __init__(self, answer: pd.DataFrame | Exception) -> None:
        self.answer, self.asked = answer, []  # type: ignore[var-annotated]

    def Ticker(self, symbol: str) -> Any:
        def history(**kwargs: Any) -> pd.DataFrame:
            self.asked.append((symbol, kwargs))
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return SimpleNamespace(history=history)


def test_yahoo_asks_raw_with_an_exclusive_end_and_keeps_only_priced_rows_inside() -> None:
    client = FakeYahoo(yahoo_frame())
    assets = load_assets()
    frame = YahooSource(assets, client).daily(assets["TSLA"], date(2025, 8, 1), date(2025, 8, 6))
    assert list(frame["session"]) == [date(2025, 8, 4)]
    symbol, asked = client.asked[0]
    assert (symbol, asked["end"], asked["auto_adjust"]) == ("TSLA", "2025-08-07", False)
    assert asked["actions"] is True


def test_a_yahoo_failure_is_a_source_error() -> None:
    assets = load_assets()
    source = YahooSource(assets, FakeYahoo(RuntimeError("Too Many Requests")))
    with pytest.raises(SourceError, match="Too Many Requests"):
        source.daily(assets["TSLA"], date(2025, 8, 1), date(2025, 8, 6))


DAY = 86_400_000
AUG_1 = int(datetime(2025, 8, 1, tzinfo=UTC).timestamp() * 1000)


class FakeExchange:
    def __init__(self, answer: list[list[float]] | Exception) -> None:
        self.answer, self.asked = answer, 0

    def fetch_ohlcv(self, pair: str, step: str, since: int, limit: int) -> list[list[float]]:
        self.asked += 1
        assert (pair, step) == ("BTC/USD", "1d")
        if isinstance(self.answer, Exception):
            raise self.answer
        return [row for row in self.answer if row[0] >= since][:limit]


def candles(n: int) -> list[list[float]]:
    return [[AUG_1 + i * DAY, 10.0, 12.0, 9.0, 11.0 + i, 5.0] for i in range(n)]


def test_ccxt_drops_the_running_candle() -> None:
    noon = datetime(2025, 8, 3, 12, tzinfo=UTC)
    assets = load_assets()
    source = CcxtSource(assets, lambda _: FakeExchange(candles(3)), lambda: noon)
    frame = source.daily(assets["BTC"], date(2025, 8, 1), date(2025, 8, 3))
    # The candle of 3 Aug runs until 4 Aug 00:00.
    assert list(frame["session"]) == [date(2025, 8, 1), date(2025, 8, 2)]
    assert set(frame["source"]) == {"ccxt:kraken"}


def test_a_geo_block_turns_an_exchange_off_for_the_day_only() -> None:
    blocked = FakeExchange(RuntimeError("451 restricted location"))
    good = FakeExchange(candles(2))
    today = [datetime(2025, 8, 3, 1, tzinfo=UTC)]
    assets = load_assets()
    source = CcxtSource(assets, lambda n: blocked if n == "kraken" else good, lambda: today[0])
    for _ in range(3):
        frame = source.daily(assets["BTC"], date(2025, 8, 1), date(2025, 8, 2))
    assert blocked.asked == 1
    assert set(frame["source"]) == {"ccxt:coinbase"}
    today[0] = datetime(2025, 8, 4, 1, tzinfo=UTC)
    source.daily(assets["BTC"], date(2025, 8, 1), date(2025, 8, 2))
    assert blocked.asked == 2


def test_candles_that_start_late_do_not_pass_for_the_window() -> None:
    late = FakeExchange(candles(3)[1:])
    assets = load_assets()
    source = CcxtSource(assets, lambda _: late, lambda: NOW)
    with pytest.raises(SourceError, match="do not reach back to 2025-08-01"):
        source.daily(assets["BTC"], date(2025, 8, 1), date(2025, 8, 3))


def test_closes_of_two_sources_over_one_percent_apart_are_recorded() -> None:
    assets = load_assets()
    theirs = yahoo_frame().iloc[:2].set_index(pd.to_datetime(["2025-08-01", "2025-08-02"]))
    theirs[["Open", "High", "Low", "Close", "Adj Close"]] = [[11.0] * 5, [12.5] * 5]
    ccxt = CcxtSource(assets, lambda _: FakeExchange(candles(2)), lambda: NOW)
    source = LiveSource(YahooSource(assets, FakeYahoo(theirs)), ccxt, assets)
    history = load_history(source, assets["BTC"], date(2025, 8, 1), date(2025, 8, 2), NOW)
    # 11 = 11 agree; 12 against 12.5 is +4.17 %.
    (check,) = [c for c in history.checks if c.kind == "disagree"]
    assert (check.session, check.value, check.other) == (date(2025, 8, 2), 12.0, 12.5)
    assert history.bar(date(2025, 8, 2)).close == 12.0  # type: ignore[union-attr]


def test_the_switch_shuts_the_network() -> None:
    assets = load_assets()
    with pytest.raises(SourceError, match="ARENA_NETWORK=off"):
        YahooSource(assets).daily(assets["TSLA"], date(2025, 8, 1), date(2025, 8, 6))
    with pytest.raises(SourceError, match="ARENA_NETWORK=off"):
        CcxtSource(assets).daily(assets["BTC"], date(2025, 8, 1), date(2025, 8, 6))
    assert reachable(0.1) is False


@pytest.mark.parametrize(("status", "expected"), [(200, True), (451, False)])
def test_reachable_asks_the_probes(
    monkeypatch: pytest.MonkeyPatch, respx_mock: respx.MockRouter, status: int, expected: bool
) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    respx_mock.get("http://one.test/").respond(status)
    respx_mock.get("http://two.test/").mock(side_effect=httpx.ConnectError("no route"))
    assert reachable(1.0, ("http://one.test/", "http://two.test/")) is expected


def test_the_sample_is_what_its_script_makes_and_is_marked(tmp_path: Path, root: Path) -> None:
    make_sample(tmp_path)
    made = pd.read_parquet(tmp_path / "daily.parquet")
    committed = pd.read_parquet(root / "data/sample/daily.parquet")
    pd.testing.assert_frame_equal(made, committed, rtol=1e-9)
    source = open_source("sample")
    assert source.synthetic
    assert all(a.synthetic and "fictional" in a.name for a in source.assets().values())
    spans = made.groupby("asset_class")["date"].agg(["min", "max"])
    assert set(spans["min"]) <= {"2023-07-03"}
    assert set(spans["max"]) == {"2025-12-31"}
    assert not set(made["symbol"]) & set(load_assets())


TABLE = "symbol,asset_class,date,open,high,low,close,adj_close,volume,source,venue_symbol"


def table(tmp_path: Path, rows: list[str]) -> str:
    (tmp_path / "daily.csv").write_text("\n".join([TABLE, *rows]) + "\n")
    return f"files:{tmp_path}"


def load(choice: str, symbol: str) -> pd.DataFrame:
    source = open_source(choice)
    return source.daily(source.assets()[symbol], date(2025, 8, 1), date(2025, 8, 31))


def test_a_table_of_several_symbols_in_csv(tmp_path: Path) -> None:
    # `NA` is a real kind of symbol, not a blank; a row without a symbol is nobody's.
    rows = [
        "NA,stock,2025-08-04,10,12,9,11,10.9,100,vendor,NA",
        "NA,stock,2025-08-05,11,13,10,12,,,vendor,NA",
        "SOL,crypto,2025-08-02,170,175,165,171,,5,venue,SOLUSDT",
        ",stock,2025-08-04,1,1,1,1,,,vendor,",
    ]
    choice = table(tmp_path, rows)
    assert {s: a.asset_class for s, a in open_source(choice).assets().items()} == {
        "NA": "stock", "SOL": "crypto",
    }  # fmt: skip
    frame = load(choice, "NA")
    assert list(frame["close"]) == [11.0, 12.0]
    assert frame["adj_close"].iloc[0] == 10.9
    assert frame[["adj_close", "volume"]].iloc[1].isna().all()
    assert set(frame["source"]) == {"vendor"}


def test_parquet_and_csv_of_the_same_prices_are_the_same_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 50
    close = np.exp(rng.normal(0, 5, n))
    days = [d.date() for d in pd.date_range("2025-07-01", periods=n)]
    frame = pd.DataFrame(
        {
            "symbol": "SOL", "asset_class": "crypto", "date": days, "open": close,
            "high": close * 1.01, "low": close * 0.99, "close": close, "volume": close * 3,
        }
    )  # fmt: skip
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    # Rows of a Parquet table may stand in any order.
    frame.iloc[::-1].to_parquet(tmp_path / "a/daily.parquet")
    frame.to_csv(tmp_path / "b/daily.csv", index=False)
    columns = ["session", "open", "high", "low", "close", "volume"]
    a, b = (load(f"files:{tmp_path / x}", "SOL")[columns] for x in "ab")
    pd.testing.assert_frame_equal(a, b, check_exact=True)
    assert len(a) == 19  # 50 days from 1 July end on 19 August


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["X,equity,2025-08-04,1,1,1,1,,,v,X"], "asset_class of X is `equity`; it must be stock"),
        (
            ["X,stock,2025-08-04,1,1,1,1,,,v,X", "X,etf,2025-08-05,1,1,1,1,,,v,X"],
            "asset_class of X is `etf`, but `stock` in another row",
        ),
        (["BTC,stock,2025-08-04,1,1,1,1,,,v,X"], "is `stock`, but `crypto` in assets.toml"),
        (["X,stock,2025-08-04,1,1,1,1,,inf,v,X"], "volume is inf, it must be >= 0 or missing"),
        (["X,stock,2025-08-04,1,1,1,1,,-1,v,X"], "volume is -1.0"),
        (["X,stock,2025-08-04,1,1,1,1,,lots,v,X"], "volume is `lots`, which is no number"),
        (["X,stock,2025-08-04,1,1,1,1,0,,v,X"], "adj_close is 0.0, it must be > 0 or missing"),
        (["X,stock,2025-08-04,1,inf,1,1,,,v,X"], "high is inf"),
        (["X,stock,08/04/2025,1,1,1,1,,,v,X"], "row 1 (08/04/2025): this is no date"),
        (["X,stock,20250804,1,1,1,1,,,v,X"], "this is no date"),
        (["X,stock,2025-08-04 14:30:00,1,1,1,1,,,v,X"], "this is no date"),
        (
            [f"X,stock,2025-08-0{d},1,1,1,1,,,v,X" for d in (4, 5, 4)],
            "row 3 (2025-08-04): the date stands twice",
        ),
    ],
)
def test_a_table_is_strict_for_the_asset_asked_for(
    tmp_path: Path, rows: list[str], words: str
) -> None:
    choice = table(tmp_path, [*rows, "TSLA,stock,2025-08-04,10,12,9,11,,1,v,TSLA"])
    with pytest.raises(DataError) as caught:
        load(choice, rows[0].split(",")[0])
    assert words in str(caught.value)
    assert len(load(choice, "TSLA")) == 1


def test_a_symbol_file_that_looks_like_a_coin_must_say_so(tmp_path: Path) -> None:
    rows = "date,open,high,low,close\n2025-08-08,1,2,1,2\n2025-08-09,1,2,1,2\n"
    (tmp_path / "SOL_daily.csv").write_text(rows)
    (tmp_path / "BROKEN_daily.csv").write_text("")
    with pytest.raises(DataError, match="has weekend rows and nothing says that it is a coin"):
        load(f"files:{tmp_path}", "SOL")
    with pytest.raises(DataError, match="Cannot read"):
        load(f"files:{tmp_path}", "BROKEN")
    (tmp_path / "assets.toml").write_text('[SOL]\nname = "Solana"\nasset_class = "crypto"\n')
    assert len(load(f"files:{tmp_path}", "SOL")) == 2
    assert open_source(f"files:{tmp_path}").assets()["SOL"].name == "Solana"


def test_the_sample_stays_marked_when_it_is_opened_as_a_folder(root: Path) -> None:
    assert open_source(f"files:{root / 'data/sample'}").synthetic


def test_a_bad_choice_names_the_good_ones() -> None:
    with pytest.raises(ConfigError, match="choose files, live, sample"):
        open_source("auto")
    with pytest.raises(ConfigError, match="it must be auto, live, sample or files:DIR"):
        open_source("yahoo")


def test_yahoo_is_not_asked_about_a_closed_window_and_its_nonsense_is_quarantined() -> None:
    frame = yahoo_frame().iloc[:2].copy()
    frame.iloc[1, frame.columns.get_loc("High")] = 8.0
    client, assets = FakeYahoo(frame), load_assets()
    source = YahooSource(assets, client)
    assert source.daily(assets["TSLA"], date(2025, 8, 2), date(2025, 8, 3)).empty
    assert client.asked == []
    history = load_history(source, assets["TSLA"], date(2025, 8, 1), date(2025, 8, 6), NOW)
    assert history.bars == ()
    (check,) = history.checks
    assert (check.kind, check.session) == ("quarantine", date(2025, 8, 4))
    assert check.detail == "high 8.0 is below open or close"
    assert history.gaps == {date(2025, 8, 4)}


def test_real_yfinance_raises_and_keeps_its_cache_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Its own switches are the contract here: a failure must be an exception, not an empty frame.
    yfinance = pytest.importorskip("yfinance")
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setattr("arena.market.sources.yahoo_client.RUNTIME", tmp_path)
    places: list[str] = []
    monkeypatch.setattr(yfinance, "set_tz_cache_location", places.append)
    yfinance.config.debug.hide_exceptions = True  # its default
    try:
        assert yahoo_client.yfinance_client() is yfinance
        assert yfinance.config.debug.hide_exceptions is False
    finally:
        yfinance.config.debug.hide_exceptions = True
    assert places == [str(tmp_path / "yfinance")]


class Probe(BaseHTTPRequestHandler):
    """`/ok` answers, `/hang` does not while the test lasts, everything else is an error."""

    release = Event()

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.release.wait(30)
        self.send_response(200 if self.path == "/ok" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    Probe.release.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Probe)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Probe.release.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("paths", "expected"),
    [(("/hang", "/ok"), True), (("/down", "/ok"), True), (("/down", "/down"), False)],
)
def test_reachable_is_any_source_that_answers(
    probe: str, paths: tuple[str, ...], expected: bool
) -> None:
    assert reachable(10.0, [probe + path for path in paths]) is expected


def test_a_source_that_hangs_does_not_hold_up_the_answer(probe: str) -> None:
    began = monotonic()
    assert reachable(0.3, [f"{probe}/hang"]) is False
    assert monotonic() - began < 10


@pytest.mark.parametrize("column", ["symbol", "asset_class", "date", "close"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_missing_column_of_a_table_is_named(tmp_path: Path, kind: str, column: str) -> None:
    values = ["X", "stock", "2025-08-04", "1", "1", "1", "1", "1", "1", "v", "X"]
    row = dict(zip(TABLE.split(","), values, strict=True))
    frame = pd.DataFrame([row]).drop(columns=column)
    if kind == "csv":
        frame.to_csv(tmp_path / "daily.csv", index=False)
    else:
        frame.to_parquet(tmp_path / "daily.parquet")
    with pytest.raises(DataError, match=f"column `{column}` is missing"):
        load(f"files:{tmp_path}", "X")


def test_one_exchange_does_not_load_the_others() -> None:
    """In a process of its own; errors and other exchanges of ccxt can still be had by name."""
    code = (
        "import sys; from arena.market.sources.exchanges import make_exchange; "
        "made = make_exchange('kraken'); import ccxt.base.errors; import ccxt.gemini; "
        "assert isinstance(ccxt.base.errors.NetworkError('x'), Exception); "
        "print(made.id, sum(m.startswith('ccxt.') and m.count('.') == 1 for m in sys.modules))"
    )
    env = os.environ | {"ARENA_KRAKEN_URL": "http://127.0.0.1:9", "ARENA_NETWORK": "off"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    name, modules = done.stdout.split()
    assert name == "kraken"
    assert int(modules) < 10

"""Files are refused with the row, live sources drop what is not final, the network stays shut."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
import respx

from arena.core.errors import DataError, SourceError, UnknownNameError
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.history import load_history
from arena.market.sample_data import make_sample
from arena.market.sources import open_source
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

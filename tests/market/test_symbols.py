"""Symbols by date: a renamed asset is asked for by each name's own days, a delisted one no longer."""

from __future__ import annotations

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from arena.core.errors import DataError
from arena.core.types import Asset
from arena.market.calendars import sessions
from arena.market.sources.yahoo import YahooSource
from arena.market.symbols import last_day, newest_symbol, symbol_on, symbols_within
from tests.market.test_faults_sources import frame_of

NOW = datetime(2025, 8, 22, 23, 0, tzinfo=UTC)

META = Asset("META", "Meta", "stock", symbols={"yahoo": "FB until 2022-06-08, then META"})
GONE = Asset("SIVB", "SVB", "stock", symbols={"yahoo": "SIVB until 2023-03-09"})


@pytest.mark.fault(25)
def test_fault_25_a_renamed_symbol_is_asked_for_by_its_dates() -> None:
    days = sessions("stock", date(2022, 6, 6), date(2022, 6, 10))
    # Before the change another fund had the symbol META: its 12 must never be taken for Meta's price.
    series = {
        "FB": dict.fromkeys(days[:3], 190.0),
        "META": dict.fromkeys(days[:3], 12.0) | dict.fromkeys(days[3:], 184.0),
    }
    asked: list[tuple[str, str, str]] = []

    def ticker(symbol: str) -> Any:
        def history(**asks: Any) -> pd.DataFrame:
            asked.append((symbol, asks["start"], asks["end"]))
            return frame_of(series[symbol])

        return SimpleNamespace(history=history)

    source = YahooSource({"META": META}, SimpleNamespace(Ticker=ticker), lambda: NOW)
    frame = source.daily(META, days[0], days[-1])
    assert list(frame["close"]) == [190.0, 190.0, 190.0, 184.0, 184.0]
    assert asked == [("FB", "2022-06-06", "2022-06-09"), ("META", "2022-06-09", "2022-06-11")]


@pytest.mark.fault(25)
def test_fault_25_a_delisted_symbol_ends_and_is_not_asked_for_again() -> None:
    client = SimpleNamespace(Ticker=lambda symbol: pytest.fail(f"{symbol} was asked for"))
    source = YahooSource({"SIVB": GONE}, client, lambda: NOW)
    assert source.daily(GONE, date(2023, 3, 10), date(2023, 3, 31)).empty
    assert last_day(GONE, "yahoo") == date(2023, 3, 9)
    assert symbol_on(GONE, "yahoo", date(2023, 3, 10)) is None
    assert last_day(META, "yahoo") is None
    assert (newest_symbol(META, "yahoo"), newest_symbol(GONE, "yahoo")) == ("META", "SIVB")
    assert newest_symbol(META, "ccxt") is None


@pytest.mark.parametrize(
    "text", ["", "FB until", "FB until 2022-13-01", "FB, META", "FB then META", "A, then B",
             "A until 2022-01-02, then B until 2022-01-01"],
)  # fmt: skip
def test_a_history_of_symbols_that_is_no_such_thing_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="Write it as"):
        symbols_within(text, date(2025, 8, 4), date(2025, 8, 22))

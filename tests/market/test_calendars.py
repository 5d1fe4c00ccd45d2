"""Sessions and slots: NYSE's own days, half days, closures and both changes of the clock."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest

from arena.core.errors import DataError
from arena.core.types import Asset, AssetClass
from arena.market.calendars import (
    close_utc,
    is_session,
    next_session,
    open_utc,
    sessions,
    slot,
    slots,
)

STOCK, COIN = Asset("S", "s", "stock"), Asset("C", "c", "crypto")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    "day", [date(2025, 1, 9), date(2025, 7, 4), date(2025, 4, 18), date(2025, 8, 2), date(2024, 6, 19)]
)
def test_closed_days_are_no_sessions(day: date) -> None:
    assert not is_session("stock", day)
    assert is_session("crypto", day)


@pytest.mark.parametrize(
    ("day", "opens", "closes"),
    [
        (date(2025, 8, 1), utc(2025, 8, 1, 13, 30), utc(2025, 8, 1, 20)),
        (date(2025, 1, 10), utc(2025, 1, 10, 14, 30), utc(2025, 1, 10, 21)),
        (date(2024, 12, 24), utc(2024, 12, 24, 14, 30), utc(2024, 12, 24, 18)),  # half day
        (date(2025, 7, 3), utc(2025, 7, 3, 13, 30), utc(2025, 7, 3, 17)),  # half day
        (date(2025, 3, 10), utc(2025, 3, 10, 13, 30), utc(2025, 3, 10, 20)),  # first in summer time
        (date(2025, 11, 3), utc(2025, 11, 3, 14, 30), utc(2025, 11, 3, 21)),  # first in winter time
    ],
)
def test_opens_and_closes(day: date, opens: datetime, closes: datetime) -> None:
    assert (open_utc("stock", day), close_utc("stock", day)) == (opens, closes)


def test_slots_of_both_conventions() -> None:
    # Friday 1 Aug: the stock decides 30 minutes before Monday's open, the coin 5 minutes into Saturday.
    assert slot(STOCK, date(2025, 8, 1)).as_of_utc == utc(2025, 8, 4, 13, 0)
    assert slot(COIN, date(2025, 8, 1)).as_of_utc == utc(2025, 8, 2, 0, 5)
    assert slot(STOCK, date(2025, 8, 1), "ama").as_of_utc == utc(2025, 8, 2, 0, 5)


def test_the_papers_window_has_42_and_61_slots() -> None:
    window = date(2025, 8, 1), date(2025, 9, 30)
    # August has 21 sessions, September 21 (Labor Day is closed).
    assert len(slots(STOCK, *window)) == 42
    assert len(slots(COIN, *window)) == 61


def test_next_session_skips_weekend_and_holiday() -> None:
    assert next_session("stock", date(2025, 8, 29)) == date(2025, 9, 2)
    assert next_session("crypto", date(2025, 8, 29)) == date(2025, 8, 30)


def test_before_the_calendar() -> None:
    with pytest.raises(DataError, match="starts 2010-01-01"):
        sessions("stock", date(1999, 1, 1), date(1999, 2, 1))


@pytest.mark.parametrize("asset_class", ["stock", "crypto"])
def test_a_date_nobody_means_is_refused_at_once(asset_class: AssetClass) -> None:
    with pytest.raises(DataError, match="calendars end 2100-12-31; 9999-12-31 is after it"):
        sessions(asset_class, date(2025, 1, 1), date(9999, 12, 31))


def test_every_session_of_three_years_against_an_independent_list(shared_market: Path) -> None:
    table = pd.read_csv(shared_market / "calendar_nyse_2023_2026.csv")
    days = [date.fromisoformat(d) for d in table["date"]]
    assert list(sessions("stock", days[0], days[-1])) == days
    for day, opens, closes in zip(days, table["open_utc"], table["close_utc"], strict=True):
        assert open_utc("stock", day) == datetime.fromisoformat(opens)
        assert close_utc("stock", day) == datetime.fromisoformat(closes)


def test_the_calendar_is_built_again_before_it_runs_out() -> None:
    # exchange_calendars of today knows days at most a year ahead unless it is told an end.
    far = date(2035, 7, 3)
    assert next_session("stock", far) == date(2035, 7, 5)
    assert slot(STOCK, far).as_of_utc == utc(2035, 7, 5, 13, 0)

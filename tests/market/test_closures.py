"""The editable table of closures: a day of mourning, an early close, a slip of the pen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from arena.core.errors import DataError
from arena.market import calendars, closures
from arena.market.assets import load_assets

TSLA = load_assets()["TSLA"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    path = tmp_path / "closures.toml"
    monkeypatch.setattr(closures, "FILE", path)
    at = 1_700_000_000

    def write(text: str) -> None:
        nonlocal at
        path.write_text(text, "utf-8")
        at += 1
        os.utime(path, (at, at))

    yield write
    monkeypatch.undo()
    calendars._built.clear()


def test_a_day_of_mourning_that_the_library_knows_is_no_session() -> None:
    assert not calendars.is_session("stock", date(2025, 1, 9))


def test_a_closure_counts_at_once_and_moves_the_slot_to_the_next_open(table) -> None:
    # Thursday 5 March 2026: its slot is half an hour before Friday's open, 14:30 - 0:30 UTC.
    table("")
    assert calendars.slot(TSLA, date(2026, 3, 5)).as_of_utc == datetime(2026, 3, 6, 14, 0, tzinfo=UTC)
    table('[[closed]]\nday = 2026-03-06\nwhy = "storm"\n')
    assert not calendars.is_session("stock", date(2026, 3, 6))
    # Monday the 9th opens at 13:30 UTC: New York has summer time by then.
    assert calendars.slot(TSLA, date(2026, 3, 5)).as_of_utc == datetime(2026, 3, 9, 13, 0, tzinfo=UTC)


def test_an_early_close_is_told_in_the_time_of_new_york(table) -> None:
    table('[[early]]\nday = 2026-07-02\nclose = 13:00:00\nwhy = "eve of a holiday"\n')
    # Summer time: New York is four hours behind.
    assert calendars.close_utc("stock", date(2026, 7, 2)) == datetime(2026, 7, 2, 17, 0, tzinfo=UTC)


def test_a_slip_is_named(table) -> None:
    table('[[closed]]\ndate = 2026-03-06\nwhy = "storm"\n')
    with pytest.raises(DataError, match=r"closures.toml, closed.0"):
        calendars.is_session("stock", date(2026, 3, 5))

"""A jump waits for a split, a second source or five sessions; a spike that goes away is never believed."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.rows import ActionRow, WriteUnit
from arena.core.types import Bar
from arena.market.assets import load_assets
from arena.market.calendars import close_utc, open_utc, sessions
from arena.market.history import History
from arena.market.quarantine import held_back, same_price
from arena.runner.prices import price_rows
from arena.store.held_prices import held_prices
from arena.store.store import open_store

DAYS = sessions("stock", date(2025, 8, 4), date(2025, 10, 31))


def bars(*closes: float) -> list[Bar]:
    return [
        Bar(d, c, c, c, c, 1.0, close_utc("stock", d)) for d, c in zip(DAYS, closes, strict=False)
    ]


def held(*closes: float, **more: object) -> list[int]:
    """Places of the bars that are held back."""
    found = held_back("TSLA", bars(*closes), lambda _: "yahoo", **more)  # type: ignore[arg-type]
    assert all(c.kind == "quarantine" and c.source == "yahoo" for c in found)
    return [DAYS.index(c.session) for c in found]


def split(ratio: float, at: int) -> ActionRow:
    known = open_utc("stock", DAYS[at])
    return ActionRow("TSLA", DAYS[at], "split", "yahoo", ratio, known, known)


@pytest.mark.parametrize(
    ("closes", "expected"),
    [
        ((100, 140, 100), []),  # ln 1.4 = 0.336
        ((100, 149, 149), []),  # ln 1.49 = 0.3988
        ((100, 150), [1]),  # ln 1.5 = 0.405
        ((100, 67, 66), [1, 2]),  # ln 0.67 = -0.4005, and the day after is no nearer
        ((100, 10000, 101), [1]),  # a 100x error of one day
        ((100, 10000, 101, 101, 101, 101, 101, 101, 101), [1]),  # also much later
        ((100, 25, 25, 25, 25, 25), [1, 2, 3, 4, 5]),  # 4:1, four sessions after it: not yet
        ((100, 25, 25, 26, 25, 25, 24), []),  # five sessions at the new level
        ((100, 25, 25, 26, 99, 98, 97), [1, 2, 3]),  # mended by the vendor after three days
        ((), []),
    ],
)
def test_which_bars_wait(closes: tuple[float, ...], expected: list[int]) -> None:
    assert held(*map(float, closes)) == expected


def test_the_words_name_both_prices() -> None:
    (check,) = held_back("TSLA", bars(100.0, 25.0), lambda _: "yahoo")
    assert (check.value, check.other) == (25.0, 100.0)
    assert check.detail == (
        "-75.0% from 2025-08-04, no split explains it and no second source has it yet"
    )


def test_a_split_explains_its_own_jump_only() -> None:
    closes = (100.0, 26.0, 26.0)  # 26 x 4 = 104
    assert held(*closes, splits=[split(4.0, 1)]) == []
    assert held(*closes, splits=[split(4.0, 2)]) == [1]  # the bar before its ex-date is still odd
    assert held(*closes, splits=[split(2.0, 1)]) == [1, 2]  # 26 x 2 = 52: ln 0.52 = -0.65
    assert held(100.0, 99.0, 100.0, splits=[split(4.0, 1)]) == []  # worked in by the vendor


def test_a_second_source_releases_the_day_and_becomes_the_level() -> None:
    asked: list[date] = []

    def agrees(day: date, close: float) -> bool:
        asked.append(day)
        return same_price(close, 50.2)

    assert held(100.0, 50.0, 51.0, 100.0, agrees=agrees) == [3]
    # Only suspects are asked about: 50, and 100 as seen from 51.
    assert asked == [DAYS[1], DAYS[3]]


def test_one_percent_is_the_same_price() -> None:
    assert same_price(100.0, 100.9)
    assert same_price(100.0, 99.1)
    assert not same_price(100.0, 101.1)
    assert not same_price(100.0, None)


@given(st.lists(st.floats(-0.39, 0.39), min_size=1, max_size=40))
def test_moves_that_are_small_never_wait(moves: list[float]) -> None:
    closes = [100.0]
    for move in moves:
        closes.append(closes[-1] * 2.718281828**move)
    assert held(*closes) == []


@given(st.integers(1, 20), st.floats(1.6, 1000.0), st.booleans())
def test_a_lone_spike_waits_wherever_it_stands(at: int, size: float, up: bool) -> None:
    closes = [100.0 + i for i in range(30)]
    closes[at] *= size if up else 1 / size
    assert held(*closes) == [at]


def test_gaps_between_sessions_do_not_matter() -> None:
    days = [DAYS[0], DAYS[0] + timedelta(days=29)]
    pair = [
        Bar(d, c, c, c, c, 1.0, close_utc("stock", d))
        for d, c in zip(days, (100.0, 30.0), strict=True)
    ]
    assert len(held_back("TSLA", pair, lambda _: "yahoo", [split(4.0, 5)])) == 0  # 30 x 4 = 120


def test_a_day_is_held_until_it_has_a_bar(tmp_path: Path) -> None:
    asset = load_assets()["TSLA"]
    first, second = bars(100.0, 25.0)
    (check,) = held_back("TSLA", [first, second], lambda _: "yahoo")
    with open_store(tmp_path / "a.duckdb") as store:
        for known, held in (((first,), [DAYS[1]]), ((first, second), [])):
            checks = (check,) if held else ()
            history = History(asset, known, {}, {b.session: "yahoo" for b in known}, checks)
            _, rows = price_rows(store, [history], second.known_at_utc)
            store.write([WriteUnit(rows=tuple(rows))])
            assert [at.date() for at in held_prices(store)["session"]] == held

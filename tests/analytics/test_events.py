"""Pins of a chart against moves and scores chosen by hand."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.analytics.events import TRAILING_RETURNS, largest_moves, sentiment_jumps

FIRST = date(2025, 1, 1)


def days(n: int) -> list[date]:
    return [FIRST + timedelta(i) for i in range(n)]


def closes(returns: list[float]) -> list[float]:
    made = [100.0]
    for r in returns:
        made.append(made[-1] * (1 + r))
    return made


CALM = [0.01, -0.01] * (TRAILING_RETURNS // 2)
"""60 returns of mean 0; sample deviation = sqrt(60 * 0.0001 / 59) = 0.0100844."""


def test_a_move_of_two_deviations_is_pinned_and_one_below_is_not() -> None:
    # 0.0202 / 0.0100844 = 2.003; 0.0201 / 0.0100844 = 1.993.
    made = closes([*CALM, 0.0202])
    (event,) = largest_moves(days(len(made)), made)
    assert event.session == FIRST + timedelta(61)
    assert event.label == "+2.0%, 2.0 deviations"
    made = closes([*CALM, 0.0201])
    assert largest_moves(days(len(made)), made) == []


def test_too_little_history_judges_nothing() -> None:
    made = closes([*CALM[1:], -0.5])
    assert largest_moves(days(len(made)), made) == []


def test_only_the_largest_and_in_order_of_time() -> None:
    """Moves of -30, +60, -20 and +50 %: the first three by size are +60, +50 and -30.

    Deviation before the first: 0.0100844, so -30 % is 29.7 of them. The later ones stand beside the
    earlier: what they are measured against holds them too, and 60 calm days between forget them.
    """
    made = closes([*CALM, -0.30, *CALM, 0.60, *CALM, -0.20, *CALM, 0.50])
    sessions = days(len(made))
    got = largest_moves(sessions, made)
    assert [e.label.split(",")[0] for e in got] == ["−30.0%", "+60.0%", "+50.0%"]
    assert [e.session for e in got] == [sessions[61], sessions[122], sessions[244]]
    since = sessions[100]
    assert [e.label.split(",")[0] for e in largest_moves(sessions, made, since, most=2)] == ["+60.0%", "+50.0%"]


def test_after_stillness_any_move_stands_out() -> None:
    made = closes([*([0.0] * TRAILING_RETURNS), 0.001])
    (event,) = largest_moves(days(len(made)), made)
    assert event.label == "+0.1%"
    still = closes([0.0] * (TRAILING_RETURNS + 1))
    assert largest_moves(days(len(still)), still) == []


def test_sentiment_jumps_count_from_one_brief_to_the_next() -> None:
    # 0.6 to -0.4 is exactly 1.0 (a binary difference below it); -0.4 to 0.55 is 0.95; then a day
    # without a brief, and 0.55 to -0.5 is 1.05.
    scores = [None, 0.6, -0.4, 0.55, None, -0.5, -0.5]
    got = sentiment_jumps(days(7), scores)
    assert [(e.session, e.label) for e in got] == [
        (FIRST + timedelta(2), "news +0.6 to −0.4"),
        (FIRST + timedelta(5), "news +0.6 to −0.5"),
    ]


def test_only_the_largest_jumps_of_the_range_and_in_order_of_time() -> None:
    """Jumps of 2.0, 1.2, 1.0, 1.2 and 1.5: the three largest are 2.0, 1.5 and the older 1.2."""
    scores = [-1.0, 1.0, -0.2, 0.8, -0.4, 1.1]
    got = sentiment_jumps(days(6), scores)
    assert [e.label for e in got] == ["news −1.0 to +1.0", "news +1.0 to −0.2", "news −0.4 to +1.1"]
    # What lies before the range is what its first brief is measured against, and takes no place.
    late = sentiment_jumps(days(6), scores, FIRST + timedelta(2), most=2)
    assert [e.label for e in late] == ["news +1.0 to −0.2", "news −0.4 to +1.1"]


def test_a_score_that_rounds_to_zero_has_no_sign() -> None:
    (jump,) = sentiment_jumps(days(2), [-0.04, 1.0])
    assert jump.label == "news 0.0 to +1.0"


def test_no_brief_no_jump() -> None:
    assert sentiment_jumps(days(3), [None, None, 1.0]) == []


@pytest.mark.parametrize(("asset", "session"), [("BTC", date(2025, 10, 10)), ("TSLA", date(2025, 4, 9))])
def test_real_days_that_everybody_remembers(shared_market: Path, asset: str, session: date) -> None:
    """10 October 2025 (liquidations, BTC -7 %) and 9 April 2025 (tariffs paused, TSLA +23 %)."""
    bars = pd.read_parquet(shared_market / "daily.parquet", filters=[("symbol", "==", asset)])
    bars = bars.sort_values("date")
    sessions = [pd.Timestamp(d).date() for d in bars["date"]]
    months = [d for d in sessions if d.month == session.month and d.year == session.year]
    upto = sessions.index(months[-1]) + 1
    got = largest_moves(sessions[:upto], bars["close"].tolist()[:upto], months[0])
    assert session in {e.session for e in got}

"""Numbers as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.ui import format as fmt


@pytest.mark.parametrize(
    ("frac", "text"),
    [(0.141, "+14.1%"), (-0.288, "−28.8%"), (0.0, "0.0%"), (-0.0001, "0.0%"), (None, "–")],
)
def test_percent_is_signed_with_a_true_minus(frac: float | None, text: str) -> None:
    assert fmt.percent(frac) == text


def test_other_numbers() -> None:
    assert fmt.points(0.071) == "+7.1 pp"
    assert fmt.points(None) == "–"
    assert fmt.ratio(-0.5) == "−0.50"
    assert fmt.money(123_456.4) == "$123,456"
    assert fmt.money(-3) == "−$3"


def test_scores_are_signed_but_zero_is_not() -> None:
    assert [fmt.signed(s) for s in (0.7, -0.2, 0.0, -0.001)] == ["+0.70", "−0.20", "0.00", "0.00"]


def test_one_of_a_thing_is_singular() -> None:
    assert [fmt.counted(n, "item") for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
    assert [fmt.counted(n, "story", "stories") for n in (1, 3)] == ["1 story", "3 stories"]


def test_dates_have_no_leading_zero_and_say_utc() -> None:
    assert fmt.day("2025-08-01") == "1 Aug 2025"
    assert fmt.span("2025-08-01", "2025-09-30") == "1 Aug to 30 Sep 2025"
    assert fmt.span("2024-12-31", "2025-01-02") == "31 Dec 2024 to 2 Jan 2025"
    assert fmt.moment(datetime(2025, 8, 2, 0, 5, tzinfo=UTC)) == "2 Aug 2025, 00:05 UTC"
    assert fmt.age_days("2025-08-01", "2025-08-03") == "2 d"
    assert [fmt.age_seconds(s) for s in (0.4, 61, 7_300, 200_000)] == ["0 s", "1 min", "2 h", "2 d"]

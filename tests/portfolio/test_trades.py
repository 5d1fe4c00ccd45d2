"""Round trips from legs, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from arena.portfolio import RoundTrip, round_trips


def test_one_trip_is_net_of_both_fees() -> None:
    # 10 * (110 - 100) - 1 - 2 = 97
    assert round_trips([10, -10], [100, 110], [1, 2]) == (RoundTrip(1, 97.0, 3.0, 0, 1),)


def test_adds_and_partial_closes_belong_to_their_trip() -> None:
    # Short 1 at 100 and 1 at 110; buys 1 at 90 and 1 at 120: 100 + 110 - 90 - 120 - 4 = -4
    trips = round_trips([-1, -1, 1, 1], [100, 110, 90, 120], [1, 1, 1, 1])
    assert trips == (RoundTrip(-1, -4.0, 4.0, 0, 3),)


def test_a_flip_ends_one_and_starts_another() -> None:
    # Long 2 from 100 to 90: -20; short 1 from 90 to 80: +10.
    trips = round_trips([2, -2, -1, 1], [100, 90, 90, 80], [0, 0, 0, 0])
    assert [(t.side, t.pnl) for t in trips] == [(1, -20.0), (-1, 10.0)]


def test_open_trip_and_empty_legs_are_not_counted() -> None:
    assert round_trips([], [], []) == ()
    assert round_trips([0, 5, 0], [0, 100, 0], [0, 1, 0]) == ()
    trips = round_trips([5, -5, 5], [100, 100, 100], [0, 0, 0])
    assert [(t.pnl, t.last_leg) for t in trips] == [(0.0, 1)]


def test_rounded_tranches_still_end_flat() -> None:
    third = 0.1 + 0.2  # not 0.3
    trips = round_trips(np.array([third, -0.3]), np.array([1.0, 2.0]), np.zeros(2))
    assert len(trips) == 1
    assert trips[0].pnl == pytest.approx(0.3)

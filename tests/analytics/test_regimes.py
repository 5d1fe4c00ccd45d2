"""Regimes by what was known before a session, and days under water."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.regimes import CALM_SESSIONS, FEWEST_CALM, by_regime, regimes, under_water


def series(values: list[float]) -> pd.Series:
    return pd.Series(values, index=pd.date_range("2024-01-01", periods=len(values)))


def test_up_and_down_need_twenty_one_closes_before() -> None:
    found = regimes(series([100.0 + i for i in range(22)] + [50.0] * 30))
    assert not found["up"].iloc[:21].any()
    assert found["up"].iloc[21]  # close 20 = 120 against close 0 = 100
    assert found["up"].iloc[22]  # the fall to 50 happens in session 22: not known before it
    assert found["down"].iloc[23]
    assert not (found["up"] & found["down"]).any()


def slow(closes: list[float]) -> list[tuple[bool, bool, bool]]:
    """The docstring read aloud, one session at a time."""
    r = [math.nan] + [closes[i] / closes[i - 1] - 1 for i in range(1, len(closes))]

    def deviation(t: int) -> float | None:
        own = r[t - 20 : t]
        return None if t < 21 else float(np.std(own, ddof=1))

    out = []
    for t in range(len(closes)):
        up = t >= 21 and closes[t - 1] > closes[t - 21]
        down = t >= 21 and closes[t - 1] < closes[t - 21]
        earlier = [
            d for u in range(max(0, t - CALM_SESSIONS), t) if (d := deviation(u)) is not None
        ]
        now = deviation(t)
        high = now is not None and len(earlier) >= FEWEST_CALM and now > np.quantile(earlier, 0.75)
        out.append((up, down, bool(high)))
    return out


def test_agrees_with_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    wild = np.where(np.arange(330) % 90 > 70, 0.05, 0.01)
    closes = (100 * np.exp(np.cumsum(rng.normal(0, wild)))).tolist()
    found = regimes(series(closes))
    got = [tuple(bool(v) for v in row) for row in found.itertuples(index=False)]
    assert got == slow(closes)
    assert 10 < found["high volatility"].sum() < 200


def test_mean_return_by_regime() -> None:
    days = pd.date_range("2025-08-01", periods=3)
    inside = pd.DataFrame(
        {"up": [True, True, False], "down": [False, False, True], "high volatility": False},
        index=days,
    )
    # Returns: 1.1 - 1 = 10 %, 1.21 / 1.1 - 1 = 10 %, 0.605 / 1.21 - 1 = -50 %.
    found = by_regime(pd.Series([1.1, 1.21, 0.605], index=days), inside)
    assert found["up"] == (pytest.approx(0.1), 2)
    assert found["down"] == (pytest.approx(-0.5), 1)
    assert found["high volatility"] == (None, 0)


def test_a_session_without_a_regime_is_in_none() -> None:
    days = pd.date_range("2025-08-01", periods=2)
    inside = pd.DataFrame(
        {"up": [True], "down": [False], "high volatility": [False]}, index=days[:1]
    )
    assert by_regime(pd.Series([1.0, 2.0], index=days), inside)["up"] == (0.0, 1)


@pytest.mark.parametrize(
    ("values", "n_below", "longest", "recovery", "fell"),
    [
        ([1.0, 1.1, 1.2], 0, 0, None, False),
        ([1.0, 0.9, 1.0, 1.1], 1, 1, 1, True),  # low at mark 1, back at mark 2
        (
            [1.0, 1.2, 0.9, 1.0, 1.2, 1.1],
            3,
            2,
            2,
            True,
        ),  # deepest fall 1.2 to 0.9, back two marks later
        ([1.0, 0.9, 1.0, 0.5, 0.6], 3, 2, None, True),
    ],
)
def test_under_water(
    values: list[float], n_below: int, longest: int, recovery: int | None, fell: bool
) -> None:
    found = under_water(np.array(values))
    assert (found.n_below, found.longest, found.recovery, found.fell) == (
        n_below,
        longest,
        recovery,
        fell,
    )
    assert found.n == len(values) - 1


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=40))
def test_longest_stretch_is_within_the_days_below(values: list[float]) -> None:
    found = under_water(np.array(values))
    assert 0 <= found.longest <= found.n_below <= found.n
    assert (found.n_below > 0) == found.fell
    if found.recovery is not None:
        assert found.recovery >= 1

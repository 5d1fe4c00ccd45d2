"""Measures by hand, by TA-Lib's definition, and where history is short or odd."""

from __future__ import annotations

import math
from dataclasses import astuple
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from arena.agents.measures import (
    closes_of,
    measure,
    return_frac,
    rsi,
    session_volatility_frac,
    sma_gap_frac,
    z_score,
)
from arena.core.errors import DataError
from arena.core.types import Bar


def bars(closes: list[float]) -> list[Bar]:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    days = [start + timedelta(days=i) for i in range(len(closes))]
    return [
        Bar(d.date(), c, c, c, c, None, d + timedelta(days=1))
        for d, c in zip(days, closes, strict=True)
    ]


def test_return_by_hand() -> None:
    closes = np.array([100.0, 110.0, 99.0])
    assert return_frac(closes, 1) == pytest.approx(-0.1)
    assert return_frac(closes, 2) == pytest.approx(-0.01)
    assert return_frac(closes, 3) is None


def test_rsi_by_hand() -> None:
    # 14 changes: eight of +2, six of -1 -> mean gain 16/14, mean loss 6/14, RSI = 100*16/22
    changes = [2.0, -1.0] * 6 + [2.0, 2.0]
    closes = 100.0 + np.cumsum([0.0, *changes])
    assert rsi(closes) == pytest.approx(100 * 16 / 22)
    assert rsi(closes[:14]) is None


WILDER = [44.34, 44.09, 44.15, 43.61, 44.33, 44.83, 45.10, 45.42, 45.84, 46.08, 45.89, 46.03, 45.61,
          46.28, 46.28, 46.00, 46.03, 46.41, 46.22, 45.64]  # fmt: skip


@pytest.mark.parametrize(("n", "expected"), [(15, 70.4641), (16, 66.2496), (20, 57.9150)])
def test_rsi_on_the_textbook_series(n: int, expected: float) -> None:
    assert rsi(np.array(WILDER[:n])) == pytest.approx(expected, abs=5e-5)


def test_rsi_of_a_flat_series_is_50_and_of_a_rising_one_100() -> None:
    assert rsi(np.full(30, 7.0)) == 50.0
    assert rsi(np.arange(1.0, 31.0)) == pytest.approx(100.0)


def test_mean_gap_and_z_by_hand() -> None:
    closes = np.array([1.0, 2.0, 3.0])
    # mean 2, sample deviation 1
    assert sma_gap_frac(closes, 3) == pytest.approx(0.5)
    assert z_score(closes, 3) == pytest.approx(1.0)
    assert sma_gap_frac(closes, 4) is None
    assert z_score(closes, 4) is None
    assert z_score(np.full(3, 5.0), 3) == 0.0


def test_volatility_by_hand() -> None:
    # 20 returns, ten of +r and ten of -r: sample deviation r * sqrt(20/19)
    closes = 100.0 * np.cumprod([1.0, *([1.01, 0.99] * 10)])
    assert session_volatility_frac(closes) == pytest.approx(0.01 * math.sqrt(20 / 19))
    assert session_volatility_frac(closes[:20]) is None


def test_short_history_gives_none_everywhere_and_never_nan() -> None:
    assert set(astuple(measure(bars([5.0]), 252))) == {None}
    full = astuple(measure(bars([100.0 + (i * 7) % 13 for i in range(260)]), 365))
    assert all(v is not None and math.isfinite(v) for v in full)


def test_year_uses_the_base_of_the_asset() -> None:
    m = measure(bars([100.0 + (i * 7) % 13 for i in range(80)]), 365)
    assert m.volatility_session_frac is not None
    assert m.volatility_year_frac == pytest.approx(m.volatility_session_frac * math.sqrt(365))


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_bad_close_is_refused_with_its_session(bad: float) -> None:
    with pytest.raises(DataError, match="2025-01-02"):
        closes_of(bars([1.0, bad, 1.0]))

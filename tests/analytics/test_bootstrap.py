"""Block bootstrap: hand-worked sums, a slow resampler beside the fast one, laws, and reasons."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.bootstrap import (
    Interval,
    block_sessions,
    block_starts,
    difference_interval,
    resampled_sums,
    return_interval,
    sharpe_interval,
)

RETURNS = np.random.default_rng(3).normal(0.001, 0.02, 61)


def slow_resamples(returns: np.ndarray, name: str) -> list[list[float]]:
    """Every resample written out: block after block, the end joined to the beginning, cut to n."""
    n, block = len(returns), block_sessions(len(returns))
    return [
        [float(returns[(s + i) % n]) for s in starts for i in range(block)][:n]
        for starts in block_starts(n, name).tolist()
    ]


def slow_percentile(values: list[float], pct: float) -> float:
    """Linear between the two nearest order statistics."""
    ordered, at = sorted(values), pct / 100 * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@pytest.mark.parametrize(
    ("n", "block"), [(1, 1), (8, 2), (9, 3), (27, 3), (28, 4), (64, 4), (125, 5), (500, 8)]
)
def test_a_block_is_the_cube_root_rounded_up(n: int, block: int) -> None:
    assert block_sessions(n) == block


def test_sums_by_hand() -> None:
    """Nine values 1..9, blocks of ceil(9^(1/3)) = 3. Blocks at 0, 6 and 7 (counted from 0):
    (1 2 3) (7 8 9) (8 9 1): 6 + 24 + 18 = 48."""
    assert resampled_sums(np.arange(1.0, 10.0), np.array([[0, 6, 7]])) == pytest.approx([48.0])


def test_the_last_block_is_cut() -> None:
    """Ten values 1..10, blocks of 3, the fourth cut to one: (1 2 3) (4 5 6) (10 1 2) (9) = 43."""
    assert resampled_sums(np.arange(1.0, 11.0), np.array([[0, 3, 9, 8]])) == pytest.approx([43.0])


def test_return_interval_equals_the_slow_one() -> None:
    totals = [math.prod(1 + r for r in draw) - 1 for draw in slow_resamples(RETURNS, "a")]
    got = return_interval(RETURNS, "a")
    assert (got.low, got.high) == pytest.approx(
        (slow_percentile(totals, 2.5), slow_percentile(totals, 97.5)), abs=1e-12
    )


def test_sharpe_interval_equals_the_slow_one() -> None:
    ratios = [
        statistics.fmean(d) / statistics.stdev(d) * math.sqrt(252)
        for d in slow_resamples(RETURNS, "a")
    ]
    got = sharpe_interval(RETURNS, 252, "a")
    assert (got.low, got.high) == pytest.approx(
        (slow_percentile(ratios, 2.5), slow_percentile(ratios, 97.5)), rel=1e-9
    )


def test_a_constant_return_has_one_outcome_and_no_sharpe() -> None:
    # 1.01^27 - 1 = 0.30821 whatever is drawn.
    flat = np.full(27, 0.01)
    got = return_interval(flat, "x")
    assert (got.low, got.high) == pytest.approx((0.308208993, 0.308208993))
    assert sharpe_interval(flat, 365, "x") == Interval(None, None, "zero_variance", 27)


def test_the_name_alone_decides_the_draws() -> None:
    assert return_interval(RETURNS, "a") == return_interval(RETURNS.copy(), "a")
    assert return_interval(RETURNS, "a") != return_interval(RETURNS, "b")


def test_a_pair_is_resampled_together() -> None:
    """One curve 1 % above the other in log terms every day: log totals differ by exactly n x 1 %
    in every resample, so (1 + total) / (1 + other total) is e^0.61, however wild the market."""
    other = np.expm1(np.log1p(RETURNS) - 0.01)
    got = difference_interval(RETURNS, other, "p")
    assert got.low is not None
    assert got.low > 0
    alone = return_interval(RETURNS, "p")
    assert alone.low is not None
    # total - other total = total (1 - e^-0.61) + (1 - e^-0.61), increasing in total: same quantile.
    assert got.low == pytest.approx((1 + alone.low) * (1 - math.exp(-0.61)))
    assert difference_interval(RETURNS, RETURNS, "p").holds_zero


def test_blocks_keep_what_single_days_would_lose() -> None:
    """Runs of 15 equal days of +-1 %: neighbours k days apart correlate by 1 - 2k/15, so a block of 4 has
    variance 4 + 2 (3 x 13/15 + 2 x 11/15 + 9/15) = 13.33 of a day's, and 15 blocks a deviation of
    1 % x sqrt(15 x 13.33) = 14.1 %. Single days would have 1 % x sqrt(60) = 7.7 %."""
    trending = np.tile(np.repeat([0.01, -0.01], 15), 2)
    sums = resampled_sums(trending, block_starts(60, "t"))
    assert float(np.std(sums)) == pytest.approx(0.1414, rel=0.06)


def test_reasons() -> None:
    assert return_interval(RETURNS[:19], "x").reason == "too_few_observations"
    assert return_interval(RETURNS[:20], "x").reason is None
    wiped = np.append(RETURNS[:30], -1.0)
    assert return_interval(wiped, "x").reason == "nonpositive_equity"
    assert difference_interval(RETURNS[:31], wiped, "x").reason == "nonpositive_equity"
    assert sharpe_interval(np.append(RETURNS, np.nan), 365, "x").reason == "nonfinite_input"
    assert return_interval(RETURNS[:19], "x").holds_zero is None
    with pytest.raises(ValueError, match="same days"):
        difference_interval(RETURNS, RETURNS[:-1], "x")


def test_an_account_that_hardly_traded_has_no_sharpe_interval() -> None:
    """One day of 61 moved: most resamples of 16 blocks of 4 miss it with (1 - 4/61)^16 = 34 %."""
    rare = np.zeros(61)
    rare[30] = 0.02
    assert sharpe_interval(rare, 365, "x").reason == "zero_variance"
    assert return_interval(rare, "x").low == pytest.approx(0.0)


@given(
    st.lists(st.floats(-0.5, 0.5), min_size=20, max_size=80),
    st.floats(0.1, 3.0),
)
def test_the_interval_lies_between_the_worst_and_the_best_day(
    returns: list[float], scale: float
) -> None:
    array = np.array(returns) * min(scale, 1.9)
    array = np.clip(array, -0.9, None)
    got = return_interval(array, "law")
    n = len(array)
    assert got.low is not None
    assert got.high is not None
    worst, best = (1 + array.min()) ** n - 1, (1 + array.max()) ** n - 1
    assert worst - 1e-9 * (1 + abs(worst)) <= got.low <= got.high <= best + 1e-9 * (1 + best)

"""Probabilistic and deflated Sharpe ratio against the numbers that their authors print."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from arena.analytics.sharpe_tests import (
    deflation,
    expected_best_sharpe,
    probabilistic_sharpe,
    session_sharpe,
    shape,
    sharpe_probability,
)

DAILY = 2.5 / math.sqrt(250)  # the annualised 2.5 of the paper's example
TRIALS_VARIANCE = 0.5 / 250


def test_the_track_record_of_2012() -> None:
    """24 months, SR 0.458 a month, skewness -2.448, kurtosis 10.164: 0.982 as if normal, 0.913 in truth."""
    assert probabilistic_sharpe(0.458, 24, 0.0, 3.0) == pytest.approx(0.982, abs=5e-4)
    assert probabilistic_sharpe(0.458, 24, -2.448, 10.164) == pytest.approx(0.913, abs=5e-4)


def test_the_hundred_trials_of_2014() -> None:
    """T = 1250, skewness -3, kurtosis 10, 100 trials with annualised variance 1/2: threshold 0.1132,
    probability 0.9004; with 46 trials 0.9505; with normal returns it takes 88 trials for that."""
    threshold = expected_best_sharpe(100, TRIALS_VARIANCE)
    assert threshold == pytest.approx(0.1132, abs=5e-5)
    assert probabilistic_sharpe(DAILY, 1250, -3, 10, threshold) == pytest.approx(0.9004, abs=5e-5)
    fewer = expected_best_sharpe(46, TRIALS_VARIANCE)
    assert probabilistic_sharpe(DAILY, 1250, -3, 10, fewer) == pytest.approx(0.9505, abs=5e-5)
    normal = expected_best_sharpe(88, TRIALS_VARIANCE)
    assert probabilistic_sharpe(DAILY, 1250, 0, 3, normal) == pytest.approx(0.9505, abs=5e-5)


def test_the_threshold_is_what_the_luckiest_shows() -> None:
    """The second way: the mean best of 20 normal draws, over 20,000 tries."""
    best = np.random.default_rng(5).normal(0.0, 0.1, (20_000, 20)).max(axis=1).mean()
    assert expected_best_sharpe(20, 0.01) == pytest.approx(float(best), rel=0.02)


def test_moments_by_hand() -> None:
    """1, 1, 1, 5: mean 2, gaps -1 -1 -1 3. m2 = 12/4 = 3, m3 = 24/4 = 6, m4 = 84/4 = 21.
    Skewness 6 / 3^1.5 = 1.1547, kurtosis 21 / 9 = 2.3333."""
    assert shape(np.array([1.0, 1.0, 1.0, 5.0])) == pytest.approx((1.154701, 2.333333), abs=1e-6)


def test_of_returns_equals_the_plain_formula() -> None:
    returns = np.random.default_rng(9).normal(0.002, 0.02, 60)
    data = returns.tolist()
    mean, spread = statistics.fmean(data), statistics.pstdev(data)
    sharpe = mean / statistics.stdev(data)
    skewness = statistics.fmean(((x - mean) / spread) ** 3 for x in data)
    kurtosis = statistics.fmean(((x - mean) / spread) ** 4 for x in data)
    z = (sharpe - 0.05) * math.sqrt(59 / (1 - skewness * sharpe + (kurtosis - 1) / 4 * sharpe**2))
    assert sharpe_probability(returns, 0.05) == pytest.approx(0.5 * (1 + math.erf(z / math.sqrt(2))))


def test_no_skill_is_even_odds_and_one_trial_needs_no_deflation() -> None:
    assert probabilistic_sharpe(0.0, 100, 0.0, 3.0) == pytest.approx(0.5)
    assert (deflation([0.3]), deflation([]), deflation([0.1, 0.1])) == (0.0, 0.0, 0.0)
    # variance of 0.1, 0.3 is 0.02.
    assert deflation([0.1, 0.3]) == pytest.approx(expected_best_sharpe(2, 0.02))


def test_no_answer() -> None:
    assert session_sharpe(np.full(30, 0.01)) is None
    assert session_sharpe(np.linspace(-1, 1, 19)) is None
    assert sharpe_probability(np.zeros(40)) is None
    assert probabilistic_sharpe(0.5, 1, 0.0, 3.0) is None
    # 1 - 4 x 0.5 + (2 - 1) / 4 x 0.25 < 0: these moments belong to no sample.
    assert probabilistic_sharpe(0.5, 50, 4.0, 2.0) is None

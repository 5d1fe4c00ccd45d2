"""Alpha, beta and the fee an account could bear."""

from __future__ import annotations

import numpy as np
import pytest

from arena.analytics.market_model import break_even_fee_bps, market_model

ASSET = np.random.default_rng(1).normal(0.001, 0.03, 60)


def test_an_exact_line() -> None:
    """r = 0.0002 + 0.5 r_asset: beta 0.5, alpha 0.0002 x 365 = 7.3 % a year."""
    got = market_model(0.0002 + 0.5 * ASSET, ASSET, 365)
    assert (got.alpha_annual_frac, got.beta) == pytest.approx((0.073, 0.5))
    assert (got.n, got.reason) == (60, None)


def test_equals_solved_normal_equations() -> None:
    noisy = -0.3 * ASSET + np.random.default_rng(2).normal(0, 0.01, 60)
    (alpha, beta), *_ = np.linalg.lstsq(np.column_stack([np.ones(60), ASSET]), noisy)
    got = market_model(noisy, ASSET, 252)
    assert (got.alpha_annual_frac, got.beta) == pytest.approx((alpha * 252, beta))


def test_four_days_five_times_by_hand() -> None:
    """Asset 1 2 3 4 %, account 2 1 4 3 %: means 2.5 and 2.5; cov sum (-1.5)(-.5) + (-.5)(-1.5) +
    (.5)(1.5) + (1.5)(.5) = 3, var sum 5: beta 0.6, alpha 2.5 - 1.5 = 1 % a day."""
    asset = np.tile([0.01, 0.02, 0.03, 0.04], 5)
    account = np.tile([0.02, 0.01, 0.04, 0.03], 5)
    got = market_model(account, asset, 100)
    assert (got.alpha_annual_frac, got.beta) == pytest.approx((1.0, 0.6))


def test_out_of_the_market_is_zero_and_zero() -> None:
    got = market_model(np.zeros(60), ASSET, 365)
    assert (got.alpha_annual_frac, got.beta) == (0.0, 0.0)


def test_reasons() -> None:
    assert market_model(ASSET[:19], ASSET[:19], 365).reason == "too_few_observations"
    assert market_model(ASSET, np.zeros(60), 365).reason == "zero_variance"
    assert market_model(ASSET, np.append(ASSET[1:], np.inf), 365).reason == "nonfinite_input"
    with pytest.raises(ValueError, match="same days"):
        market_model(ASSET, ASSET[1:], 365)


def test_break_even_fee() -> None:
    # 3 % before fees over a turnover of 12 times equity: 300 bps / 12 = 25 bps a trade.
    assert break_even_fee_bps(0.03, 12.0) == (pytest.approx(25.0), None)
    assert break_even_fee_bps(-0.03, 12.0) == (pytest.approx(-25.0), None)
    assert break_even_fee_bps(0.0, 0.0) == (None, "no_turnover")
    assert break_even_fee_bps(None, 1.0) == (None, "too_few_observations")

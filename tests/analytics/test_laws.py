"""Laws that hold for every curve, and two other libraries as witnesses."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.matrix import core_matrix
from arena.analytics.series import ALL_METRICS, AccountSeries, compute

moves = st.lists(st.floats(-0.3, 0.3).map(lambda x: round(x, 4)), min_size=2, max_size=80)


def curve(steps: list[float], capital: float = 1e5) -> np.ndarray:
    return capital * np.cumprod(np.concatenate([[1.0], 1 + np.array(steps)]))


@given(moves)
def test_bounds_and_sign(steps: list[float]) -> None:
    got = compute(AccountSeries(curve(steps), 365, "crypto"), names=ALL_METRICS)
    value = {k: r.value for k, r in got.items()}
    assert value["CR"] > -1
    assert 0 <= value["MDD"] <= 1
    assert 0 <= value["ADD"] <= value["MDD"] + 1e-12
    assert value["AV"] >= 0
    assert math.expm1(value["CR_log"]) == pytest.approx(value["CR"], abs=1e-9)
    mean = float(np.mean(curve(steps)[1:] / curve(steps)[:-1] - 1))
    for ratio in ("SR", "Sortino"):
        if value[ratio] is not None and abs(mean) > 1e-12:
            assert math.copysign(1, value[ratio]) == math.copysign(1, mean)
    if value["TailLoss_5"] is not None:
        assert value["TailLoss_5"] <= value["VaR_5"] + 1e-12


@given(moves, st.sampled_from([0.001, 0.5, 2.0, 1e6]))
def test_scaling_the_capital_changes_no_ratio(steps: list[float], factor: float) -> None:
    one = compute(AccountSeries(curve(steps), 252, "stock"), names=ALL_METRICS)
    other = compute(AccountSeries(factor * curve(steps), 252, "stock"), names=ALL_METRICS)
    # The step counters meet ties at exactly 1 % and 0; last bits may decide those.
    ties = {"sharp_loss", "sharp_gain", "win_rate_periods", "loss_streak"}
    for name in set(ALL_METRICS) - ties:
        a, b = one[name].value, other[name].value
        assert (a is None and b is None) or a == pytest.approx(b, rel=1e-6, abs=1e-9), name


@given(st.lists(moves.map(lambda m: (m * 40)[:40]), min_size=2, max_size=6), st.randoms())
def test_permuting_accounts_permutes_answers(paths: list[list[float]], rng: object) -> None:
    matrix = np.array([curve(p) for p in paths])
    order = list(range(len(paths)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    plain, mixed = core_matrix(matrix, 365), core_matrix(matrix[order], 365)
    for name, column in plain.items():
        np.testing.assert_array_equal(column[order], mixed[name])


@given(st.lists(st.floats(10, 1000), min_size=2, max_size=60), st.floats(0, 0.01))
def test_buy_and_hold_is_the_price_ratio_less_two_fees(prices: list[float], fee: float) -> None:
    price = np.array(prices)
    held = 1e5 * (1 - fee) * price / price[0]
    held[-1] *= 1 - fee
    series = AccountSeries(
        np.concatenate([[1e5], held]), 252, "stock", benchmark=np.append(1e5, held)
    )
    got = compute(series)
    assert got["CR"].value == pytest.approx(price[-1] / price[0] * (1 - fee) ** 2 - 1, abs=1e-9)
    assert (got["excess_bh"].value, got["days_over_bh"].value) == (0.0, 0.0)


@given(moves, st.floats(0.5, 3.0))
def test_frozen_tail_after_a_wipe_out_adds_no_return(steps: list[float], depth: float) -> None:
    alive = curve(steps)
    end = alive[-1] * (1 - depth) if depth >= 1 else -depth * alive[-1]
    wiped = np.append(alive, end)
    frozen = np.concatenate([wiped, np.full(7, end)])
    names = ("CR", "DV", "SR", "Sortino", "MDD", "TailLoss_5")
    short = compute(AccountSeries(wiped, 365, "crypto"), names=names)
    long = compute(AccountSeries(frozen, 365, "crypto"), names=names)
    assert {k: r.value for k, r in short.items()} == {k: r.value for k, r in long.items()}
    assert all("bankrupt" in r.flags for r in long.values())


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_empyrical(seed: int) -> None:
    empyrical = pytest.importorskip("empyrical")
    r = np.random.default_rng(seed).normal(0.0005, 0.02, 250)
    got = compute(AccountSeries(curve(list(r)), 252, "stock"), names=ALL_METRICS)
    expected = {
        "CR": empyrical.cum_returns_final(r),
        "AR": empyrical.annual_return(r),
        "AV": empyrical.annual_volatility(r),
        "SR": empyrical.sharpe_ratio(r),
        "Sortino": empyrical.sortino_ratio(r),
        "MDD": -empyrical.max_drawdown(r),
        "Calmar": empyrical.calmar_ratio(r),
        "TailLoss_5": empyrical.conditional_value_at_risk(r, 0.05),
        "VaR_5": empyrical.value_at_risk(r, 0.05),
    }
    for name, value in expected.items():
        assert got[name].value == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_quantstats(seed: int) -> None:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stats = pytest.importorskip("quantstats").stats
        steps = np.random.default_rng(seed).normal(0.0005, 0.02, 250)
        r = pd.Series(steps, index=pd.bdate_range("2024-01-01", periods=250))
        expected = {
            "CR": stats.comp(r),
            "AV": stats.volatility(r, periods=252),
            "SR": stats.sharpe(r, periods=252),
            "Sortino": stats.sortino(r, periods=252),
            "MDD": -stats.max_drawdown(r),
            # No return is 0 here, so its win rate over non-zero returns is the same number.
            "win_rate_periods": stats.win_rate(r),
        }
    got = compute(AccountSeries(curve(list(steps)), 252, "stock"), names=ALL_METRICS)
    for name, value in expected.items():
        assert got[name].value == pytest.approx(float(value), rel=1e-9), name

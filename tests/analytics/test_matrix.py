"""The matrix path gives what `compute` gives, row by row, odd rows included."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.analytics.matrix import BLOCK_ROWS, CORE, core_matrix, full_matrix
from arena.analytics.series import ALL_METRICS, AccountSeries, compute
from arena.core.errors import ConfigError


def equity_rows(n: int, days: int, seed: int = 3) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(0.0005, 0.02, (n, days))
    rows = 1e5 * np.cumprod(np.hstack([np.ones((n, 1)), 1 + steps]), axis=1)
    rows[1] = 1e5
    rows[2] = 1e5 * 1.01 ** np.arange(days + 1)
    rows[3, (days + 1) // 2 :] = -4e4
    rows[4, (days + 1) // 2 :] = 0.0
    rows[5, -1] = math.nan
    return rows


def same(matrix: float, scalar: float | None) -> bool:
    if scalar is None:
        return math.isnan(matrix)
    return matrix == pytest.approx(scalar, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("days", [1, 2, 5, 20, 21, 61, 500])
def test_full_matrix_equals_compute(days: int) -> None:
    rng = np.random.default_rng(5)
    equity = equity_rows(12, days)
    gross, bench = equity_rows(12, days, 8), np.abs(equity_rows(12, days, 9))
    gross[5, -1] = bench[5, -1] = 1e5
    notional = equity[:, 1:] * rng.integers(-1, 2, (12, days))
    traded = np.abs(rng.normal(0, 1e4, (12, days)))
    trips = [tuple(rng.normal(0, 1, k)) for k in range(12)]
    bases = np.where(np.arange(12) % 2, 365, 252)
    got = full_matrix(
        equity,
        bases,
        gross=gross,
        notional=notional,
        traded=traded,
        benchmark=bench,
        trip_pnl=trips,
    )
    assert set(got) == set(ALL_METRICS)
    for i in range(12):
        series = AccountSeries(
            equity[i],
            int(bases[i]),
            "stock",
            gross[i],
            notional[i],
            None,
            traded[i],
            trips[i],
            bench[i],
        )
        for name, result in compute(series, names=ALL_METRICS).items():
            assert same(got[name][i], result.value), (name, i, got[name][i], result)


def test_core_matrix_across_blocks() -> None:
    equity = equity_rows(2 * BLOCK_ROWS + 3, 30)
    got = core_matrix(equity, 252)
    assert tuple(got) == CORE
    for i in (0, BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS + 2):
        for name, result in compute(AccountSeries(equity[i], 252, "stock"), names=CORE).items():
            assert same(got[name][i], result.value)


def test_inputs_that_were_not_given_are_nan() -> None:
    got = full_matrix(equity_rows(6, 25)[:1], 252)
    for name in ("CR_gross", "PU", "turnover", "excess_bh", "win_rate_trades", "win_rate_active"):
        assert math.isnan(got[name][0])
    assert not math.isnan(got["SR"][0])


def test_no_rows_and_no_marks() -> None:
    assert core_matrix(np.empty((0, 5)), 252)["CR"].shape == (0,)
    assert all(np.isnan(column).all() for column in full_matrix(np.ones((3, 1)), 252).values())


def test_overflow_is_nan() -> None:
    got = core_matrix(np.array([[1.0, 100.0]]), 252)
    assert math.isnan(got["AR"][0])
    assert got["CR"][0] == 99.0


def test_refusals_name_the_rule() -> None:
    good = np.ones((2, 4))
    with pytest.raises(ConfigError, match="starting capital of curve 1"):
        core_matrix(np.array([[1.0, 1], [0.0, 1]]), 252)
    with pytest.raises(ConfigError, match=r"\(N, T\+1\)"):
        core_matrix(np.ones(4), 252)
    with pytest.raises(ConfigError, match="traded has shape"):
        full_matrix(good, 252, traded=good)
    with pytest.raises(ConfigError, match="trip_pnl has 1"):
        full_matrix(good, 252, trip_pnl=[()])

"""Every formula against a value worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.analytics.registry import BOARD_METRICS, METRICS, metric
from arena.analytics.result import MetricResult
from arena.analytics.series import ALL_METRICS, AccountSeries, compute
from arena.core.errors import UnknownNameError

# The golden curve: returns +1 %, -1 %, 0, +5 %, -2 %.
GOLDEN = np.array([100000, 101000, 99990, 99990, 104989.5, 102889.71])


def values(series: AccountSeries, *names: str) -> list[float | None]:
    results = compute(series, names=names)
    return [results[n].value for n in names]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CR", 0.028897), ("DV", 0.027019), ("AV", 0.516188), ("SR", 4.242641),
        ("AR", 7.001140), ("MDD", 0.02), ("Sortino", 11.462984), ("Calmar", 350.056981),
        ("win_rate_periods", 0.4),
    ],
)  # fmt: skip
def test_golden_vector(name: str, expected: float) -> None:
    result = compute(AccountSeries(GOLDEN, 365, "crypto"), names=[name])[name]
    assert result.value == pytest.approx(expected, abs=5e-7)
    assert result.n == 5
    annual = name in ("AV", "SR", "AR", "Sortino", "Calmar")
    assert ("short_sample" in result.flags) is annual
    assert result.basis["B"] == 365


def test_curve_metrics_by_hand() -> None:
    series = AccountSeries(GOLDEN, 365, "crypto")
    # Drawdowns at marks 1..5: 0, .01, .01, 0, .02 -> mean .04 / 5.
    assert values(series, "ADD") == [pytest.approx(0.008)]
    # ln 1.0288971
    assert values(series, "CR_log") == [pytest.approx(math.log(1.0288971))]
    # .0288971 / .02
    assert values(series, "ReturnOverMDD") == [pytest.approx(1.444855)]
    # Below -1 %: only -2 % for sure; the -1 % day is a tie that is settled by its last bit, so a clear one:
    clear = AccountSeries(np.array([100, 98, 96, 99, 99.5, 99.4]), 252, "stock")
    # Returns -2 %, -2.04 %, +3.1 %, +.5 %, -.1 %.
    assert values(clear, "sharp_loss", "sharp_gain", "loss_streak") == [2, 1, 2]


def test_tail_metrics_by_hand() -> None:
    # 21 returns -10 %, -9 %, ... +10 %: k = ceil(1.05) = 2, the mean of -.10 and -.09; the 5 % quantile
    # lies at index .05 x 20 = 1.
    steps = np.arange(-10, 11) / 100
    curve = 1e5 * np.cumprod(np.concatenate([[1.0], 1 + steps]))
    series = AccountSeries(curve, 252, "stock")
    assert values(series, "TailLoss_5", "VaR_5") == [pytest.approx(-0.095), pytest.approx(-0.09)]
    # The last 20 are -9 .. +10 %: variance of 20 consecutive integers is 20 x 21 / 12 = 35.
    assert values(series, "rolling_vol_20") == [pytest.approx(math.sqrt(35) / 100)]


def test_trading_metrics_by_hand() -> None:
    series = AccountSeries(
        equity=np.array([100.0, 100, 110, 99, 99]),
        base=252,
        asset_class="stock",
        notional=np.array([50.0, -110, 0, 0]),
        traded=np.array([50.0, 160, 110, 0]),
        trip_pnl=(10.0, -11.0, 0.0),
    )
    # One of three; exactly 0 is no win.
    assert values(series, "win_rate_trades") == [pytest.approx(1 / 3)]
    # Periods 2 (+10 %) and 3 (-10 %) began exposed.
    assert values(series, "win_rate_active") == [0.5]
    assert values(series, "time_in_market") == [0.5]
    # Shares of equity .5, 1, 0, 0.
    assert values(series, "PU", "conc_avg", "conc_max") == [0.375, 0.375, 1.0]
    # 320 / mean(100, 110, 99, 99) = 320 / 102; a year has 252 / 4 such windows.
    assert values(series, "turnover") == [pytest.approx(320 / 102)]
    assert values(series, "turnover_annual") == [pytest.approx(320 / 102 * 63)]


def test_exposure_of_several_assets() -> None:
    series = AccountSeries(
        np.array([100.0, 100, 100]), 252, "stock", notional=np.array([[60.0, -40], [0, 20]])
    )
    # Gross 1.0 and .2; largest single .6 and .2.
    assert values(series, "PU", "conc_avg", "conc_max") == [
        pytest.approx(0.6), pytest.approx(0.4), pytest.approx(0.6),
    ]  # fmt: skip


def test_side_stands_in_for_notional() -> None:
    series = AccountSeries(np.array([100.0, 100, 110]), 252, "stock", side=np.array([1, 0]))
    assert values(series, "time_in_market", "win_rate_active") == [0.5, 1.0]


def test_relative_metrics_by_hand() -> None:
    series = AccountSeries(
        np.array([100.0, 105, 104, 110]),
        252,
        "stock",
        equity_gross=np.array([100.0, 106, 105, 112]),
        benchmark=np.array([50.0, 52, 52, 53]),
    )
    # Buy & Hold made 6 %; its path 1.04, 1.04, 1.06 against 1.05, 1.04, 1.10: equal is not above.
    assert values(series, "excess_bh", "days_over_bh", "CR_gross") == [
        pytest.approx(0.04), pytest.approx(2 / 3), pytest.approx(0.12),
    ]  # fmt: skip
    assert compute(series)["CR_gross"].basis["fees"] == "gross"


def test_risk_free_rate_lowers_sharpe() -> None:
    with_rf = AccountSeries(GOLDEN, 365, "crypto", rf_annual=0.05)
    # rf_p = 1.05^(1/365) - 1; (.006 - rf_p) / .0270185 x sqrt(365)
    expected = (0.006 - (1.05 ** (1 / 365) - 1)) / 0.02701851217221259 * math.sqrt(365)
    assert values(with_rf, "SR") == [pytest.approx(expected)]


def test_default_names_are_the_boards_fourteen_in_order() -> None:
    assert tuple(compute(AccountSeries(GOLDEN, 365, "crypto"))) == BOARD_METRICS
    assert set(BOARD_METRICS) <= set(ALL_METRICS)


def test_unknown_metric_name_is_refused_with_a_hint() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean `Sortino`"):
        compute(AccountSeries(GOLDEN, 365, "crypto"), names=["sortino"])


def test_a_name_registers_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        metric("CR")(METRICS["CR"].formula)


def test_every_formula_has_a_docstring() -> None:
    assert not [m.name for m in METRICS.values() if not m.formula.__doc__]


def test_result_survives_json() -> None:
    result = compute(AccountSeries(GOLDEN, 365, "crypto", flags=("forced_close",)))["SR"]
    data = result.to_json()
    assert set(data) == {"metric", "value", "status", "reason", "n", "unit", "basis", "flags"}
    assert data["flags"] == ["forced_close", "short_sample"]
    assert MetricResult.from_json(data) == result

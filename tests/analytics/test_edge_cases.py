"""What each metric says where a formula breaks: one test a row of the edge-case table."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from arena.analytics.result import REASONS
from arena.analytics.series import ALL_METRICS, AccountSeries, compute
from arena.core.errors import ConfigError

CURVE = ("CR", "AR", "DV", "AV", "SR", "Sortino", "MDD", "Calmar", "TailLoss_5")


def answers(
    equity: list[float] | np.ndarray, mode: str = "standard", **more: object
) -> dict[str, object]:
    """Value where ok, else "u:reason"."""
    series = AccountSeries(np.array(equity, dtype=float), 252, "stock", **more)  # type: ignore[arg-type]
    results = compute(series, mode, ALL_METRICS)  # type: ignore[arg-type]
    for r in results.values():
        assert (r.status == "ok") == (r.value is not None) == (r.reason is None)
        assert r.reason is None or r.reason in REASONS
        assert r.value is None or math.isfinite(r.value)
        json.dumps(r.to_json(), allow_nan=False)
    return {k: r.value if r.status == "ok" else f"u:{r.reason}" for k, r in results.items()}


def flags(equity: list[float], metric: str, **more: object) -> tuple[str, ...]:
    series = AccountSeries(np.array(equity, dtype=float), 252, "stock", **more)  # type: ignore[arg-type]
    return compute(series, names=[metric])[metric].flags


def test_no_mark_after_the_capital() -> None:
    got = answers([100.0])
    assert {got[m] for m in (*CURVE, "PU", "conc_avg", "turnover", "time_in_market")} == {
        "u:no_observations"
    }
    assert got["win_rate_trades"] == "u:no_closed_trades"


def test_one_return() -> None:
    # +1 %: AR = 1.01^252 - 1 = 11.274; no drawdown.
    got = answers([100.0, 101], notional=np.array([50.5]), trip_pnl=(1.0,))
    assert got["CR"] == pytest.approx(0.01)
    assert got["AR"] == pytest.approx(1.01**252 - 1)
    assert "short_sample" in flags([100.0, 101], "AR")
    assert [got[m] for m in ("DV", "AV", "SR", "Sortino", "TailLoss_5")] == [
        "u:too_few_observations"
    ] * 5
    assert (got["MDD"], got["Calmar"]) == (0.0, "u:no_drawdown")
    assert (got["win_rate_trades"], got["PU"]) == (1.0, 0.5)
    # -50 %: Calmar is the formula's value, (.5^252 - 1) / .5 = -2 to the last bit.
    assert answers([100.0, 50])["Calmar"] == -2.0


@pytest.mark.parametrize(("n", "tail"), [(19, "u:too_few_observations"), (20, 0.0)])
def test_all_flat(n: int, tail: object) -> None:
    zeros = np.zeros(n)
    got = answers(np.full(n + 1, 100.0), notional=zeros, traded=zeros, trip_pnl=())
    assert [got[m] for m in CURVE] == [
        0.0, 0.0, 0.0, 0.0, "u:zero_variance", "u:no_downside", 0.0, "u:no_drawdown", tail,
    ]  # fmt: skip
    assert got["win_rate_trades"] == "u:no_closed_trades"
    assert got["win_rate_active"] == "u:too_few_observations"
    assert [got[m] for m in ("PU", "conc_avg", "conc_max", "time_in_market", "turnover")] == [
        0.0
    ] * 5


@pytest.mark.parametrize("step", [0.01, -0.01])
def test_constant_return_other_than_zero(step: float) -> None:
    got = answers(100 * (1 + step) ** np.arange(31))
    assert got["CR"] == pytest.approx((1 + step) ** 30 - 1)
    assert (got["DV"], got["AV"], got["SR"]) == (0.0, 0.0, "u:zero_variance")
    assert got["TailLoss_5"] == pytest.approx(step)
    if step > 0:
        assert (got["Sortino"], got["Calmar"]) == ("u:no_downside", "u:no_drawdown")
    else:
        # Mean and downside deviation are equal but for the sign.
        assert got["Sortino"] == pytest.approx(-math.sqrt(252))
        mdd = 1 - 0.99**30
        assert got["Calmar"] == pytest.approx((0.99**252 - 1) / mdd)


def test_no_negative_return() -> None:
    got = answers(np.cumprod([100.0, *[1.01, 1.02] * 12]))
    assert (got["Sortino"], got["MDD"], got["Calmar"]) == ("u:no_downside", 0.0, "u:no_drawdown")
    # Twenty-four returns: the k = 2 smallest are both +1 %, so the tail "loss" is a gain.
    assert got["TailLoss_5"] == pytest.approx(0.01)
    assert got["SR"] == pytest.approx(0.015 / (0.005 * math.sqrt(24 / 23)) * math.sqrt(252))


def test_wiped_out_exactly() -> None:
    # Returns +10 %, -100 %; what follows the wipe-out is no return.
    got = answers([100.0, 110, 0, 0], notional=np.array([110.0, 0, 0]), trip_pnl=(-100.0,))
    assert (got["CR"], got["AR"], got["MDD"], got["Calmar"]) == (-1.0, -1.0, 1.0, -1.0)
    # mean -.45, deviation |1.1| / sqrt 2
    assert got["DV"] == pytest.approx(1.1 / math.sqrt(2))
    assert got["SR"] == pytest.approx(-0.45 / (1.1 / math.sqrt(2)) * math.sqrt(252))
    # The downside deviation is the root of one half.
    assert got["Sortino"] == pytest.approx(-0.45 / math.sqrt(0.5) * math.sqrt(252))
    # One mark with V > 0, fully invested.
    assert (got["PU"], got["win_rate_trades"]) == (1.0, 0.0)
    assert "bankrupt" in flags([100.0, 110, 0, 0], "CR")
    assert got["CR_log"] == "u:nonpositive_equity"


def test_wiped_out_below_zero_by_a_short() -> None:
    # Short from 100 to 210: 100,000 -> -10,000, closed and frozen there.
    equity = [100000.0, 100000, -10000, -10000]
    got = answers(equity)
    assert got["CR"] == pytest.approx(-1.1)
    assert got["MDD"] == pytest.approx(1.1)
    assert (got["AR"], got["Calmar"]) == ("u:nonpositive_equity",) * 2
    # Returns 0 and -1.1.
    assert got["DV"] == pytest.approx(1.1 / math.sqrt(2))
    assert got["SR"] == pytest.approx(-0.55 / (1.1 / math.sqrt(2)) * math.sqrt(252))
    assert flags(equity, "AR").count("bankrupt") == 1
    assert flags(equity, "CR", flags=("bankrupt",)).count("bankrupt") == 1


def test_wiped_out_at_the_first_mark_has_no_exposure_share() -> None:
    got = answers([100.0, -5], notional=np.array([0.0]), traded=np.array([100.0]))
    assert (got["PU"], got["conc_max"], got["turnover"]) == ("u:nonpositive_equity",) * 3


def test_carried_mark_is_flagged() -> None:
    assert "stale_marks:2" in flags([100.0, 101, 101, 101], "MDD", flags=("stale_marks:2",))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_nonfinite_mark_refuses_every_metric_that_uses_it(bad: float, place: int) -> None:
    equity = [100.0, 101, 102, 103]
    equity[place] = bad
    got = answers(
        equity, notional=np.ones(3), traded=np.ones(3), trip_pnl=(1.0,),
        equity_gross=np.array([100.0, 101, 102, 103]), benchmark=np.array([100.0, 101, 102, 103]),
    )  # fmt: skip
    # These three do not look at the curve.
    unaffected = {"win_rate_trades": 1.0, "time_in_market": 1.0, "CR_gross": pytest.approx(0.03)}
    for name, answer in got.items():
        assert answer == unaffected.get(name, "u:nonfinite_input"), name


def test_nonfinite_in_the_other_inputs() -> None:
    flat = [100.0, 100, 100]
    nan = np.array([1.0, math.nan])
    assert answers(flat, notional=nan)["PU"] == "u:nonfinite_input"
    assert answers(flat, notional=nan)["win_rate_active"] == "u:nonfinite_input"
    assert answers(flat, traded=nan)["turnover"] == "u:nonfinite_input"
    assert answers(flat, trip_pnl=(math.nan,))["win_rate_trades"] == "u:nonfinite_input"
    assert answers(flat, benchmark=np.array([1.0, 1, math.nan]))["excess_bh"] == "u:nonfinite_input"
    assert answers(flat, trip_pnl=(math.nan,))["CR"] == 0.0


def test_overflow_and_short_sample() -> None:
    # 10^(252 / 1) is finite (1e252); 100^252 = 1e504 is not.
    assert answers([1.0, 10])["AR"] == pytest.approx(1e252)
    assert answers([1.0, 100])["AR"] == "u:overflow"
    assert answers([1.0, 100])["CR"] == 99.0


def test_capital_must_be_positive() -> None:
    for equity in ([0.0, 1.0], [-1.0, 1.0], []):
        with pytest.raises(ConfigError, match="starting capital"):
            AccountSeries(np.array(equity), 252, "stock")


def test_benchmark_of_another_window_is_missing() -> None:
    for other in (None, np.array([1.0, 2.0])):
        got = answers([100.0, 101, 102], benchmark=other)
        assert (got["excess_bh"], got["days_over_bh"]) == ("u:missing_benchmark",) * 2


def test_rolling_vol_waits_for_its_window() -> None:
    rng = np.random.default_rng(1)
    curve = np.cumprod(np.concatenate([[100.0], 1 + rng.normal(0, 0.01, 20)]))
    assert answers(curve[:-1])["rolling_vol_20"] == "u:too_few_observations"
    assert answers(curve)["rolling_vol_20"] == pytest.approx(
        np.std(curve[1:] / curve[:-1] - 1, ddof=1)
    )


def test_short_sample_ends_at_thirty_observations() -> None:
    assert "short_sample" in flags([100.0, *[101.0] * 29], "AR")
    assert "short_sample" not in flags([100.0, *[101.0] * 30], "AR")
    assert "short_sample" not in flags([100.0, 101.0], "CR")

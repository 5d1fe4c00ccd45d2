"""Mode `ama`: the paper's Table 1 from real prices, and the silent zeros that exist only there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena.analytics.result import AMA_FLAG
from arena.analytics.series import ALL_METRICS, AccountSeries, compute

TABLE1 = ("CR", "AR", "AV", "SR", "MDD")
FEE = 0.0005


def closes(folder: Path, asset: str) -> np.ndarray:
    frame = pd.read_parquet(
        folder / "daily.parquet", columns=["symbol", "date", "close"],
        filters=[("symbol", "==", asset)],
    )  # fmt: skip
    days = pd.to_datetime(frame["date"])
    window = (days >= "2025-08-01") & (days <= "2025-09-30")
    return frame.loc[window].sort_values("date")["close"].to_numpy(float)


def hundredths(equity: np.ndarray, asset: str) -> list[float]:
    coin = asset in ("BTC", "ETH")
    series = AccountSeries(equity, 365 if coin else 252, "crypto" if coin else "stock")
    results = compute(series, "ama", TABLE1)
    assert all(AMA_FLAG in r.flags for r in results.values())
    return [round(100 * r.value if n != "SR" else r.value, 2) for n, r in results.items()]


@pytest.mark.parametrize(
    ("asset", "expected"),
    [
        ("TSLA", [46.88, 962.13, 40.89, 6.00, 6.34]),
        ("BMRN", [-6.89, -35.53, 29.03, -1.37, 15.03]),
        ("BTC", [0.61, 3.72, 30.19, 0.27, 12.21]),
        ("ETH", [18.77, 179.97, 72.35, 1.77, 19.82]),
    ],
)
def test_buy_and_hold_of_table_1(shared_market: Path, asset: str, expected: list[float]) -> None:
    price = closes(shared_market, asset)
    curve = 100_000 * (1 - FEE) * price / price[0]
    curve[-1] *= 1 - FEE
    assert hundredths(np.concatenate([[100_000.0], curve]), asset) == expected


@pytest.mark.parametrize(
    ("side", "expected"),
    [(-1, [0.61, 3.72, 1.50, 2.45, 0.00]), (1, [-0.71, -4.19, 1.74, -2.45, 0.71])],
)
def test_one_day_trade_then_flat(shared_market: Path, side: int, expected: list[float]) -> None:
    price = closes(shared_market, "BTC")
    opened = 100_000 * (1 - FEE)
    closed = opened * (1 + side * (price[1] / price[0] - 1)) * (1 - FEE)
    curve = np.concatenate([[100_000.0, opened], np.full(len(price) - 1, closed)])
    assert hundredths(curve, "BTC") == expected


def test_sampling_by_hand() -> None:
    # After the first session: 99 -> 99 -> 108.9 -> 98.01, returns 0, +10 %, -10 %.
    equity = np.array([100, 99, 99, 108.9, 98.01])
    stock = compute(AccountSeries(equity, 252, "stock"), "ama", TABLE1)
    coin = compute(AccountSeries(equity, 365, "crypto"), "ama", TABLE1)
    # Stocks keep the two that moved, coins all three and a leading 0.
    assert (stock["AR"].n, coin["AR"].n) == (2, 4)
    assert stock["CR"].value == coin["CR"].value == pytest.approx(-0.01)
    assert stock["AR"].value == pytest.approx(0.99 ** (252 / 2) - 1)
    assert coin["AR"].value == pytest.approx(0.99 ** (365 / 4) - 1)
    # Deviation of +-.1 about 0: sqrt(.02 / 1) and sqrt(.02 / 3).
    assert stock["AV"].value == pytest.approx((0.02 * 252) ** 0.5)
    assert coin["AV"].value == pytest.approx((0.02 / 3 * 365) ** 0.5)
    # From 108.9 to 98.01, positive.
    assert stock["MDD"].value == pytest.approx(0.1)


def test_degenerate_is_zero_and_flagged_here_only() -> None:
    flat = AccountSeries(
        np.full(10, 100.0), 252, "stock", notional=np.zeros(9), traded=np.zeros(9), trip_pnl=()
    )
    ama = compute(flat, "ama")
    for name in ("CR", "AR", "AV", "SR", "MDD", "Sortino", "Calmar", "win_rate_trades"):
        assert (ama[name].value, ama[name].status) == (0.0, "ok"), name
        assert AMA_FLAG in ama[name].flags
    standard = compute(flat)
    assert standard["SR"].reason == "zero_variance"
    assert not any(AMA_FLAG in r.flags for r in standard.values())


def test_what_is_not_degenerate_stays_undefined() -> None:
    broken = AccountSeries(np.array([100, 101, np.nan, 103]), 252, "stock")
    assert compute(broken, "ama")["SR"].reason == "nonfinite_input"
    alone = AccountSeries(np.array([100.0, 101, 102]), 252, "stock")
    assert compute(alone, "ama")["excess_bh"].reason == "missing_benchmark"
    nothing = AccountSeries(np.array([100.0]), 252, "stock")
    assert compute(nothing, "ama")["CR"].reason == "no_observations"
    blown = AccountSeries(np.array([100.0, 100, -10]), 365, "crypto")
    assert compute(blown, "ama")["AR"].reason == "nonpositive_equity"


@pytest.mark.parametrize("asset_class", ["stock", "crypto"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_windows_never_raise(asset_class: str, n: int) -> None:
    equity = np.array([100.0, 99.0, 101.0, -5.0])[: n + 1]
    results = compute(AccountSeries(equity, 252, asset_class), "ama", ALL_METRICS)
    assert all(r.status in ("ok", "undefined") for r in results.values())

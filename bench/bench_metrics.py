"""Speed of the metrics: many curves at once, and one account as the runner asks for it.

The comparison with empyrical is measured in the same run, so that it holds on any machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from arena.analytics.matrix import core_matrix, full_matrix
from arena.analytics.series import AccountSeries, compute

DAYS = 500


def _curves(n: int, days: int = DAYS) -> np.ndarray:
    steps = np.random.default_rng(7).normal(0.0004, 0.02, (n, days))
    return 1e5 * np.cumprod(np.hstack([np.ones((n, 1)), 1 + steps]), axis=1)


def _median_ms(work: Callable[[], Any], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def _empyrical_ms_per_series(equity: np.ndarray) -> float:
    import empyrical

    frame = [pd.Series(row).pct_change().dropna() for row in equity[:20]]

    def work() -> None:
        for r in frame:
            empyrical.cum_returns_final(r)
            empyrical.annual_return(r)
            empyrical.annual_volatility(r)
            empyrical.sharpe_ratio(r)
            empyrical.max_drawdown(r)
            empyrical.calmar_ratio(r)

    return _median_ms(work, 5) / len(frame)


def _row(name: str, value: float, unit: str, target: str, ok: bool) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "unit": unit, "target": target, "ok": ok}


def run() -> list[dict[str, Any]]:
    """Medians as rows of name, value, unit, target, ok."""
    many, thousand = _curves(10_000), _curves(1_000)
    notional, traded = thousand[:, 1:], np.abs(np.diff(thousand, axis=1))
    one = _curves(1, 61)[0]
    account = AccountSeries(
        one, 365, "crypto", one, one[1:], np.ones(61), np.abs(np.diff(one)), (1.0, -2.0), one[::-1]
    )
    core = _median_ms(lambda: core_matrix(thousand, 365), 15)
    core_many = _median_ms(lambda: core_matrix(many, 365), 5)
    full = _median_ms(
        lambda: full_matrix(
            thousand, 365, gross=thousand, notional=notional, traded=traded, benchmark=thousand
        ),
        9,
    )
    single = _median_ms(lambda: compute(account), 200)
    ratio = _empyrical_ms_per_series(thousand) / (core / len(thousand))
    return [
        _row("core metrics, 1,000 x 500", core, "ms", "<= 15", core <= 15),
        _row("core metrics, 10,000 x 500", core_many, "ms", "<= 200", core_many <= 200),
        _row("all metrics, 1,000 x 500", full, "ms", "<= 60", full <= 60),
        _row("one account, 14 metrics, 61 days", single, "ms", "<= 1", single <= 1),
        _row("core against empyrical per series", ratio, "x", ">= 40", ratio >= 40),
    ]


if __name__ == "__main__":
    for line in run():
        print(line)

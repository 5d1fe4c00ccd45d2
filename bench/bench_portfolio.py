"""Speed of the account engine, against its targets and against backtesting.py.

`python -m bench.bench_portfolio` prints a line for each figure; all are medians on this machine.
"""

from __future__ import annotations

import contextlib
import io
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from arena.portfolio import STRATEGIES, Costs, simulate

N_ACCOUNTS, N_SESSIONS = 1_000, 500
FEE_BPS = 10.0
CAPITAL = 100_000.0
TARGET_MS = 30.0
TARGET_RATIO = 40.0
REPEATS = 5
PEER_RUNS = 3


def _market() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Closes and opens (T,), random BUY, SELL, HOLD orders (A, T); the same on every machine."""
    rng = np.random.default_rng(7)
    closes = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.02, N_SESSIONS)))
    opens = closes * np.exp(rng.normal(0.0, 0.005, N_SESSIONS))
    intents = rng.integers(-1, 2, (N_ACCOUNTS, N_SESSIONS)).astype(np.int8)
    return closes, opens, intents


def _median_ms(work: Callable[[], object], repeats: int) -> float:
    work()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        took.append((time.perf_counter() - start) * 1e3)
    return statistics.median(took)


def _peer_ms(closes: np.ndarray, opens: np.ndarray, orders: np.ndarray) -> float:
    """backtesting.py, one account under the Baseline rule, trading at the next open."""
    import pandas as pd
    from backtesting import Backtest, Strategy

    frame = pd.DataFrame(
        {
            "Open": opens,
            "High": np.maximum(opens, closes),
            "Low": np.minimum(opens, closes),
            "Close": closes,
        },
        index=pd.date_range("2024-01-01", periods=len(closes)),
    )

    class Baseline(Strategy):
        def init(self) -> None:
            self.side = 0

        def next(self) -> None:
            order = int(orders[len(self.data) - 1])
            if order == self.side:
                return
            if self.position:
                self.position.close()
            if order > 0:
                self.buy(size=0.99)
            elif order < 0:
                self.sell(size=0.99)
            self.side = order

    test = Backtest(frame, Baseline, cash=CAPITAL * 100, commission=FEE_BPS / 1e4)
    # Its progress bar and its advice about open trades are not part of the figure.
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return _median_ms(test.run, PEER_RUNS)


def run() -> list[dict[str, Any]]:
    """Figures as rows of name, value, unit, target and ok (None: no target)."""
    closes, opens, intents = _market()
    rows: list[dict[str, Any]] = []
    took: dict[str, float] = {}
    for strategy in STRATEGIES:
        names = [strategy] * N_ACCOUNTS

        def work(names: list[str] = names) -> object:
            return simulate(closes, opens, intents, names, Costs(FEE_BPS), CAPITAL, "next")

        took[strategy] = _median_ms(work, REPEATS)
        rows.append(
            {
                "name": f"simulate {N_ACCOUNTS} x {N_SESSIONS} {strategy}",
                "value": round(took[strategy], 2),
                "unit": "ms",
                "target": TARGET_MS,
                "ok": took[strategy] <= TARGET_MS,
            }
        )
    peer_ms = _peer_ms(closes, opens, intents[0])
    ratio = peer_ms / (took["baseline"] / N_ACCOUNTS)
    rows += [
        {
            "name": f"backtesting.py 1 x {N_SESSIONS} baseline",
            "value": round(peer_ms, 2),
            "unit": "ms",
            "target": None,
            "ok": None,
        },
        {
            "name": "ratio to backtesting.py per account",
            "value": round(ratio, 1),
            "unit": "x",
            "target": TARGET_RATIO,
            "ok": ratio >= TARGET_RATIO,
        },
    ]
    return rows


if __name__ == "__main__":
    for row in run():
        goal = "" if row["target"] is None else f"target {row['target']:g}"
        print(f"{row['name']:<45} {row['value']:>10} {row['unit']:<3} {goal}")

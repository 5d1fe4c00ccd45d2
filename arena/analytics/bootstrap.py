"""How far chance alone could have moved a return or a Sharpe ratio: the circular block bootstrap.

Daily returns are resampled in blocks of neighbours, so that runs of calm and storm survive; the last
block is cut to the length of the sample and the end joins the beginning. Source: D. N. Politis and
J. P. Romano, "A circular block-resampling procedure for stationary data" (1992). A block is
ceil(n^(1/3)) sessions, the rate of P. Hall, J. Horowitz and B.-Y. Jing, "On blocking rules for the
bootstrap with dependent data", Biometrika 82 (1995). Everything is seeded by a name: equal input
gives equal intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arena.analytics.window import STD_FLOOR, FloatArray
from arena.core.hashing import sha256_text

DRAWS = 1000
MIN_RETURNS = 20
COVERAGE_PCT = (2.5, 97.5)
MAX_UNDEFINED_FRAC = 0.05
"""Resamples that may have no variance, and so no Sharpe ratio, before the interval has no answer."""

NoInterval = Literal["too_few_observations", "nonpositive_equity", "nonfinite_input", "zero_variance"]
Starts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % percentile interval of a statistic of `n` daily returns, or None twice with a `reason`."""

    low: float | None
    high: float | None
    reason: NoInterval | None
    n: int

    @property
    def holds_zero(self) -> bool | None:
        """Whether 0 lies in it, ends included; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= 0.0 <= self.high

    def to_json(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "reason": self.reason, "n": self.n}


def block_sessions(n: int) -> int:
    """Sessions of one block for `n` returns, ceil(n^(1/3))."""
    return math.ceil(round(math.cbrt(n), 9))


def generator(name: str) -> np.random.Generator:
    """Random numbers that depend on `name` alone."""
    return np.random.default_rng(int(sha256_text(name)[:16], 16))


def block_starts(n: int, name: str, draws: int = DRAWS) -> Starts:
    """First session of each block of each resample, shape (draws, ceil(n / block))."""
    n_blocks = math.ceil(n / block_sessions(n))
    return generator(name).integers(0, n, (draws, n_blocks))


def resampled_sums(values: FloatArray, starts: Starts) -> FloatArray:
    """Sum of `values` (n,) over each resample, (draws,), from differences of running sums."""
    n, block = len(values), block_sessions(len(values))
    last = n - block * (starts.shape[1] - 1)
    running = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[:block]]))])
    whole, cut = starts[:, :-1], starts[:, -1]
    total: FloatArray = (running[whole + block] - running[whole]).sum(axis=1)
    total += running[cut + last] - running[cut]
    return total


def return_interval(returns: FloatArray, name: str) -> Interval:
    """Interval of the total return, the product of 1 + r over a resample, minus 1.

    Args:
        returns: daily simple returns in order, shape (n,).
        name: what seeds the resampling, usually the row's name.

    Undefined for n < 20, and where an account was wiped out (r <= -1): it had no second chance.
    """
    if reason := _unusable(returns, growth=True):
        return Interval(None, None, reason, len(returns))
    return _interval(_total(returns, block_starts(len(returns), name)), len(returns))


def sharpe_interval(returns: FloatArray, base: int, name: str) -> Interval:
    """Interval of the annualised Sharpe ratio m / s sqrt(base), s with divisor n - 1.

    Resamples without variance have no ratio and are left out; above 5 % of them there is no
    interval (zero_variance).
    """
    n = len(returns)
    if reason := _unusable(returns):
        return Interval(None, None, reason, n)
    starts = block_starts(n, name)
    mean = resampled_sums(returns, starts) / n
    squares = resampled_sums(returns * returns, starts)
    std = np.sqrt(np.maximum(squares - n * mean * mean, 0.0) / (n - 1))
    # Squares of running sums round at 1e-9 of a deviation, far above the floor of one plain series.
    known = std > max(STD_FLOOR, 1e-7 * float(np.abs(returns).max()))
    if np.count_nonzero(known) < (1.0 - MAX_UNDEFINED_FRAC) * len(std):
        return Interval(None, None, "zero_variance", n)
    return _interval(mean[known] / std[known] * math.sqrt(base), n)


def difference_interval(returns: FloatArray, other: FloatArray, name: str) -> Interval:
    """Interval of the total return of `returns` minus that of `other` on the same days.

    Both are resampled with the same blocks, so what moved both cancels.

    Raises:
        ValueError: the two are not of one length.
    """
    n = len(returns)
    if len(other) != n:
        raise ValueError(f"paired returns have {n} and {len(other)} days; they need the same days")
    if reason := _unusable(returns, growth=True) or _unusable(other, growth=True):
        return Interval(None, None, reason, n)
    starts = block_starts(n, name)
    return _interval(_total(returns, starts) - _total(other, starts), n)


def _unusable(returns: FloatArray, *, growth: bool = False) -> NoInterval | None:
    if len(returns) < MIN_RETURNS:
        return "too_few_observations"
    if not np.isfinite(returns).all():
        return "nonfinite_input"
    return "nonpositive_equity" if growth and returns.min() <= -1.0 else None


def _total(returns: FloatArray, starts: Starts) -> FloatArray:
    return np.expm1(resampled_sums(np.log1p(returns), starts))


def _interval(draws: FloatArray, n: int) -> Interval:
    low, high = np.percentile(draws, COVERAGE_PCT)
    return Interval(float(low), float(high), None, n)

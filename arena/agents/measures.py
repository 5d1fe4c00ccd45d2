"""Deterministic measures of a closing-price series; TA-Lib defines the indicators.

Every function returns None where history is too short, never NaN: TA-Lib turns one NaN into NaN for
ever, and NaN compares as false.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import talib
from numpy.typing import ArrayLike, NDArray

FLAT_RSI = 50.0
"""A series that never moves has no strength either way (TA-Lib says 0)."""

VOL_SESSIONS = 60


def as_closes(values: ArrayLike) -> NDArray[np.float64]:
    """Contiguous float64, all finite (TA-Lib refuses or corrupts anything else).

    Raises:
        ValueError: a value is not finite.
    """
    closes = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(closes).all():
        raise ValueError("closes hold a value that is not finite")
    return closes


def return_frac(closes: NDArray[np.float64], n: int) -> float | None:
    """Simple return over the last `n` sessions."""
    return None if len(closes) <= n else float(closes[-1] / closes[-1 - n] - 1.0)


def rsi(closes: NDArray[np.float64], n: int = 14) -> float | None:
    """Wilder's relative strength index, 0 to 100; 50 for a series that does not move."""
    if len(closes) <= n:
        return None
    if np.ptp(closes) == 0.0:
        return FLAT_RSI
    return float(talib.RSI(closes, timeperiod=n)[-1])


def sma_gap_frac(closes: NDArray[np.float64], n: int) -> float | None:
    """Close over the mean of the last `n` closes, minus 1."""
    if len(closes) < n:
        return None
    return float(closes[-1] / talib.SMA(closes, timeperiod=n)[-1] - 1.0)


def z_score(closes: NDArray[np.float64], n: int = 50) -> float | None:
    """Distance of the close to its `n`-session mean in sample deviations; 0 where nothing moves."""
    if len(closes) < n:
        return None
    window = closes[-n:]
    deviation = float(window.std(ddof=1))
    return 0.0 if deviation == 0.0 else float((window[-1] - window.mean()) / deviation)


def vol_daily_frac(closes: NDArray[np.float64], n: int = VOL_SESSIONS) -> float | None:
    """Sample deviation of the last `n` daily returns (20 at least)."""
    returns = closes[1:] / closes[:-1] - 1.0
    return None if len(returns) < 20 else float(returns[-n:].std(ddof=1))


def vol_annual_frac(closes: NDArray[np.float64], base: int) -> float | None:
    """Daily volatility times the root of `base` marks a year."""
    daily = vol_daily_frac(closes)
    return None if daily is None else daily * sqrt(base)

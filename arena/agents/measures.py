"""Measures of a price series, the same for every agent. TA-Lib defines the indicators.

Every function takes closes, oldest first, as contiguous float64 of shape (T,), and gives a float,
or None where the history is too short: nothing is ever decided by a NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import talib
from numpy.typing import NDArray

from arena.core.errors import DataError
from arena.core.types import Bar

Closes = NDArray[np.float64]

VOLATILITY_WINDOW = 60
VOLATILITY_MIN = 20


def closes_of(bars: Sequence[Bar]) -> Closes:
    """Closes of `bars`, fit for TA-Lib, which turns everything after one NaN into NaN.

    Raises:
        DataError: a close is not a positive finite number.
    """
    closes = np.fromiter((b.close for b in bars), dtype=np.float64, count=len(bars))
    bad = ~(np.isfinite(closes) & (closes > 0))
    if bad.any():
        bar = bars[int(bad.argmax())]
        raise DataError(f"close of {bar.session} is {bar.close}; it must be positive and finite")
    return closes


def return_frac(closes: Closes, n: int) -> float | None:
    """Change over the last `n` sessions: c_T / c_(T-n) - 1."""
    return float(closes[-1] / closes[-1 - n] - 1.0) if len(closes) > n else None


def rsi(closes: Closes, n: int = 14) -> float | None:
    """Wilder's relative strength index, 0 to 100; a series that never moved is 50, not 0."""
    if len(closes) <= n:
        return None
    if closes.min() == closes.max():
        return 50.0
    return float(talib.RSI(closes, timeperiod=n)[-1])


def sma_gap_frac(closes: Closes, n: int) -> float | None:
    """Distance of the last close from its simple mean over `n` sessions, as a part of that mean."""
    if len(closes) < n:
        return None
    return float(closes[-1] / talib.SMA(closes[-n:], timeperiod=n)[-1] - 1.0)


def z_score(closes: Closes, n: int = 50) -> float | None:
    """(close - mean) / sample deviation over `n` sessions; 0 where the price did not move."""
    if len(closes) < n:
        return None
    window = closes[-n:]
    if window.min() == window.max():
        return 0.0
    return float((window[-1] - window.mean()) / window.std(ddof=1))


def session_volatility_frac(closes: Closes) -> float | None:
    """Sample deviation of the last 60 daily returns (at least 20); times sqrt(base) it is a year's."""
    recent = closes[-VOLATILITY_WINDOW - 1 :]
    if len(recent) <= VOLATILITY_MIN:
        return None
    return float(np.std(recent[1:] / recent[:-1] - 1.0, ddof=1))


@dataclass(frozen=True, slots=True)
class Measures:
    """What the arena tells of a price series; fractions, but for `rsi_14` and `z_50`."""

    return_1_frac: float | None
    return_5_frac: float | None
    return_20_frac: float | None
    return_60_frac: float | None
    sma_50_gap_frac: float | None
    sma_200_gap_frac: float | None
    rsi_14: float | None
    z_50: float | None
    volatility_session_frac: float | None
    volatility_year_frac: float | None


def measure(bars: Sequence[Bar], annual_base: int) -> Measures:
    """All measures at the last of `bars`; `annual_base` = sessions a year of the asset."""
    closes = closes_of(bars)
    volatility = session_volatility_frac(closes)
    return Measures(
        return_1_frac=return_frac(closes, 1),
        return_5_frac=return_frac(closes, 5),
        return_20_frac=return_frac(closes, 20),
        return_60_frac=return_frac(closes, 60),
        sma_50_gap_frac=sma_gap_frac(closes, 50),
        sma_200_gap_frac=sma_gap_frac(closes, 200),
        rsi_14=rsi(closes),
        z_50=z_score(closes),
        volatility_session_frac=volatility,
        volatility_year_frac=None if volatility is None else volatility * math.sqrt(annual_base),
    )

"""Indicators that agents compute from bars. TA-Lib defines them where it has them.

Every function takes a `Series` and gives a `Measure`: its value is None where the history is too
short, a needed volume is missing, or the quantity does not exist (moments of a price that never
moved, a level that no swing left behind). It is never NaN. Where a flat price has a conventional
reading (RSI 50, %B 0.5, z 0, ADX 0), that is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import talib
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from arena.agents import measures
from arena.core.errors import DataError
from arena.core.types import Bar

Floats = NDArray[np.float64]

EMA_SETTLING = 3
"""An EMA over n is told from 3n rows on: what its seed still weighs is then about 2 %."""

MACD_FAST, MACD_SLOW, MACD_SIGNAL = 12, 26, 9
REGIME_SHORT, REGIME_LONG = 21, 63
HURST_LAGS = range(2, 20)
HURST_MIN_ROWS = 60
VOLATILITY_MIN_RETURNS = 20
SWING_REACH, SWING_MIN = 5, 2
ROUNDING = 1e-12
"""Returns of constant growth differ by rounding alone; a spread below this is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Columns of bars, oldest first, each contiguous float64 of shape (T,).

    `volumes` is None where no bar has one; a single missing volume is NaN.
    """

    opens: Floats
    highs: Floats
    lows: Floats
    closes: Floats
    volumes: Floats | None

    def __len__(self) -> int:
        return len(self.closes)


@dataclass(frozen=True, slots=True)
class Measure:
    """A value or None, the rows it was computed from, and the rows it needs at least."""

    value: float | None
    n_used: int
    n_needed: int


def series_of(bars: Sequence[Bar]) -> Series:
    """The columns of `bars`.

    Raises:
        DataError: a price is not a positive finite number; the message names session and column.
    """
    volumes = np.array([np.nan if b.volume is None else b.volume for b in bars], dtype=np.float64)
    return Series(
        _prices(bars, "open"),
        _prices(bars, "high"),
        _prices(bars, "low"),
        _prices(bars, "close"),
        None if np.isnan(volumes).all() else volumes,
    )


def ema(s: Series, n: int) -> Measure:
    """Exponential mean of closes over `n`, seeded with their first simple mean (TA-Lib EMA)."""
    needed = EMA_SETTLING * n
    return _measure(len(s), needed, lambda: talib.EMA(s.closes, timeperiod=n)[-1], all_rows=True)


def sma(s: Series, n: int) -> Measure:
    """Simple mean of the last `n` closes."""
    return _measure(len(s), n, s.closes[-n:].mean)


def macd(s: Series) -> tuple[Measure, Measure, Measure]:
    """MACD(12, 26, 9) in units of price: line, signal, histogram (line - signal)."""
    needed = EMA_SETTLING * MACD_SLOW
    if len(s) < needed:
        missing = Measure(None, len(s), needed)
        return missing, missing, missing
    columns = talib.MACD(s.closes, MACD_FAST, MACD_SLOW, MACD_SIGNAL)
    line, signal, histogram = (Measure(float(c[-1]), len(s), needed) for c in columns)
    return line, signal, histogram


def rsi(s: Series, n: int = 14) -> Measure:
    """Wilder's relative strength index, 0 to 100."""
    return _measure(len(s), n + 1, lambda: measures.rsi(s.closes, n), all_rows=True)


def bollinger_pct_b(s: Series, n: int = 20) -> Measure:
    """Place of the close in its bands: 0 at mean - 2 sd, 1 at mean + 2 sd; sd over n, not n - 1."""

    def pct_b() -> float:
        window = s.closes[-n:]
        if window.min() == window.max():
            return 0.5
        return float(0.5 + (window[-1] - window.mean()) / (4.0 * window.std()))

    return _measure(len(s), n, pct_b)


def atr(s: Series, n: int = 14) -> Measure:
    """Wilder's average true range, in units of price."""
    return _measure(
        len(s), n + 1, lambda: talib.ATR(s.highs, s.lows, s.closes, timeperiod=n)[-1], all_rows=True
    )


def adx(s: Series, n: int = 14) -> Measure:
    """Wilder's average directional index, 0 to 100: strength of a trend, not its direction."""
    return _measure(
        len(s), 2 * n, lambda: talib.ADX(s.highs, s.lows, s.closes, timeperiod=n)[-1], all_rows=True
    )


def vwma(s: Series, n: int = 20) -> Measure:
    """Mean of the last `n` closes weighted by volume; None without trade."""

    def weighted(volumes: Floats) -> float | None:
        total = volumes.sum()
        return float(s.closes[-n:] @ volumes / total) if total > 0 else None

    return _volume_measure(s, n, weighted)


def z_score(s: Series, n: int = 50) -> Measure:
    """(close - mean) / sample deviation over the last `n` closes."""
    return _measure(len(s), n, lambda: measures.z_score(s.closes, n))


def momentum_sum(s: Series, n: int) -> Measure:
    """Sum of the last `n` daily returns, as a fraction."""
    return _measure(len(s), n + 1, lambda: _returns(s.closes[-n - 1 :]).sum())


def momentum_blend(s: Series) -> Measure:
    """0.4 of `momentum_sum` over 21 sessions, 0.3 of 63 and 0.3 of 126, as a fraction."""

    def blend() -> float:
        r = _returns(s.closes)
        return float(0.4 * r[-21:].sum() + 0.3 * r[-63:].sum() + 0.3 * r[-126:].sum())

    return _measure(len(s), 127, blend)


def volume_ratio(s: Series, n: int = 21) -> Measure:
    """The last volume over the mean of the last `n`, itself among them; None without trade."""

    def ratio(volumes: Floats) -> float | None:
        mean = volumes.mean()
        return float(volumes[-1] / mean) if mean > 0 else None

    return _volume_measure(s, n, ratio)


def price_volume_corr(s: Series, n: int = 20) -> Measure:
    """Correlation of close and volume over the last `n` rows; None where one of them is constant."""

    def correlation(volumes: Floats) -> float | None:
        closes = s.closes[-n:]
        if closes.min() == closes.max() or volumes.min() == volumes.max():
            return None
        return float(np.clip(np.corrcoef(closes, volumes)[0, 1], -1.0, 1.0))

    return _volume_measure(s, n, correlation)


def vol_regime(s: Series) -> Measure:
    """Deviation of the last 21 returns, annualised, over its own mean of 63 rows (the year cancels)."""

    def ratio() -> float | None:
        deviations = _rolling_deviations(s)
        mean = deviations.mean()
        return float(deviations[-1] / mean) if mean > ROUNDING else None

    return _measure(len(s), REGIME_SHORT + REGIME_LONG, ratio)


def vol_regime_z(s: Series) -> Measure:
    """The same deviation as a z-score against its last 63 rows (sample deviation)."""

    def z() -> float | None:
        deviations = _rolling_deviations(s)
        if np.ptp(deviations) < ROUNDING:
            return None
        return float((deviations[-1] - deviations.mean()) / deviations.std(ddof=1))

    return _measure(len(s), REGIME_SHORT + REGIME_LONG, z)


def skew(s: Series, n: int = 63) -> Measure:
    """Sample skewness of the last `n` daily returns (adjusted Fisher-Pearson, G1)."""

    def g1() -> float | None:
        z = _standardised(_returns(s.closes[-n - 1 :]))
        return None if z is None else math.sqrt(n * (n - 1)) / (n - 2) * float((z**3).mean())

    return _measure(len(s), n + 1, g1)


def kurt(s: Series, n: int = 63) -> Measure:
    """Sample excess kurtosis of the last `n` daily returns (G2): 0 for a normal distribution."""

    def g2() -> float | None:
        z = _standardised(_returns(s.closes[-n - 1 :]))
        if z is None:
            return None
        excess = float((z**4).mean()) - 3.0
        return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6.0)

    return _measure(len(s), n + 1, g2)


def hurst(s: Series) -> Measure:
    """Hurst exponent H of log closes: sd(x_(t+k) - x_t) grows as k^H, fitted over lags 2 to 19.

    0.5 for a random walk (a year of closes reads some 0.03 low), more for a persistent series,
    towards 0 for one that reverts. None where the price grew evenly.
    """

    def slope() -> float | None:
        logs = np.log(s.closes)
        spreads = np.array([(logs[k:] - logs[:-k]).std() for k in HURST_LAGS])
        if spreads.min() < ROUNDING:
            return None
        return float(np.polyfit(np.log(HURST_LAGS), np.log(spreads), 1)[0])

    return _measure(len(s), HURST_MIN_ROWS, slope, all_rows=True)


def annual_vol(s: Series, base: int, n: int = 60) -> Measure:
    """Sample deviation of the last `n` daily returns (at least 20) times sqrt(base), as a fraction."""
    used = s.closes[-n - 1 :]
    return _measure(
        len(used), VOLATILITY_MIN_RETURNS + 1,
        lambda: _returns(used).std(ddof=1) * math.sqrt(base), all_rows=True,
    )  # fmt: skip


def drawdown_frac(s: Series) -> Measure:
    """Last close over the highest close of the series, minus 1: 0 at the top, negative below it."""
    return _measure(len(s), 1, lambda: s.closes[-1] / s.closes.max() - 1.0, all_rows=True)


def pct_from_low(s: Series) -> Measure:
    """How far, in percent, the last close stands above the lowest close of the series."""
    return _measure(len(s), 1, lambda: (s.closes[-1] / s.closes.min() - 1.0) * 100.0, all_rows=True)


def support_resistance(s: Series) -> tuple[Measure, Measure]:
    """Distance of the last close to the nearest support below and resistance above, in percent of it.

    A support is a close with at least two higher closes among the 5 before it and two among the
    5 after; a resistance has two lower ones on both sides.
    """
    needed = 2 * SWING_REACH + 1
    if len(s) < needed:
        return Measure(None, len(s), needed), Measure(None, len(s), needed)
    last = s.closes[-1]
    supports, resistances = _swings(s.closes, 1), _swings(s.closes, -1)
    below, above = supports[supports < last], resistances[resistances > last]
    support = float((1.0 - below.max() / last) * 100.0) if len(below) else None
    resistance = float((above.min() / last - 1.0) * 100.0) if len(above) else None
    return Measure(support, len(s), needed), Measure(resistance, len(s), needed)


def _swings(closes: Floats, sign: int) -> Floats:
    """Supports (`sign` 1) or resistances (-1) of `support_resistance`, oldest first."""
    windows = sliding_window_view(closes, 2 * SWING_REACH + 1)
    middle: Floats = windows[:, SWING_REACH]
    beyond = sign * (windows - middle[:, None]) > 0
    before, after = beyond[:, :SWING_REACH].sum(axis=1), beyond[:, SWING_REACH + 1 :].sum(axis=1)
    swings: Floats = middle[(before >= SWING_MIN) & (after >= SWING_MIN)]
    return swings


def _prices(bars: Sequence[Bar], column: str) -> Floats:
    prices = np.array([getattr(b, column) for b in bars], dtype=np.float64)
    bad = ~(np.isfinite(prices) & (prices > 0))
    if bad.any():
        bar = bars[int(bad.argmax())]
        price = getattr(bar, column)
        raise DataError(f"{column} of {bar.session} is {price}; it must be positive and finite")
    return prices


def _measure(
    n_rows: int, n_needed: int, value: Callable[[], float | None], *, all_rows: bool = False
) -> Measure:
    """`value()` if there are rows enough; it reads the last `n_needed` of them, or all."""
    if n_rows < n_needed:
        return Measure(None, n_rows, n_needed)
    found = value()
    used = n_rows if all_rows else n_needed
    return Measure(None if found is None else float(found), used, n_needed)


def _volume_measure(s: Series, n: int, value: Callable[[Floats], float | None]) -> Measure:
    """As `_measure`, of the last `n` volumes; None where one of them is missing."""
    if s.volumes is None:
        return Measure(None, 0, n)
    volumes = s.volumes[-n:]
    if np.isnan(volumes).any():
        return Measure(None, int(np.isfinite(volumes).sum()), n)
    return _measure(len(s), n, lambda: value(volumes))


def _returns(closes: Floats) -> Floats:
    returns: Floats = closes[1:] / closes[:-1] - 1.0
    return returns


def _rolling_deviations(s: Series) -> Floats:
    """Sample deviations of 21 returns at each of the last 63 rows."""
    returns = _returns(s.closes[-(REGIME_SHORT + REGIME_LONG) :])
    deviations: Floats = sliding_window_view(returns, REGIME_SHORT).std(axis=1, ddof=1)
    return deviations


def _standardised(x: Floats) -> Floats | None:
    if np.ptp(x) < ROUNDING:
        return None
    z: Floats = (x - x.mean()) / x.std()
    return z

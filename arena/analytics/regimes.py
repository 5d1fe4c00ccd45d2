"""In which weather a result was made: rising, falling and restless sessions, and time under water."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.analytics.window import FloatArray

TREND_SESSIONS = 20
CALM_SESSIONS = 240
FEWEST_CALM = 60
HIGH_QUANTILE = 0.75

REGIMES = ("up", "down", "high volatility")


def regimes(closes: pd.Series) -> pd.DataFrame:
    """Which regimes each session was in, told by what was known before it began.

    `closes` are > 0, by session, oldest first. With c the closes and r_i = c_i / c_(i-1) - 1, session t
    is `up` if c_(t-1) > c_(t-21) and `down` if it is below; it is of `high volatility` if the sample
    deviation of r_(t-20) .. r_(t-1) is above the 75 % quantile of the same figure over the 240 sessions
    before t (at least 60). Sessions without that much history are in none. A session is in at most one
    of up and down, and may be of high volatility as well.
    """
    past = closes.shift(1)
    trend = past / past.shift(TREND_SESSIONS) - 1.0
    deviation = closes.pct_change(fill_method=None).rolling(TREND_SESSIONS).std(ddof=1).shift(1)
    usual = (
        deviation.shift(1).rolling(CALM_SESSIONS, min_periods=FEWEST_CALM).quantile(HIGH_QUANTILE)
    )
    return pd.DataFrame(
        {"up": trend > 0, "down": trend < 0, "high volatility": deviation > usual},
        index=closes.index,
    )


def by_regime(growth: pd.Series, inside: pd.DataFrame) -> dict[str, tuple[float | None, int]]:
    """Mean return of a session (a fraction) and the number of sessions, for each regime.

    `growth` is V / V_0 by session, oldest first, V_0 = 1 before it; `inside` is from `regimes`.
    Sessions that `inside` does not have are in no regime. Without a session the mean is None.
    """
    before = growth.shift(1).fillna(1.0)
    returns = growth / before - 1.0
    flags = inside.reindex(growth.index, fill_value=False).astype(bool)
    out: dict[str, tuple[float | None, int]] = {}
    for name in REGIMES:
        own = returns[flags[name].to_numpy()]
        out[name] = (float(own.mean()) if len(own) else None, len(own))
    return out


@dataclass(frozen=True, slots=True)
class UnderWater:
    """`n_below` of `n` marks are below the peak so far.

    `longest` is the longest stretch of marks below it in a row. `recovery` is how many marks the curve
    took from the lowest point of its deepest fall back to the peak before it: None if it has not come
    back, or never fell.
    """

    n: int
    n_below: int
    longest: int
    recovery: int | None
    fell: bool


def under_water(values: FloatArray) -> UnderWater:
    """Time below the running peak of `values` (T+1,), V_0 first, all > 0 or the account is bankrupt.

    A mark counts as below if V_t < max(V_0 .. V_t).
    """
    peak = np.maximum.accumulate(values)
    below = values < peak
    longest = run = 0
    for under in below:
        run = run + 1 if under else 0
        longest = max(longest, run)
    n = len(values) - 1
    if not below.any():
        return UnderWater(n, 0, 0, None, False)
    low = int(np.argmin(values / peak))
    back = np.flatnonzero(values[low:] >= peak[low])
    recovery = int(back[0]) if len(back) else None
    return UnderWater(n, int(below.sum()), longest, recovery, True)

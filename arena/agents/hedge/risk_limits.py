"""Risk limits: how large a stake the hedge fund would take in an asset this volatile.

An account of the arena is in or out with all it has, so the limit is told as a measure of danger
and bars no action.
"""

from __future__ import annotations

from typing import Any

from arena.agents import indicators as ind
from arena.agents.prompt import percent

LIMITS = (
    (0.15, 0.25, 0.25),
    (0.30, 0.20, 0.185),
    (0.50, 0.15, 0.13),
    (float("inf"), 0.10, 0.10),
)
"""(yearly volatility below, limit at the lower end, limit at the upper end), of equity."""


def stake_limit_frac(volatility_year_frac: float) -> float:
    """Largest part of equity in one asset: 25 % below 15 % volatility, 10 % from 50 % on.

    Between its ends a band falls in a straight line.
    """
    low = 0.0
    for high, at_low, at_high in LIMITS:
        if volatility_year_frac < high:
            way = (volatility_year_frac - low) / (high - low)
            return at_low + (at_high - at_low) * way
        low = high
    return LIMITS[-1][1]


def risk_limits(s: ind.Series, annual_base: int) -> dict[str, Any]:
    """Volatility of the last 60 sessions a year and the limit for it, in percent; None if unknown."""
    volatility = ind.annual_vol(s, annual_base).value
    limit = None if volatility is None else stake_limit_frac(volatility)
    return {"volatility_year_pct": percent(volatility), "stake_limit_pct": percent(limit)}

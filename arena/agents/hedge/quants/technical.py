"""Technical desk: five votes on the price, weighted by how sure each is.

A vote whose indicators have too little history abstains. A vote that sees no side takes part with
confidence 0.5 and so dampens the others.
"""

from __future__ import annotations

from collections.abc import Callable

from arena.agents import indicators as ind
from arena.agents.hedge.quants.reading import Reading, Vote, weighted

DEAD_ZONE = 0.2
NEUTRAL_CONFIDENCE = 0.5


def technical(s: ind.Series) -> Reading:
    """Trend, mean reversion, momentum, volatility, statistics of returns; > 0.2 is bullish."""
    votes = [_trend(s), _mean_reversion(s), _momentum(s), _volatility(s), _statistics(s)]
    return weighted("technical", votes, DEAD_ZONE, by_confidence=True)


def _trend(s: ind.Series) -> Vote:
    """EMA 8, 21, 55 in order; as sure as the ADX is high."""

    def judge(fast: float, middle: float, slow: float, adx: float) -> tuple[int, float, str]:
        side = 1 if fast > middle > slow else -1 if fast < middle < slow else 0
        return side, adx / 100.0, f"means of 8, 21, 55 {_ORDER[side]}, ADX {adx:.0f}"

    return _vote("trend", 0.25, judge, ind.ema(s, 8), ind.ema(s, 21), ind.ema(s, 55), ind.adx(s))


def _mean_reversion(s: ind.Series) -> Vote:
    """z over 50 beyond 2 and %B beyond 0.2 / 0.8 expects the way back."""

    def judge(z: float, pct_b: float) -> tuple[int, float, str]:
        side = 1 if z < -2 and pct_b < 0.2 else -1 if z > 2 and pct_b > 0.8 else 0
        return side, min(abs(z) / 4.0, 1.0), f"z {z:+z.1f}, %B {pct_b:.2f}"

    return _vote("mean reversion", 0.20, judge, ind.z_score(s), ind.bollinger_pct_b(s))


def _momentum(s: ind.Series) -> Vote:
    """Blend of 21, 63 and 126 sessions beyond 5 %, on more than the usual volume."""

    def judge(blend: float, volume: float) -> tuple[int, float, str]:
        side = 0 if volume <= 1 else 1 if blend > 0.05 else -1 if blend < -0.05 else 0
        fact = f"momentum {100 * blend:+z.1f} % on {volume:.1f}x volume"
        return side, min(5.0 * abs(blend), 1.0), fact

    return _vote("momentum", 0.25, judge, ind.momentum_blend(s), ind.volume_ratio(s))


def _volatility(s: ind.Series) -> Vote:
    """A volatility well below its own mean is calm, well above it is stress."""

    def judge(regime: float, z: float) -> tuple[int, float, str]:
        side = 1 if regime < 0.8 and z < -1 else -1 if regime > 1.2 and z > 1 else 0
        return side, min(abs(z) / 3.0, 1.0), f"volatility {regime:.2f}x its mean"

    return _vote("volatility", 0.15, judge, ind.vol_regime(s), ind.vol_regime_z(s))


def _statistics(s: ind.Series) -> Vote:
    """A series that reverts (Hurst below 0.4) with returns skewed to one side."""

    def judge(hurst: float, skew: float) -> tuple[int, float, str]:
        side = 0 if hurst >= 0.4 else 1 if skew > 1 else -1 if skew < -1 else 0
        confidence = min(max((0.5 - hurst) * 2.0, 0.0), 1.0)
        return side, confidence, f"Hurst {hurst:.2f}, skew {skew:+z.1f}"

    return _vote("statistics", 0.15, judge, ind.hurst(s), ind.skew(s))


_ORDER = {1: "rising", -1: "falling", 0: "mixed"}


def _vote(
    name: str, weight: float, judge: Callable[..., tuple[int, float, str]], *parts: ind.Measure
) -> Vote:
    """The vote `judge` casts on the values of `parts`, or none where one of them is unknown."""
    values = [p.value for p in parts]
    if any(v is None for v in values):
        return Vote(name, weight, None, 0.0, f"{name}: too little history or no volume")
    side, confidence, fact = judge(*values)
    sure = round(confidence, 6) if side else NEUTRAL_CONFIDENCE
    return Vote(name, weight, float(side), sure, fact)

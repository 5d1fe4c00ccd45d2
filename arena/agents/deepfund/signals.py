"""DeepFund's code signals: six readings of the bars, and figures of risk. No model is asked here.

Thresholds are those of HKUSTDial/DeepFund, with its mean reversion mended: a low %B is bullish only
together with z below -2 (there it was compared with +2, so that any low %B passed).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.agents import indicators as ind
from arena.agents.indicators import Series, series_of
from arena.core.types import Bar

BULLISH, NEUTRAL, BEARISH = "Bullish", "Neutral", "Bearish"

Z_FAR, B_LOW, B_HIGH = 2.0, 0.2, 0.8
RSI_LOW, RSI_HIGH = 30.0, 70.0
CALM_RATIO, CALM_Z, WILD_RATIO, WILD_Z = 0.8, -1.0, 1.2, 1.0
VOLUME_UNUSUAL = 2.0
ROOM_RATIO = 2.0
"""A level counts as near where the one on the other side is at least this many times as far."""


class Reading(NamedTuple):
    """What one signal says, and the figures it goes by."""

    says: str
    figures: str


def code_signals(bars: Sequence[Bar]) -> dict[str, Any]:
    """The signals by name, each `{says, figures}`; one whose history or volume is missing is left out."""
    s = series_of(bars)
    readings = {
        "trend": trend(s),
        "mean reversion": mean_reversion(s),
        "rsi": overdone(s),
        "volatility": volatility(s),
        "volume": volume(s),
        "support and resistance": levels(s),
    }
    return {name: r._asdict() for name, r in readings.items() if r is not None}


def risk_figures(bars: Sequence[Bar], annual_base: int) -> dict[str, Any]:
    """Volatility of a year and distance to the highest close of the bars, both in percent."""
    s = series_of(bars)
    volatility_frac, drawdown = ind.annual_vol(s, annual_base).value, ind.drawdown_frac(s).value
    return {
        "volatility_year_pct": None if volatility_frac is None else round(100 * volatility_frac, 2),
        "drawdown_pct": None if drawdown is None else round(100 * drawdown, 2) + 0.0,
    }


def trend(s: Series) -> Reading | None:
    """Order of the EMAs over 8, 21 and 55 sessions."""
    fast, middle, slow = (ind.ema(s, n).value for n in (8, 21, 55))
    if fast is None or middle is None or slow is None:
        return None
    says = _says(fast > middle > slow, fast < middle < slow)
    gaps = f"{100 * (fast / middle - 1):+z.2f} % and {100 * (middle / slow - 1):+z.2f} %"
    return Reading(says, f"EMA 8 over 21, and 21 over 55: {gaps}")


def mean_reversion(s: Series) -> Reading | None:
    """Far from the mean by both measures: below is bullish, above is bearish."""
    z, b = ind.z_score(s).value, ind.bollinger_pct_b(s).value
    if z is None or b is None:
        return None
    says = _says(z < -Z_FAR and b < B_LOW, z > Z_FAR and b > B_HIGH)
    return Reading(says, f"z over 50 sessions {z:+z.2f}, Bollinger %B {b:.2f}")


def overdone(s: Series) -> Reading | None:
    """RSI 14 below 30 is bullish, above 70 bearish."""
    value = ind.rsi(s).value
    if value is None:
        return None
    return Reading(_says(value < RSI_LOW, value > RSI_HIGH), f"RSI 14 at {value:.1f}")


def volatility(s: Series) -> Reading | None:
    """Calmer than usual is bullish, wilder than usual bearish."""
    ratio, z = ind.vol_regime(s).value, ind.vol_regime_z(s).value
    if ratio is None or z is None:
        return None
    says = _says(ratio < CALM_RATIO and z < CALM_Z, ratio > WILD_RATIO and z > WILD_Z)
    return Reading(says, f"{ratio:.2f} times its mean of 63 sessions, z {z:+z.2f}")


def volume(s: Series) -> Reading | None:
    """Volume above its mean goes with the side on which it has been rising: with the price or against."""
    ratio, together = ind.volume_ratio(s, 20).value, ind.price_volume_corr(s, 20).value
    if ratio is None or together is None:
        return None
    says = _says(ratio > 1 and together > 0, ratio > 1 and together < 0)
    unusual = ", unusual" if ratio > VOLUME_UNUSUAL else ""
    return Reading(
        says, f"{ratio:.2f} times its mean{unusual}; correlation with the price {together:+z.2f}"
    )


def levels(s: Series) -> Reading | None:
    """Near support with room above is bullish, near resistance with room below bearish."""
    below, above = (m.value for m in ind.support_resistance(s))
    if below is None or above is None:
        return None
    says = _says(above >= ROOM_RATIO * below, below >= ROOM_RATIO * above)
    return Reading(says, f"support {below:.2f} % below, resistance {above:.2f} % above")


def _says(bullish: bool, bearish: bool) -> str:
    return BULLISH if bullish else BEARISH if bearish else NEUTRAL

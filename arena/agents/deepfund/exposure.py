"""DeepFund's arithmetic of exposure: from a target to a trade, from an order to an intent.

Exposures are signed parts of equity: 1 is all of it long, -1 all of it short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arena.agents.deepfund.roles import MIN_EXPOSURE, Order
from arena.core.actions import Intent

RATIO_STEPS = 20
"""Targets are whole twentieths: steps of 0.05."""


def stepped(ratio: float, low: float, high: float) -> float:
    """`ratio` within [low, high], to the nearest step of 0.05; halves go away from zero."""
    steps = math.copysign(math.floor(abs(ratio) * RATIO_STEPS + 0.5), ratio)
    return min(high, max(low, steps / RATIO_STEPS)) + 0.0


def tradable(
    target: float, exposure: float, equity: float, price: float, leans: Sequence[float]
) -> dict[str, Any]:
    """The trade from `exposure` to `target` (parts of equity), and how many signals contradict it now."""
    change = target - exposure
    return {
        "target": round(target, 2) + 0.0,
        "exposure": round(exposure, 2) + 0.0,
        "change": round(change, 2) + 0.0,
        "shares": round(change * equity / price, 4) + 0.0,
        "n_against": sum(1 for lean in leans if lean * exposure < 0),
    }


def exposure_after(
    order: Order, exposure: float, target: float, side: int, low: float, high: float
) -> float:
    """Exposure that `order` leads to, within [low, high] and never against its own word.

    An order without a size goes to the target. If the target does not lie its way, it overrules risk
    control in the smallest size: it closes an opposite position, or opens one of `MIN_EXPOSURE`.
    """
    if order.action == "Hold":
        return exposure
    sign = 1 if order.action == "Buy" else -1
    if order.exposure_after is not None:
        goal = sign * order.exposure_after
    elif sign * target > sign * exposure:
        goal = sign * target
    else:
        goal = 0.0 if side == -sign else MIN_EXPOSURE
    return min(high, max(low, sign * max(sign * exposure, goal))) + 0.0


def intent_of(exposure: float) -> Intent:
    """What an exposure after the trade means: less than `MIN_EXPOSURE` on either side is flat."""
    if abs(exposure) < MIN_EXPOSURE:
        return Intent.FLAT
    return Intent.LONG if exposure > 0 else Intent.SHORT

"""`offline/trend`: follow the move of the last 5, 20 and 60 sessions once it stands out of the noise."""

from __future__ import annotations

from math import sqrt
from typing import Any

from arena.llm.offline.standin import StandIn, View

DEAD_ZONE = 0.35
WEIGHTS = ((5, 0.5), (20, 0.3), (60, 0.2))
"""Horizon in sessions and weight; each return is divided by what chance would move in that time."""


class Trend(StandIn):
    """Weighted return over daily volatility; neutral inside the dead zone."""

    id = "offline/trend"

    def view(self, facts: dict[str, Any]) -> View:
        vol = facts.get("vol_daily_frac")
        returns = [(n, w, facts.get(f"return_{n}_frac")) for n, w in WEIGHTS]
        if not vol or any(r is None for _, _, r in returns):
            return View(0.0, "Rule, no model: too little history for the trend rule, so neutral.")
        score = sum(w * r / (vol * sqrt(n)) for n, w, r in returns)
        numbers = ", ".join(f"{n} sessions {100 * r:+.1f}%" for n, _, r in returns)
        lean = score if abs(score) >= DEAD_ZONE else 0.0
        side = "up" if lean > 0 else "down" if lean < 0 else "no clear way"
        return View(
            max(-1.0, min(1.0, lean / 2)),
            f"Rule, no model: trend score {score:+.2f} from {numbers}; {side} "
            f"(neutral within {DEAD_ZONE}).",
        )

"""`offline/contrarian`: buy what fell far below its mean, sell what rose far above it."""

from __future__ import annotations

from typing import Any

from arena.llm.offline.standin import StandIn, View

DEAD_ZONE = 0.3
RSI_HALF_RANGE = 25.0
Z_HALF_RANGE = 2.0


class Contrarian(StandIn):
    """Mean of two stretches, RSI(14) from 50 and the distance to the 50-session mean, negated."""

    id = "offline/contrarian"

    def view(self, facts: dict[str, Any]) -> View:
        rsi, z = facts.get("rsi_14"), facts.get("z_50")
        if rsi is None or z is None:
            return View(0.0, "Rule, no model: too little history for the contrarian rule, so neutral.")
        stretch = 0.5 * (rsi - 50.0) / RSI_HALF_RANGE + 0.5 * z / Z_HALF_RANGE
        lean = -stretch if abs(stretch) >= DEAD_ZONE else 0.0
        side = "stretched up" if lean < 0 else "stretched down" if lean > 0 else "not stretched"
        return View(
            max(-1.0, min(1.0, lean)),
            f"Rule, no model: RSI(14) {rsi:.0f} and {z:+.1f} deviations from the 50-session mean; "
            f"{side} ({stretch:+.2f}, neutral within {DEAD_ZONE}).",
        )

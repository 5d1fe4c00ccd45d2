"""An agent in one file: long above the 50-session mean, short below, out while the two are close."""

from __future__ import annotations

from typing import Any

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.core.actions import Intent, Status
from arena.core.types import Decision

SESSIONS = 50
BAND_FRAC = 0.01


def gap(closes: list[float]) -> dict[str, Any]:
    """How far the last close lies above its mean, as a fraction; None with too few closes."""
    if len(closes) < SESSIONS:
        return {"gap_frac": None}
    mean = sum(closes[-SESSIONS:]) / SESSIONS
    return {"gap_frac": closes[-1] / mean - 1.0}


class MovingAverage(Agent):
    id = "moving_average"
    label = "Moving average"

    async def decide(self, desk: Desk) -> Decision:
        closes = [bar.close for bar in desk.context.bars]
        gap_frac = desk.compute("gap", gap, closes=closes)["gap_frac"]
        if gap_frac is None:
            said = f"{len(closes)} closes; {SESSIONS} are needed."
            return desk.decision(Intent.KEEP, Status.NO_DATA, said)
        if abs(gap_frac) < BAND_FRAC:
            intent = Intent.FLAT
        else:
            intent = Intent.LONG if gap_frac > 0 else Intent.SHORT
        return desk.decision(intent, Status.OK, f"{gap_frac:+.2%} from the {SESSIONS}-session mean.")

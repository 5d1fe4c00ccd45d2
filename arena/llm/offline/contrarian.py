"""Stand-in that goes against extremes: distance from the mean of 50 sessions (or 20), and RSI."""

from __future__ import annotations

from arena.llm.offline.policy import Facts, Opinion, opinion_from_score, policy

DEAD_ZONE, FULL = 0.5, 1.5


@policy("offline/contrarian")
def contrarian(facts: Facts) -> Opinion:
    """Score = -mean of z / 1.5 and (RSI14 - 50) / 15; stretched upwards is short.

    z is that of 50 sessions; where the prompt has none, of 20.
    """
    z, rsi = facts.get("z_50", facts.get("z_20")), facts.get("rsi_14")
    parts = [part for part in (_scaled(z, 0.0, 1.5), _scaled(rsi, 50.0, 15.0)) if part is not None]
    if not parts:
        return Opinion(0.0, 0.0, "Rule, no model: contrarian. No z-score and no RSI to go by.")
    score = -sum(parts) / len(parts)
    verdict = (
        "nothing extreme"
        if abs(score) < DEAD_ZONE
        else "stretched down, expect a rise"
        if score > 0
        else "stretched up, expect a fall"
    )
    text = (
        f"Rule, no model: contrarian. z-score {_shown(z)} and RSI {_shown(rsi)} give {score:+.2f}: "
        f"{verdict} (threshold {DEAD_ZONE})."
    )
    return opinion_from_score(score, DEAD_ZONE, FULL, text)


def _scaled(value: float | None, middle: float, unit: float) -> float | None:
    return None if value is None else (value - middle) / unit


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"

"""Stand-in that goes with the move: volatility-scaled returns over 5, 20 and 60 sessions."""

from __future__ import annotations

import math

from arena.llm.offline.policy import Facts, Opinion, opinion_from_score, policy

WEIGHTS = {5: 0.5, 20: 0.3, 60: 0.2}
DEAD_ZONE, FULL = 0.35, 1.5


@policy("offline/trend")
def trend(facts: Facts) -> Opinion:
    """Score = weighted mean of r_n / (v sqrt n), v the volatility of a session; up is long."""
    session_vol = facts.get("volatility_session_pct")
    known = {n: r for n in WEIGHTS if (r := facts.get(f"return_{n}_pct")) is not None}
    if not session_vol or not known:
        return Opinion(0.0, 0.0, "Rule, no model: trend. No returns or no volatility to go by.")
    total = sum(WEIGHTS[n] for n in known)
    score = sum(WEIGHTS[n] * r / (session_vol * math.sqrt(n)) for n, r in known.items()) / total
    moves = ", ".join(f"{r:+g} % over {n}" for n, r in known.items())
    verdict = "no trend" if abs(score) < DEAD_ZONE else "up" if score > 0 else "down"
    text = (
        f"Rule, no model: trend. Returns {moves} sessions against {session_vol:g} % volatility "
        f"a session give {score:+.2f}: {verdict} (threshold {DEAD_ZONE})."
    )
    return opinion_from_score(score, DEAD_ZONE, FULL, text)

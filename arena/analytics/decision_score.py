"""Whether the next session agreed with the calls: a score of decisions, not of accounts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from arena.analytics.proportions import wilson_interval

DIRECTION = {"BUY": 1, "SELL": -1}


@dataclass(frozen=True, slots=True)
class DecisionScore:
    """`share_frac` of `n` scored calls that the next close agreed with, and its 95 % interval.

    All None, with a `reason`, where no call could be scored.
    """

    share_frac: float | None
    low_frac: float | None
    high_frac: float | None
    n: int
    n_agreed: int
    reason: Literal["no_observations"] | None

    def to_json(self) -> dict[str, Any]:
        return {
            "share_frac": self.share_frac, "low_frac": self.low_frac, "high_frac": self.high_frac,
            "n": self.n, "n_agreed": self.n_agreed, "reason": self.reason,
        }  # fmt: skip


def decision_score(calls: Iterable[tuple[str, float | None]]) -> DecisionScore:
    """Score of (action word, next close-to-close return as a fraction or None) pairs.

    BUY agrees with a move above 0 and SELL with one below. A move of exactly 0 agrees with neither
    and counts. HOLD, and calls without a next session yet, are not scored. Interval: Wilson.
    """
    signed = [
        DIRECTION[word] * move for word, move in calls if word in DIRECTION and move is not None
    ]
    n, agreed = len(signed), sum(move > 0 for move in signed)
    interval = wilson_interval(agreed, n)
    if interval is None:
        return DecisionScore(None, None, None, 0, 0, "no_observations")
    return DecisionScore(agreed / n, *interval, n, agreed, None)

"""What a quant desk hands over: votes, and the one reading they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.agents.hedge.scoring import Signal


@dataclass(frozen=True, slots=True)
class Vote:
    """`lean` from -1 to 1, or None where the vote abstains because its data is missing."""

    name: str
    weight: float
    lean: float | None
    confidence: float
    fact: str


@dataclass(frozen=True, slots=True)
class Reading:
    """`score` in [-1, 1] and `signal`; both None where every vote abstained. `confidence` in [0, 1]."""

    desk: str
    score: float | None
    signal: Signal | None
    confidence: float
    votes: tuple[Vote, ...]

    def content(self) -> dict[str, Any]:
        """Plain values for the trace; a vote is name, weight, lean, confidence, fact."""
        return {
            "score": self.score,
            "signal": self.signal,
            "confidence": self.confidence,
            "votes": [[v.name, v.weight, v.lean, v.confidence, v.fact] for v in self.votes],
        }

    def words(self) -> str:
        """The facts of the votes that were cast, in one line."""
        return "; ".join(v.fact for v in self.votes if v.lean is not None)


def signal_of(score: float, dead_zone: float) -> Signal:
    """Bullish above `dead_zone`, bearish below its negative."""
    return "bullish" if score > dead_zone else "bearish" if score < -dead_zone else "neutral"


def weighted(desk: str, votes: Sequence[Vote], dead_zone: float, *, by_confidence: bool) -> Reading:
    """score = sum(w c lean) / sum(w c) over the votes cast; c = 1 without `by_confidence`.

    The confidence is the size of the score.
    """
    cast = [(v.lean, v.weight * (v.confidence if by_confidence else 1.0))
            for v in votes if v.lean is not None]  # fmt: skip
    total = sum(weight for _, weight in cast)
    if total <= 0:
        return Reading(desk, None, None, 0.0, tuple(votes))
    score = round(sum(lean * weight for lean, weight in cast) / total, 6) + 0.0
    return Reading(desk, score, signal_of(score, dead_zone), abs(score), tuple(votes))

"""What an agent may intend, what became of a decision, and the words a person sees.

`Intent` is the decision; a strategy turns it into a position (see `arena.portfolio.strategies`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Intent(StrEnum):
    """Meaning of a decision. `FLAT` and `KEEP` mean just that under every strategy."""

    LONG = "long"
    SHORT = "short"
    HOLD = "hold"
    FLAT = "flat"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What the three words mean in this season, told to every agent in the same sentence."""

    hold: Literal["flat", "keep"] = "flat"
    shorting: bool = True

    def glossary(self) -> str:
        hold = "close any position and stay out" if self.hold == "flat" else "leave the position as it is"
        sell = "be short (profit if the price falls)" if self.shorting else "close any position"
        return f"BUY: be long (profit if the price rises). SELL: {sell}. HOLD: {hold}."


INTENT_CODE: dict[Intent, int] = {
    Intent.LONG: 1,
    Intent.SHORT: -1,
    Intent.HOLD: 0,
    Intent.FLAT: 2,
    Intent.KEEP: 3,
}
"""Small integers for the vectorised engine (int8 arrays)."""

ACTION_WORD: dict[Intent, str] = {
    Intent.LONG: "BUY",
    Intent.SHORT: "SELL",
    Intent.HOLD: "HOLD",
    Intent.FLAT: "HOLD",
    Intent.KEEP: "HOLD",
}
"""The paper's three words, shown on pages and in files."""

GIVEN = " (given)"
"""Behind the word of a decision that its agent was told, in a teacher's warm-up."""

WORD_INTENT: dict[str, Intent] = {"BUY": Intent.LONG, "SELL": Intent.SHORT, "HOLD": Intent.HOLD}


class Status(StrEnum):
    """What became of a decision; never blank."""

    OK = "ok"
    REPAIRED = "repaired"
    INVALID_OUTPUT = "invalid_output"
    PROVIDER_ERROR = "provider_error"
    TIMEOUT = "timeout"
    NO_DATA = "no_data"
    MISSED = "missed"
    BUDGET_STOP = "budget_stop"
    NO_QUORUM = "no_quorum"


FAILED = frozenset({Status.INVALID_OUTPUT, Status.PROVIDER_ERROR, Status.TIMEOUT})
"""Model failures: they act as `hold` and count in `n_failed`."""

GAPS = frozenset({Status.NO_DATA, Status.MISSED, Status.BUDGET_STOP, Status.NO_QUORUM})
"""No decision could be made: they act as `keep` and count in `n_gaps`."""


def target_side(intent: Intent, side: int, spec: ActionSpec) -> int:
    """Side (-1, 0, 1) that `intent` asks for, given the side now and what the season's words mean."""
    if intent is Intent.LONG:
        return 1
    if intent is Intent.SHORT:
        return -1 if spec.shorting else 0
    if intent is Intent.FLAT:
        return 0
    if intent is Intent.KEEP:
        return side
    return side if spec.hold == "keep" else 0

"""Whom the hedge fund asks, and the forms of their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel

from arena.agents.desk import Role
from arena.agents.hedge.scoring import Persona
from arena.core.actions import ActionSpec, Intent
from arena.llm.fields import Cites, Confidence, Lean, Text

QUALITATIVE_CAP = 0.5
"""Most confidence that counts of a specialist without figures."""


class Verdict(BaseModel):
    """A specialist's judgement. `overrides`: ids of the findings for which it departs from its score."""

    signal: Annotated[Literal["bearish", "neutral", "bullish"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(300)]
    overrides: Annotated[list[str], Cites(3)] = []


class Impression(BaseModel):
    """The same without figures to score. `sources`: ids of the stories that counted."""

    signal: Annotated[Literal["bearish", "neutral", "bullish"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(300)]
    sources: Annotated[list[str], Cites(3)] = []


@dataclass(frozen=True, slots=True)
class ActionLean(Lean):
    """The manager's words. Between the outer two and KEEP stand words that only close: they are no
    direction, so a rule never picks them.
    """

    def pick(self, annotation: Any, lean: float) -> str | float:
        words = get_args(annotation)
        return str(words[0] if lean < 0 else words[-1] if lean > 0 else words[len(words) // 2])


Action = Literal["SHORT", "CLOSE_LONG", "KEEP", "CLOSE_SHORT", "BUY"]


class Order(BaseModel):
    """What the portfolio manager does."""

    action: Annotated[Action, ActionLean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(400)]


INTENT: dict[Action, Intent] = {
    "BUY": Intent.LONG,
    "SHORT": Intent.SHORT,
    "CLOSE_LONG": Intent.FLAT,
    "CLOSE_SHORT": Intent.FLAT,
    "KEEP": Intent.KEEP,
}

STAY_OUT = "stay out of the market"


def allowed_actions(side: int, spec: ActionSpec) -> dict[Action, str]:
    """What can be done from `side`, and what each comes to. Anything else keeps the position."""
    turn = "close the long position and be short" if spec.shorting else "close the long position"
    if side > 0:
        return {
            "BUY": "stay long",
            "KEEP": "stay long",
            "CLOSE_LONG": f"close the long position and {STAY_OUT}",
            "SHORT": turn,
        }
    if side < 0:
        return {
            "BUY": "close the short position and be long",
            "KEEP": "stay short",
            "CLOSE_SHORT": f"close the short position and {STAY_OUT}",
            "SHORT": "stay short",
        }
    flat: dict[Action, str] = {"BUY": "be long", "KEEP": STAY_OUT}
    return {**flat, "SHORT": "be short"} if spec.shorting else flat


SCORED = (
    "You are one of twelve specialists of a fund. Code has put your own questions to the company and "
    "gives points for the answers; what was not filed counts neither for nor against. Below stands "
    "what your creed watches in the price. Judge in its spirit: bullish to own it, bearish to bet "
    "against it, neutral only if you truly see no side. You may depart from the signal of the score; then name the findings that made you."
)

UNSCORED = (
    "You are one of twelve specialists of a fund. There are no filings here, so go by the price "
    "measures that your creed would look at, and by the news if there is any. Judge: bullish to own "
    "it, bearish to bet against it, neutral only if you truly see no side. Without figures nobody "
    f"can be very sure: confidence above {QUALITATIVE_CAP} is counted as {QUALITATIVE_CAP}."
)

MANAGER = (
    "You manage the portfolio of a fund that takes clear sides. Specialists of opposite creeds and "
    "four quant desks have reported; you see nothing else of the market. Conviction runs from -1 "
    "(down) to 1 (up). A few convinced voices with good coverage may outweigh many lukewarm ones, "
    "and where all agree, ask whether the price knows it already. The account is always in or out "
    "with all it has; the stake limit tells you how dangerous that is. Being out of the market is a "
    "position too: it needs a reason as good as any other. Choose one of the allowed actions."
)


def persona_role(persona: Persona, *, scored: bool) -> Role[Any]:
    """`persona` as someone to ask, with figures or without."""
    mission = f"{persona.creed}\n\n{SCORED if scored else UNSCORED}"
    return Role(persona.id, mission, Verdict if scored else Impression)


PORTFOLIO_MANAGER = Role("portfolio_manager", MANAGER, Order, acts=True)

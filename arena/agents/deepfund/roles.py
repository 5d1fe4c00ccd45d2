"""DeepFund's people: what each is told, and the form in which each answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from arena.agents.blocks import Voice
from arena.agents.deepfund.signals import BEARISH, BULLISH, NEUTRAL
from arena.agents.desk import Role
from arena.llm.fields import Cites, Confidence, Lean, Text

MIN_CHANGE = 0.15
"""Change of exposure, as a part of equity, below which the manager is told to leave it."""

MIN_EXPOSURE = 0.25
"""Smallest exposure that counts as a position; the same for both sides."""

MAX_ANALYSTS = 6

LEAN_OF = {BEARISH: -1.0, NEUTRAL: 0.0, BULLISH: 1.0}


class Said(BaseModel):
    """An answer of one of the fund."""


class Signal(Said):
    """An analyst's word on the asset."""

    signal: Annotated[Literal["Bearish", "Neutral", "Bullish"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(400)]

    def voice(self, who: str) -> Voice:
        """What others hear of it, spoken by `who`."""
        return Voice(who, LEAN_OF[self.signal], self.confidence, self.reason)


class SourcedSignal(Signal):
    """The same from texts or filings, with the ids it rests on."""

    cites: Annotated[list[str], Cites(3)] = []


class Selection(Said):
    """The analysts to hear, by the ids offered."""

    analysts: Annotated[list[str], Cites(MAX_ANALYSTS)]
    reason: Annotated[str, Text(300)]


class Target(Said):
    """The exposure that risk control wants, as a signed part of equity."""

    target_ratio: Annotated[float, Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(400)]


class Order(Said):
    """The manager's trade. Without `exposure_after` it goes to the target."""

    action: Annotated[Literal["Sell", "Hold", "Buy"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(600)]
    exposure_after: Annotated[
        float | None,
        Field(
            ge=-1, le=1, strict=True, allow_inf_nan=False,
            description="exposure after the trade, from -1 to 1, or null for the target",
        ),
    ] = None  # fmt: skip


_WORD = (
    "Answer with one word on where the price is heading: Bullish, Neutral or Bearish. You work alone "
    "and see only your own material; Neutral is right where it does not point one way."
)

TECHNICAL: Role[Signal] = Role(
    "technical",
    "You are the chart analyst of a fund that holds one asset. You get measures of its price and "
    "several signals worked out by fixed rules. The rules look at different horizons and may "
    f"disagree: say which of them matter at present. {_WORD}",
    Signal,
)
COMPANY_NEWS: Role[Signal] = Role(
    "company_news",
    "You are the news analyst of a fund that holds one asset. You get recent stories about it. Judge "
    f"what is new and large enough to move the price; old or repeated stories weigh little. {_WORD}",
    SourcedSignal,
)
FUNDAMENTAL: Role[Signal] = Role(
    "fundamental",
    "You are the accounts analyst of a fund that holds one stock. You get figures its company has "
    f"filed. Judge growth, margins and debt, and how they change between periods. {_WORD}",
    SourcedSignal,
)
INSIDER: Role[Signal] = Role(
    "insider",
    "You watch the dealings of a company's own officers for a fund that holds its stock. Several "
    f"people buying tells more than routine selling does. {_WORD}",
    SourcedSignal,
)
MACRO: Role[Signal] = Role(
    "macroeconomic",
    "You are the economist of a fund that holds one asset. You get recent stories about growth, "
    f"inflation, rates and work. Judge what they mean for this asset over some months. {_WORD}",
    SourcedSignal,
)
POLICY: Role[Signal] = Role(
    "policy",
    "You follow governments and central banks for a fund that holds one asset. You get recent stories "
    f"about spending, taxes, rules and money. Judge the coming half year for this asset. {_WORD}",
    SourcedSignal,
)
PLANNER = Role(
    "planner",
    "You run the research of a fund that holds one asset, and choose whose work is worth paying for "
    "in the coming week. Name the ids of the analysts you want; the chart analyst works always.",
    Selection,
)
RISK_CONTROL = Role(
    "risk_control",
    "You set the exposure of a fund that holds one asset. From the analysts' words, how sure they "
    "are, and the risk figures, choose a target as a signed part of equity within the limits given, "
    "in steps of 0.05: above zero gains if the price rises, below zero if it falls. The less they "
    "agree and the wilder the price, the closer to zero.",
    Target,
)
MANAGER = Role(
    "manager",
    "You manage a careful fund that holds one asset, and give the final order. Buy raises the signed "
    "exposure, Sell lowers it, Hold trades nothing. Hold is your normal order. Trade only where the "
    f"target lies {MIN_CHANGE} or more from the present exposure, or where at least two analysts "
    "contradict the position. Learn from how your latest orders turned out. You may go less far than "
    "the target. Your exposure after the trade becomes the account's action: "
    f"{MIN_EXPOSURE} or more is BUY, -{MIN_EXPOSURE} or less is SELL, anything between closes the "
    "position; an order to Hold keeps it, whatever the account's own HOLD means.",
    Order,
    acts=True,
)

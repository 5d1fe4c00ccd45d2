"""The people of TradeAgent's firm: what each is told, and the form in which each answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field

from arena.agents.blocks import Voice
from arena.agents.desk import Role, Turn
from arena.core.actions import Intent
from arena.llm.fields import Cites, Confidence, Lean, Text

Rating = Literal["Sell", "Underweight", "Hold", "Overweight", "Buy"]
Action = Literal["SELL", "HOLD", "BUY"]

LEAN_OF: dict[str, float] = {
    "Sell": -1.0, "Underweight": -0.5, "Hold": 0.0, "Overweight": 0.5, "Buy": 1.0,
    "SELL": -1.0, "HOLD": 0.0, "BUY": 1.0,
}  # fmt: skip


def intent_of(rating: Rating, side: int) -> Intent:
    """The intent behind a rating, for an account whose position now is `side` (-1, 0, 1)."""
    if rating in ("Buy", "Overweight"):
        return Intent.LONG
    if rating == "Hold" or (rating == "Underweight" and side > 0):
        return Intent.HOLD
    return Intent.SHORT


class Said(BaseModel):
    """An answer of one of the firm."""


class Opinion(Said):
    """An answer that others hear."""

    def voice(self, who: str) -> Voice:
        """What others hear of it, spoken by `who`."""
        raise NotImplementedError


class Report(Opinion):
    """An analyst's reading of the next session or so."""

    lean: Annotated[float, Lean()]
    confidence: Annotated[float, Confidence()]
    summary: Annotated[str, Text(600)]

    def voice(self, who: str) -> Voice:
        return Voice(who, self.lean, self.confidence, self.summary)


class SourcedReport(Report):
    """The same from texts or filings, with the ids it rests on."""

    cites: Annotated[list[str], Cites(5)] = []


class Argument(Opinion):
    """One turn of the debate. The side is given; `strength` says how good its case is."""

    claims: Annotated[str, Text(600)]
    rebuts: Annotated[
        str,
        Field(max_length=400, description='what answers the other side, "" if it has not spoken'),
    ] = ""
    strength: Annotated[float, Confidence()]

    def voice(self, who: str) -> Voice:
        words = f"{self.claims} In reply: {self.rebuts}" if self.rebuts else self.claims
        return Voice(who, 1.0 if who == BULL.name else -1.0, self.strength, words)


class View(Opinion):
    """A rating with its argument: the research manager's plan, and each voice on risk."""

    rating: Annotated[Rating, Lean()]
    confidence: Annotated[float, Confidence()]
    argument: Annotated[str, Text(600)]

    def voice(self, who: str) -> Voice:
        return Voice(who, LEAN_OF[self.rating], self.confidence, f"{self.rating}. {self.argument}")


class Proposal(Opinion):
    """What the trader would do."""

    action: Annotated[Action, Lean()]
    confidence: Annotated[float, Confidence()]
    reasoning: Annotated[str, Text(600)]

    def voice(self, who: str) -> Voice:
        return Voice(who, LEAN_OF[self.action], self.confidence, f"{self.action}. {self.reasoning}")


class Verdict(Said):
    """The portfolio manager's last word."""

    rating: Annotated[Rating, Lean()]
    thesis: Annotated[str, Text(600)]


class Lesson(Said):
    """What a decision taught."""

    lesson: Annotated[str, Text(400)]


Op = TypeVar("Op", bound=Opinion)


def voices_of(turns: Sequence[Turn[Op]]) -> list[Voice]:
    """The voices of a debate, in the order in which they spoke."""
    return [turn.value.voice(turn.role.name) for turn in turns]


_ONLY = "Use only what stands below; where something is unknown or missing, leave it out."
_EDGE = (
    "Those you hear will disagree: that is what they are for, and no reason to stand aside. Judge which "
    "case weighs more and by how much. Hold is right only where the move you expect would not pay the "
    "cost of the trade."
)

MARKET: Role[Report] = Role(
    "market_analyst",
    "You read charts for a trading firm. Say where the price is likelier to go over the next sessions: "
    "whether the trend still carries, or whether the move is spent and stretched too far. Every number "
    f"you name must be one of those listed. {_ONLY}",
    Report,
)
SENTIMENT: Role[Report] = Role(
    "sentiment_analyst",
    "You gauge the mood around an asset for a trading firm. Your only source is the news below, no "
    "posts and no surveys, so say that you judge by news. Tell hope from fear, and a crowd that "
    f"still has to act from one that already has. {_ONLY}",
    SourcedReport,
)
NEWS: Role[Report] = Role(
    "news_analyst",
    "You read the news for a trading firm. Pick out events that can move this asset in the coming "
    "sessions, how new they are and which way they push. Where there is no news today, you are "
    f"neutral and say so. {_ONLY}",
    SourcedReport,
)
FUNDAMENTALS: Role[Report] = Role(
    "fundamentals_analyst",
    "You read company accounts for a trading firm. Judge whether growth, profit, debt and cash speak "
    "for or against the shares at today's price, and mind how old each figure is. "
    f"{_ONLY}",
    SourcedReport,
)

_DEBATE = (
    "Build it on the analysts' findings, meet the other side's points if it has spoken, and be frank in "
    "`strength`: near 1 only if the findings bear you out, near 0 if they speak against you."
)
BULL: Role[Argument] = Role(
    "bull",
    f"In a trading firm's debate you make the case that the price will rise. {_DEBATE}",
    Argument,
)
BEAR: Role[Argument] = Role(
    "bear",
    f"In a trading firm's debate you make the case that the price will fall. {_DEBATE}",
    Argument,
)

RESEARCH: Role[View] = Role(
    "research_manager",
    "You lead a trading firm's research and settle the debate between its bull and its bear. Rate the "
    f"asset and name the points that settled it. {_EDGE}",
    View,
)
TRADER: Role[Proposal] = Role(
    "trader",
    "You trade for the firm. Turn the research plan into one proposal for the time until the next "
    f"decision: be long, be short, or neither. {_EDGE}",
    Proposal,
)

AGGRESSIVE: Role[View] = Role(
    "aggressive_risk",
    "On the firm's risk panel you speak for taking the chance: what is lost by acting late or by halves, "
    "on whichever side the chance lies. Rate the asset, having heard the trader's proposal.",
    View,
)
CONSERVATIVE: Role[View] = Role(
    "conservative_risk",
    "On the firm's risk panel you speak for the capital: how far the price may run against the proposal, "
    "and whether it is stretched so far that a turn is due. Rate the asset, up or down, having heard the "
    "trader's proposal.",
    View,
)
NEUTRAL: Role[View] = Role(
    "neutral_risk",
    "On the firm's risk panel you hold the balance: weigh the chance against the danger over a longer "
    "stretch of time, and say where the others go too far. Rate the asset, having heard the trader's "
    "proposal.",
    View,
)

PORTFOLIO: Role[Verdict] = Role(
    "portfolio_manager",
    "You decide for the trading firm, and the account is judged by return for the risk taken. You hear "
    "the analysts, the research plan, the trader and the risk panel, and give the rating. Buy and "
    "Overweight mean BUY, Hold means HOLD, Sell means SELL; Underweight means HOLD if the account is "
    f"long, else SELL. {_EDGE}",
    Verdict,
    acts=True,
)
REFLECTOR: Role[Lesson] = Role(
    "reflector",
    "You look back on one decision of a trading firm now that the next close is known. In two sentences "
    "say which of the signs had been right or wrong, and what to do differently, or again, when they "
    "return. Speak of the signs, not of luck.",
    Lesson,
)

"""What InvestorAgent is told, and the forms it answers in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel

from arena.agents.desk import Role
from arena.core.types import Asset, AssetClass
from arena.llm.fields import Cites, Confidence, Lean, Text

MAX_CITES = 10


class Stance(BaseModel):
    """A side, how sure, why, and the items it rests on."""

    action: Annotated[Literal["SELL", "HOLD", "BUY"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(600)]
    cites: Annotated[list[str], Cites(MAX_CITES)] = []


class Explanation(BaseModel):
    """Why a price moved as it did, and the items that pointed to it."""

    reason: Annotated[str, Text(600)]
    cites: Annotated[list[str], Cites(MAX_CITES)] = []


# Neither mission speaks of remembering: on a first day there is nothing to speak of.
INVESTOR = Role(
    "investor",
    "You invest alone, in one asset, and take a fresh look after each session. Go with the move of "
    "the latest sessions as long as what you know about the asset bears it out, upwards and "
    "downwards alike, and change sides without regret when it no longer does. A stance, if one is "
    "given, says how much evidence to ask for, never which side to take. Choose a side unless the "
    "evidence is evenly balanced. Name the ids of the evidence your choice rests on, an empty list "
    "if none.",
    Stance,
    acts=True,
)

STUDENT = Role(
    "student",
    "You study one past session of an asset, with the answer at hand: the move to the next close is "
    "given. Say in a few sentences which of the evidence pointed to that move, what misled, and "
    "what to look for in a like case. Name the ids of the evidence that pointed the right way, an "
    "empty list if none did.",
    Explanation,
)

_DRIVERS: dict[AssetClass, str] = {
    "stock": "earnings, revenue and margins, guidance, products and demand, competition, lawsuits "
    "and regulation, analysts' ratings, interest rates and the mood of the sector",
    "etf": "the largest holdings and their earnings, flows into the fund, interest rates, "
    "inflation, employment and the mood of the market",
    "crypto": "adoption and network upgrades, flows into funds, regulation, exchanges and "
    "security, liquidity, interest rates and the mood of the market",
}


def profile(asset: Asset) -> str:
    """What moves an asset of this kind: told to the model, and part of every search in its memory."""
    return f"{asset.name} ({asset.id}): {_DRIVERS[asset.asset_class]}"

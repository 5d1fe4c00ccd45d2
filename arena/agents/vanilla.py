"""Vanilla: one prompt, one answer. The plainest use of a model, against which the others are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel

from arena.agents.base import Agent
from arena.agents.blocks import brief_block
from arena.agents.desk import Desk, Role
from arena.agents.prompt import Sheet, account_blocks, market_blocks
from arena.agents.registry import register_agent
from arena.core.actions import WORD_INTENT
from arena.core.types import Decision
from arena.llm.fields import Confidence, Lean, Text


class Verdict(BaseModel):
    """An action in the arena's words, how sure, and why."""

    action: Annotated[Literal["SELL", "HOLD", "BUY"], Lean()]
    confidence: Annotated[float, Confidence()]
    reason: Annotated[str, Text(600)]


TRADER = Role(
    "trader",
    "You run a trading account that holds one asset. After each session you choose the stance of "
    "the account until your next decision, and you are judged by return for the risk taken. Go by "
    "what you are given; you cannot know any later price. Weigh what speaks for a rise and "
    "for a fall, then choose one action.",
    Verdict,
    acts=True,
)


@register_agent
class Vanilla(Agent):
    id = "vanilla"
    label = "Vanilla"

    async def decide(self, desk: Desk) -> Decision:
        sheet = Sheet()
        market_blocks(sheet, desk.context)
        brief_block(sheet, desk.context.brief)
        account_blocks(sheet, desk.view)
        answer = await desk.ask(TRADER, sheet)
        if answer.value is None:
            return desk.give_up(TRADER, answer)
        verdict = answer.value
        return desk.decision(
            WORD_INTENT[verdict.action], answer.status, verdict.reason, verdict.confidence
        )

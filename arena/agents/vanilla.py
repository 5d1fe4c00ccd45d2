"""Vanilla: one prompt, one answer. The trivial baseline that every other agent has to beat."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from arena.agents.desk import Desk
from arena.agents.facts import market_facts, market_lines, view_facts, view_lines
from arena.agents.registry import register
from arena.core.actions import WORD_INTENT, Intent
from arena.core.types import Decision
from arena.llm.fields import Confidence, Lean, Text
from arena.llm.types import Message

MISSION = """You trade one asset in a simulated account. Once a session you choose one action.
{glossary}
Judge only from what you are given below; you know nothing that happened after the last session.
Reply with one JSON object: {{"action": "BUY" | "SELL" | "HOLD", "confidence": number from 0 to 1, \
"reason": text of at most 600 characters}}."""


class Choice(BaseModel):
    """The contract of the answer."""

    model_config = ConfigDict(extra="ignore")
    action: Annotated[Literal["BUY", "SELL", "HOLD"], Lean("BUY", "HOLD", "SELL")]
    confidence: Annotated[float, Field(ge=0.0, le=1.0), Confidence()]
    reason: Annotated[str, Field(min_length=1, max_length=600), Text(600)]

    @field_validator("action", mode="before")
    @classmethod
    def _exact_word(cls, value: object) -> object:
        return value.strip().upper() if isinstance(value, str) else value


@register
class Vanilla:
    """A single role that sees prices, measures, its position and its last decisions."""

    id = "vanilla"
    label = "Vanilla"
    learns = False

    async def decide(self, desk: Desk) -> Decision:
        facts = {**market_facts(desk.market), **view_facts(desk.view)}
        messages = (
            Message("system", MISSION.format(glossary=desk.view.spec.glossary())),
            Message("user", "\n".join([*market_lines(facts), *view_lines(facts)])),
        )
        answer = await desk.ask("trader", messages, Choice, facts)
        calls = tuple(desk.calls)
        if answer.value is None:
            reason = f"no usable answer: {answer.error}"
            return Decision(Intent.HOLD, answer.status, reason, calls=calls)
        choice = answer.value
        return Decision(
            WORD_INTENT[choice.action], answer.status, choice.reason, choice.confidence, calls=calls
        )

"""Agents around agents: `inverted+trade` trades against TradeAgent, `masked+trade` blindfolds it.

They show what a result rests on: an edge that inverting does not turn into a loss was luck or
drift, and one that masking takes away came from knowing the asset or the day by heart.
"""

from __future__ import annotations

from dataclasses import replace

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.memory.base import Dump, Memory
from arena.agents.registry import register_wrapper
from arena.agents.wrappers.masking import Mask
from arena.core.actions import ACTION_WORD, Intent
from arena.core.types import Decision, Past

OPPOSITE = {Intent.LONG: Intent.SHORT, Intent.SHORT: Intent.LONG}


class Wrapper(Agent):
    """An agent that hands all to another one. Ids, labels and wrappers stand in a row."""

    prefix: str

    def __init__(self, inner: Agent) -> None:
        self.inner = inner
        self.id = f"{self.prefix}+{inner.id}"
        self.label = f"{inner.label}, {self.prefix}"
        self.learns, self.own_models = inner.learns, inner.own_models

    async def decide(self, desk: Desk) -> Decision:
        return await self.inner.decide(desk)

    def memory(self, dump: Dump | None = None) -> Memory | None:
        return self.inner.memory(dump)

    async def learn(self, desk: Desk, outcome: Past) -> None:
        await self.inner.learn(desk, outcome)

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        return await self.inner.study(desk, outcome)


@register_wrapper("inverted")
class Inverted(Wrapper):
    """Long where the agent says short, and the other way round; its flat, hold and keep stay.

    The agent is not deceived: position and past on its desk are those of the account that really
    trades, so after its BUY it finds itself short, and words that need a position (close, cover,
    keep) fit the one there is. What it learns is told of that account too: `outcome.action` is the
    action taken, `outcome.next_return_frac` the asset's move. A warm-up's action is given and so
    is not turned.
    """

    prefix = "inverted"

    async def decide(self, desk: Desk) -> Decision:
        said = await self.inner.decide(desk)
        intent = OPPOSITE.get(said.intent)
        if intent is None:
            return said
        reason = f"Inverted from {ACTION_WORD[said.intent]}. {said.reason}"
        return replace(said, intent=intent, reason=reason)


@register_wrapper("masked")
class Masked(Wrapper):
    """The agent does not see which asset it trades, when, and at what price (see `Mask`).

    Its memory holds what it saw, in masked words and days; a price in it is in the scale of its own
    slot. The trace shows the prompts that were sent. The reason stays as said; ids of evidence are
    the real ones again, but for evidence of earlier slots.
    """

    prefix = "masked"

    async def decide(self, desk: Desk) -> Decision:
        mask = Mask(desk.context)
        return _unmasked(mask, await self.inner.decide(_behind(mask, desk)))

    async def learn(self, desk: Desk, outcome: Past) -> None:
        mask = Mask(desk.context)
        await self.inner.learn(_behind(mask, desk), mask.past(outcome))

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        mask = Mask(desk.context)
        return _unmasked(mask, await self.inner.study(_behind(mask, desk), mask.past(outcome)))


def _behind(mask: Mask, desk: Desk) -> Desk:
    return desk.seeing(mask.context, mask.view(desk.view))


def _unmasked(mask: Mask, decision: Decision) -> Decision:
    return replace(decision, evidence=mask.real_ids(decision.evidence))

"""InvestorAgent: one model alone, with a memory in layers that learns from what its evidence earned.

After FinMem (arXiv 2311.13743) and InvestorBench (arXiv 2412.18174). One call a decision, also in
the warm-up. A slot leaves traces in the memory only after a usable answer; ageing and rewards belong
to the session that passed, not to the answer, and happen in `learn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.agents.base import Agent
from arena.agents.blocks import brief_block, cell
from arena.agents.desk import Desk
from arena.agents.investor.roles import INVESTOR, STUDENT, profile
from arena.agents.investor.sheet import memory_blocks, own_account_blocks, situation
from arena.agents.memory.base import Dump
from arena.agents.memory.embed import Embedder, hashed_ngrams
from arena.agents.memory.intake import NOTE_CHARS, notes_of, query_of
from arena.agents.memory.layered import Item, LayeredMemory, Recalled
from arena.agents.memory.layers import OURS, REFERENCE, Layer, LayerTable
from arena.agents.prompt import Sheet, percent
from arena.agents.registry import register_agent
from arena.core.actions import WORD_INTENT, Intent, Status, target_side
from arena.core.errors import InvariantError
from arena.core.types import Decision, Past

_SIDE_INTENT = {1: Intent.LONG, -1: Intent.SHORT, 0: Intent.HOLD}


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one slot adds to the memory, and what was recalled at it."""

    memory: LayeredMemory
    drafts: list[Item]
    recalled: dict[Layer, list[Recalled]]


@register_agent
class InvestorAgent(Agent):
    """`table` holds the constants of the memory; `embed` may be a model's embedding in a subclass."""

    id = "investor"
    label = "InvestorAgent"
    learns = True
    table: LayerTable = OURS
    embed: Embedder = staticmethod(hashed_ngrams)

    def memory(self, dump: Dump | None = None) -> LayeredMemory:
        return LayeredMemory(self.table, dump, embed=self.embed)

    async def decide(self, desk: Desk) -> Decision:
        sheet = situation(desk)
        own_account_blocks(sheet, desk)
        reading = self._read(desk, sheet)
        answer = await desk.ask(INVESTOR, sheet)
        if answer.value is None:
            return desk.give_up(INVESTOR, answer)
        said = answer.value
        intent = WORD_INTENT[said.action]
        side = target_side(intent, desk.view.side, desk.view.spec)
        _remember(desk, reading, side, said.reason, said.cites)
        return desk.decision(intent, answer.status, said.reason, said.confidence, said.cites)

    async def learn(self, desk: Desk, outcome: Past) -> None:  # noqa: ARG002
        """Reward what the decision of three sessions ago rested on, then let a session pass.

        The outcome of the last decision alone is not needed: the horizon is read from the bars.
        """
        memory = self._memory_of(desk)
        for r in memory.reward(desk.context.bars):
            about = {"session": r.session.isoformat(), "profit_pct": percent(r.profit_frac)}
            desk.noted("reward", {**about, "sign": r.sign, "ids": list(r.ids)})
        passed = memory.upkeep()
        if passed.moved:
            desk.noted("move", {"ids": [list(pair) for pair in passed.moved]})
        if passed.forgotten:
            desk.noted("forget", {"ids": list(passed.forgotten)})

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        """The student explains the move that followed; its sign is the action, explained or not."""
        move = outcome.next_return_frac
        if move is None:
            raise InvariantError(f"study of {outcome.session}: what followed it is not known yet")
        sheet = situation(desk)
        reading = self._read(desk, sheet)
        sheet.values(
            "What followed", [("next_return_pct", "Move to the next close", percent(move), " %")]
        )
        answer = await desk.ask(STUDENT, sheet)
        side = (move > 0) - (move < 0)
        given = f"Warm-up: the side of the move that followed ({percent(move):+} %)."
        if answer.value is None:
            return desk.decision(_SIDE_INTENT[side], Status.OK, given)
        said = answer.value
        _remember(desk, reading, side, said.reason, said.cites)
        return desk.decision(
            _SIDE_INTENT[side], Status.OK, f"{given} {said.reason}", evidence=said.cites
        )

    def _memory_of(self, desk: Desk) -> LayeredMemory:
        """The desk's memory; one that lasts for this desk alone where the track keeps none."""
        if desk.memory is None:
            desk.memory = self.memory()
        if not isinstance(desk.memory, LayeredMemory):
            raise InvariantError(f"{self.id} was handed a memory of {type(desk.memory).__name__}")
        return desk.memory

    def _read(self, desk: Desk, sheet: Sheet) -> _Reading:
        """Today's news and what is recalled for it, onto the sheet; nothing is remembered yet."""
        market, memory = desk.context, self._memory_of(desk)
        drafts = memory.draft(notes_of(market, memory.read_until_utc), market.session)
        query = query_of(market, profile(market.asset))
        recalled = memory.recall(query, market.session, market.as_of_utc, drafts)
        found = {
            name: [[r.item.id, r.item.source, r.score] for r in rows]
            for name, rows in recalled.items()
        }
        desk.noted("recall", {"query": query, "found": found})
        brief_block(sheet, market.brief)
        memory_blocks(sheet, recalled)
        return _Reading(memory, drafts, recalled)


@register_agent
class InvestorReference(InvestorAgent):
    """The same agent with the reference's constants, to see what they do to a memory."""

    id = "investor-ref"
    label = "InvestorAgent (reference table)"
    table = REFERENCE


def _remember(desk: Desk, reading: _Reading, side: int, reason: str, cites: Sequence[str]) -> None:
    """Take in the slot after a usable answer: its texts, the agent's words, the open decision."""
    memory, market = reading.memory, desk.context
    memory.add(reading.drafts)
    memory.read_until_utc = market.as_of_utc
    reflection = memory.reflect(cell(reason, NOTE_CHARS), market.session, market.as_of_utc)
    added = [*reading.drafts, *([reflection] if reflection else [])]
    desk.noted("add", {"items": [[i.id, i.source, i.text] for i in added]})
    by_id = {r.item.id: r.item.number for rows in reading.recalled.values() for r in rows}
    numbers = [by_id[cited] for cited in dict.fromkeys(cites)]
    memory.decided(market.session, side, [*numbers, *([reflection.number] if reflection else [])])

"""The desk: where an agent sees its market and asks its model. Every step is traced.

One desk serves one decision of one track. Its verbs: `ask` one role, `gather` several at once, let
voices `debate`, `react` with tools, `compute` without a model; and `noted`, for the agent's memory.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from arena.agents.asking import DEADLINE_S, Answer, Asker
from arena.agents.memory.base import Memory
from arena.agents.prompt import Sheet, output_contract
from arena.agents.react import react
from arena.agents.tools import Tool
from arena.agents.trace import code_step
from arena.core.actions import Intent, Status
from arena.core.season import Season
from arena.core.types import Call, Decision, MarketContext, TrackView
from arena.llm.types import ChatModel

Feed = Literal["news", "brief", "fundamentals", "volume"]
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Role(Generic[T]):
    """Who is asked: a name for the trace, the mission told to the model, the form of the answer.

    `acts` marks the role whose answer becomes the action: it alone is told what the actions mean,
    and its failure is the decision's; any other role that fails is gone on without.
    """

    name: str
    mission: str
    schema: type[T]
    acts: bool = False


@dataclass(frozen=True)
class Turn(Generic[T]):
    """What one voice said in a debate; voices that failed leave no turn."""

    role: Role[T]
    round: int
    value: T


class Desk:
    """What an agent works at.

    Args:
        context: the sealed market, the same for every track of the slot.
        view: position and past of this track alone.
        model: who answers.
        season: rules, among them `generation.tries`, the answers a role may give in all.
        seed: passed into every request.
        memory: what the agent remembers of this track, or None.
        deadline_s: time for one `ask`, all its answers together.
    """

    def __init__(
        self, context: MarketContext, view: TrackView, model: ChatModel, season: Season,
        seed: int = 0, *, memory: Memory | None = None, deadline_s: float = DEADLINE_S,
    ) -> None:  # fmt: skip
        self.context, self.view, self.model, self.season = context, view, model, season
        self.seed, self.memory, self.deadline_s = seed, memory, deadline_s
        self.calls: list[Call] = []
        self.failed_roles: list[str] = []

    def has(self, feed: Feed) -> bool:
        """Whether the sealed market holds anything of `feed`."""
        market = self.context
        match feed:
            case "news":
                return bool(market.stories)
            case "brief":
                return market.brief is not None
            case "fundamentals":
                return bool(market.fundamentals)
            case "volume":
                return market.bars[-1].volume is not None

    async def ask(self, role: Role[T], sheet: Sheet) -> Answer[T]:
        """Ask `role` about the facts of `sheet`; an unusable answer is sent back with the reason.

        Raises:
            BudgetStop: the call would cost more than may still be spent.
        """
        asker = Asker(
            self.model, self.season.generation, self.seed, self.deadline_s, self.calls
        )  # fmt: skip
        answer = await asker.ask(
            role.name, self._system(role, sheet.offered), sheet, role.schema
        )  # fmt: skip
        if answer.value is None and not role.acts:
            self.failed_roles.append(role.name)
        return answer

    async def gather(self, asks: Sequence[tuple[Role[T], Sheet]]) -> list[Answer[T]]:
        """Ask several roles at once; answers and trace stand in the order given, whoever was first.

        A model that takes fewer at a time (its `at_once`) is not asked for more: whoever waits has
        not begun, so that its deadline does not run.
        """
        desks = [self._beside() for _ in asks]
        turn = asyncio.Semaphore(getattr(self.model, "at_once", None) or max(len(asks), 1))

        async def one(desk: Desk, role: Role[T], sheet: Sheet) -> Answer[T]:
            async with turn:
                return await desk.ask(role, sheet)

        answers = await asyncio.gather(
            *(one(d, role, sheet) for d, (role, sheet) in zip(desks, asks, strict=True)),
            return_exceptions=True,
        )
        for desk in desks:
            self.calls += [replace(c, seq=len(self.calls) + i) for i, c in enumerate(desk.calls)]
            self.failed_roles += desk.failed_roles
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [a for a in answers if isinstance(a, Answer)]

    async def debate(
        self, voices: Sequence[Role[T]], rounds: int,
        sheet_of: Callable[[Role[T], Sequence[Turn[T]]], Sheet],
    ) -> list[Turn[T]]:  # fmt: skip
        """Let `voices` speak in their order, `rounds` times; each hears all turns before its own."""
        turns: list[Turn[T]] = []
        for n in range(1, rounds + 1):
            for role in voices:
                answer = await self.ask(role, sheet_of(role, turns))
                if answer.value is not None:
                    turns.append(Turn(role, n, answer.value))
        return turns

    async def react(
        self, role: Role[T], tools: Sequence[Tool], max_steps: int, sheet: Sheet
    ) -> Answer[T]:
        """Let `role` use `tools` before it answers, at most `max_steps` steps in all."""
        return await react(self, role, tools, max_steps, sheet)

    def compute(self, name: str, fn: Callable[..., dict[str, Any]], **inputs: Any) -> dict[str, Any]:
        """`fn(**inputs)`, traced: a step that no model takes. Its result must be JSON-able."""
        began = time.perf_counter()
        output = fn(**inputs)
        self.calls.append(code_step(len(self.calls), "compute", name, output, began))
        return output

    def noted(self, operation: str, what: Mapping[str, Any]) -> None:
        """Trace an operation on the memory: `operation` is recall, add, reward, move or forget."""
        began = time.perf_counter()
        self.calls.append(code_step(len(self.calls), "memory", operation, dict(what), began))

    def decision(
        self, intent: Intent, status: Status, reason: str,
        conviction: float | None = None, evidence: Sequence[str] = (),
    ) -> Decision:  # fmt: skip
        """A decision with everything that was done at this desk."""
        return Decision(
            intent, status, reason, conviction, tuple(evidence), tuple(self.calls),
            tuple(self.failed_roles),
        )  # fmt: skip

    def give_up(
        self, role: Role[T], answer: Answer[T], intent: Intent = Intent.HOLD
    ) -> Decision:
        """The decision when the final role failed: acts as HOLD, and says it is no opinion."""
        tries = sum(1 for c in self.calls if c.role == role.name)
        said = f"No usable answer of {role.name} ({answer.status}, call {tries}): {answer.problem}"
        return self.decision(intent, answer.status, said)

    def seeing(self, context: MarketContext, view: TrackView) -> Desk:
        """This desk with another market and view before it; both write one and the same trace."""
        other = copy.copy(self)
        other.context, other.view = context, view
        return other

    def _system(self, role: Role[T], offered: Sequence[str]) -> str:
        meaning = f"What the actions mean. {self.view.spec.glossary()}" if role.acts else ""
        form = output_contract(role.schema, offered)
        return "\n\n".join(filter(None, (role.mission, meaning, form)))

    def _beside(self) -> Desk:
        """A desk with a trace of its own, for one of several roles that work at once."""
        return Desk(
            self.context, self.view, self.model, self.season, self.seed,
            memory=self.memory, deadline_s=self.deadline_s,
        )  # fmt: skip

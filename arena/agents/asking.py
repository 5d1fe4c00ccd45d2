"""Asking a model until its answer can be used: the one loop behind every answer in the arena."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel

from arena.agents.prompt import Sheet
from arena.agents.trace import ModelStep, storable
from arena.core.actions import Status
from arena.core.season import Generation
from arena.core.types import Call
from arena.llm.fields import uncited
from arena.llm.parse import AnswerError, read_answer
from arena.llm.types import ChatModel, ChatRequest, Message, ProviderError, ProviderTimeout

DEADLINE_S = 180.0
QUOTED_ANSWER_CHARS = 2_000

T = TypeVar("T", bound=BaseModel)

Check = Callable[[T, bool], None]
"""Objects to an answer by `AnswerError`; the second argument says that no other try is left."""


@dataclass(frozen=True)
class Answer(Generic[T]):
    """`value` is None exactly when `status` is a failure; `problem` then says what went wrong."""

    value: T | None
    status: Status
    problem: str = ""


@dataclass
class Asker:
    """Who is asked, under which settings, and the trace that grows with every answer.

    `generation.tries` are the answers that may be given in all, `deadline_s` the time for them.
    """

    model: ChatModel
    generation: Generation
    seed: int = 0
    deadline_s: float = DEADLINE_S
    calls: list[Call] = field(default_factory=list)

    async def ask(
        self, name: str, system: str, sheet: Sheet, schema: type[T], check: Check[T] | None = None
    ) -> Answer[T]:
        """Ask in the role `name` about the facts of `sheet`; what cannot be used goes back with the
        reason.

        Each answer, good or bad, is one call of the trace. A failing provider ends the asking:
        transport is retried below, by the model, not here.

        Raises:
            BudgetStop: the call would cost more than may still be spent.
        """
        messages: tuple[Message, ...] = (Message("system", system), Message("user", sheet.text()))
        params = self.generation.model_dump(exclude={"tries"})
        ends_at = time.monotonic() + self.deadline_s
        problem = ""
        for attempt in range(1, self.generation.tries + 1):
            request = ChatRequest(
                messages, schema, sheet.facts, self.seed, params, name,
                deadline_s=ends_at - time.monotonic(),
            )  # fmt: skip
            step = ModelStep(self, name, attempt, request)
            try:
                async with asyncio.timeout(ends_at - time.monotonic()):
                    reply = await self.model.complete(request)
            except (ProviderTimeout, TimeoutError) as error:
                problem = str(error) or f"no answer within {self.deadline_s:g} s"
                step.failed(Status.TIMEOUT, problem)
                return Answer(None, Status.TIMEOUT, problem)
            except ProviderError as error:
                step.failed(Status.PROVIDER_ERROR, str(error))
                return Answer(None, Status.PROVIDER_ERROR, str(error))
            try:
                value = read_answer(reply.text, schema)
                _check_citations(value, sheet)
                if check is not None:
                    check(value, attempt == self.generation.tries)
            except AnswerError as error:
                problem = str(error)
                step.answered(reply, None, problem)
                messages = (*messages, *_send_back(reply.text, problem))
                continue
            step.answered(reply, value.model_dump(mode="json"), None)
            return Answer(value, Status.OK if attempt == 1 else Status.REPAIRED)
        return Answer(None, Status.INVALID_OUTPUT, problem)


def _check_citations(value: BaseModel, sheet: Sheet) -> None:
    """Only evidence that stands on the sheet may be cited."""
    if wrong := uncited(value, sheet.offered):
        offered = ", ".join(sheet.offered[:20]) or "none, so the list must be empty"
        raise AnswerError(f"`{wrong}` is no id of the evidence offered ({offered})")


def _send_back(text: str, problem: str) -> tuple[Message, Message]:
    quoted = storable(text)[:QUOTED_ANSWER_CHARS] if text.strip() else "(empty)"
    return (
        Message("assistant", quoted),
        Message(
            "user",
            f"This answer cannot be used: {problem}. "
            "Send the whole JSON object again, corrected, and nothing else.",
        ),
    )

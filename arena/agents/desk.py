"""The desk: where an agent sees its market and asks its model. Every step is traced.

One desk serves one decision of one track.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from arena.agents.prompt import Sheet, output_contract, render
from arena.core.actions import Intent, Status
from arena.core.season import Season
from arena.core.types import Call, Decision, MarketContext, TrackView
from arena.llm.parse import MAX_ANSWER_BYTES, AnswerError, read_answer
from arena.llm.types import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ProviderError,
    ProviderTimeout,
)

DEADLINE_S = 180.0
QUOTED_ANSWER_CHARS = 2_000

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Role(Generic[T]):
    """Who is asked: a name for the trace, the mission told to the model, the form of the answer."""

    name: str
    mission: str
    schema: type[T]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """`value` is None exactly when `status` is a failure; `problem` then says what went wrong."""

    value: T | None
    status: Status
    problem: str = ""


class Desk:
    """What an agent works at.

    Args:
        context: the sealed market, the same for every track of the slot.
        view: position and past of this track alone.
        model: who answers.
        season: rules, among them `generation.tries`, the answers a role may give in all.
        seed: passed into every request.
        deadline_s: time for one `ask`, all its answers together.
    """

    def __init__(
        self, context: MarketContext, view: TrackView, model: ChatModel, season: Season,
        seed: int = 0, *, deadline_s: float = DEADLINE_S,
    ) -> None:  # fmt: skip
        self.context, self.view, self.model, self.season = context, view, model, season
        self.seed, self.deadline_s = seed, deadline_s
        self.calls: list[Call] = []

    async def ask(self, role: Role[T], sheet: Sheet) -> Answer[T]:
        """Ask `role` about the facts of `sheet`; an unusable answer is sent back with the reason.

        Each answer, good or bad, is one call of the trace. A failing provider ends the asking:
        transport is retried below, by the model, not here.
        """
        system = (
            f"{role.mission}\n\nWhat the actions mean. {self.view.spec.glossary()}\n\n"
            f"{output_contract(role.schema)}"
        )
        messages: tuple[Message, ...] = (Message("system", system), Message("user", sheet.text()))
        params = self.season.generation.model_dump(exclude={"tries"})
        ends_at = time.monotonic() + self.deadline_s
        problem = ""
        for attempt in range(1, self.season.generation.tries + 1):
            request = ChatRequest(messages, role.schema, sheet.facts, self.seed, params)
            trace = _Trace(self, role.name, attempt, request)
            try:
                async with asyncio.timeout(ends_at - time.monotonic()):
                    reply = await self.model.complete(request)
            except (ProviderTimeout, TimeoutError) as error:
                problem = str(error) or f"no answer within {self.deadline_s:g} s"
                trace.failed(Status.TIMEOUT, problem)
                return Answer(None, Status.TIMEOUT, problem)
            except ProviderError as error:
                trace.failed(Status.PROVIDER_ERROR, str(error))
                return Answer(None, Status.PROVIDER_ERROR, str(error))
            try:
                value = read_answer(reply.text, role.schema)
            except AnswerError as error:
                problem = str(error)
                trace.answered(reply, None, problem)
                messages = (*messages, *_send_back(reply.text, problem))
                continue
            trace.answered(reply, value.model_dump(mode="json"), None)
            return Answer(value, Status.OK if attempt == 1 else Status.REPAIRED)
        return Answer(None, Status.INVALID_OUTPUT, problem)

    def give_up(self, role: Role[T], answer: Answer[T]) -> Decision:
        """The decision when the final role failed: acts as HOLD, and says it is no opinion."""
        tries = sum(1 for c in self.calls if c.role == role.name)
        said = f"No usable answer of {role.name} ({answer.status}, call {tries}): {answer.problem}"
        return Decision(Intent.HOLD, answer.status, said, calls=tuple(self.calls))


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


def storable(text: str) -> str:
    """`text` as valid UTF-8, cut at the size beyond which no answer is read."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    if len(clean) <= MAX_ANSWER_BYTES:
        return clean
    return f"{clean[:MAX_ANSWER_BYTES]}\n[cut here: {len(clean)} characters in all]"


class _Trace:
    """One attempt on its way into the desk's calls."""

    def __init__(self, desk: Desk, role: str, attempt: int, request: ChatRequest) -> None:
        self.desk, self.role, self.attempt, self.request = desk, role, attempt, request
        self.began = time.perf_counter()

    def answered(self, reply: ChatReply, parsed: dict[str, Any] | None, error: str | None) -> None:
        status = Status.OK if error is None else Status.INVALID_OUTPUT
        self._add(
            status, error, reply.model, storable(reply.text), parsed, reply.params,
            reply.tokens_in, reply.tokens_out, reply.cost_usd,
        )  # fmt: skip

    def failed(self, status: Status, error: str) -> None:
        """Nothing came back: what it cost is unknown."""
        self._add(
            status, error, self.desk.model.id, "", None, self.request.params, None, None, None
        )

    def _add(
        self, status: Status, error: str | None, model: str, answer: str,
        parsed: dict[str, Any] | None, params: Mapping[str, Any],
        tokens_in: int | None, tokens_out: int | None, cost_usd: float | None,
    ) -> None:  # fmt: skip
        self.desk.calls.append(
            Call(
                seq=len(self.desk.calls),
                kind="model",
                role=self.role,
                model=model,
                status=status.value,
                attempt=self.attempt,
                prompt=render(self.request.messages),
                answer=answer,
                parsed=parsed,
                error=error,
                params=dict(params),
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost_usd=cost_usd,
                latency_ms=(time.perf_counter() - self.began) * 1e3,
            )
        )

"""The desk an agent works at: what it may see, the model it may ask, and the trace of all it did."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from arena.core.actions import Status
from arena.core.season import Season
from arena.core.types import Call, MarketContext, TrackView
from arena.llm.parse import AnswerError, parse_answer
from arena.llm.types import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ProviderError,
    ProviderTimeout,
)

Out = TypeVar("Out", bound=BaseModel)

REPAIR = (
    "That answer cannot be used. {why}\n"
    "Reply again with one JSON object that follows the contract, and nothing else."
)


@dataclass(frozen=True)
class Answer(Generic[Out]):
    """A checked answer, or None with the status that says why there is none."""

    value: Out | None
    status: Status
    error: str | None = None


@dataclass
class Desk:
    """One decision's workplace. Everything asked here is in `calls`, in order."""

    market: MarketContext
    view: TrackView
    model: ChatModel
    season: Season
    seed: int
    calls: list[Call] = field(default_factory=list)

    async def ask(
        self, role: str, messages: Sequence[Message], schema: type[Out], facts: dict[str, Any]
    ) -> Answer[Out]:
        """Ask until an answer satisfies `schema`, at most `season.generation.tries` times.

        Each further try shows the model its answer and the validator's words. A provider's failure
        ends it: transport is retried below this, not here.
        """
        generation = self.season.generation
        params = generation.model_dump(mode="json", exclude={"tries"})
        talk = list(messages)
        error: str | None = None
        for attempt in range(1, generation.tries + 1):
            request = ChatRequest(tuple(talk), schema, facts, self.seed, params)
            try:
                reply = await self.model.complete(request)
            except (ProviderTimeout, asyncio.TimeoutError) as failure:
                return self._gave_up(role, talk, attempt, Status.TIMEOUT, failure)
            except ProviderError as failure:
                return self._gave_up(role, talk, attempt, Status.PROVIDER_ERROR, failure)
            try:
                value = parse_answer(reply.text, schema)
            except AnswerError as refusal:
                error = str(refusal)
                self._trace(role, talk, attempt, reply, None, "invalid_output", error)
                talk += [
                    Message("assistant", reply.text[:4000]),
                    Message("user", REPAIR.format(why=error)),
                ]
                continue
            assert isinstance(value, schema)
            status = Status.OK if attempt == 1 else Status.REPAIRED
            self._trace(role, talk, attempt, reply, value.model_dump(mode="json"), status.value, None)
            return Answer(value, status)
        return Answer(None, Status.INVALID_OUTPUT, error)

    def _gave_up(
        self, role: str, talk: Sequence[Message], attempt: int, status: Status, failure: Exception
    ) -> Answer[Out]:
        error = f"{type(failure).__name__}: {failure}"
        none = ChatReply("", self.model.id, None, None, None, 0.0)
        self._trace(role, talk, attempt, none, None, status.value, error)
        return Answer(None, status, error)

    def _trace(
        self, role: str, talk: Sequence[Message], attempt: int, reply: ChatReply,
        parsed: dict[str, Any] | None, status: str, error: str | None,
    ) -> None:  # fmt: skip
        self.calls.append(
            Call(
                seq=len(self.calls),
                kind="model",
                role=role,
                model=reply.model,
                status=status,
                attempt=attempt,
                prompt=as_text(talk),
                answer=reply.text,
                parsed=parsed,
                error=error,
                params={"seed": self.seed, **reply.params},
                tokens_in=reply.tokens_in,
                tokens_out=reply.tokens_out,
                cost_usd=reply.cost_usd,
                latency_ms=reply.latency_ms,
            )
        )


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as one text, each part under its speaker."""
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in messages)

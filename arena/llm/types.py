"""The contract between agents and models: one request, one reply, two ways to fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from arena.core.errors import ArenaError

ModelKind = Literal["model", "stand_in", "scripted"]


class ProviderError(ArenaError):
    """The model could not be reached or refused; retries, if any, are spent."""


class ProviderTimeout(ProviderError):
    """The model did not answer before the deadline."""


class BudgetStop(ArenaError):
    """The call was not made: its worst case no longer fits into what may be spent.

    No failure of a model, so nothing below the runner may catch it.
    """


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


def render(messages: Sequence[Message]) -> str:
    """A conversation as the one text that is stored and shown."""
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in messages)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked.

    `facts` are exactly the values rendered into the messages, by name: a stand-in reads them in
    place of the prose. `schema` is the form of the answer. `params` are the season's generation
    settings (temperature, top_p, max_tokens); `seed` is passed on where a provider takes one.
    `role` names who is asked, for logs and scripts; no model is told. `deadline_s` is the time left
    for an answer (None: the model's own limit). `key` names the request in the journal of paid
    calls; the gateway sets it.
    """

    messages: tuple[Message, ...]
    schema: type[BaseModel]
    facts: Mapping[str, Any]
    seed: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)
    role: str = ""
    deadline_s: float | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, unread. None for tokens or cost means unknown, never free.

    `model` is the id that answered; `params` are the generation settings that took effect, with
    anything worth knowing about the way there (`retries`, `left_out`). `sent` are the messages that
    reached the model where they are not those of the request.
    """

    text: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float
    params: Mapping[str, Any] = field(default_factory=dict)
    sent: tuple[Message, ...] | None = None


class ChatModel(Protocol):
    """Anything that answers a `ChatRequest`.

    `kind` says what may be claimed about its answers: only those of a `model` are a model's opinion.
    A model may have `at_once`: how many requests of one decision it takes at a time.
    """

    @property
    def id(self) -> str: ...

    @property
    def kind(self) -> ModelKind: ...

    async def complete(self, req: ChatRequest) -> ChatReply:
        """The raw answer.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderError: any other failure of the provider.
        """
        ...

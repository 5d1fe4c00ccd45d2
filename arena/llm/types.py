"""What a model is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from arena.core.errors import ArenaError

ModelKind = Literal["model", "stand_in", "scripted"]


class ProviderError(ArenaError):
    """The provider failed for good (after its own retries)."""


class ProviderTimeout(ProviderError):
    """No answer within the deadline."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question. `facts` are exactly the values rendered into the messages; `schema` is the
    contract of the answer; `params` are the generation settings asked for."""

    messages: tuple[Message, ...]
    schema: type[BaseModel]
    facts: dict[str, Any]
    seed: int = 0
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One answer as text. `params` are the settings that took effect; `cost_usd` None is unknown."""

    text: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float
    params: dict[str, Any] = field(default_factory=dict)


class ChatModel(Protocol):
    """A model behind its id. `kind` says whether a language model really answers."""

    id: str
    kind: ModelKind

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer once.

        Raises:
            ProviderTimeout: no answer in time.
            ProviderError: any other failure of the provider.
        """
        ...

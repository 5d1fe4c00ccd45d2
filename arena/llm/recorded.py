"""A model that says again what it said: the answers of a stored run, by the prompts they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arena.core.hashing import sha256_text
from arena.llm.types import ChatReply, ChatRequest, ModelKind, ProviderError, render

Key = tuple[str, str]
"""Role, and SHA-256 of the prompt as it is stored."""


@dataclass(frozen=True)
class Recorded:
    """Answers only what it was asked before, word for word; anything else is a `ProviderError`.

    The same prompt with the same role always gets the same answer, so a run on it makes no call and
    leaves the same trace. `replies` come from `runner.recorded`, which reads them from a store.
    """

    id: str
    kind: ModelKind
    replies: Mapping[Key, ChatReply]

    async def complete(self, req: ChatRequest) -> ChatReply:
        reply = self.replies.get((req.role, sha256_text(render(req.messages))))
        if reply is None:
            raise ProviderError(
                f"`{self.id}` has no recorded answer to this prompt of `{req.role}`: the run it was "
                "recorded from asked something else. Use the same season, data and agents."
            )
        return reply


def recorded(model_id: str, kind: ModelKind, calls: Iterable[tuple[Key, ChatReply]]) -> Recorded:
    """A `Recorded` of answered calls; of several answers to one prompt the first counts."""
    replies: dict[Key, ChatReply] = {}
    for key, reply in calls:
        replies.setdefault(key, reply)
    return Recorded(model_id, kind, replies)

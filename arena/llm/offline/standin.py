"""What the stand-ins share: read facts, lean one way, fill the marked fields of any schema."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from arena.llm.fields import Cites, Confidence, Lean, Text
from arena.llm.types import ChatReply, ChatRequest, ModelKind

WORDS_PER_TOKEN = 0.75


@dataclass(frozen=True, slots=True)
class View:
    """`lean` in [-1, 1]; inside the dead zone it is 0. `why` names the rule and its numbers."""

    lean: float
    why: str


class StandIn:
    """Base of the policies; a subclass says `id` and `view`. Not a language model."""

    id: ClassVar[str]
    kind: ModelKind = "stand_in"

    def view(self, facts: dict[str, Any]) -> View:
        raise NotImplementedError

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer in JSON; tokens are words of the text by a fixed ratio, the price is 0."""
        began = time.perf_counter()
        text = json.dumps(fill(request.schema, self.view(request.facts), request.facts))
        words = sum(len(m.content.split()) for m in request.messages)
        return ChatReply(
            text=text,
            model=self.id,
            tokens_in=round(words / WORDS_PER_TOKEN),
            tokens_out=round(len(text.split()) / WORDS_PER_TOKEN),
            cost_usd=0.0,
            latency_ms=1000 * (time.perf_counter() - began),
            params={"rule": self.id},
        )


def fill(schema: type[BaseModel], view: View, facts: dict[str, Any]) -> dict[str, Any]:
    """Values for the marked fields of `schema`; fields without a mark keep their default."""
    values: dict[str, Any] = {}
    for name, info in schema.model_fields.items():
        for mark in info.metadata:
            if isinstance(mark, Lean):
                values[name] = _word(mark, view.lean)
            elif isinstance(mark, Confidence):
                strength = min(abs(view.lean), 1.0)
                values[name] = round(mark.low + (mark.high - mark.low) * strength, 3)
            elif isinstance(mark, Text):
                values[name] = view.why[: mark.max_chars]
            elif isinstance(mark, Cites):
                values[name] = list(facts.get(mark.offered, ()))[:3]
    return values


def _word(mark: Lean, lean: float) -> str:
    if lean > 0:
        return mark.long
    return mark.short if lean < 0 else mark.neutral

"""Answers that were paid for already are not asked for again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from arena.core.hashing import sha256_json
from arena.llm.journal import Journal
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind


class Cached:
    """Names each request of one scope, and answers it from the journal if it stands there.

    The name is the SHA-256 of scope, model, role, messages, parameters, seed, and of how many times
    just that was asked before in the scope: a role that is asked the same thing twice gets two
    answers, in a resumed run the same two. A failed request has no answer and is asked again.
    """

    def __init__(self, inner: ChatModel, journal: Journal, scope: str) -> None:
        self.inner, self.journal, self.scope = inner, journal, scope
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind
        self._asked: Counter[str] = Counter()

    async def complete(self, req: ChatRequest) -> ChatReply:
        content = sha256_json(
            {
                "scope": self.scope, "model": self.id, "role": req.role, "seed": req.seed,
                "messages": [[m.role, m.content] for m in req.messages], "params": dict(req.params),
            }
        )  # fmt: skip
        self._asked[content] += 1
        key = sha256_json([content, self._asked[content]])
        if (stored := self.journal.answers.get(key)) is not None:
            return stored
        return await self.inner.complete(replace(req, key=key))

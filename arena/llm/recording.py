"""Every attempt in the journal: before it leaves, and when it ended."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from arena.llm.budgeted import Spend, charge_of, worst_case
from arena.llm.failure import AttemptTimedOut
from arena.llm.journal import AttemptClosed, AttemptOpened, Ending, Journal
from arena.llm.redact import redact
from arena.llm.roster import ModelInfo
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind


class Recording:
    """Writes attempts of one scope. If writing fails, that error goes up: no unrecorded spending."""

    def __init__(self, inner: ChatModel, info: ModelInfo, journal: Journal, scope: str) -> None:
        self.inner, self.info, self.journal, self.scope = inner, info, journal, scope
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        worst, attempt_id = worst_case(self.info, req), uuid4().hex
        await self.journal.opened(
            AttemptOpened(
                attempt_id, req.key, self.scope, self.id, req.role, worst.usd, worst.tokens
            )
        )
        try:
            reply = await self.inner.complete(req)
        except BaseException as error:
            # Shielded: whoever cancels us must not also cut the note that we were cancelled.
            await asyncio.shield(self._closed(attempt_id, req.key, worst, error))
            raise
        await asyncio.shield(self._closed(attempt_id, req.key, worst, reply))
        return reply

    async def _closed(
        self, attempt_id: str, key: str, worst: Spend, outcome: ChatReply | BaseException
    ) -> None:
        charged = charge_of(worst, outcome)
        reply = outcome if isinstance(outcome, ChatReply) else None
        error = "" if reply is not None else redact(str(outcome) or type(outcome).__name__)
        await self.journal.closed(
            AttemptClosed(
                attempt_id, key, _ending(outcome), charged.usd, charged.tokens, reply, error
            )
        )


def _ending(outcome: ChatReply | BaseException) -> Ending:
    if isinstance(outcome, ChatReply):
        return "answered"
    if isinstance(outcome, AttemptTimedOut):
        return "timeout"
    return "cancelled" if isinstance(outcome, asyncio.CancelledError) else "failed"

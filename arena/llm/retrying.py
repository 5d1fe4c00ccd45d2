"""A few attempts inside one deadline, for failures that pass."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, replace

from arena.core.hashing import sha256_json
from arena.llm.failure import AttemptFailed
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one request: attempts, time for all of them together, and the waits between them (seconds).

    The n-th wait is drawn between half and all of `first_wait_s` x 2^(n-1), at most `longest_wait_s`;
    what the provider asks for (Retry-After) goes before.
    """

    attempts: int = 3
    deadline_s: float = 180.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 20.0


class Standing:
    """Whether a model may still be asked in this run; `off` says why not."""

    def __init__(self) -> None:
        self.off = ""

    def check(self) -> None:
        """
        Raises:
            AttemptFailed: the model was switched off; nothing was sent.
        """
        if self.off:
            raise AttemptFailed(self.off, fatal=True)


class Retrying:
    """Tries again after 429, 5xx and lost connections; a refused key or a gone model ends the asking."""

    def __init__(self, inner: ChatModel, standing: Standing, limits: Limits) -> None:
        self.inner, self.standing, self.limits = inner, standing, limits
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        total_s = self.limits.deadline_s
        if req.deadline_s is not None:
            total_s = min(total_s, req.deadline_s)
        ends_at = time.monotonic() + total_s
        earlier: list[str] = []
        while True:
            self.standing.check()
            try:
                reply = await self.inner.complete(
                    replace(req, deadline_s=max(0.0, ends_at - time.monotonic()))
                )
            except AttemptFailed as error:
                if error.fatal:
                    self.standing.off = str(error)
                    raise
                earlier.append(str(error))
                wait_s = self._wait_s(error, len(earlier), req)
                too_late = time.monotonic() + wait_s >= ends_at
                if not error.retry or len(earlier) >= self.limits.attempts or too_late:
                    raise error.after(len(earlier)) from error.__cause__
                await asyncio.sleep(wait_s)
                continue
            if earlier:
                reply = replace(reply, params={**reply.params, "retries": earlier})
            return reply

    def _wait_s(self, error: AttemptFailed, attempt: int, req: ChatRequest) -> float:
        if error.retry_after_s is not None:
            return error.retry_after_s
        longest = min(self.limits.longest_wait_s, self.limits.first_wait_s * 2.0 ** (attempt - 1))
        # By the request, so that a run is the same again and its requests do not come back in step.
        drawn = random.Random(sha256_json([req.seed, req.key, attempt])).random()  # noqa: S311
        return longest * (0.5 + 0.5 * drawn)

"""No more requests at a provider at once than it may be given."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from weakref import WeakKeyDictionary

from arena.llm.failure import AttemptTimedOut
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind


class Gate:
    """Places at one provider, given out in the order of arrival.

    Each event loop has its own count: a semaphore of asyncio belongs to the loop that first waited.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    def here(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            # A semaphore that was waited for holds its loop, so a dead one would never be let go.
            for dead in [known for known in self._by_loop if known.is_closed()]:
                del self._by_loop[dead]
            self._by_loop[loop] = asyncio.Semaphore(self.places)
        return self._by_loop[loop]


class Limited:
    """Waits for a place, no longer than the request's deadline, and passes on the time that is left."""

    def __init__(self, inner: ChatModel, gate: Gate) -> None:
        self.inner, self.gate = inner, gate
        self.id: str = inner.id
        self.kind: ModelKind = inner.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        places, began = self.gate.here(), time.monotonic()
        try:
            async with asyncio.timeout(req.deadline_s):
                await places.acquire()
        except TimeoutError:
            raise AttemptTimedOut(
                f"`{self.id}` had no free place within {req.deadline_s:.0f} s: "
                f"{self.gate.places} requests at once are allowed at its provider"
            ) from None
        try:
            if req.deadline_s is not None:
                left_s = max(0.0, req.deadline_s - (time.monotonic() - began))
                req = replace(req, deadline_s=left_s)
            return await self.inner.complete(req)
        finally:
            places.release()

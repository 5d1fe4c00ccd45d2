"""Scripted models for tests: a queue of answers and a history of requests. They reach no network."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from arena.llm.types import ChatReply, ChatRequest, ModelKind

Answer = str | Exception | Callable[[ChatRequest], str]

CYCLE = ("BUY", "HOLD", "SELL")


class Scripted:
    """Gives the queued answers in order; an exception in the queue is raised."""

    kind: ModelKind = "scripted"

    def __init__(self, answers: Iterable[Answer], id: str = "scripted/queue") -> None:
        self.id = id
        self.queue = deque(answers)
        self.history: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.history.append(request)
        if not self.queue:
            raise AssertionError(f"{self.id} was asked {len(self.history)} times, more than scripted")
        answer = self.queue.popleft()
        if isinstance(answer, Exception):
            raise answer
        text = answer(request) if callable(answer) else answer
        return ChatReply(text, self.id, 10, 5, 0.0, 0.0, {"scripted": True})


class Cycle:
    """`scripted/cycle`: BUY, HOLD, SELL by the day's number, for tests across processes.

    ARENA_SCRIPTED_DELAY_MS makes each answer take that long; ARENA_CALL_LOG names a file that gets
    one line a call, so that a test can count who was asked.
    """

    id = "scripted/cycle"
    kind: ModelKind = "scripted"

    async def complete(self, request: ChatRequest) -> ChatReply:
        began = time.perf_counter()
        session = str(request.facts["session"])
        if path := os.environ.get("ARENA_CALL_LOG"):
            with Path(path).open("a", encoding="utf-8") as log:
                log.write(f"{request.facts['asset']} {session}\n")
        await asyncio.sleep(float(os.environ.get("ARENA_SCRIPTED_DELAY_MS", "0")) / 1000)
        word = CYCLE[date.fromisoformat(session).toordinal() % 3]
        text = json.dumps({"action": word, "confidence": 0.5, "reason": f"scripted for {session}"})
        latency_ms = 1000 * (time.perf_counter() - began)
        return ChatReply(text, self.id, 10, 5, 0.0, latency_ms, {"scripted": True})

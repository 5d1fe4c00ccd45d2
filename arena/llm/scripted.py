"""Models that say what a test tells them to."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from arena.core.hashing import canonical_json
from arena.core.settings import call_log, scripted_delay_s
from arena.llm.offline.policy import Opinion, fill
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind, ProviderError

Script = str | Exception | Callable[[ChatRequest], str]


class Scripted:
    """Answers from a queue, in order; keeps every request in `history`.

    An item is a text, an exception to raise, or a function of the request. An empty queue is a
    `ProviderError`, so that a test that asks too often fails.
    """

    def __init__(
        self, answers: Iterable[Script], *, id: str = "scripted/queue", delay_s: float = 0.0,
        kind: ModelKind = "scripted",
    ) -> None:  # fmt: skip
        self.id, self.kind, self.delay_s = id, kind, delay_s
        self.queue = deque(answers)
        self.history: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        began = time.perf_counter()
        self.history.append(req)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if not self.queue:
            raise ProviderError(
                f"the script of `{self.id}` is used up after {len(self.history)} calls"
            )
        item = self.queue.popleft()
        if isinstance(item, Exception):
            raise item
        text = item if isinstance(item, str) else item(req)
        latency_ms = (time.perf_counter() - began) * 1e3
        params = {**req.params, "seed": req.seed}
        return ChatReply(text, self.id, None, None, None, latency_ms, params)


@dataclass(frozen=True, slots=True)
class Cycle:
    """BUY, HOLD, SELL in turn by the session's date; for trials from a command line.

    ARENA_SCRIPTED_DELAY_MS makes it slow; ARENA_CALL_LOG names a file that gets one line per answer
    given, so that a trial can prove that nothing was asked twice.
    """

    id: str = "scripted/cycle"
    kind: ModelKind = "stand_in"

    async def complete(self, req: ChatRequest) -> ChatReply:
        began = time.perf_counter()
        if delay_s := scripted_delay_s():
            await asyncio.sleep(delay_s)
        if "session" not in req.facts:
            raise ProviderError(f"`{self.id}` goes by the fact `session`, and the prompt has none")
        session = date.fromisoformat(str(req.facts["session"]))
        lean = (1.0, 0.0, -1.0)[session.toordinal() % 3]
        opinion = Opinion(lean, 0.5, f"Script, no model: the turn of {session}.")
        text = canonical_json(fill(req.schema, opinion, req.facts))
        if path := call_log():
            line = {"asset": req.facts.get("asset"), "session": session, "seed": req.seed}
            with path.open("a", encoding="utf-8") as log:
                log.write(canonical_json(line) + "\n")
        return ChatReply(text, self.id, 0, 0, 0.0, (time.perf_counter() - began) * 1e3)


SCRIPTED: dict[str, ChatModel] = {"scripted/cycle": Cycle()}


def register_scripted(name: str, model: ChatModel) -> str:
    """Make `model` available as `scripted/<name>`, and return that id. A later one replaces it."""
    model_id = f"scripted/{name}"
    SCRIPTED[model_id] = model
    return model_id

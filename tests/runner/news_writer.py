"""A model that writes briefs in trials: it repeats the first story, and counts what it was asked."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from arena.llm.scripted import register_scripted
from arena.llm.types import ChatReply, ChatRequest, ModelKind, ProviderError


class NewsWriter:
    """`log`, where given, gets a line for every answer. A writer that `fails` never answers."""

    kind: ModelKind = "model"

    def __init__(self, id: str, log: Path | None = None) -> None:
        self.id, self.log, self.asked, self.fails = id, log, 0, False
        self.wording = "First of all"

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.asked += 1
        if self.fails:
            raise ProviderError("nobody is in today")
        told = re.search(r"<<(\w.+?)>>", req.messages[1].content)
        assert told is not None
        assert len(req.messages) == 2, req.messages[-1].content  # sent back: the story was no good
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(f"brief {req.facts['asset']} {req.facts['news_until_utc']}\n")
        text = json.dumps(
            {
                "sentiment": "neutral", "score": 0.1, "stories": ["s1"],
                "summary": f"{self.wording}: {re.sub('[0-9]+', 'some', told[1])[:120]}",
            }
        )  # fmt: skip
        return ChatReply(text, self.id, 10, 20, 0.0, 1.0)


def new_writer(name: str) -> NewsWriter:
    """Registered as `scripted/NAME`."""
    writer = NewsWriter(f"scripted/{name}")
    register_scripted(name, writer)
    return writer


def register_logging_writer() -> None:
    """`scripted/writer`, with a line in ARENA_CALL_LOG for every brief, for runs that are killed."""
    register_scripted("writer", NewsWriter("scripted/writer", Path(os.environ["ARENA_CALL_LOG"])))

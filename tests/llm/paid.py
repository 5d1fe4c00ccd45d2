"""Shared by the tests of paid models: a row for the mock, requests, and a journal on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.agents.vanilla import Verdict
from arena.llm.budgeted import Budget
from arena.llm.journal import (
    AttemptClosed,
    AttemptOpened,
    Journal,
    MemoryJournal,
    reply_from_dict,
    reply_to_dict,
)
from arena.llm.retrying import Limits
from arena.llm.roster import ModelInfo
from arena.llm.stack import RunModels
from arena.llm.types import ChatReply, ChatRequest, Message

KEY = "sk-mock-0123456789abcdef"
PARAMS = {"temperature": 0.5, "top_p": 1.0, "max_tokens": 50}
QUICK = Limits(first_wait_s=0.01, deadline_s=20.0)


def row(url: str, **fields: Any) -> ModelInfo:
    """1 USD per million tokens in, 2 out; half a second for an attempt."""
    base: dict[str, Any] = {
        "id": "mock/m", "label": "m", "kind": "model", "route": "openai/m", "api_base": url,
        "key_env": "MOCK_API_KEY", "price_in_usd_per_mtok": 1.0, "price_out_usd_per_mtok": 2.0,
        "request_timeout_s": 5.0,
    }  # fmt: skip
    return ModelInfo(**{**base, **fields})


def request(text: str = "up or down?", **fields: Any) -> ChatRequest:
    return ChatRequest(
        (Message("system", "You trade."), Message("user", text)), Verdict, {}, seed=3, role="trader",
        **{"params": PARAMS, **fields},
    )  # fmt: skip


def run_of(
    *infos: ModelInfo, budget: Budget | None = None, journal: Journal | None = None,
    limits: Limits = QUICK,
) -> RunModels:  # fmt: skip
    return RunModels(infos, budget or Budget(usd=1.0), journal or MemoryJournal(), limits)


class FileJournal:
    """A journal in one file of JSON lines, each on disk before the call returns."""

    def __init__(self, path: Path) -> None:
        self.answers: dict[str, ChatReply] = {}
        self._booked: dict[str, tuple[float, int]] = {}
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        for line in lines:
            try:
                self._take(json.loads(line))
            except json.JSONDecodeError:  # torn by a kill, so it was never acknowledged
                continue
        self.path = path
        if lines and not lines[-1].endswith("\n"):
            with path.open("a") as file:
                file.write("\n")

    def _take(self, line: Mapping[str, Any]) -> None:
        if "reserved_usd" in line:
            self._booked[line["attempt_id"]] = line["reserved_usd"], line["reserved_tokens"]
            return
        self._booked[line["attempt_id"]] = line["charged_usd"], line["charged_tokens"]
        if line["reply"] is not None:
            self.answers[line["key"]] = reply_from_dict(line["reply"])

    @property
    def spent_usd(self) -> float:
        return sum(usd for usd, _ in self._booked.values())

    @property
    def spent_tokens(self) -> int:
        return sum(tokens for _, tokens in self._booked.values())

    async def opened(self, attempt: AttemptOpened) -> None:
        self._write(asdict(attempt))

    async def closed(self, attempt: AttemptClosed) -> None:
        reply = None if attempt.reply is None else reply_to_dict(attempt.reply)
        self._write({**asdict(attempt), "reply": reply})

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(line)

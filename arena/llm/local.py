"""A real, very small LLM on this machine's CPU: SmolLM2-135M, served by llama.cpp on loopback.

It is here for its honesty, not for its judgement: 135 million parameters answer badly and often
out of form, so parsing, repair and statuses meet a real model without a key and without a network.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arena.llm.fields import Cites, Confidence, Lean, Marker, Text, asked_fields, marker_of
from arena.llm.gateway import Gateway
from arena.llm.limited import Gate, Limited
from arena.llm.local_process import SERVER, count_tokens, weights
from arena.llm.local_server import MIN_P, TOP_K
from arena.llm.roster import ModelInfo
from arena.llm.trimmed import Trimmed
from arena.llm.types import ChatModel, ChatReply, ChatRequest, Message, ModelKind

MAX_PROMPT_TOKENS, MAX_ANSWER_TOKENS = 1000, 80
OPENED = "{"
ONE_AT_A_TIME = Gate(1)


def local_model(info: ModelInfo) -> ChatModel:
    """The local model of that row of the roster; its weights are loaded by the first request.

    Raises:
        ConfigError: its packages are not installed.
    """
    weights()
    return Local(info)


class Local:
    """The model behind the `ChatModel` contract: form told once more, prompt trimmed, one at a time."""

    at_once = 1

    def __init__(self, info: ModelInfo) -> None:
        self.info, self.id = info, info.id
        self.kind: ModelKind = info.kind

    async def complete(self, req: ChatRequest) -> ChatReply:
        """
        Raises:
            ProviderTimeout: no answer, or no turn at the server, in time.
            ProviderError: the server failed, or the prompt cannot be made short enough.
            ConfigError: the model cannot be loaded.
        """
        address = await asyncio.to_thread(SERVER.address, self.alias)
        here = {"api_base": f"{address}/v1", "route": f"openai/{self.alias}"}
        limited = Limited(Gateway(self.info.model_copy(update=here)), ONE_AT_A_TIME)

        async def count(messages: Sequence[Message]) -> int:
            return await count_tokens(address, messages)

        trimmed = Trimmed(
            limited,
            count,
            max_prompt_tokens=self.info.max_prompt_tokens or MAX_PROMPT_TOKENS,
            max_answer_tokens=self.info.max_answer_tokens or MAX_ANSWER_TOKENS,
        )
        form = form_again(req.schema, req.facts.get("evidence_ids", ()))
        ending = (Message("user", form), Message("assistant", OPENED))
        reply = await trimmed.complete(replace(req, messages=(*req.messages, *ending)))
        return replace(reply, params={**reply.params, "top_k": TOP_K, "min_p": MIN_P})

    @property
    def alias(self) -> str:
        return self.id.split("/", 1)[-1]


def form_again(schema: type[BaseModel], offered: Sequence[str]) -> str:
    """The form of the answer as the last thing said, in the words that this model follows best.

    Told at the start only, it is forgotten by the end of the figures; and where alternatives are
    spelt `"BUY" or "HOLD"`, they are copied as they stand.
    """
    fields = [
        f'"{name}" ({_in_short(marker_of(info.metadata), info, offered)})'
        for name, info in asked_fields(schema, offered).items()
    ]
    return f"Now answer with one JSON object, in one line: {', '.join(fields)}."


def _in_short(marker: Marker | None, info: FieldInfo, offered: Sequence[str]) -> str:
    match marker:
        case Lean() if info.annotation is float:
            return "number from -1 to 1"
        case Lean():
            *others, last = (str(word) for word in reversed(get_args(info.annotation)))
            return f"{', '.join(others)} or {last}"
        case Confidence():
            return "number from 0 to 1"
        case Text():
            return "one short sentence"
        case Cites():
            return f"list of ids, such as {json.dumps(list(offered[:1]))}"
    return info.description or "value"

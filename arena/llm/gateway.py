"""The only user of litellm: one request out, one reply or one named failure back."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from arena.core.clock import utc_now
from arena.core.errors import ConfigError
from arena.llm.budgeted import answer_cap
from arena.llm.failure import AttemptFailed, AttemptTimedOut
from arena.llm.parse import bounded
from arena.llm.provider_errors import explain
from arena.llm.redact import protect_environment
from arena.llm.roster import ModelInfo
from arena.llm.switch import ensure_network
from arena.llm.types import ChatReply, ChatRequest, ModelKind
from arena.llm.web_search import (
    OPTIONS,
    WEB_SEARCH,
    asks_to_search,
    cannot_search,
    search_cost_usd,
    searches_of,
)
from arena.llm.worker import WORKER

QUIET = {
    "LITELLM_MODE": "PRODUCTION",  # else it loads any .env file it finds
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
}
"""What keeps `import litellm` from reaching for the network."""
FORGET_WITHIN_S = 10.0
NAME_CHARS = 200
MOST_TOKENS = 10**9
"""Of one request, prompt or answer: a thousand times the largest window there is."""


@cache
def load_litellm() -> Any:
    """litellm, imported without a connection (3 s the first time) and told to keep quiet."""
    os.environ.update(QUIET)
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.num_retries = 0
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    WORKER.on_close(litellm.close_litellm_async_clients)
    return litellm


def trouble(info: ModelInfo, api_key: str | None = None) -> str:
    """Why a model could not answer, as far as can be told without asking it; empty if nothing is wrong.

    `api_key` is one that was given for this use and stands in no variable.
    """
    if info.retired_on(utc_now().date()):
        return (
            f"`{info.id}` was retired by its provider on {info.retired}. "
            "Choose another model; runs that were made with it stay."
        )
    if info.key_env is not None and not (api_key or _key(info)):
        return f"`{info.id}` needs a key and {info.key_env} is not set. Set it and start again."
    return ""


def _key(info: ModelInfo) -> str:
    return os.environ.get(info.key_env, "").strip() if info.key_env else ""


def forget_key(api_key: str) -> None:
    """Let go of the clients that litellm would keep under a key for another hour.

    For a key that was given for one use, when no request with it is under way any more.
    """
    if load_litellm.cache_info().currsize:
        WORKER.submit(_forget(api_key)).result(FORGET_WITHIN_S)


async def _forget(api_key: str) -> None:
    # On the loop that the clients belong to, which closes them.
    clients = load_litellm().in_memory_llm_clients_cache
    for name in [name for name in clients.cache_dict if api_key in str(name)]:
        clients.delete_cache(name)


class Gateway:
    """A model behind litellm. One lives as long as a run; it may be awaited from any event loop.

    Neither retries nor counts money: `RunModels` puts that around it. `api_key` goes before the
    variable of the roster; it is handed to litellm with each request and never to the environment.
    Whoever gives one keeps it out of texts (`redact.keeping_out`).
    """

    def __init__(self, info: ModelInfo, api_key: str | None = None) -> None:
        self.info, self.id = info, info.id
        self.kind: ModelKind = info.kind
        self._api_key = api_key
        self._taken: frozenset[str] | None = None
        protect_environment()

    async def complete(self, req: ChatRequest) -> ChatReply:
        """
        Raises:
            ConfigError: the network is switched off, or the model cannot search and is asked to.
            AttemptFailed, AttemptTimedOut: no answer; says what to do.
        """
        key = self._ready()
        began = time.perf_counter()
        response, sent, left_out = await asyncio.wrap_future(WORKER.submit(self._send(req, key)))
        return self._reply(response, sent, left_out, (time.perf_counter() - began) * 1e3)

    def _ready(self) -> str | None:
        """The key, where one is needed; nothing leaves for a model that cannot answer."""
        if said := trouble(self.info, self._api_key):
            raise AttemptFailed(said, fatal=True)
        if not self.info.stays_here:
            ensure_network(self.info.id)
        # A server of one's own usually asks for no key, but litellm wants to send something.
        return self._api_key or _key(self.info) or ("none" if self.info.api_base else None)

    async def _send(
        self, req: ChatRequest, key: str | None
    ) -> tuple[Any, dict[str, Any], list[str]]:
        info = self.info
        if not load_litellm.cache_info().currsize:
            # Three seconds, during which the loop goes on serving others.
            await asyncio.get_running_loop().run_in_executor(None, load_litellm)
        litellm = load_litellm()
        if asks_to_search(req.params) and (why := cannot_search(litellm, info)):
            raise ConfigError(why)
        limit_s = info.request_timeout_s
        if req.deadline_s is not None:
            limit_s = min(limit_s, req.deadline_s)
        target = {"api_base": info.api_base} if info.api_base else {}
        try:
            sent, left_out = self._parameters(litellm, req)
            # litellm's own limit is per read: a server that drips its answer would outlast it.
            async with asyncio.timeout(limit_s):
                response = await litellm.acompletion(
                    model=info.litellm_id,
                    messages=[{"role": m.role, "content": m.content} for m in req.messages],
                    timeout=limit_s, num_retries=0, max_retries=0, api_key=key, **target, **sent,
                )  # fmt: skip
        except TimeoutError:
            raise AttemptTimedOut(
                f"`{info.id}` did not answer within {limit_s:.0f} s", maybe_charged=True
            ) from None
        except Exception as error:  # noqa: BLE001 - litellm raises whatever its 100 providers do
            raise explain(error, info, limit_s) from None
        return response, sent, left_out

    def _parameters(self, litellm: Any, req: ChatRequest) -> tuple[dict[str, Any], list[str]]:
        """Parameters that are sent, and the names of those that the model does not take."""
        wanted = {**req.params, "max_tokens": answer_cap(self.info, req), "seed": req.seed}
        if wanted.pop(WEB_SEARCH, False):
            wanted["web_search_options"] = dict(OPTIONS)
        if self._taken is None:
            known = litellm.get_supported_openai_params(model=self.info.litellm_id) or wanted
            # Where only the newer name of `max_tokens` is known, litellm translates this one.
            self._taken = frozenset({*known, "max_tokens"} - set(self.info.refuses))
        sent = {name: value for name, value in wanted.items() if name in self._taken}
        return sent, sorted(wanted.keys() - sent.keys())

    def _reply(
        self, response: Any, sent: Mapping[str, Any], left_out: list[str], latency_ms: float
    ) -> ChatReply:
        choice = response.choices[0] if response.choices else None
        text = (choice.message.content if choice else None) or ""
        ended = choice.finish_reason if choice else None
        params = {**sent, "finish_reason": ended and _storable(ended)}
        if left_out:
            params["left_out"] = left_out
        if response.model and response.model != self.info.litellm_id.split("/", 1)[-1]:
            params["served_model"] = _storable(response.model)[:NAME_CHARS]
        tokens_in, tokens_out = _tokens(getattr(response, "usage", None))
        cost_usd = None
        if tokens_in is not None and tokens_out is not None:
            cost_usd = self.info.cost_usd(tokens_in, tokens_out)
        if "web_search_options" in sent:
            params["searches"] = searches = searches_of(response)
            if cost_usd is not None:
                cost_usd += search_cost_usd(self.info, searches)
        return ChatReply(
            bounded(_storable(text)), self.id, tokens_in, tokens_out, cost_usd, latency_ms, params
        )


def _storable(text: Any) -> str:
    """`text` as valid UTF-8: half a surrogate pair, which JSON can spell, could not be written down."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Tokens of prompt and answer. litellm writes 0 where the provider reported nothing.

    Some providers count hidden thinking in the total only; it is paid for like the answer. Counts
    that cannot be (below zero, beyond `MOST_TOKENS`) report nothing.
    """
    tokens_in, tokens_out = getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0)
    if not tokens_in:
        return None, None
    total = getattr(usage, "total_tokens", 0) or 0
    n_in, n_out = int(tokens_in), int(tokens_out or 0)
    n_hidden = int(total) - n_in
    if min(n_in, n_out) < 0 or max(n_in, n_out, n_hidden) > MOST_TOKENS:
        return None, None
    return n_in, max(n_out, n_hidden)

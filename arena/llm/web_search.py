"""A request that lets the model search the web: who can, what it may cost, and whether it did.

A request asks for it with the parameter `web_search`. Searching is paid for per search, besides the
tokens, and what the provider finds is added to the prompt, where it is paid for as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.llm.roster import ModelInfo

WEB_SEARCH = "web_search"
OPTIONS = {"search_context_size": "low"}
"""Of litellm's `web_search_options`: one search at Anthropic, the shortest context at OpenAI and
Perplexity; Gemini knows no such size."""
MOST_SEARCHES = 5
FOUND_TOKENS = 50_000
"""Set aside for a request: no provider states a bound, so a greater bill is noted as an overrun."""


def asks_to_search(params: Mapping[str, Any]) -> bool:
    """Whether a request with these parameters lets the model search."""
    return bool(params.get(WEB_SEARCH))


def cannot_search(litellm: Any, info: ModelInfo) -> str:
    """Why a model cannot search the web by way of the gateway; empty if it can."""
    known = litellm.get_supported_openai_params(model=info.litellm_id) or []
    if litellm.supports_web_search(info.litellm_id) and "web_search_options" in known:
        if info.provider == "openai" and "search" not in info.litellm_id:
            why = "OpenAI's chat endpoint searches with its models called `...-search-...` only"
        elif info.provider == "xai":
            why = "xAI's chat endpoint no longer searches, and would answer without having done so"
        else:
            return ""
    else:
        why = "litellm does not list it among those that can"
    return f"`{info.id}` cannot search the web: {why}. Choose another model for web search."


def searches_of(response: Any) -> int | None:
    """Searches that were made; None where nothing in the answer shows any.

    Counts come with the usage (Anthropic, Gemini); elsewhere cited pages prove at least one.
    """
    usage = getattr(response, "usage", None)
    for name in ("server_tool_use", "prompt_tokens_details"):
        part = getattr(usage, name, None)
        count = part.get("web_search_requests") if isinstance(part, Mapping) else getattr(
            part, "web_search_requests", None
        )  # fmt: skip
        if isinstance(count, int):
            return count
    choice = response.choices[0] if response.choices else None
    cited = getattr(getattr(choice, "message", None), "annotations", None)
    return 1 if cited else None


def search_cost_usd(info: ModelInfo, searches: int | None) -> float:
    """What the searches of one answer cost; where their number is not known, one is charged. 0 where
    the price is not known: such a model is asked within a cap on tokens only."""
    return (info.price_search_usd or 0.0) * (1 if searches is None else searches)

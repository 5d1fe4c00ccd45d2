"""A model that searches the web as a source of news, under the run's budget and in its journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from arena.core.clock import Clock, utc_now
from arena.core.errors import ConfigError, SourceError
from arena.core.hashing import sha256_text
from arena.llm.failure import AttemptFailed
from arena.llm.gateway import load_litellm
from arena.llm.roster import ModelInfo
from arena.llm.stack import RunModels
from arena.llm.types import ChatRequest, Message, ProviderError
from arena.llm.web_search import WEB_SEARCH, cannot_search
from arena.market.sources.news.base import LimitedError
from arena.market.sources.news.web_search import Articles, WebSearchSource

PARAMS = {"max_tokens": 3000, WEB_SEARCH: True}
"""No temperature: models made for searching take none."""


def check_search(info: ModelInfo, *, in_tokens: bool) -> None:
    """Refuse, before anything is written, a model that cannot search or whose searches nothing bounds.

    `in_tokens`: unknown prices are allowed, within a cap on tokens.

    Raises:
        ConfigError: it runs here and reaches no web, it cannot search, or a search has no known price.
    """
    if info.runs_here:
        raise ConfigError(f"`{info.id}` runs here and cannot search the web. Choose another model.")
    if why := cannot_search(load_litellm(), info):
        raise ConfigError(why)
    paid = info.cost_usd(1_000_000, 1_000_000) != 0
    if paid and info.price_search_usd is None and not in_tokens:
        raise ConfigError(
            f"What a web search of `{info.id}` costs is not known, so a budget in USD cannot hold it. "
            "Add price_search_usd to its row in data/models.toml, or give --allow-unpriced with "
            "--token-cap N."
        )


def web_search_source(
    models: RunModels, info: ModelInfo, clock: Clock = utc_now
) -> WebSearchSource:
    """The source behind the model `info`, which must be one of `models`.

    Raises:
        ConfigError: see `check_search`.
    """
    budget = models.budget
    check_search(info, in_tokens=budget.allow_unpriced and budget.tokens is not None)
    return WebSearchSource(asker(models, info), clock)


def asker(models: RunModels, info: ModelInfo) -> Callable[[str], str]:
    """A function from question to answer, for threads without a running event loop.

    A question that was answered before is answered from the journal. It raises SourceError where the
    model fails or nothing shows that it searched: an answer from memory is no news, and an empty one
    from memory is not "no news". A budget that is met (BudgetStop) is no failure of a source: it ends
    the poll, and the run has not begun.
    """

    def ask(question: str) -> str:
        model = models.of(info.id, f"web-search/{sha256_text(question)[:16]}")
        request = ChatRequest(
            (Message("user", question),), Articles, {}, params=PARAMS, role="web search"
        )
        try:
            reply = asyncio.run(model.complete(request))
        except AttemptFailed as error:
            if error.retry_after_s is not None:
                raise LimitedError(f"web-search: {error}", error.retry_after_s) from None
            raise SourceError(f"web-search: {error}") from None
        except (ProviderError, ConfigError) as error:
            raise SourceError(f"web-search: {error}") from None
        if not reply.params.get("searches"):
            raise SourceError(
                f"web-search: nothing shows that `{info.id}` searched before it answered, so its "
                "answer is not used."
            )
        return reply.text

    return ask

"""The other side: from a request to a decision of an agent of ours, and to the reply."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from arena.agents.asking import DEADLINE_S
from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.remote import wire
from arena.agents.remote.protocol import read_json
from arena.agents.remote.received import Received, RequestError, paper_context
from arena.agents.trace import storable
from arena.core.actions import ACTION_WORD, FAILED, GAPS, Intent, Status
from arena.core.errors import ConfigError, InvariantError
from arena.core.season import Season
from arena.core.text import clean_foreign
from arena.core.types import Asset, Past, TrackView
from arena.llm.types import BudgetStop, ChatModel

PAPER_SEASON = Season(protocol="ama/1", fill="close", hold="flat")
"""Rules under which the paper's requests are answered: HOLD is flat, SELL is short."""


@dataclass(frozen=True)
class Served:
    """An agent and the ids of the models it may be asked with; a request without a name means the first.

    `model_of(model id, scope)` gives the model for one request; the scope names the request, so that
    the same one sent twice is not paid for twice. `asset_of` tells name and class of a symbol, which
    the paper's request does not.
    """

    agent: Agent
    models: tuple[str, ...]
    model_of: Callable[[str, str], ChatModel]
    asset_of: Callable[[str], Asset | None] = lambda _: None


async def answer(served: Served, raw: bytes) -> dict[str, Any]:
    """The reply to the request `raw`.

    Raises:
        RequestError: 400 without symbol or price, 422 malformed, 500 if the agent reached no decision
            and the paper's protocol has no word for that.
    """
    try:
        found = read_json(raw)
    except ValueError as error:
        raise RequestError(422, f"the request is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError(422, "the request is no JSON object")
    scope = hashlib.sha256(raw).hexdigest()
    part = found.get("arena")
    if isinstance(part, dict) and part.get("protocol") == wire.ARENA_2:
        told = _validated(wire.ArenaPart, part)
        return await _answer_arena(served, told, _model(served, found.get("model"), scope))
    request = _validated(Received, found)
    return await _answer_paper(served, request, _model(served, request.model, scope))


async def _answer_arena(
    served: Served, part: wire.ArenaPart, model: ChatModel
) -> dict[str, Any]:
    try:
        market, view = wire.decode_context(part.context), wire.decode_view(part.view)
        hashes = market.market_hash, view.view_hash
    except (ValueError, TypeError, KeyError, InvariantError) as error:
        raise RequestError(422, f"`arena`: {error}") from None
    if hashes != (part.market_hash, part.view_hash):
        raise RequestError(422, "`arena`: context or view is not what its hash says")
    agent = served.agent
    if part.study is not None and not agent.learns:
        raise RequestError(422, f"`arena.study`: `{agent.id}` does not learn")
    try:
        memory = agent.memory(part.memory)
    except (ConfigError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise RequestError(422, f"`arena.memory`: {error}") from None
    desk = Desk(
        market, view, model, part.season, part.seed,
        memory=memory, deadline_s=min(part.deadline_s, DEADLINE_S),
    )  # fmt: skip
    try:
        if agent.learns:
            for row in part.learn:
                await agent.learn(desk, Past(*row))
        if part.study is not None:
            decision = await agent.study(desk, Past(*part.study))
        else:
            decision = await agent.decide(desk)
    except BudgetStop as error:
        decision = desk.decision(Intent.KEEP, Status.BUDGET_STOP, str(error))
    kept = desk.memory.dump() if desk.memory is not None else None
    reply = wire.encode_decision(decision, market.market_hash, kept)
    return reply | {"model": desk.model.id}


async def _answer_paper(served: Served, request: Received, model: ChatModel) -> dict[str, Any]:
    market = paper_context(request, served.asset_of)
    season = PAPER_SEASON
    view = TrackView(0, season.capital, 0.0, None, (), season.action_spec)
    agent = served.agent
    desk = Desk(market, view, model, season, memory=agent.memory(None))
    try:
        decision = await agent.decide(desk)
    except BudgetStop as error:
        raise RequestError(500, f"budget_stop: {error}") from None
    if decision.status in FAILED | GAPS:
        raise RequestError(500, f"{decision.status.value}: {decision.reason}")
    return {
        "recommended_action": ACTION_WORD[decision.intent],
        "reasoning": storable(decision.reason),
        "usage": wire.usage(decision),
        "model": desk.model.id,
    }


def _model(served: Served, name: Any, scope: str) -> ChatModel:
    if name is None:
        return served.model_of(served.models[0], scope)
    if name not in served.models:
        offered = ", ".join(served.models)
        raise RequestError(422, f"`model`: {clean_foreign(repr(name), 80)} is not served; {offered} is")
    return served.model_of(str(name), scope)


def _validated(schema: type[Any], found: Any) -> Any:
    try:
        return schema.model_validate(found)
    except ValidationError as error:
        said = [
            f"`{'.'.join(map(str, e['loc']))}`: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False, include_context=False)[:10]
        ]
        raise RequestError(422, "; ".join(said)) from None

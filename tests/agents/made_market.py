"""Markets made by hand with every feed that an agent reads, a model that is told what to say, and a
track that is played by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.memory.base import Memory
from arena.agents.registry import agent_origin, get_agent, known_agents
from arena.core.actions import ACTION_WORD, ActionSpec
from arena.core.season import Generation, Season
from arena.core.types import Asset, Bar, Decision, MarketContext, Past, TrackView
from arena.llm.fields import Lean, marker_of
from arena.llm.offline.policy import Opinion, fill, in_role
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind
from tests.agents.made_company import PRICE, facts, market, table

Kind = Literal["company", "share", "coin"]
KINDS: tuple[Kind, ...] = ("company", "share", "coin")
"""A stock with filings, a stock without, a coin."""

AGENTS = sorted(a for a in known_agents() if agent_origin(a) == "built in")
LEARNERS = [a for a in AGENTS if get_agent(a).learns]

N_BARS = 260
START = datetime(2024, 11, 15, tzinfo=UTC)
FLAT = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())

_ASSETS = {
    "company": Asset("ACME", "Acme", "stock"),
    "share": Asset("BOLT", "Bolt", "stock"),
    "coin": Asset("COIN", "Coin", "crypto"),
}


LEVEL = [10.0] * N_BARS
"""A price that never moved."""


def zigzag(n: int) -> list[float]:
    """A path that goes nowhere, between 6 % below and 6 % above the price of the made company."""
    return [PRICE * (1.0 + 0.01 * ((i * 7) % 13 - 6)) for i in range(n)]


def made_market(
    kind: Kind = "company", *, feeds: bool = True, later_days: int = 0,
    closes: Sequence[float] | None = None, volume: bool = True, note: str = "as expected",
) -> MarketContext:  # fmt: skip
    """The market after the last of `closes`, or at the day `later_days` of one long path.

    Without `feeds` there are prices alone. A company has news, filings as texts and as figures, and
    dealings of insiders; a share and a coin have news only. `note` stands in every text.
    """
    path = list(closes) if closes is not None else zigzag(N_BARS + later_days)
    first = START + timedelta(days=max(0, N_BARS - len(path)))  # short paths end on the same day
    bars = tuple(_bar(first, i, path, volume) for i in range(len(path)))[-N_BARS:]
    as_of = bars[-1].known_at_utc + timedelta(minutes=5)
    return MarketContext(
        _ASSETS[kind],
        bars[-1].session,
        as_of,
        bars,
        _stories(kind, as_of, note) if feeds else (),
        _brief(note) if feeds else None,
        facts(table()) if feeds and kind == "company" else (),
    )


def _bar(first: datetime, i: int, path: Sequence[float], volume: bool) -> Bar:
    day, close, opened = first + timedelta(days=i), path[i], path[max(i - 1, 0)]
    high, low = max(close, opened) * 1.01, min(close, opened) * 0.99
    units = 1e6 * (1.0 + 0.1 * ((i * 5) % 7)) if volume else None
    return Bar(day.date(), opened, high, low, close, units, day + timedelta(days=1))


def _stories(kind: Kind, as_of: datetime, note: str) -> tuple[dict[str, Any], ...]:
    name = _ASSETS[kind].name
    told: list[tuple[str, dict[str, str]]] = [
        (f"{name} sees steady demand", {}),
        (f"Two brokers differ on {name}", {}),
        ("Inflation eases a little", {"category": "macro"}),
        ("Central bank leaves its rate", {"category": "policy"}),
    ]
    if kind == "company":
        told += [
            (f"{name} files its quarter", {"kind": "filing-10q"}),
            (f"{name} files its year", {"kind": "filing-10k"}),
        ]
    return tuple(
        {
            "id": f"{as_of:%m%d}-{n}", "title": title, "text": note, "source": "Wire",
            "known_at_utc": as_of - timedelta(hours=n), **more,
        }
        for n, (title, more) in enumerate(told, 1)
    )  # fmt: skip


def _brief(note: str) -> dict[str, Any]:
    return {
        "summary": f"A quiet day, {note}.", "themes": ["steady demand"], "sentiment": "neutral",
        "score": 0.1,
    }  # fmt: skip


SPLENDID = (
    (0.70, 0.36, 0.15),
    (0.66, 0.34, 0.13),
    (0.62, 0.32, 0.11),
    (0.58, 0.30, 0.09),
    (0.54, 0.29, 0.08),
)
RUINED = ((0.05, -0.30), (0.10, -0.22), (0.15, -0.12), (0.20, -0.05), (0.25, -0.01))


def splendid() -> MarketContext:
    """A firm that grows, earns, saves and buys back, at a fraction of its worth, in a calm rise."""
    figures, revenue, shares = {}, 3000.0, 90.0
    for i, (gross, op, rd) in enumerate(SPLENDID):
        income = 0.8 * op * revenue
        figures[f"FY{2024 - i}"] = {
            "revenue": revenue, "gross_profit": gross * revenue, "operating_income": op * revenue,
            "net_income": income, "rd": rd * revenue, "d_and_a": 0.03 * revenue,
            "operating_cash_flow": 1.25 * income + 0.04 * revenue, "capex": 0.04 * revenue,
            "dividends": 0.1 * income, "shares": shares, "equity": 0.5 * revenue,
            "assets": 0.8 * revenue, "liabilities": 0.3 * revenue, "current_assets": 0.5 * revenue,
            "current_liabilities": 0.2 * revenue, "cash": 0.2 * revenue, "debt": 0.02 * revenue,
            "interest_expense": 0.001 * revenue, "intangible_assets": 5.0,
            "market_cap": 20 * income, "beta": 0.8,
        }  # fmt: skip
        revenue, shares = revenue / (1.6 - 0.08 * i), shares + 3
    figures["TTM"] = {"insider_bought_shares": 90.0, "insider_sold_shares": 5.0}
    rise = [10.0 * 1.003 ** (i - 259) for i in range(260)]
    brief = {"summary": "Good.", "sentiment": "bullish", "score": 0.8}
    return market("stock", figures, rise, brief=brief)


def ruined() -> MarketContext:
    """A firm that shrinks, loses, owes and dilutes, at any price, in a wild fall."""
    figures, revenue, shares = {}, 1000.0, 200.0
    for i, (gross, op) in enumerate(RUINED):
        loss = op * revenue - 20
        figures[f"FY{2024 - i}"] = {
            "revenue": revenue, "gross_profit": gross * revenue, "operating_income": op * revenue,
            "net_income": loss, "rd": 0.0, "d_and_a": 0.02 * revenue, "operating_cash_flow": loss,
            "capex": 0.25 * revenue, "dividends": 0.0, "shares": shares, "equity": 10.0,
            "assets": 1000.0, "liabilities": 990.0, "current_assets": 100.0,
            "current_liabilities": 400.0, "cash": 5.0, "debt": 900.0, "interest_expense": 90.0,
            "intangible_assets": 0.0, "market_cap": 500.0, "beta": 2.5,
        }  # fmt: skip
        revenue, shares = revenue * 1.25, shares * 0.8
    figures["TTM"] = {"insider_bought_shares": 0.0, "insider_sold_shares": 90.0}
    fall = [10.0 * 0.995 ** (i - 259) * (1.05 if i % 2 else 1.0) for i in range(260)]
    brief = {"summary": "Bad.", "sentiment": "bearish", "score": -0.8}
    return market("stock", figures, fall, brief=brief)


Word = float | str | Exception


class Committee:
    """Roles named in `said` speak their own word, the others go by what they hear.

    A word is a lean in [-1, 1], the text of an answer, or an exception. `acting` is the word of the
    role that acts, whatever its name. Requests are kept in `asked`.
    """

    kind: ModelKind = "scripted"

    def __init__(
        self, said: Mapping[str, Word] | None = None, *, acting: Word | None = None,
        default: Word | None = None, id: str = "scripted/committee",
    ) -> None:  # fmt: skip
        self.said, self.acting, self.default, self.id = dict(said or {}), acting, default, id
        self.asked: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.asked.append(req)
        word = self.said.get(req.role, self.default)
        if self.acting is not None and acts(req):
            word = self.acting
        if isinstance(word, Exception):
            raise word
        text = word if isinstance(word, str) else json.dumps(spoken(req, word))
        return ChatReply(text, self.id, None, None, None, 0.0, dict(req.params))

    @property
    def roles(self) -> list[str]:
        return [req.role for req in self.asked]


class Recorder:
    """Another model, with every request kept in `asked`."""

    def __init__(self, inner: ChatModel) -> None:
        self.inner, self.id, self.kind = inner, inner.id, inner.kind
        self.asked: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.asked.append(req)
        return await self.inner.complete(req)


def spoken(req: ChatRequest, lean: float | None) -> dict[str, Any]:
    """An answer that leans that way, as sure as it leans; None goes by what others said.

    One who argues for a given side is as sure as the lean is on it. One who only chooses among ids
    takes all of them, or none if the lean is negative.
    """
    if lean is None:
        return fill(req.schema, in_role(req.facts, Opinion(0.0, 0.0, "as I hear")), req.facts)
    side = {"rise": 1.0, "fall": -1.0}.get(str(req.facts.get("argues")))
    confidence = abs(lean) if side is None else 0.5 + 0.5 * side * lean
    found = fill(req.schema, Opinion(lean, confidence, f"{req.role} speaks"), req.facts)
    leans = any(isinstance(marker_of(f.metadata), Lean) for f in req.schema.model_fields.values())
    if side is None and not leans and lean < 0:
        found = {name: [] if isinstance(value, list) else value for name, value in found.items()}
    return found


def acts(req: ChatRequest) -> bool:
    """Whether the answer becomes the action: only that role is told what the actions mean."""
    return "What the actions mean." in req.messages[0].content


def prompt(req: ChatRequest) -> str:
    return "\n\n".join(m.content for m in req.messages)


def desk_of(
    agent: Agent, model: ChatModel, context: MarketContext | None = None, view: TrackView = FLAT,
    memory: Memory | None = None, tries: int = 1,
) -> Desk:  # fmt: skip
    """A desk with an empty memory of the agent's kind, unless one is given."""
    season = Season(generation=Generation(tries=tries))
    kept = agent.memory() if memory is None else memory
    return Desk(context or made_market(), view, model, season, memory=kept, deadline_s=20.0)


def decide(agent_id: str, model: ChatModel, *args: Any, **desk: Any) -> Decision:
    agent = get_agent(agent_id)
    return asyncio.run(agent.decide(desk_of(agent, model, *args, **desk)))


def n_model_calls(decision: Decision) -> int:
    return sum(call.kind == "model" for call in decision.calls)


class TrackByHand:
    """One track from day to day as a run plays it: first what followed, then the next decision."""

    def __init__(self, agent_id: str, kind: Kind = "company", *, feeds: bool = True) -> None:
        self.agent, self.kind, self.feeds = get_agent(agent_id), kind, feeds
        self.memory = self.agent.memory()
        self.day = 0
        self.last: Past | None = None

    def desk(self, model: ChatModel, closes: Sequence[float] | None = None, tries: int = 1) -> Desk:
        """The desk of the day, told of the day before; `closes` are the prices up to the day."""
        context = made_market(self.kind, feeds=self.feeds, later_days=self.day, closes=closes)
        desk = desk_of(self.agent, model, context, memory=self.memory, tries=tries)
        if self.agent.learns and self.last is not None:
            move = context.price / self.last.price - 1.0
            told = Past(self.last.session, self.last.action, self.last.price, move)
            asyncio.run(self.agent.learn(desk, told))
        return desk

    def decide(self, model: ChatModel, closes: Sequence[float] | None = None) -> Decision:
        desk = self.desk(model, closes)
        return self._keep(desk, asyncio.run(self.agent.decide(desk)))

    def study(
        self, model: ChatModel, move: float, closes: Sequence[float] | None = None
    ) -> Decision:
        """A warm-up session that is followed by `move` (a fraction)."""
        desk = self.desk(model, closes)
        given = Past(desk.context.session, "HOLD", desk.context.price, move)
        return self._keep(desk, asyncio.run(self.agent.study(desk, given)))

    def _keep(self, desk: Desk, decision: Decision) -> Decision:
        context = desk.context
        self.last = Past(context.session, ACTION_WORD[decision.intent], context.price, None)
        self.day += 1
        return decision

"""Markets, desks and transports for the tests of remote agents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.remote.agent import RemoteAgent
from arena.agents.remote.answering import Served
from arena.agents.remote.entry import RemoteEntry
from arena.cli.serving import agent_app
from arena.core.season import Season
from arena.core.types import ActionSpec, Asset, Bar, MarketContext, TrackView
from arena.llm.registry import get_model
from arena.llm.types import ChatModel

FLAT = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())
URL = "http://127.0.0.1:9/trading_action/"


def market(closes: list[float] | None = None, **more: Any) -> MarketContext:
    """A coin whose closes, by default, swing in 13 steps; the last session is 2025-08-01."""
    closes = closes or [100.0 + (i * 7) % 13 for i in range(260)]
    last = datetime(2025, 8, 1, tzinfo=UTC)
    days = [last - timedelta(days=n) for n in reversed(range(len(closes)))]
    bars = tuple(
        Bar(d.date(), c, c * 1.01, c * 0.99, c, 5.0, d + timedelta(days=1))
        for d, c in zip(days, closes, strict=True)
    )
    asset = Asset("BTC", "Bitcoin", "crypto")
    return MarketContext(asset, bars[-1].session, bars[-1].known_at_utc + timedelta(minutes=5), bars, **more)


def stories() -> tuple[dict[str, Any], ...]:
    known = datetime(2025, 8, 1, 12, tzinfo=UTC)
    return (
        {"id": "s1", "title": "Miners sell", "text": "They do.", "source": "wire", "known_at_utc": known},
        {"id": "s2", "title": "A fund opens", "known_at_utc": known},
    )


def remote(transport: httpx.AsyncBaseTransport | None, **entry: Any) -> RemoteAgent:
    given = {"id": "guest", "label": "Guest", "url": URL, "allow_private": True} | entry
    return RemoteAgent(RemoteEntry(**given), transport=transport, waits_s=(0.0, 0.0))


def served(agent: Agent, **models: ChatModel) -> httpx.ASGITransport:
    """An agent behind the real application, without a socket."""
    known = models or {"offline/trend": get_model("offline/trend")}
    return httpx.ASGITransport(agent_app(Served(agent, tuple(known), lambda m, _: known[m])))


class Arriving(httpx.AsyncByteStream):
    """Bytes that come in two pieces."""

    def __init__(self, held: bytes) -> None:
        self.held = held

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.held[: len(self.held) // 2]
        yield self.held[len(self.held) // 2 :]


def replying(*replies: Callable[[httpx.Request], httpx.Response] | httpx.Response) -> Any:
    """A transport that gives `replies` in turn, the last one for ever, and keeps the requests."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        reply = replies[min(len(seen), len(replies)) - 1]
        made = reply(request) if callable(reply) else reply
        # A response made from bytes counts as read already; one from the network does not.
        return httpx.Response(made.status_code, headers=made.headers, stream=Arriving(made.content))

    transport = httpx.MockTransport(handle)
    transport.seen = seen  # type: ignore[attr-defined]
    return transport


def desk(context: MarketContext | None = None, model: ChatModel | None = None, **more: Any) -> Desk:
    given = {"deadline_s": 5.0, "seed": 7} | more
    return Desk(
        context or market(), given.pop("view", FLAT), model or get_model("offline/trend"),
        given.pop("season", Season()), **given,
    )  # fmt: skip

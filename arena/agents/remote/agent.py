"""A remote agent as an agent of the arena: one exchange is one decision, whatever comes back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import ValidationError

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.memory.base import Dump, opened
from arena.agents.remote import protocol, wire
from arena.agents.remote.client import WAITS_S, post
from arena.agents.remote.entry import RemoteEntry
from arena.agents.remote.protocol import Outcome, Reply, ReplyError
from arena.agents.remote.record import OUTCOME_STATUS, calls_of
from arena.core.actions import ACTION_WORD, Intent, Status
from arena.core.errors import InvariantError
from arena.core.hashing import canonical_json
from arena.core.types import Decision, Past
from arena.llm.types import ChatReply, ChatRequest, ModelKind


@dataclass
class RemoteMemory:
    """What the remote agent asked us to keep, and the outcomes it has not been told yet."""

    kept: dict[str, Any] | None = None
    untold: list[list[Any]] = field(default_factory=list)

    def dump(self) -> dict[str, Any]:
        return {"kind": "remote", "version": 1, "kept": self.kept, "untold": list(self.untold)}


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The model behind a remote agent, as its desk holds it: a name that nobody here can ask."""

    id: str
    kind: ModelKind = "model"

    async def complete(self, req: ChatRequest) -> ChatReply:
        raise InvariantError(f"`{self.id}` works behind a remote agent; `{req.role}` cannot ask it")


class RemoteAgent(Agent):
    """The agent behind one `RemoteEntry`.

    Its request and the reply are one call of kind `tool`; steps that the reply reports follow it,
    marked `self_reported`. Outcomes of a learning agent wait in its memory and travel with the next
    request, so that a decision is one exchange and an outcome is not lost when that fails.

    It brings its models along, and each name says which payload it was sent: the backbones its entry
    lists, `NAME (ama/1)`, of which the desk's is sent by name, or the pseudo model `ama/1` or
    `arena/2`, which is not. `transport` replaces the network, for tests.
    """

    def __init__(
        self, entry: RemoteEntry, *, transport: httpx.AsyncBaseTransport | None = None,
        waits_s: Sequence[float] = WAITS_S,
    ) -> None:  # fmt: skip
        self.entry, self.transport, self.waits_s = entry, transport, waits_s
        self.id, self.label, self.learns = entry.id, entry.label, entry.learns
        self._backbones = {f"{name} ({entry.protocol})": name for name in entry.models}
        self.own_models = tuple(self._backbones) or (entry.protocol,)

    @property
    def _full(self) -> bool:
        return self.entry.protocol == wire.ARENA_2

    def memory(self, dump: Dump | None = None) -> RemoteMemory | None:
        if not self.learns:
            return None
        if dump is None:
            return RemoteMemory()
        held = opened(dump, "remote", 1)
        return RemoteMemory(held["kept"], [list(row) for row in held["untold"]])

    async def learn(self, desk: Desk, outcome: Past) -> None:
        memory = _memory_of(desk)
        if memory is None:
            raise InvariantError(f"`{self.id}` is told an outcome, but its desk has no memory")
        row = wire.past_row(outcome)
        memory.untold = [*memory.untold, [row[0].isoformat(), *row[1:]]][-wire.MAX_UNTOLD :]

    async def decide(self, desk: Desk) -> Decision:
        return await self._exchange(desk, None)

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        return await self._exchange(desk, outcome)

    async def _exchange(self, desk: Desk, outcome: Past | None) -> Decision:
        payload = self.request(desk, outcome)
        began = time.perf_counter()
        got = await post(
            self.entry.url, canonical_json(payload).encode(), timeout_s=self.entry.timeout_s,
            total_s=desk.deadline_s, allow_private=self.entry.allow_private,
            max_bytes=wire.MAX_REPLY_BYTES if self._full else protocol.MAX_REPLY_BYTES,
            waits_s=self.waits_s, transport=self.transport,
        )  # fmt: skip
        reply, part, problem = None, None, got.problem
        result = got.outcome
        if result is Outcome.OK:
            try:
                reply = protocol.read_reply(got.body)
                part = _own_part(reply, desk) if self._full else None
            except ReplyError as error:
                reply, result, problem = None, Outcome.INVALID_RESPONSE, str(error)
        desk.calls += calls_of(self.entry, len(desk.calls), payload, got, result, reply, problem, began)
        if reply is None:
            said = f"No decision of the remote agent ({result}): {problem}"
            return desk.decision(Intent.HOLD, OUTCOME_STATUS[result], said)
        if (memory := _memory_of(desk)) is not None:
            memory.kept, memory.untold = (part.memory if part else memory.kept), []
        if part is None:
            return desk.decision(reply.intent, Status.OK, reply.reasoning)
        desk.failed_roles += part.failed_roles
        return desk.decision(part.intent, part.status, reply.reasoning, part.conviction, part.evidence)

    def request(self, desk: Desk, outcome: Past | None = None) -> dict[str, Any]:
        """What is sent, as plain values. `outcome` makes it a warm-up session."""
        shown = desk.model.id
        model = self._backbones.get(shown, shown) if self._backbones else None
        payload = protocol.paper_request(desk.context, model).payload()
        if not self._full:
            return payload
        memory = _memory_of(desk)
        part = wire.ArenaPart(
            protocol="arena/2",
            market_hash=desk.context.market_hash,
            view_hash=desk.view.view_hash,
            context=wire.encode_context(desk.context),
            view=wire.encode_view(desk.view),
            season=desk.season,
            seed=desk.seed,
            deadline_s=min(self.entry.timeout_s, desk.deadline_s),
            memory=memory.kept if memory else None,
            learn=memory.untold if memory else [],  # type: ignore[arg-type]  # read by pydantic
            study=None if outcome is None else wire.past_row(outcome),
        )
        return payload | {"arena": part.model_dump(mode="json")}


def _memory_of(desk: Desk) -> RemoteMemory | None:
    return desk.memory if isinstance(desk.memory, RemoteMemory) else None


def _own_part(reply: Reply, desk: Desk) -> wire.ReplyPart | None:
    """Our own key of the reply; None from an endpoint that speaks the paper's protocol alone.

    Raises:
        ReplyError: it is malformed, contradicts the paper's keys, or answers another context.
    """
    if "arena" not in reply.raw:
        return None
    try:
        part = wire.ReplyPart.model_validate(reply.raw["arena"])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "object"
        raise ReplyError(f"`arena.{where}`: {first['msg']}") from None
    if part.market_hash != desk.context.market_hash:
        raise ReplyError("`arena.market_hash` is not that of the context sent")
    if ACTION_WORD[part.intent] != ACTION_WORD[reply.intent]:
        raise ReplyError("`arena.intent` and `recommended_action` contradict each other")
    return part

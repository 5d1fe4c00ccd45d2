"""What must be on disk of every paid attempt, so that a killed run neither pays twice nor forgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from arena.llm.types import ChatReply, Message

Ending = Literal["answered", "failed", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class AttemptOpened:
    """A request that is about to leave. `key` is the same in every execution of the run.

    `scope` is the id of the decision (or whatever else asked). Until the attempt is closed, the
    reservation counts as spent.
    """

    attempt_id: str
    key: str
    scope: str
    model: str
    role: str
    reserved_usd: float
    reserved_tokens: int


@dataclass(frozen=True, slots=True)
class AttemptClosed:
    """How an attempt ended. `charged_*` is what the budget was booked with.

    `reply` is there exactly when `ending` is `answered`; else `error` says why not.
    """

    attempt_id: str
    key: str
    ending: Ending
    charged_usd: float
    charged_tokens: int
    reply: ChatReply | None = None
    error: str = ""


class Journal(Protocol):
    """The durable record of attempts."""

    @property
    def answers(self) -> Mapping[str, ChatReply]:
        """Answers by key, of this and earlier executions."""
        ...

    @property
    def spent_usd(self) -> float:
        """Charged, plus the reservations of attempts that were never closed."""
        ...

    @property
    def spent_tokens(self) -> int: ...

    async def opened(self, attempt: AttemptOpened) -> None:
        """Write it durably before returning: the request leaves afterwards."""
        ...

    async def closed(self, attempt: AttemptClosed) -> None:
        """Write how it ended, the answer included, durably before returning."""
        ...


class MemoryJournal:
    """A journal that lasts as long as the process."""

    def __init__(self) -> None:
        self.answers: dict[str, ChatReply] = {}
        self.open: dict[str, AttemptOpened] = {}
        self.ended: list[AttemptClosed] = []

    @property
    def spent_usd(self) -> float:
        return sum(a.charged_usd for a in self.ended) + sum(
            a.reserved_usd for a in self.open.values()
        )

    @property
    def spent_tokens(self) -> int:
        return sum(a.charged_tokens for a in self.ended) + sum(
            a.reserved_tokens for a in self.open.values()
        )

    async def opened(self, attempt: AttemptOpened) -> None:
        self.open[attempt.attempt_id] = attempt

    async def closed(self, attempt: AttemptClosed) -> None:
        self.open.pop(attempt.attempt_id)
        self.ended.append(attempt)
        if attempt.reply is not None:
            self.answers[attempt.key] = attempt.reply


def reply_to_dict(reply: ChatReply) -> dict[str, Any]:
    """A reply as JSON-able values, for journals that write."""
    sent = None if reply.sent is None else [[m.role, m.content] for m in reply.sent]
    return {
        "text": reply.text, "model": reply.model, "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out, "cost_usd": reply.cost_usd, "latency_ms": reply.latency_ms,
        "params": dict(reply.params), "sent": sent,
    }  # fmt: skip


def reply_from_dict(stored: Mapping[str, Any]) -> ChatReply:
    """The reply that `reply_to_dict` wrote."""
    sent = stored["sent"]
    return ChatReply(
        **{**stored, "sent": None if sent is None else tuple(Message(r, c) for r, c in sent)}
    )

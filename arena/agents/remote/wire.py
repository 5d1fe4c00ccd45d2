"""`arena/2`: the whole sealed context, the track's view and its memory, under the key `arena`.

It stands beside the paper's keys, so an endpoint that knows those alone still understands the rest.
Both hashes travel and are checked on arrival. Keys of stories, brief and fundamentals that end in
`_utc` are times, those that end in `_date` are dates; everything else is plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from arena.agents.remote.protocol import MAX_PRICE, MIN_PRICE
from arena.agents.trace import storable
from arena.core.actions import ACTION_WORD, ActionSpec, Intent, Status
from arena.core.errors import InvariantError
from arena.core.season import Season
from arena.core.types import (
    Asset,
    AssetClass,
    Bar,
    Call,
    Decision,
    MarketContext,
    Past,
    TrackView,
)

ARENA_2 = "arena/2"
MAX_REQUEST_BYTES = 8 * 1024 * 1024
MAX_REPLY_BYTES = 8 * 1024 * 1024
"""Memory and trace travel too, so 64 KiB would not do."""

MAX_UNTOLD = 250
"""Outcomes that one request may carry: about a year."""

# Whole numbers stay whole, because the hashes cover how a number is written.
_WHOLE = Annotated[int, Field(strict=True, ge=-(10**18), le=10**18)]
Number = _WHOLE | Annotated[float, Field(ge=-1e18, le=1e18, allow_inf_nan=False)]
Price = (
    Annotated[int, Field(strict=True, ge=1, le=int(MAX_PRICE))]
    | Annotated[float, Field(ge=MIN_PRICE, le=MAX_PRICE, allow_inf_nan=False)]
)
PastRow = tuple[date, Annotated[str, Field(max_length=40)], Price, Number | None]
BarRow = tuple[date, Price, Price, Price, Price, Number | None, AwareDatetime]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AssetPart(_Part):
    id: str = Field(min_length=1, max_length=40)
    name: str = Field(max_length=200)
    asset_class: AssetClass
    synthetic: bool = False


class ContextPart(_Part):
    """A `MarketContext`; bars are rows of session, open, high, low, close, volume, known_at_utc."""

    asset: AssetPart
    session: date
    as_of_utc: AwareDatetime
    bars: list[BarRow] = Field(min_length=1, max_length=10_000)
    stories: list[dict[str, Any]] = []
    brief: dict[str, Any] | None = None
    fundamentals: list[dict[str, Any]] = []


class ViewPart(_Part):
    """A `TrackView`; past decisions are rows of session, action, price, next_return_frac."""

    side: Literal[-1, 0, 1]
    equity: Number
    exposure_frac: Number
    entry_price: Price | None
    past: list[PastRow] = Field(max_length=100)
    hold: Literal["flat", "keep"]
    shorting: bool
    memory: dict[str, Any] | None = None


class ArenaPart(_Part):
    """What one decision hangs on. `learn` are outcomes the agent has not been told yet, oldest first;
    a `study` asks for a warm-up session whose outcome is given."""

    protocol: Literal["arena/2"]
    market_hash: str
    view_hash: str
    context: ContextPart
    view: ViewPart
    season: Season
    seed: int = Field(ge=0, lt=2**63)
    deadline_s: float = Field(gt=0, le=86_400)
    memory: dict[str, Any] | None = None
    learn: list[PastRow] = Field(default=[], max_length=MAX_UNTOLD)
    study: PastRow | None = None


class CallPart(BaseModel):
    """One step of a remote trace, as far as the remote tells."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    kind: Literal["model", "tool", "compute", "memory"]
    role: str = Field(max_length=100)
    model: str = Field(default="-", max_length=200)
    status: Status = Status.OK
    attempt: int = Field(default=1, ge=1, le=1_000)
    prompt: str = ""
    answer: str = ""
    parsed: dict[str, Any] | None = None
    error: str | None = None
    params: dict[str, Any] = {}
    tokens_in: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    tokens_out: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class ReplyPart(BaseModel):
    """The key `arena` of a reply: the decision in the arena's own words."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    market_hash: str
    intent: Intent
    status: Status
    conviction: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)] | None = None
    evidence: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=200)
    failed_roles: list[Annotated[str, Field(max_length=100)]] = Field(default=[], max_length=200)
    memory: dict[str, Any] | None = None


def encode_context(market: MarketContext) -> ContextPart:
    a = market.asset
    return ContextPart(
        asset=AssetPart(id=a.id, name=a.name, asset_class=a.asset_class, synthetic=a.synthetic),
        session=market.session,
        as_of_utc=market.as_of_utc,
        bars=[(b.session, b.open, b.high, b.low, b.close, b.volume, b.known_at_utc) for b in market.bars],
        stories=[sent(s) for s in market.stories],
        brief=None if market.brief is None else sent(market.brief),
        fundamentals=[sent(f) for f in market.fundamentals],
    )


def decode_context(part: ContextPart) -> MarketContext:
    """The context again.

    Raises:
        InvariantError: it holds something that was not known at its slot.
        ValueError: a time or date cannot be read, or the bars do not lead up to the session.
    """
    a, days = part.asset, [row[0] for row in part.bars]
    if days != sorted(set(days)) or days[-1] != part.session:
        raise ValueError("`context.bars` must rise by session and end with the slot's")
    _must_hold(part.stories, "stories", ("id", "title", "known_at_utc"))
    _must_hold(part.fundamentals, "fundamentals", ("id", "field", "period", "value", "known_at_utc"))
    _must_hold([part.brief] if part.brief else [], "brief", ("summary", "sentiment", "score"))
    return MarketContext(
        Asset(a.id, a.name, a.asset_class, a.synthetic),
        part.session,
        part.as_of_utc.astimezone(UTC),
        tuple(Bar(*row[:6], row[6].astimezone(UTC)) for row in part.bars),
        tuple(received(s) for s in part.stories),
        None if part.brief is None else received(part.brief),
        tuple(received(f) for f in part.fundamentals),
    )


def encode_view(view: TrackView) -> ViewPart:
    return ViewPart.model_validate(view.content())


def decode_view(part: ViewPart) -> TrackView:
    return TrackView(
        part.side, part.equity, part.exposure_frac, part.entry_price,
        tuple(Past(*row) for row in part.past), ActionSpec(part.hold, part.shorting), part.memory,
    )  # fmt: skip


def past_row(past: Past) -> PastRow:
    return past.session, past.action, past.price, past.next_return_frac


def encode_decision(decision: Decision, market_hash: str, memory: dict[str, Any] | None) -> dict[str, Any]:
    """A whole reply: the paper's two keys first, then ours. Times of the work stay out: equal work
    gives an equal reply."""
    part = ReplyPart(
        market_hash=market_hash,
        intent=decision.intent,
        status=decision.status,
        conviction=decision.conviction,
        evidence=list(decision.evidence),
        failed_roles=list(decision.failed_roles),
        memory=memory,
    )
    return {
        "recommended_action": ACTION_WORD[decision.intent],
        "reasoning": storable(decision.reason),
        "usage": usage(decision),
        "arena": {"protocol": ARENA_2, **part.model_dump(mode="json")},
        "trace": [_call_part(c).model_dump(mode="json") for c in decision.calls],
    }


def usage(decision: Decision) -> dict[str, int | float | None]:
    """Tokens and cost of all calls; None as soon as one of them is unknown."""
    return {
        "tokens_in": _total([c.tokens_in for c in decision.calls]),
        "tokens_out": _total([c.tokens_out for c in decision.calls]),
        "cost_usd": _total([c.cost_usd for c in decision.calls]),
    }


def _total(values: list[Any]) -> Any:
    return None if any(v is None for v in values) else sum(values)


def _call_part(call: Call) -> CallPart:
    return CallPart(
        kind=call.kind, role=call.role, model=call.model, status=Status(call.status),
        attempt=call.attempt, prompt=call.prompt, answer=call.answer, parsed=call.parsed,
        error=call.error, params=call.params, tokens_in=call.tokens_in, tokens_out=call.tokens_out,
        cost_usd=call.cost_usd,
    )  # fmt: skip


def sent(value: Mapping[str, Any]) -> dict[str, Any]:
    """Plain JSON values of a story, brief or figure.

    Raises:
        InvariantError: a time or date stands under a key that would not bring it back.
    """
    plain: dict[str, Any] = {}
    for key, held in value.items():
        if isinstance(held, datetime):
            _must_end(key, "_utc")
            held = held.isoformat()
        elif isinstance(held, date):
            _must_end(key, "_date")
            held = held.isoformat()
        plain[key] = list(held) if isinstance(held, tuple) else held
    return plain


def received(value: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `sent`.

    Raises:
        ValueError: a time without a zone, or something that is no time or date.
    """
    back = dict(value)
    for key, held in value.items():
        if key.endswith("_utc") and held is not None:
            back[key] = _utc(key, held)
        elif key.endswith("_date") and held is not None:
            back[key] = date.fromisoformat(str(held))
    return back


def _must_hold(rows: Sequence[Mapping[str, Any]], where: str, keys: tuple[str, ...]) -> None:
    for row in rows:
        if missing := [k for k in keys if k not in row]:
            raise ValueError(f"`context.{where}` lacks `{missing[0]}`")


def _utc(key: str, held: Any) -> datetime:
    moment = datetime.fromisoformat(str(held))
    if moment.tzinfo is None:
        raise ValueError(f"`{key}` has no time zone")
    return moment.astimezone(UTC)


def _must_end(key: str, ending: str) -> None:
    if not key.endswith(ending):
        raise InvariantError(f"`{key}` cannot travel to a remote agent: name it so that it ends in {ending}")

"""What flows between the rooms: sealed market, a track's own view, decisions and traced calls.

All are frozen. Times are aware UTC datetimes; ratios are fractions; prices are in the quote
currency of the asset. A `MarketContext` is what every agent may see at a slot; a `TrackView` is
what one track alone sees. The ledger is another type and never reaches an agent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal

from arena.core.actions import ActionSpec, Intent, Status
from arena.core.errors import InvariantError
from arena.core.hashing import sha256_json

AssetClass = Literal["stock", "etf", "crypto"]


@dataclass(frozen=True, slots=True)
class Asset:
    """A tradable thing. `id` is ours; venue symbols are attributes of it (see `data/assets.toml`)."""

    id: str
    name: str
    asset_class: AssetClass
    synthetic: bool = False
    symbols: dict[str, str] = field(default_factory=dict)

    @property
    def annual_base(self) -> int:
        """Marks a year: 365 for crypto, 252 for what trades on NYSE sessions (definitions 1.3)."""
        return 365 if self.asset_class == "crypto" else 252


@dataclass(frozen=True, slots=True)
class Bar:
    """One finished session. `known_at_utc` is its close: before that nobody could know it."""

    session: date
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    known_at_utc: datetime


@dataclass(frozen=True, slots=True)
class Slot:
    """The moment a decision is due. `key` goes into ids; `session` is the last closed session."""

    asset: str
    session: date
    as_of_utc: datetime

    @property
    def key(self) -> str:
        return self.session.isoformat()


@dataclass(frozen=True)
class MarketContext:
    """What every agent may see at `as_of_utc`, the same for all tracks of the slot.

    `bars` end with the session of the slot, oldest first. `stories`, `brief` and `fundamentals`
    are plain JSON-able values of the news and filings rooms.

    Raises:
        InvariantError: any datum was not yet known at `as_of_utc`.
    """

    asset: Asset
    session: date
    as_of_utc: datetime
    bars: tuple[Bar, ...]
    stories: tuple[dict[str, Any], ...] = ()
    brief: dict[str, Any] | None = None
    fundamentals: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        late = [b.session for b in self.bars if b.known_at_utc > self.as_of_utc]
        if late:
            raise InvariantError(
                f"look-ahead: bar {late[0]} of {self.asset.id} was not known at {self.as_of_utc}"
            )
        known = [d for d in (*self.stories, *self.fundamentals) if d["known_at_utc"] > self.as_of_utc]
        if known:
            raise InvariantError(f"look-ahead: `{known[0].get('id')}` was not known at {self.as_of_utc}")
        told = {s["id"] for s in self.stories}
        if self.brief is not None and (unread := set(self.brief.get("story_ids", ())) - told):
            raise InvariantError(f"the brief uses `{min(unread)}`, which is not among the stories")

    @property
    def price(self) -> float:
        """Close of the last bar."""
        return self.bars[-1].close

    @cached_property
    def market_hash(self) -> str:
        """SHA-256 of everything above: equal for all tracks of a slot, stored on every decision."""
        return sha256_json(
            {
                "asset": self.asset.id,
                "class": self.asset.asset_class,
                "session": self.session,
                "as_of": self.as_of_utc,
                "bars": [
                    [b.session, b.open, b.high, b.low, b.close, b.volume, b.known_at_utc]
                    for b in self.bars
                ],
                "stories": self.stories,
                "brief": self.brief,
                "fundamentals": self.fundamentals,
            }
        )


@dataclass(frozen=True, slots=True)
class Past:
    """One earlier decision of the track and what the asset did next: close to next close.

    In a view, `action` ends in `actions.GIVEN` where a teacher's warm-up gave it.
    """

    session: date
    action: str
    price: float
    next_return_frac: float | None


@dataclass(frozen=True)
class TrackView:
    """What only this track sees: its reference account (strategy Baseline, net) and its memory.

    `side` is -1, 0 or 1; `exposure_frac` is signed notional over equity; `past` has at most the
    season's memory (7) of decisions, oldest first.
    """

    side: int
    equity: float
    exposure_frac: float
    entry_price: float | None
    past: tuple[Past, ...]
    spec: ActionSpec
    memory: dict[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        """Plain values of the view; its canonical JSON is stored beside the decision."""
        return {
            "side": self.side,
            "equity": self.equity,
            "exposure_frac": self.exposure_frac,
            "entry_price": self.entry_price,
            "past": [[p.session, p.action, p.price, p.next_return_frac] for p in self.past],
            "hold": self.spec.hold,
            "shorting": self.spec.shorting,
            "memory": self.memory,
        }

    @cached_property
    def view_hash(self) -> str:
        """SHA-256 of the canonical JSON of `content()`."""
        return sha256_json(self.content())


@dataclass(frozen=True, slots=True)
class Call:
    """One traced step of a decision: a model answer, a tool, a computation or a memory operation.

    Prompts and answers are whole texts here; the store keeps them once by SHA-256. `params` are
    the *effective* generation parameters. `cost_usd` None means unknown, never free.
    """

    seq: int
    kind: Literal["model", "tool", "compute", "memory"]
    role: str
    model: str
    status: str
    attempt: int
    prompt: str
    answer: str
    parsed: dict[str, Any] | None
    error: str | None
    params: dict[str, Any]
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent decided. `conviction` is in [0, 1] or unknown; `calls` are its whole trace.

    `failed_roles` are inner roles that gave no usable answer and that the agent went on without.
    """

    intent: Intent
    status: Status
    reason: str
    conviction: float | None = None
    evidence: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    failed_roles: tuple[str, ...] = ()

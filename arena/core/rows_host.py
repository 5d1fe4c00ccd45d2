"""Rows of what happened on this host: money, sources, jobs, quotes, who did what, and when.

They stay out of exports unless asked for. As in `core.rows`, field order is column order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class SourceHealthRow:
    """One poll of one source: what came of it, and why items stayed out. Append-only."""

    TABLE: ClassVar[str] = "source_health"
    source: str
    at_utc: datetime
    status: str
    n_items: int
    n_kept: int
    refused_json: str
    error: str | None
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """What may have cost money. `event` is opened (`usd` = reserved) or closed (`usd` = charged).

    `request_key` names the request whatever the attempt; an answer is kept with its closing, so
    that a run that was killed never pays for it again.
    """

    TABLE: ClassVar[str] = "attempts"
    attempt: str
    event: str
    run: str
    decision: str
    request_key: str
    role: str
    model: str
    status: str
    usd: float | None
    tokens_in: int | None
    tokens_out: int | None
    answer: str | None
    params_json: str | None
    error: str | None
    at_utc: datetime


@dataclass(frozen=True, slots=True)
class QuoteRow:
    """A price of the moment. `at_utc` is when it held (the venue's time, else that of the answer).
    Never part of a metric; a live coin's order fills at the first one after its slot."""

    TABLE: ClassVar[str] = "quotes"
    asset: str
    at_utc: datetime
    source: str
    price: float
    fetched_at_utc: datetime


@dataclass(frozen=True, slots=True)
class JobRow:
    """Work that somebody asked for. `status` is queued, running, done, failed, stopped or interrupted.

    `request_json` is all that is needed to begin it or to begin it again; it never holds a key.
    `requested_by` is `visitor`, `admin` or `host`, `origin` a keyed hash of who, for limits and audit.
    `run` is the first run that it made. The last row written counts; it is updated in place.
    """

    TABLE: ClassVar[str] = "jobs"
    job: str
    kind: str
    title: str
    request_json: str
    requested_by: str
    origin: str
    status: str
    step: str
    n_done: int
    n_planned: int
    spent_usd: float
    budget_usd: float | None
    eta_s: float | None
    run: str | None
    error: str | None
    stop_asked: bool
    created_at_utc: datetime
    started_at_utc: datetime | None
    finished_at_utc: datetime | None


@dataclass(frozen=True, slots=True)
class LiveSeasonRow:
    """A live season that an admin enrolled beside that of `data/seasons.toml`. `spec_json` is its
    RunSpec, `budget_day_usd` and `budget_usd` bound what it may spend (None: nothing)."""

    TABLE: ClassVar[str] = "live_seasons"
    run: str
    label: str
    spec_json: str
    strategies_json: str
    budget_day_usd: float | None
    budget_usd: float | None
    enrolled_by: str
    enrolled_at_utc: datetime
    ended_at_utc: datetime | None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Who did what: launches, refusals, enrolments, voids, and what the runner itself had to do.

    `origin` is a keyed hash, never an address. `seq` counts from 1.
    """

    TABLE: ClassVar[str] = "audit"
    seq: int
    at_utc: datetime
    who: str
    action: str
    origin: str
    detail_json: str


@dataclass(frozen=True, slots=True)
class TimingRow:
    """How long a step of a live round took, and what came of it."""

    TABLE: ClassVar[str] = "timings"
    run: str
    as_of_utc: datetime
    step: str
    started_at_utc: datetime
    took_s: float
    detail: str


HostRow = (
    AttemptRow | SourceHealthRow | QuoteRow | JobRow | LiveSeasonRow | AuditRow | TimingRow
)  # fmt: skip

HOST_TABLES: tuple[type[HostRow], ...] = (
    AttemptRow, SourceHealthRow, QuoteRow, JobRow, LiveSeasonRow, AuditRow, TimingRow,
)  # fmt: skip

HOST_SORT_KEYS: dict[str, tuple[str, ...]] = {
    "attempts": ("attempt", "event"),
    "source_health": ("source", "at_utc"),
    "quotes": ("asset", "at_utc", "source"),
    "jobs": ("job",),
    "live_seasons": ("run",),
    "audit": ("seq",),
    "timings": ("run", "as_of_utc", "step", "started_at_utc"),
}

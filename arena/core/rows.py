"""Rows of the store, one frozen class a table; field order is column order.

The store writes what it is handed and knows no finance. `HOST_COLUMNS` hold wall clock or host
values: they stay out of exports unless asked for, so that equal work gives equal bytes.
`*_json` fields hold canonical JSON text. Times are aware UTC; sessions are dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar

from arena.core.rows_host import HOST_SORT_KEYS, HostRow
from arena.core.rows_host import HOST_TABLES as HOST_TABLES
from arena.core.rows_host import AttemptRow as AttemptRow
from arena.core.rows_host import SourceHealthRow as SourceHealthRow


@dataclass(frozen=True, slots=True)
class SeasonRow:
    TABLE: ClassVar[str] = "seasons"
    season: str
    settings_json: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """`status` is running, done, stopped or failed. `source` is sample, live or files:<hash>.

    `end` of a live run is `season.OPEN_END`. `workbench` marks ad-hoc runs, which pages list apart;
    one that expires is deleted at `expires_at_utc`.
    """

    TABLE: ClassVar[str] = "runs"
    run: str
    kind: str
    epoch: int
    season: str
    parent: str | None
    spec_json: str
    fill: str
    source: str
    synthetic: bool
    start: date
    end: date
    n_planned: int
    revision: int
    status: str
    note: str | None
    voided_reason: str | None
    code_version: str
    created_at_utc: datetime
    finished_at_utc: datetime | None
    workbench: bool = False
    expires_at_utc: datetime | None = None


@dataclass(frozen=True, slots=True)
class AssetRow:
    TABLE: ClassVar[str] = "assets"
    asset: str
    name: str
    asset_class: str
    synthetic: bool
    annual_base: int
    symbols_json: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar of `revision`: the state at revision r is, for each session, the highest revision <= r."""

    TABLE: ClassVar[str] = "bars"
    asset: str
    session: date
    revision: int
    open: float
    high: float
    low: float
    close: float
    adj_close: float | None
    volume: float | None
    source: str
    known_at_utc: datetime
    fetched_at_utc: datetime


@dataclass(frozen=True, slots=True)
class PriceCheckRow:
    """Something seen and not changed: kind is gap, jump, disagree, scale, revision or quarantine."""

    TABLE: ClassVar[str] = "price_checks"
    asset: str
    session: date
    kind: str
    source: str
    value: float | None
    other: float | None
    detail: str
    found_at_utc: datetime


@dataclass(frozen=True, slots=True)
class ContextRow:
    """What was sealed. Bars are found by their revision; stories, brief and filed figures are texts
    in `blobs` (canonical JSON of what agents saw), None where there were none. `brief` is the id of the
    brief that was read: where its maker failed, none was."""

    TABLE: ClassVar[str] = "contexts"
    market_hash: str
    asset: str
    session: date
    as_of_utc: datetime
    first_session: date
    n_bars: int
    revision: int
    n_stories: int = 0
    stories_sha256: str | None = None
    brief: str | None = None
    brief_sha256: str | None = None
    fundamentals_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """An admitted item about one asset; `story` is the story it tells. `flags_json` says why it reads
    like an instruction, `suspicion` in [0, 1] how much."""

    TABLE: ClassVar[str] = "articles"
    asset: str
    article: str
    story: str
    title: str
    url: str
    text: str
    outlet: str
    origin: str
    trust: str
    kind: str
    category: str
    ts_quality: str
    published_at_utc: datetime | None
    known_at_utc: datetime
    collected_at_utc: datetime | None
    suspicion: float
    flags_json: str
    fetched_at_utc: datetime


@dataclass(frozen=True, slots=True)
class BriefRow:
    """A brief of one asset at one slot, or its model's failure to make one. `content_json` is what
    agents saw of it ("null" for a failure); prompts and answers are texts in `blobs`."""

    TABLE: ClassVar[str] = "briefs"
    brief: str
    asset: str
    session: date
    as_of_utc: datetime
    maker: str
    kind: str
    status: str
    content_json: str
    n_stories: int
    n_items: int
    n_outlets: int
    n_calls: int
    prompt_sha256: str | None
    answer_sha256: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    error: str | None
    made_at_utc: datetime
    latency_ms: float


@dataclass(frozen=True, slots=True)
class BriefScoreRow:
    """One of the four rules of quality, 0 to 2. `scorer` is `code` or `judge:` and a model."""

    TABLE: ClassVar[str] = "brief_scores"
    brief: str
    rule: str
    scorer: str
    score: int
    evidence: str


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A person's scores of a brief; the highest `revision` of a reviewer counts."""

    TABLE: ClassVar[str] = "reviews"
    brief: str
    reviewer: str
    revision: int
    date_accuracy: int
    coverage: int
    bias_awareness: int
    source_diversity: int
    rejected: bool
    note: str
    at_utc: datetime


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A host's dated remark on an asset, drawn on its chart."""

    TABLE: ClassVar[str] = "notes"
    note: str
    asset: str
    session: date
    text: str
    author: str
    at_utc: datetime


@dataclass(frozen=True, slots=True)
class FactRow:
    """A filed figure; a restatement is a later row of the same field and period."""

    TABLE: ClassVar[str] = "fundamentals"
    asset: str
    field: str
    period: str
    filed: date
    value: float
    form: str
    source: str
    known_at_utc: datetime
    fetched_at_utc: datetime


@dataclass(frozen=True, slots=True)
class BlobRow:
    """A prompt, an answer, a track view or a part of a context, once, by the SHA-256 of its text."""

    TABLE: ClassVar[str] = "blobs"
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """`seq` counts the track's decisions from 0; `chain_hash` covers this one and all before it.

    `phase` is live or warmup. `memory_sha256` is of the track's memory after this decision.
    """

    TABLE: ClassVar[str] = "decisions"
    decision: str
    run: str
    track: str
    agent: str
    model: str
    asset: str
    slot_key: str
    session: date
    as_of_utc: datetime
    seq: int
    phase: str
    intent: str
    action: str
    status: str
    late: bool
    conviction: float | None
    reason: str
    evidence_json: str
    price: float
    position_before: int
    market_hash: str
    view_hash: str
    n_calls: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    chain_hash: str
    decided_at_utc: datetime
    latency_ms: float
    n_failed_roles: int = 0
    memory_sha256: str | None = None


LATER_COLUMNS: dict[str, dict[str, object]] = {
    "runs": {"workbench": False, "expires_at_utc": None},
    "decisions": {"n_failed_roles": 0, "memory_sha256": None},
    "contexts": {
        "n_stories": 0, "stories_sha256": None, "brief": None, "brief_sha256": None,
        "fundamentals_sha256": None,
    },
}  # fmt: skip
"""Columns added after stores were out there, with the value that older rows have. Where a row has
that value, its chain link does not cover the column, so that older chains still hold."""


@dataclass(frozen=True, slots=True)
class CallRow:
    TABLE: ClassVar[str] = "calls"
    decision: str
    seq: int
    kind: str
    role: str
    model: str
    status: str
    attempt: int
    prompt_sha256: str
    answer_sha256: str
    parsed_json: str | None
    error: str | None
    params_json: str
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float


@dataclass(frozen=True, slots=True)
class FillRow:
    """One leg of a trade of the net book. `units` are signed; `rule` is close, next_open,
    quote (live coins) or forced_close."""

    TABLE: ClassVar[str] = "fills"
    account: str
    session: date
    leg: int
    slot_key: str
    filled_at_utc: datetime
    units: float
    price: float
    fee: float
    rule: str


@dataclass(frozen=True, slots=True)
class EquityRow:
    """State of an account after all fills up to close(session). `account_key` = hashing.account_key(id)."""

    TABLE: ClassVar[str] = "equity"
    account_key: int
    session: date
    price: float
    side: int
    units: float
    cash: float
    balance: float
    balance_gross: float


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """What pages read for one account. `metrics_json`: {NAME: metric result object}, mode standard.

    `grp` is model, stand_in, vote, benchmark or import. `position` is the side before a forced close.
    """

    TABLE: ClassVar[str] = "account_summary"
    account: str
    account_key: int
    run: str
    agent: str
    model: str
    asset: str
    strategy: str
    grp: str
    start: date
    end: date
    n_sessions: int
    n_decisions: int
    n_failed: int
    n_gaps: int
    n_late: int
    balance: float
    balance_gross: float
    bankrupt: bool
    position: int
    last_action: str | None
    last_action_session: date | None
    metrics_json: str
    sparkline_json: str


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A track's memory after its decision `seq`: the canonical JSON of its dump. One row a track."""

    TABLE: ClassVar[str] = "memory"
    track: str
    run: str
    seq: int
    content_json: str


@dataclass(frozen=True, slots=True)
class ActionRow:
    """A corporate action of a live asset: `kind` is split (`value` = new shares for one old) or
    dividend (`value` in quote currency a share), in force from the open of `ex_date`."""

    TABLE: ClassVar[str] = "actions"
    asset: str
    ex_date: date
    kind: str
    source: str
    value: float
    known_at_utc: datetime
    fetched_at_utc: datetime


Row = (
    SeasonRow | RunRow | AssetRow | BarRow | PriceCheckRow | ContextRow | BlobRow
    | DecisionRow | CallRow | FillRow | EquityRow | SummaryRow | MemoryRow
    | ArticleRow | BriefRow | BriefScoreRow | ReviewRow | NoteRow | FactRow | ActionRow | HostRow
)  # fmt: skip

TABLES: tuple[type[Row], ...] = (
    SeasonRow, RunRow, AssetRow, BarRow, PriceCheckRow, ContextRow, BlobRow,
    DecisionRow, CallRow, FillRow, EquityRow, SummaryRow, MemoryRow,
    ArticleRow, BriefRow, BriefScoreRow, ReviewRow, NoteRow, FactRow, ActionRow,
)  # fmt: skip

LATER_TABLES: tuple[type[Row], ...] = (
    ArticleRow, BriefRow, BriefScoreRow, ReviewRow, NoteRow, FactRow, ActionRow,
)  # fmt: skip
"""Tables younger than the first exports, which have no file for them."""

HOST_COLUMNS: dict[str, frozenset[str]] = {
    "runs": frozenset({
        "created_at_utc", "finished_at_utc", "code_version", "workbench", "expires_at_utc"
    }),
    "bars": frozenset({"fetched_at_utc"}),
    "price_checks": frozenset({"found_at_utc"}),
    "decisions": frozenset({"decided_at_utc", "latency_ms"}),
    "calls": frozenset({"latency_ms"}),
    "articles": frozenset({"fetched_at_utc"}),
    "fundamentals": frozenset({"fetched_at_utc"}),
    "briefs": frozenset({"made_at_utc", "latency_ms"}),
    "reviews": frozenset({"at_utc"}),
    "notes": frozenset({"at_utc"}),
    "actions": frozenset({"fetched_at_utc"}),
}

SORT_KEYS: dict[str, tuple[str, ...]] = {
    "seasons": ("season",),
    "runs": ("run",),
    "assets": ("asset",),
    "bars": ("asset", "session", "revision"),
    "price_checks": ("asset", "session", "kind", "source"),
    "contexts": ("market_hash",),
    "blobs": ("sha256",),
    "decisions": ("decision",),
    "calls": ("decision", "seq"),
    "fills": ("account", "session", "leg"),
    "equity": ("account_key", "session"),
    "account_summary": ("account",),
    "memory": ("track",),
    "articles": ("asset", "article"),
    "briefs": ("brief",),
    "brief_scores": ("brief", "rule", "scorer"),
    "reviews": ("brief", "reviewer", "revision"),
    "notes": ("note",),
    "fundamentals": ("asset", "field", "period", "filed"),
    "actions": ("asset", "ex_date", "kind", "source"),
    **HOST_SORT_KEYS,
}


@dataclass(frozen=True, slots=True)
class WriteUnit:
    """Rows that are stored together or not at all.

    `key` is a decision id: if it is stored already, the whole unit changes nothing. Without a key,
    rows with a primary key are inserted only where missing. `summaries` replace those of the same
    account, and `memory` that of the same track. `heads` maps a track to its newest chain hash, for the head file.

    `once` is the same for units without a decision: (account id, session); if that account has an
    equity row of that session already, the whole unit changes nothing.
    """

    rows: tuple[Row, ...] = ()
    summaries: tuple[SummaryRow, ...] = ()
    memory: MemoryRow | None = None
    key: str | None = None
    heads: tuple[tuple[str, str], ...] = ()
    once: tuple[str, date] | None = None

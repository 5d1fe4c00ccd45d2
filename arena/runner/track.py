"""One track of a run: its ledger, its log and its chain; from a decision to the rows of one transaction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime

from arena.agents.memory.base import Memory
from arena.core.actions import ACTION_WORD, FAILED, GAPS, GIVEN, INTENT_CODE, Intent, Status
from arena.core.hashing import canonical_json, sha256_json, sha256_text
from arena.core.ids import TrackId
from arena.core.rows import (
    HOST_COLUMNS,
    LATER_COLUMNS,
    ActionRow,
    BlobRow,
    CallRow,
    DecisionRow,
    EquityRow,
    FillRow,
    MemoryRow,
    Row,
)
from arena.core.season import Season
from arena.core.types import Asset, Bar, Call, Decision, Past, Slot, TrackView
from arena.market.calendars import close_utc, open_utc
from arena.runner.ledger import Ledger
from arena.runner.summary import Counts
from arena.runner.totals import total

QuoteOf = Callable[[datetime, datetime], tuple[float, datetime] | None]
"""First price that was quoted in [since, before), and its time."""

ActionsOf = Callable[[Slot, date], Sequence[ActionRow]]
"""Splits and dividends with since < ex-date <= session of the slot, as they were known then, in order."""

COVERED = {
    kind.TABLE: tuple(
        f.name for f in fields(kind) if f.name not in HOST_COLUMNS[kind.TABLE] | {"chain_hash"}
    )
    for kind in (DecisionRow, CallRow)
}
"""Columns that a chain covers: all but wall clock and the chain itself."""


def content(row: DecisionRow | CallRow) -> dict[str, object]:
    """The part of a row that the chain covers; not the columns younger than the table where they
    hold what older rows hold."""
    later = LATER_COLUMNS.get(row.TABLE, {})
    # Not `asdict`: rows are flat, and its deep copy would be half the work of a chain.
    values = {name: getattr(row, name) for name in COVERED[row.TABLE]}
    return {k: v for k, v in values.items() if not (k in later and v == later[k])}


def next_link(previous: str, decision: DecisionRow, calls: Sequence[CallRow]) -> str:
    """Hash of the previous link and the canonical content of one decision with its calls."""
    return sha256_json([previous, content(decision), [content(c) for c in calls]])


@dataclass
class Settled:
    """Rows that one session brought to the accounts of a track."""

    equity: list[EquityRow] = field(default_factory=list)
    fills: list[FillRow] = field(default_factory=list)

    def add(self, rows: tuple[list[EquityRow], list[FillRow]]) -> None:
        """Newer equity rows of the same session replace older ones; fills add up."""
        self.equity, self.fills = rows[0], self.fills + rows[1]


@dataclass(frozen=True, slots=True)
class Logged:
    """One decision as its track remembers it; `price` is the close (or the carried mark) then, in
    the shares of now.

    `given` marks the action of a teacher's warm-up, made with the next move known.
    """

    session: date
    intent: Intent
    status: Status
    price: float
    given: bool = False

    @property
    def action(self) -> str:
        return ACTION_WORD[self.intent]


class Track:
    """State of one track between slots. `begin`, `view`, `finish` are called once a slot, in order.

    Restoring from the store calls the same three with the stored intent, so a resumed run and an
    undisturbed one do the same arithmetic.

    Args:
        first_live: first session that counts. A track with `warmup` also has slots before it: they
            are played on a paper account that nothing is stored of, but the decisions are.
        taught: the actions of the warm-up are given, not the agent's own.
        live_price: mark of the accounts before their first session trades.
        memory: what its agent remembers, or None.
    """

    def __init__(
        self, id: TrackId, asset: Asset, season: Season, strategies: Sequence[str], group: str,
        *, first_live: date, live_price: float, warmup: bool = False, taught: bool = False,
        memory: Memory | None = None,
    ) -> None:  # fmt: skip
        self.id, self.asset, self.season, self.group = id, asset, season, group
        self.strategies, self.first_live, self.live_price = strategies, first_live, live_price
        self.warmup, self.taught, self.memory = warmup, taught, memory
        self.log: list[Logged] = []
        self.chain = sha256_text(str(id))
        self._memory_sha256 = ""
        self.saving: Future[bool] | None = None
        """Commit of the newest decision."""
        self.quote_of: QuoteOf | None = None
        """Live coins: their orders fill at a quote, where there is one."""
        self.actions_of: ActionsOf | None = None
        """Live stocks: the ledger works in what happens to a share. Bars of replays have it worked in."""
        self.priced: date | None = None
        """Last session with a price."""
        self._open("warmup" if warmup else "live")

    def _open(self, phase: str) -> None:
        """Fresh accounts: flat, at the season's capital."""
        self.phase = phase
        self.counts = Counts()
        self.ledger = Ledger(
            self.id, self.asset, self.season, self.strategies if phase == "live" else ()
        )
        self.ledger.last_price = self.live_price
        self.order, self.order_slot = INTENT_CODE[Intent.KEEP], ""
        self.order_since: datetime | None = None
        """From when on the waiting order may fill."""
        self.last_slot_utc: datetime | None = None
        self.entry_price: float | None = None

    def wants(self, slot: Slot) -> bool:
        """Whether a decision of this track is due at `slot`."""
        return slot.asset == self.asset.id and (self.warmup or slot.session >= self.first_live)

    def decided(self, slot: Slot) -> bool:
        """Whether its decisions reach `slot` already (a resumed run)."""
        return bool(self.log) and self.log[-1].session >= slot.session

    def begin(self, slot: Slot, bar: Bar | None) -> Settled:
        """Splits and dividends since the last price; then, with fill `next`, execute the previous
        slot's order at its first quote or, without one, at this session's open; mark at its close."""
        if self.phase == "warmup" and slot.session >= self.first_live:
            self._open("live")
        if bar is not None:
            self._corporate_actions(slot)
            self.priced = slot.session
        settled = Settled()
        if self.season.fill == "next":
            quote = self._quote(slot) if bar else None
            if quote is not None:
                settled.add(self._settle(slot, bar, quote[0], "quote", quote[1]))
            else:
                settled.add(self._settle(slot, bar, bar.open if bar else math.nan, "next_open"))
            if bar is not None:
                self.order = INTENT_CODE[Intent.KEEP]
        return settled

    def _corporate_actions(self, slot: Slot) -> None:
        """What the track remembers is put into the shares of now too: a split is no return."""
        if self.actions_of is None or self.priced is None:
            return
        for action in self.actions_of(slot, self.priced):
            self.ledger.corporate_action(action)
            if action.kind == "split":
                self.log = [replace(r, price=r.price / action.value) for r in self.log]
                if self.entry_price is not None:
                    self.entry_price /= action.value

    def _quote(self, slot: Slot) -> tuple[float, datetime] | None:
        if self.quote_of is None or self.order_since is None:
            return None
        since = max(self.order_since, self.last_slot_utc or self.order_since)
        return self.quote_of(since, slot.as_of_utc)

    def view(self, price: float) -> TrackView:
        """Position of the reference account at `price` and the last decisions with their outcomes."""
        side, equity, exposure = self.ledger.reference_position(price)
        # A gap is no decision of the agent's, and must not look like a HOLD.
        made = [r for r in self.log if r.status not in GAPS]
        recent = made[-self.season.memory :] if self.season.memory else []
        following = [*(r.price for r in recent[1:]), price][: len(recent)]
        past = tuple(
            Past(
                r.session, r.action + (GIVEN if r.given else ""), r.price, after / r.price - 1.0
            )
            for r, after in zip(recent, following, strict=True)
        )
        entry = self.entry_price if side else None
        memory = None if self.memory is None else {"sha256": self.memory_sha256()}
        return TrackView(side, equity, exposure, entry, past, self.season.action_spec, memory)

    def outcome(self, price: float) -> Past | None:
        """What followed the newest decision that was made (gaps are none), up to `price` now."""
        for made in reversed(self.log):
            if made.status not in GAPS:
                return Past(made.session, made.action, made.price, price / made.price - 1.0)
        return None

    def memory_text(self) -> str:
        """Canonical JSON of the memory's dump; its hash is kept until the next decision."""
        assert self.memory is not None
        text = canonical_json(self.memory.dump())
        self._memory_sha256 = sha256_text(text)
        return text

    def memory_sha256(self) -> str:
        """Hash of the memory as the last decision left it: nothing may change it in between."""
        if not self._memory_sha256:
            self.memory_text()
        return self._memory_sha256

    def finish(
        self, slot: Slot, bar: Bar | None, intent: Intent, status: Status, late: bool, last: bool,
        made_utc: datetime | None = None,
    ) -> Settled:  # fmt: skip
        """Fill `close`: execute now. Then count, remember, and close out after the `last` slot.

        `made_utc` is when a late decision was made: its order fills at nothing older.
        """
        settled = Settled()
        blank = bar is None and self.order != INTENT_CODE[Intent.KEEP]
        if not blank:
            # A gap must not cancel an order that still waits for its first price.
            self.order, self.order_slot = INTENT_CODE[intent], slot.key
            self.order_since = made_utc if late and made_utc else slot.as_of_utc
        self.last_slot_utc = slot.as_of_utc
        if self.season.fill == "close":
            settled.add(self._settle(slot, bar, bar.close if bar else math.nan, "close"))
        if last:
            settled.add(
                self.ledger.close_out(
                    slot_key=slot.key,
                    filled_at_utc=close_utc(self.asset.asset_class, slot.session),
                )
            )
        self.counts.n_decisions += 1
        self.counts.n_failed += status in FAILED
        self.counts.n_gaps += status in GAPS
        self.counts.n_late += late
        self.counts.last_action = ACTION_WORD[intent]
        self.counts.last_action_session = slot.session
        given = self.phase == "warmup" and self.taught
        self.log.append(Logged(slot.session, intent, status, self.ledger.last_price, given))
        return settled

    def _settle(
        self, slot: Slot, bar: Bar | None, fill_price: float, rule: str,
        quoted_utc: datetime | None = None,
    ) -> tuple[list[EquityRow], list[FillRow]]:  # fmt: skip
        at = open_utc if rule == "next_open" else close_utc
        before = self.ledger.book.side[self.ledger.reference]
        rows = self.ledger.settle(
            slot.session,
            self.order,
            fill_price,
            bar.close if bar else math.nan,
            slot_key=self.order_slot or slot.key,
            filled_at_utc=quoted_utc or at(self.asset.asset_class, slot.session),
            rule=rule,
        )
        after = self.ledger.book.side[self.ledger.reference]
        if after and after != before:
            self.entry_price = fill_price
        return rows


def decision_rows(
    track: Track,
    slot: Slot,
    price: float,
    market_hash: str,
    view: TrackView,
    decision: Decision,
    *,
    late: bool,
    decided_at_utc: datetime,
) -> tuple[DecisionRow, list[Row], MemoryRow | None]:
    """The decision with its calls, the texts behind them, and the memory it leaves; moves the
    track's chain on."""
    key = track.id.decision(slot.key)
    calls = [_call_row(key, c) for c in decision.calls]
    view_text = canonical_json(view.content())
    remembered = None if track.memory is None else track.memory_text()
    seq = len(track.log)
    row = DecisionRow(
        decision=key,
        run=track.id.run,
        track=str(track.id),
        agent=track.id.agent,
        model=track.id.model,
        asset=track.id.asset,
        slot_key=slot.key,
        session=slot.session,
        as_of_utc=slot.as_of_utc,
        seq=seq,
        phase=track.phase,
        intent=decision.intent.value,
        action=ACTION_WORD[decision.intent],
        status=decision.status.value,
        late=late,
        conviction=decision.conviction,
        reason=decision.reason,
        evidence_json=canonical_json(list(decision.evidence)),
        price=price,
        position_before=view.side,
        market_hash=market_hash,
        view_hash=view.view_hash,
        n_calls=len(calls),
        tokens_in=total([c.tokens_in for c in calls]),
        tokens_out=total([c.tokens_out for c in calls]),
        cost_usd=total([c.cost_usd for c in calls]),
        chain_hash="",
        decided_at_utc=decided_at_utc,
        latency_ms=sum(c.latency_ms for c in calls),
        n_failed_roles=len(decision.failed_roles),
        memory_sha256=None if remembered is None else track.memory_sha256(),
    )
    row = replace(row, chain_hash=next_link(track.chain, row, calls))
    track.chain = row.chain_hash
    texts = {
        sha: text
        for call, stored in zip(decision.calls, calls, strict=True)
        for sha, text in (
            (stored.prompt_sha256, call.prompt), (stored.answer_sha256, call.answer)
        )
    }  # fmt: skip
    texts[view.view_hash] = view_text
    memory = (
        None if remembered is None else MemoryRow(row.track, row.run, seq, remembered)
    )  # fmt: skip
    return row, [row, *calls, *(BlobRow(sha, text) for sha, text in texts.items())], memory


def _call_row(decision: str, call: Call) -> CallRow:
    return CallRow(
        decision=decision,
        seq=call.seq,
        kind=call.kind,
        role=call.role,
        model=call.model,
        status=call.status,
        attempt=call.attempt,
        prompt_sha256=sha256_text(call.prompt),
        answer_sha256=sha256_text(call.answer),
        parsed_json=None if call.parsed is None else canonical_json(call.parsed),
        error=call.error,
        params_json=canonical_json(call.params),
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        cost_usd=call.cost_usd,
        latency_ms=call.latency_ms,
    )

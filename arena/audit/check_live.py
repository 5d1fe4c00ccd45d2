"""What a live run was settled with: bars as they stood at each slot, splits and dividends, and quotes of
its coins.

Worked out anew from decisions and stored rows, by the rule of `docs/protocol.md` and without the runner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from arena.audit.finding import Finding
from arena.audit.rows import load
from arena.core.actions import GAPS, Status
from arena.core.rows import ActionRow, BarRow, DecisionRow, RunRow
from arena.core.rows_host import QuoteRow
from arena.store import live_reader
from arena.store.store import Store


@dataclass(frozen=True)
class Quoted:
    at_utc: datetime
    source: str
    price: float


@dataclass(frozen=True)
class LiveMarket:
    """One asset of one live run: `slots` are its decided sessions with their moments, in order, `begun`
    is when each was decided first."""

    bars: dict[date, BarRow]
    slots: list[tuple[date, datetime]]
    quoted: list[Quoted]
    begun: dict[date, datetime]
    known: list[ActionRow]

    def actions(self) -> dict[date, list[tuple[str, float]]]:
        """(kind, value) of the splits and dividends that each session began with: those after the last
        priced session that had been fetched by then. One a day and kind; a split before a dividend."""
        found: dict[date, list[tuple[str, float]]] = {}
        before = None
        for session, _ in self.slots:
            if session not in self.bars:
                continue
            if before is not None:
                due = {
                    (a.ex_date, a.kind == "dividend"): (a.kind, a.value)
                    for a in sorted(self.known, key=lambda a: a.source, reverse=True)
                    if before < a.ex_date <= session and a.fetched_at_utc <= self.begun[session]
                }
                if due:
                    found[session] = [due[key] for key in sorted(due)]
            before = session
        return found

    def quotes(
        self, decisions: Sequence[DecisionRow], asset_class: str, fill: str
    ) -> dict[date, float]:
        """Price at which the order before a session filled, where that was a quote: the first one from
        the slot on (from the decision on, where it was late), and before the next slot.

        Without decisions (Buy & Hold) the slots alone count.
        """
        if asset_class != "crypto" or fill != "next":
            return {}
        made = {
            d.session: d.decided_at_utc for d in decisions
            if d.late and Status(d.status) not in GAPS
        }  # fmt: skip
        found: dict[date, float] = {}
        since = None
        for at, (session, moment) in enumerate(self.slots):
            if since is not None and session in self.bars:
                floor = max(since, self.slots[at - 1][1])
                inside = (q for q in self.quoted if floor <= q.at_utc < moment)
                first = min(inside, key=lambda q: (q.at_utc, q.source), default=None)
                if first is not None:
                    found[session] = first.price
            if since is None or session in self.bars:
                since = made.get(session, moment)
        return found


class LiveMarkets:
    """The markets of all live runs of a store, each read once."""

    def __init__(self, store: Store, decisions: Sequence[DecisionRow]) -> None:
        self._store = store
        self._slots: dict[tuple[str, str], dict[date, datetime]] = {}
        self._begun: dict[tuple[str, str], dict[date, datetime]] = {}
        for d in decisions:
            begun = self._begun.setdefault((d.run, d.asset), {})
            begun[d.session] = min(begun.get(d.session, d.decided_at_utc), d.decided_at_utc)
            self._slots.setdefault((d.run, d.asset), {})[d.session] = d.as_of_utc
        self._markets: dict[tuple[str, str], LiveMarket] = {}

    def market(self, run: str, asset: str) -> LiveMarket:
        key = (run, asset)
        if key not in self._markets:
            used = live_reader.bars_as_used(self._store, run, asset)
            quotes = load(self._store, QuoteRow, "WHERE asset = ?", [asset])
            self._markets[key] = LiveMarket(
                {s: bar for s, bar in used.items() if bar is not None},
                sorted(self._slots.get(key, {}).items()),
                [Quoted(q.at_utc, q.source, q.price) for q in quotes],
                self._begun.get(key, {}),
                load(self._store, ActionRow, "WHERE asset = ?", [asset]),
            )
        return self._markets[key]


def check_live_slots(
    runs: Sequence[RunRow], decisions: Sequence[DecisionRow]
) -> Iterator[Finding | int]:
    """Tracks of one asset of a live run decided the same slots; one that goes on may lag by its last."""
    sessions: dict[tuple[str, str], dict[str, list[date]]] = {}
    for d in decisions:
        sessions.setdefault((d.run, d.asset), {}).setdefault(d.track, []).append(d.session)
    status = {r.run: r.status for r in runs if r.kind == "live"}
    for (run, asset), tracks in sessions.items():
        if run not in status:
            continue
        live = {t: [s for s in found if s >= _first(runs, run)] for t, found in tracks.items()}
        longest = max(live.values(), key=len)
        yield len(tracks)
        for track, found in live.items():
            lag = len(longest) - len(found)
            if found != longest[: len(found)] or lag > (1 if status[run] == "running" else 0):
                yield Finding(
                    "breach", "completeness",
                    f"{track} has {len(found)} decisions where another track of {asset} has "
                    f"{len(longest)}, or other sessions",
                )  # fmt: skip


def _first(runs: Sequence[RunRow], run: str) -> date:
    return next(r.start for r in runs if r.run == run)

"""From the SEC's company facts (one JSON of everything a company ever filed) to facts of ours.

Filings are gone through in the order of their days, and what is told on a day rests on filings up
to that day alone: a filing added later changes nothing that was known before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ValidationError

from arena.core.errors import SourceError
from arena.market.filings.facts import Fact
from arena.market.filings.fields import FLOWS, OUTFLOWS, known_from
from arena.market.sources.filings.fiscal import FiscalCalendar, Span, n_quarters
from arena.market.sources.filings.tags import COVER_COUNT, FIELDS_OF, RECIPES, UNIT_OF, Term

ANNUAL = ("10-K", "10-K/A", "10-KT", "10-KT/A", "20-F", "20-F/A", "40-F", "40-F/A")
FORMS = (*ANNUAL, "10-Q", "10-Q/A", "10-QT", "10-QT/A")
"""Reports of record; a prospectus or an 8-K may show figures as if something had happened."""


class _Entry(BaseModel):
    """One figure of one filing; `start` is missing where it stands at a moment."""

    val: float
    end: date
    start: date | None = None
    filed: date
    form: str
    accn: str


@dataclass(frozen=True, slots=True)
class _Figure:
    tag: str
    value: float
    start: date | None
    end: date
    filed: date
    form: str
    filing: str


def read_company_facts(document: Any, asset_id: str) -> tuple[Fact, ...]:
    """Facts of `document`, oldest filing first.

    A figure that a later filing repeats is the same fact and keeps its first day; one that changed
    is a restatement, a fact of its own. Quarters that are only stated within a half or three
    quarters are worked out when those are filed. Last quarters are not: `known_facts` has the year.

    Raises:
        SourceError: it is no such document, or a figure of ours in it cannot be read.
    """
    figures = sorted(_figures(document), key=lambda f: (f.filed, f.filing))
    book = _Book(asset_id)
    return tuple(
        fact
        for day, filed in groupby(figures, key=lambda f: f.filed)
        for fact in book.enter(day, list(filed))
    )


def _figures(document: Any) -> Iterator[_Figure]:
    taxonomies = document.get("facts") if isinstance(document, Mapping) else None
    if not isinstance(taxonomies, Mapping):
        raise SourceError("edgar: the answer holds no company facts.")
    for taxonomy in ("us-gaap", "dei"):
        for tag, told in (taxonomies.get(taxonomy) or {}).items():
            if tag not in FIELDS_OF:
                continue
            try:
                entries = [_Entry(**e) for e in told["units"].get(UNIT_OF[tag], ())]
            except (ValidationError, TypeError, KeyError, AttributeError) as error:
                raise SourceError(f"edgar: figures of {taxonomy}:{tag} cannot be read.") from error
            yield from (
                _Figure(tag, _sign(tag, e.val), e.start, e.end, e.filed, e.form, e.accn)
                for e in entries
                # Nobody files what is still to come: such a date is a slip.
                if e.form in FORMS and math.isfinite(e.val) and e.end <= e.filed
            )


def _sign(tag: str, value: float) -> float:
    """Some write what they paid out as a negative number."""
    return abs(value) if OUTFLOWS.intersection(FIELDS_OF[tag]) else value


@dataclass
class _Book:
    """What the filings up to some day have said."""

    asset: str
    calendar: FiscalCalendar = field(default_factory=FiscalCalendar)
    spans: dict[tuple[str, Span], float] = field(default_factory=dict)
    """Flows by tag and time, halves and three quarters among them."""
    period_at: dict[date, str] = field(default_factory=dict)
    """The period that ends on a day: a balance of that day is of that period."""
    stated: dict[tuple[str, str], float] = field(default_factory=dict)
    """By tag and period."""
    told: dict[tuple[str, str], float] = field(default_factory=dict)
    """By field and period: the value of the newest fact."""

    def enter(self, day: date, filed: list[_Figure]) -> list[Fact]:
        """Facts that the filings of one day bring: figures that are new, or other than before."""
        for f in filed:
            if f.form in ANNUAL and f.start and n_quarters(f.start, f.end) == 4:
                self.calendar.learn(f.end)
        forms = {(tag, period): form for tag, period, form in self._state(filed)}
        facts = []
        touched = {(name, p): form for (tag, p), form in forms.items() for name in FIELDS_OF[tag]}
        for (name, period), form in sorted(touched.items()):
            value = self._value(name, period)
            if value is None or _same(value, self.told.get((name, period))):
                continue
            self.told[name, period] = value
            facts.append(Fact(self.asset, name, period, value, day, known_from(day), form, "edgar"))
        return facts

    def _state(self, filed: list[_Figure]) -> Iterator[tuple[str, str, str]]:
        """Take the figures in; (tag, period, form) of each that has a period of ours."""
        spans = [
            (f, span) for f in filed if f.start and (span := self.calendar.span(f.start, f.end))
        ]
        newest: dict[str, tuple[date, str]] = {}
        for f, span in spans:
            self.spans[f.tag, span] = f.value
            ending = f"FY{span.year}" if span.quarter == 4 else f"{span.year}Q{span.quarter}"
            self.period_at[f.end] = ending
            newest[f.filing] = max(newest.get(f.filing, (f.end, ending)), (f.end, ending))
        for f, span in sorted(spans, key=lambda pair: pair[1].n_quarters):
            if self._take(f, span):
                yield f.tag, span.period or f"{span.year}Q{span.quarter}", f.form
        for f in filed:
            on_cover = f.tag == COVER_COUNT and f.filing in newest
            period = newest[f.filing][1] if on_cover else self.period_at.get(f.end)
            if f.start is None and period is not None:
                self.stated[f.tag, period] = f.value
                yield f.tag, period, f.form

    def _take(self, f: _Figure, span: Span) -> bool:
        """Whether a figure over some time says something of a year or a quarter; if so, it is stated."""
        value: float | None = f.value
        period = span.period
        if period is None:
            quarter = Span(span.year, span.quarter, 1)
            since_the_year_began = span.n_quarters == span.quarter
            is_flow = not set(FLOWS).isdisjoint(FIELDS_OF[f.tag])
            if not (since_the_year_began and is_flow) or (f.tag, quarter) in self.spans:
                return False
            before = self._up_to(f.tag, span.year, span.quarter - 1)
            value, period = (None if before is None else f.value - before), quarter.period
        if value is None or period is None:
            return False
        self.stated[f.tag, period] = value
        return True

    def _up_to(self, tag: str, year: int, quarter: int) -> float | None:
        """A flow from the beginning of the year to the end of a quarter."""
        whole = self.spans.get((tag, Span(year, quarter, quarter)))
        if whole is not None:
            return whole
        parts = [self.stated.get((tag, f"{year}Q{n}")) for n in range(1, quarter + 1)]
        return None if None in parts else math.fsum(p for p in parts if p is not None)

    def _value(self, name: str, period: str) -> float | None:
        """The first line of the field that can be worked out from what is stated of the period."""
        sums = (self._sum(line, period) for line in RECIPES[name])
        return next((value for value in sums if value is not None), None)

    def _sum(self, line: Iterable[Term], period: str) -> float | None:
        terms = [(t, self.stated.get((t.tag, period))) for t in line]
        if any(t.needed and value is None for t, value in terms):
            return None
        return math.fsum(t.sign * value for t, value in terms if value is not None)


def _same(value: float, before: float | None) -> bool:
    return before is not None and math.isclose(value, before, rel_tol=1e-9)

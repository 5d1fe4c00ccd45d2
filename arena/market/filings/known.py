"""Filed figures as they were known at a moment: what agents may see of a company.

Growth and ratios are the readers' work; here stand figures as filed, and what a mere sum makes of
them: the twelve months up to the newest quarter, and today's market cap.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from arena.market.filings.facts import Fact
from arena.market.filings.fields import FLOWS, TRAILING, quarter_end, quarter_name

YEARS_KEPT, QUARTERS_KEPT = 6, 8

MAX_LAG_QUARTERS = 1
"""A figure that the newest filings no longer state has no twelve months up to now."""

TRAILING_LASTS = timedelta(days=366)
"""A figure of the last twelve months says nothing of now when it is older than they are."""

COUNT_LASTS = timedelta(days=549)
"""A year and a half: who has filed no count of shares for longer has no market cap of now."""

SPLIT_TOLERANCE_FRAC = 0.04
"""The count of shares moves a little besides a split from one filing to the next."""

Row = dict[str, Any]
Stated = Mapping[tuple[str, str], Fact]


def known_facts(facts: Sequence[Fact], as_of_utc: datetime, price: float | None) -> tuple[Row, ...]:
    """What of one company's `facts` was known at `as_of_utc`, as rows of a market context.

    Of each field and period the value known last counts, so a restatement replaces the older value
    from its own day on; a value that is merely repeated keeps its first day. Six fiscal years and
    eight quarters are kept. Rows of period `TTM` are as stated, or, where that is known no earlier,

        flow   = Q(n) + Q(n-1) + Q(n-2) + Q(n-3), or
                 last FY + this year's quarters - the same quarters of the year before
        market_cap = `price` (quote currency, the slot's close) x newest count of shares

    A row is {id, field, period, value, known_at_utc}; rows stand in the order of field and period,
    and are known since their last part was. Facts known later change nothing.
    """
    stated = _comparable(_latest(f for f in facts if f.known_at_utc <= as_of_utc))
    rows = {
        (f.field, f.period): _row(f.id, f.field, f.period, f.value, f.known_at_utc)
        for f in _kept(stated.values(), as_of_utc)
    }
    for row in _trailing(stated):
        key, known = (row["field"], TRAILING), row["known_at_utc"]
        if as_of_utc - known <= TRAILING_LASTS and not (
            key in rows and rows[key]["known_at_utc"] > known
        ):
            rows[key] = row
    shares = _newest_count(stated)
    if price is not None and shares and as_of_utc - shares.known_at_utc <= COUNT_LASTS:
        row_id = f"market_cap-TTM-{as_of_utc.date().isoformat()}"
        cap = _row(row_id, "market_cap", TRAILING, price * shares.value, as_of_utc)
        rows["market_cap", TRAILING] = cap
    return tuple(rows[key] for key in sorted(rows))


def _latest(known: Iterable[Fact]) -> dict[tuple[str, str], Fact]:
    latest: dict[tuple[str, str], Fact] = {}
    for fact in sorted(known, key=lambda f: (f.known_at_utc, f.filed, f.value)):
        before = latest.get((fact.field, fact.period))
        if before is None or before.value != fact.value:
            latest[fact.field, fact.period] = fact
    return latest


def _comparable(stated: Stated) -> Stated:
    """Without the counts of shares, and figures per share, that were filed before the last split.

    A count that jumps by a whole factor from one filing to the next was split, or joined. What was
    filed before does not compare with what comes after, nor with today's price.
    """
    counts = [f for f in _counts(stated) if f.value > 0]
    counts.sort(key=lambda f: (f.filed, quarter_end(f.period)))
    splits = [newer.filed for older, newer in pairwise(counts) if _is_split(older, newer)]
    if not splits:
        return stated
    last: date = max(splits)
    return {
        key: f for key, f in stated.items() if f.field not in ("shares", "eps") or f.filed >= last
    }


def _is_split(older: Fact, newer: Fact) -> bool:
    factor = max(newer.value / older.value, older.value / newer.value)
    whole = round(factor)
    return whole >= 2 and abs(factor / whole - 1.0) <= SPLIT_TOLERANCE_FRAC


def _kept(stated: Collection[Fact], as_of_utc: datetime) -> list[Fact]:
    trailing = [f for f in stated if f.period == TRAILING]
    dated = [f for f in stated if f.period != TRAILING]
    years = {f.period for f in dated if f.period.startswith("FY")}
    first_year = max(map(quarter_end, years), default=0) - 4 * YEARS_KEPT
    first_quarter = max((quarter_end(f.period) for f in dated), default=0) - QUARTERS_KEPT
    return [
        *(f for f in trailing if as_of_utc - f.known_at_utc <= TRAILING_LASTS),
        *(
            f for f in dated
            if quarter_end(f.period) > (first_year if f.period in years else first_quarter)
        ),
    ]  # fmt: skip


def _trailing(stated: Stated) -> list[Row]:
    """The twelve months up to its newest quarter, of every flow whose parts are all stated."""
    periods: dict[str, set[str]] = {}
    for field, period in stated:
        if field in FLOWS and period != TRAILING:
            periods.setdefault(field, set()).add(period)
    ends = {field: max(map(quarter_end, names)) for field, names in periods.items()}
    rows = []
    for field, end in ends.items():
        parts = _parts(end, periods[field])
        if parts is None or end < max(ends.values()) - MAX_LAG_QUARTERS:
            continue
        facts = [(sign, stated[field, period]) for sign, period in parts]
        known = max(f.known_at_utc for _, f in facts)
        # Cents of earnings per share must not become 0.30000000000000004.
        value = round(math.fsum(sign * f.value for sign, f in facts), 9)
        rows.append(_row(f"{field}-TTM-{quarter_name(end)}", field, TRAILING, value, known))
    return rows


def _parts(end: int, stated: set[str]) -> list[tuple[int, str]] | None:
    """The periods, with their signs, that make the twelve months up to quarter `end`."""
    year, n_quarters = (end - 1) // 4, (end - 1) % 4 + 1
    if n_quarters == 4 and f"FY{year}" in stated:
        return [(1, f"FY{year}")]
    four = [(1, quarter_name(end - i)) for i in range(4)]
    by_year = [
        (1, f"FY{year - 1}"),
        *((1, f"{year}Q{n}") for n in range(1, n_quarters + 1)),
        *((-1, f"{year - 1}Q{n}") for n in range(1, n_quarters + 1)),
    ]
    return next((p for p in (four, by_year) if {name for _, name in p} <= stated), None)


def _newest_count(stated: Stated) -> Fact | None:
    """The newest count of shares; where a year and its last quarter both state one, the year's."""
    return max(
        _counts(stated), key=lambda f: (quarter_end(f.period), f.period[:2] == "FY"), default=None
    )


def _counts(stated: Stated) -> list[Fact]:
    return [f for f in stated.values() if f.field == "shares" and f.period != TRAILING]


def _row(row_id: str, field: str, period: str, value: float, known_at_utc: datetime) -> Row:
    return {
        "id": row_id, "field": field, "period": period, "value": value,
        "known_at_utc": known_at_utc,
    }  # fmt: skip

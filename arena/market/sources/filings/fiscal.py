"""From the dates of a figure to its fiscal period.

A filing's own fiscal year and quarter do not say it: a 10-K for 2024 files three years, all under
`fy` 2024. What says it is how long a figure runs, and where it ends in the company's year.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

LENGTHS_DAYS = ((1, 77, 119), (2, 161, 203), (3, 238, 294), (4, 350, 380))
"""Quarters, and from how many to how many days they run. Some companies count in weeks, and give
their first or last quarter up to 17 of them."""

QUARTER_DAYS, TOLERANCE_DAYS = 365.25 / 4, 25.0
"""A quarter ends this near to where an even year has it, or it is none of the company's."""

YEAR_NAME_SHIFT = timedelta(days=7)
"""A year of 52 weeks may end in the first days of January; it is named after the one before."""


@dataclass(frozen=True, slots=True)
class Span:
    """`n_quarters` that end with the fiscal `quarter` of `year`."""

    year: int
    quarter: int
    n_quarters: int

    @property
    def period(self) -> str | None:
        """`FY2024` or `2024Q2`; None for a half or three quarters, and for a year that ends within one."""
        if self.n_quarters == 1:
            return f"{self.year}Q{self.quarter}"
        return f"FY{self.year}" if self.n_quarters == self.quarter == 4 else None


def n_quarters(start: date, end: date) -> int | None:
    """How many quarters lie between two days, both included; None for an uneven time."""
    days = (end - start).days + 1
    return next((n for n, low, high in LENGTHS_DAYS if low <= days <= high), None)


@dataclass
class FiscalCalendar:
    """The ends of a company's fiscal years as they became known.

    A year is named after the calendar year in which it ends. Before the first annual report nobody
    can tell from its dates which quarter a quarter is.
    """

    year_ends: list[date] = field(default_factory=list)

    def learn(self, year_end: date) -> None:
        if year_end not in self.year_ends:
            self.year_ends = sorted((*self.year_ends, year_end))

    def span(self, start: date, end: date) -> Span | None:
        """The fiscal span of these days; None for an uneven time, or one of no fiscal quarter."""
        length = n_quarters(start, end)
        if length is None or not self.year_ends:
            return None
        before = [day for day in self.year_ends if day <= end]
        anchor = before[-1] if before else self.year_ends[0]
        days_on = (end - anchor).days
        quarters_on = round(days_on / QUARTER_DAYS)
        if abs(days_on - quarters_on * QUARTER_DAYS) > TOLERANCE_DAYS:
            return None
        year = (anchor - YEAR_NAME_SHIFT).year + (quarters_on - 1) // 4 + 1
        return Span(year, (quarters_on - 1) % 4 + 1, length)

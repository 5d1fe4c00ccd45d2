"""Filed figures as facts with the day they became known; a restatement is a later fact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """One filed figure. `field` and `period` are those of docs/personas.md (`revenue`, `FY2024`,
    `2025Q2`); `value` is in the quote currency, or a plain number. `filed` is the day it was filed;
    a day is over before it is known, so `known_at_utc` is the end of that day."""

    asset: str
    field: str
    period: str
    value: float
    filed: date
    known_at_utc: datetime
    form: str = ""
    source: str = ""

    @property
    def id(self) -> str:
        """Plain text, to be cited: field, period and day of filing."""
        return f"{self.field}-{self.period}-{self.filed.isoformat()}"

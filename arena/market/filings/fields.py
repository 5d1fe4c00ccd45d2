"""The figures that may enter, and how their periods are written, counted and dated."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

FLOWS = (
    "revenue", "gross_profit", "operating_income", "net_income", "ebitda", "d_and_a", "rd",
    "interest_expense", "eps", "operating_cash_flow", "capex", "dividends", "buybacks",
    "insider_bought_shares", "insider_sold_shares",
)  # fmt: skip
"""What adds up over time: four quarters are a year."""

STATES = (
    "shares", "equity", "assets", "liabilities", "current_assets", "current_liabilities", "cash",
    "debt", "intangible_assets", "market_cap", "tax_rate", "beta",
)  # fmt: skip
"""What stands at a moment, or is a rate: the newest one counts."""

FIELDS = (*FLOWS, *STATES)
OUTFLOWS = frozenset({"capex", "dividends", "interest_expense", "buybacks"})
"""Money that leaves, written as a positive number."""

TRAILING = "TTM"
PERIOD = re.compile(r"FY[12]\d{3}|[12]\d{3}Q[1-4]|TTM")


@cache
def quarter_end(period: str) -> int:
    """The fiscal quarter with which `FY2024` or `2025Q2` ends, counted from the year 0; 1 apart."""
    if period.startswith("FY"):
        return 4 * int(period[2:]) + 4
    return 4 * int(period[:4]) + int(period[5])


def quarter_name(end: int) -> str:
    """The inverse: `2025Q2` of its count."""
    return f"{(end - 1) // 4}Q{(end - 1) % 4 + 1}"


def known_from(filed: date) -> datetime:
    """When a figure filed on a day is known: at the end of it, for a filing day has no hour."""
    return datetime.combine(filed + timedelta(days=1), time(), UTC)

"""Filed figures of the sample's two fictional companies: years from FY2019, quarters from 2023Q1 to 2025Q3.

Money moves from quarter to quarter as in real statements, in whole millions, so that cash, equity and
assets follow from what was earned, paid and borrowed. Each company once files a correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import pandas as pd

FIRST_YEAR, LAST_YEAR, LAST_QUARTER = 2019, 2025, 3
FIRST_QUARTERS_OF = 2023
MILLION = 1e6
TAX_FRAC = 0.21

ANNUAL_FILED = {
    2019: date(2020, 2, 20), 2020: date(2021, 2, 18), 2021: date(2022, 2, 17),
    2022: date(2023, 2, 16), 2023: date(2024, 2, 21), 2024: date(2025, 2, 19),
}  # fmt: skip
QUARTER_FILED = {
    (2023, 1): date(2023, 5, 9), (2023, 2): date(2023, 8, 8), (2023, 3): date(2023, 11, 7),
    (2024, 1): date(2024, 5, 8), (2024, 2): date(2024, 8, 7), (2024, 3): date(2024, 11, 6),
    (2025, 1): date(2025, 5, 7), (2025, 2): date(2025, 8, 6), (2025, 3): date(2025, 11, 5),
}  # fmt: skip
"""A fourth quarter is filed with its year."""


@dataclass(frozen=True)
class Correction:
    """Revenue that was booked too early in `period`, in millions, until `filed` put it right."""

    period: str
    revenue: int
    filed: date


@dataclass(frozen=True)
class Business:
    """A made-up company. Years from FY2019 on: revenue (the last one up to its third quarter counts),
    gross margin, operating costs beside research, research as parts of revenue. Amounts are millions."""

    revenue: tuple[int, ...]
    gross_margin: tuple[float, ...]
    other_costs: tuple[float, ...]
    research: tuple[float, ...]
    seasons: tuple[float, float, float, float]
    shares: int
    cash: int
    fixed: int
    intangible: int
    debt: int
    capex_share: float
    worn_share: float
    dividend: int
    buyback: int
    repaid: int
    interest_rate: float
    insiders_bought: int
    insiders_sold: int
    correction: Correction


BUSINESSES: dict[str, Business] = {
    "ZORVANE": Business(
        revenue=(24_600, 29_100, 41_800, 55_200, 63_900, 66_300, 71_800),
        gross_margin=(0.171, 0.198, 0.232, 0.241, 0.228, 0.214, 0.226),
        other_costs=(0.098, 0.089, 0.075, 0.066, 0.064, 0.067, 0.064),
        research=(0.049, 0.047, 0.042, 0.040, 0.043, 0.047, 0.046),
        seasons=(0.225, 0.245, 0.255, 0.275), shares=900, cash=6_100, fixed=17_800,
        intangible=1_250, debt=11_600, capex_share=0.085, worn_share=0.055, dividend=0, buyback=0,
        repaid=180, interest_rate=0.048, insiders_bought=4_000, insiders_sold=61_000,
        correction=Correction("2025Q2", 420, date(2025, 9, 10)),
    ),
    "HELIQUA": Business(
        revenue=(1_180, 1_310, 1_460, 1_690, 1_950, 2_380, 3_010),
        gross_margin=(0.742, 0.748, 0.757, 0.762, 0.771, 0.785, 0.794),
        other_costs=(0.361, 0.352, 0.341, 0.329, 0.316, 0.297, 0.276),
        research=(0.352, 0.341, 0.329, 0.318, 0.297, 0.272, 0.248),
        seasons=(0.238, 0.247, 0.254, 0.261), shares=186, cash=690, fixed=610,
        intangible=880, debt=780, capex_share=0.043, worn_share=0.036, dividend=0, buyback=15,
        repaid=12, interest_rate=0.031, insiders_bought=9_000, insiders_sold=14_000,
        correction=Correction("2024Q4", 38, date(2025, 4, 16)),
    ),
}  # fmt: skip

FLOWS = (
    "revenue", "gross_profit", "operating_income", "net_income", "d_and_a", "rd",
    "interest_expense", "operating_cash_flow", "capex", "dividends", "buybacks",
)  # fmt: skip
BALANCE = (
    "equity", "assets", "liabilities", "current_assets", "current_liabilities", "cash", "debt",
    "intangible_assets",
)  # fmt: skip
INSIDERS = ("insider_bought_shares", "insider_sold_shares")


def make_figures() -> pd.DataFrame:
    """Rows symbol, field, period, value, filed, form; amounts in the quote currency."""
    rows = [row for symbol, b in BUSINESSES.items() for row in _filings(symbol, b)]
    frame = pd.DataFrame(rows, columns=["symbol", "field", "period", "value", "filed", "form"])
    return frame.sort_values(["symbol", "filed", "period", "field"], ignore_index=True)


def _filings(symbol: str, b: Business) -> Iterator[tuple[str, str, str, float, str, str]]:
    quarters = _quarters(b)
    recent = {p: f for p, f in quarters.items() if int(p[:4]) >= FIRST_QUARTERS_OF}
    for period, true in (_years(quarters) | recent).items():
        year, quarter = _split(period)
        filed, form = (
            (QUARTER_FILED[year, quarter], "10-Q") if quarter < 4 else (ANNUAL_FILED[year], "10-K")
        )
        is_wrong = _split(b.correction.period) == (year, quarter)
        first = _stated(_as_booked(true, b.correction.revenue) if is_wrong else true, b, period)
        for field, value in first.items():
            yield symbol, field, period, value, filed.isoformat(), form
        for field, value in _stated(true, b, period).items():
            if value != first[field]:
                yield symbol, field, period, value, b.correction.filed.isoformat(), f"{form}/A"


def _split(period: str) -> tuple[int, int]:
    """Year and quarter at whose end a period ends."""
    if period.startswith("FY"):
        return int(period[2:]), 4
    return int(period[:4]), int(period[5])


def _quarters(b: Business) -> dict[str, dict[str, int]]:
    """Every quarter in millions, each balance grown out of the last."""
    cash, fixed, debt = b.cash, b.fixed, b.debt
    turning, owed = round(0.16 * b.revenue[0]), round(0.15 * b.revenue[0])
    equity = cash + turning + fixed + b.intangible - owed - debt
    found: dict[str, dict[str, int]] = {}
    for year in range(FIRST_YEAR, LAST_YEAR + 1):
        at = year - FIRST_YEAR
        for quarter in range(1, 5 if year < LAST_YEAR else LAST_QUARTER + 1):
            revenue = round(b.revenue[at] * b.seasons[quarter - 1])
            gross = round(revenue * b.gross_margin[at])
            research = round(revenue * b.research[at])
            worn = round(revenue * b.worn_share)
            operating = gross - research - round(revenue * b.other_costs[at])
            interest = round(debt * b.interest_rate / 4)
            net = operating - interest - round(max(operating - interest, 0) * TAX_FRAC)
            more_turning = round(0.16 * 4 * revenue) - turning
            more_owed = round(0.15 * 4 * revenue) - owed
            earned_cash = net + worn - more_turning + more_owed
            capex = round(revenue * b.capex_share)
            cash += earned_cash - capex - b.dividend - b.buyback - b.repaid
            turning, owed = turning + more_turning, owed + more_owed
            fixed, debt = fixed + capex - worn, debt - b.repaid
            equity += net - b.dividend - b.buyback
            found[f"{year}Q{quarter}"] = {
                "revenue": revenue, "gross_profit": gross, "operating_income": operating,
                "net_income": net, "d_and_a": worn, "rd": research, "interest_expense": interest,
                "operating_cash_flow": earned_cash, "capex": capex, "dividends": b.dividend,
                "buybacks": b.buyback, "equity": equity, "cash": cash, "debt": debt,
                "assets": cash + turning + fixed + b.intangible, "liabilities": owed + debt,
                "current_assets": cash + turning, "current_liabilities": owed,
                "intangible_assets": b.intangible,
            }  # fmt: skip
    return found


def _years(quarters: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Whole years: flows are the sum of the quarters, balances those of the fourth."""
    found = {}
    for year in range(FIRST_YEAR, LAST_YEAR):
        parts = [quarters[f"{year}Q{q}"] for q in range(1, 5)]
        flows = {field: sum(part[field] for part in parts) for field in FLOWS}
        found[f"FY{year}"] = {**flows, **{field: parts[3][field] for field in BALANCE}}
    return found


def _as_booked(true: Mapping[str, int], revenue: int) -> dict[str, int]:
    """The period before its correction: income that was not earned yet, less the tax on it."""
    net = revenue - round(revenue * TAX_FRAC)
    more = {
        "revenue": revenue, "gross_profit": revenue, "operating_income": revenue, "net_income": net,
        "equity": net, "liabilities": -net, "current_liabilities": -net,
    }  # fmt: skip
    return {field: value + more.get(field, 0) for field, value in true.items()}


def _stated(millions: Mapping[str, int], b: Business, period: str) -> dict[str, float]:
    """The figures of one period as they are filed."""
    stated = {field: value * MILLION for field, value in millions.items()}
    stated["shares"] = b.shares * MILLION
    stated["eps"] = round(millions["net_income"] / b.shares, 2)
    stated["tax_rate"] = TAX_FRAC
    n_quarters = 1 if "Q" in period else 4
    for field, count in zip(INSIDERS, (b.insiders_bought, b.insiders_sold), strict=True):
        stated[field] = float(count * n_quarters)
    return stated

"""Filed figures of a company, typed: from the facts of the sealed market to years and ratios.

A fact is (field, period, value, known_at_utc). Fields are those of `Period`; amounts are in the
quote currency, outflows (capex, dividends, buybacks, interest) positive. Periods are `FY2024`, a
fiscal quarter `2025Q2`, or `TTM`, the twelve months up to now. What is missing is None, and so is
every ratio that needs it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from arena.core.errors import DataError

NO_EQUITY_LEVERAGE = 99.0
"""Debt to equity where debt stands on no equity at all: as bad as it gets, and no None."""

ASSUMED_TAX_FRAC = 0.25
_OUTFLOWS = frozenset({"capex", "dividends", "interest_expense"})
_BALANCE = frozenset(
    {
        "shares", "equity", "assets", "liabilities", "current_assets", "current_liabilities", "cash",
        "debt", "intangible_assets", "market_cap", "tax_rate", "beta",
    }
)  # fmt: skip
_PERIOD = re.compile(r"FY(\d{4})|(\d{4})Q([1-4])|TTM")

MAX_AGE_QUARTERS = 6
"""A figure whose period ended longer before the newest one's is history: it says nothing of now."""


def ratio(part: float | None, whole: float | None) -> float | None:
    """part / whole; None where one is missing or the whole is not positive, so has no meaning."""
    return part / whole if part is not None and whole is not None and whole > 0 else None


@dataclass(frozen=True, slots=True)
class Period:
    """Figures of one fiscal year or of the last twelve months, with the ratios that follow.

    `equity` is book value, `market_cap` that at the period's end, `tax_rate` a fraction;
    `operating_income` is taken for EBIT.
    """

    name: str
    revenue: float | None = None
    gross_profit: float | None = None
    operating_income: float | None = None
    net_income: float | None = None
    ebitda: float | None = None
    d_and_a: float | None = None
    rd: float | None = None
    interest_expense: float | None = None
    eps: float | None = None
    operating_cash_flow: float | None = None
    capex: float | None = None
    dividends: float | None = None
    buybacks: float | None = None
    shares: float | None = None
    equity: float | None = None
    assets: float | None = None
    liabilities: float | None = None
    current_assets: float | None = None
    current_liabilities: float | None = None
    cash: float | None = None
    debt: float | None = None
    intangible_assets: float | None = None
    market_cap: float | None = None
    tax_rate: float | None = None
    beta: float | None = None
    insider_bought_shares: float | None = None
    insider_sold_shares: float | None = None

    @property
    def fcf(self) -> float | None:
        """Free cash flow: operating cash flow less capital expenditure."""
        return _minus(self.operating_cash_flow, self.capex)

    @property
    def operating_costs(self) -> float | None:
        """What lies between gross profit and operating income."""
        return _minus(self.gross_profit, self.operating_income)

    @property
    def working_capital(self) -> float | None:
        return _minus(self.current_assets, self.current_liabilities)

    @property
    def net_cash(self) -> float | None:
        """Cash less debt; negative where debt is larger."""
        return _minus(self.cash, self.debt)

    @property
    def gross_margin(self) -> float | None:
        return ratio(self.gross_profit, self.revenue)

    @property
    def operating_margin(self) -> float | None:
        return ratio(self.operating_income, self.revenue)

    @property
    def net_margin(self) -> float | None:
        return ratio(self.net_income, self.revenue)

    @property
    def roe(self) -> float | None:
        """Return on equity; None without positive equity, where it says nothing."""
        return ratio(self.net_income, self.equity)

    @property
    def roic(self) -> float | None:
        """Operating income after tax over equity + debt - cash."""
        if self.operating_income is None or self.equity is None or self.net_cash is None:
            return None
        tax = ASSUMED_TAX_FRAC if self.tax_rate is None else self.tax_rate
        return ratio(self.operating_income * (1.0 - tax), self.equity - self.net_cash)

    @property
    def debt_to_equity(self) -> float | None:
        if self.debt is None or self.equity is None:
            return None
        if self.debt <= 0:
            return 0.0
        return self.debt / self.equity if self.equity > 0 else NO_EQUITY_LEVERAGE

    @property
    def liabilities_to_assets(self) -> float | None:
        return ratio(self.liabilities, self.assets)

    @property
    def current_ratio(self) -> float | None:
        return ratio(self.current_assets, self.current_liabilities)

    @property
    def interest_cover(self) -> float | None:
        return ratio(self.operating_income, self.interest_expense)

    @property
    def asset_turnover(self) -> float | None:
        return ratio(self.revenue, self.assets)

    @property
    def rd_share(self) -> float | None:
        return ratio(self.rd, self.revenue)

    @property
    def capex_share(self) -> float | None:
        return ratio(self.capex, self.revenue)

    @property
    def book_per_share(self) -> float | None:
        return ratio(self.equity, self.shares)

    @property
    def payout(self) -> float | None:
        """Dividends over net income; 0 without dividends, whatever the income."""
        return 0.0 if self.dividends == 0 else ratio(self.dividends, self.net_income)

    @property
    def insider_buy_share(self) -> float | None:
        """Of the shares that insiders bought or sold, the part they bought."""
        if self.insider_bought_shares is None or self.insider_sold_shares is None:
            return None
        return ratio(
            self.insider_bought_shares, self.insider_bought_shares + self.insider_sold_shares
        )


FIELDS = tuple(f.name for f in fields(Period) if f.name != "name")


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """`years` without a gap, newest first; `now` = the last twelve months and the latest balance.

    `unread` names fields of the facts that are not ours.
    """

    years: tuple[Period, ...]
    now: Period
    unread: tuple[str, ...] = ()

    def values(self, read: Callable[[Period], float | None]) -> list[float]:
        """`read` of each year, newest first, up to the first year that does not have it."""
        found: list[float] = []
        for year in self.years:
            value = read(year)
            if value is None:
                break
            found.append(value)
        return found


def read_fundamentals(facts: Iterable[Mapping[str, Any]]) -> Fundamentals | None:
    """The facts of a sealed market as years and now; None without a single fact of ours.

    Of several facts of one field and period, a restatement, the one known last counts.

    Raises:
        DataError: a value is no finite number, or a period is none of the three forms.
    """
    table: dict[str, dict[str, float]] = {}
    unread: set[str] = set()
    for fact in sorted(facts, key=lambda f: f["known_at_utc"]):
        name, period = str(fact["field"]), str(fact["period"])
        if name not in FIELDS:
            unread.add(name)
            continue
        if not _PERIOD.fullmatch(period):
            raise DataError(f"period `{period}` of `{name}`: write FY2024, 2025Q2 or TTM")
        value = fact["value"]
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise DataError(f"`{name}` of {period} is {value}; leave an unknown figure out")
        table.setdefault(period, {})[name] = abs(float(value)) if name in _OUTFLOWS else float(value)
    if not table:
        return None
    return Fundamentals(_years(table), _period("now", _latest(table)), tuple(sorted(unread)))


def _years(table: Mapping[str, Mapping[str, float]]) -> tuple[Period, ...]:
    numbers = sorted((int(p[2:]) for p in table if p.startswith("FY")), reverse=True)
    unbroken = [n for i, n in enumerate(numbers) if n == numbers[0] - i]
    return tuple(_period(f"FY{n}", table[f"FY{n}"]) for n in unbroken)


def _latest(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Balance: the newest period that states it. Flows: TTM, else four quarters, else the year.

    A fiscal year counts as ending with its fourth quarter. Periods that ended more than
    `MAX_AGE_QUARTERS` before the newest are not looked at.
    """
    newest_end = max((_quarters(p) for p in table if p != "TTM"), default=0)
    recent = (p for p in table if p == "TTM" or _quarters(p) >= newest_end - MAX_AGE_QUARTERS)
    ends = sorted(recent, key=period_order, reverse=True)
    found: dict[str, float] = {}
    for name in FIELDS:
        stated = [p for p in ends if name in table[p]]
        if not stated:
            continue
        newest = stated[0]
        if name in _BALANCE or newest == "TTM":
            found[name] = table[newest][name]
            continue
        annual = next((p for p in stated if p.startswith("FY")), None)
        quarters = [p for p in stated if "Q" in p][:4]
        if _are_last_year(quarters) and (
            annual is None or period_order(quarters[0]) > period_order(annual)
        ):
            found[name] = sum(table[q][name] for q in quarters)
        elif annual is not None:
            found[name] = table[annual][name]
    return found


def period_order(period: str) -> tuple[int, int]:
    """Order of periods by their end: `2024Q4`, `FY2024`, `2025Q1`, then `TTM` and any other word.

    At the same end a year comes after its last quarter: it is the audited one.
    """
    found = _PERIOD.fullmatch(period)
    if found is None or period == "TTM":
        return 9999, 0
    year, year_of_quarter, quarter = found.groups()
    return (int(year), 5) if year else (int(year_of_quarter), int(quarter))


def _quarters(period: str) -> int:
    """When a dated period ended, as a count of quarters."""
    year, quarter = period_order(period)
    return 4 * year + min(quarter, 4)


def _are_last_year(quarters: Sequence[str]) -> bool:
    """Whether these are four quarters in a row."""
    numbers = [4 * int(q[:4]) + int(q[5]) for q in quarters]
    return len(numbers) == 4 and numbers[0] - numbers[3] == 3


def _period(name: str, stated: Mapping[str, float]) -> Period:
    """A period, with earnings per share and EBITDA worked out where only their parts are stated."""
    values = dict(stated)
    if (
        "eps" not in values
        and (eps := ratio(values.get("net_income"), values.get("shares"))) is not None
    ):
        values["eps"] = eps
    if "ebitda" not in values and {"operating_income", "d_and_a"} <= values.keys():
        values["ebitda"] = values["operating_income"] + values["d_and_a"]
    return Period(name, **values)


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b

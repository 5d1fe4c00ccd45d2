"""Valuation desk: four models of what the company is worth, against what it costs.

Guard rails: discount less terminal growth >= 4 points (intrinsic.py), cost of debt <= 12 %, and a
model that says more than 10 times or less than a tenth of the market cap is set aside, and says so.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from arena.agents.hedge.company import Company, cagr
from arena.agents.hedge.intrinsic import margin_of_safety, with_terminal_growth
from arena.agents.hedge.quants.reading import Reading, Vote, signal_of

DEAD_ZONE, FULL_GAP = 0.15, 0.30
ABSURD = 10.0
RISK_FREE, RISK_PREMIUM, MAX_DEBT_COST, TAX = 0.045, 0.06, 0.12, 0.25
BIG_CAP, BIG_CAP_GROWTH, MAX_GROWTH, DEFAULT_GROWTH = 50e9, 0.10, 0.25, 0.05
SCENARIOS = ((0.2, 0.5, 1.2), (0.6, 1.0, 1.0), (0.2, 1.5, 0.9))
"""(weight, growth x, discount x): bear, base, bull."""

COST_OF_EQUITY = 0.10
ASSUMED_SPREAD = 0.05
"""Over the riskless rate, for debt whose interest is not stated."""


def valuation(c: Company) -> Reading:
    """Weighted gap between worth and market cap; 15 % is a side, 30 % is full confidence."""
    models: tuple[tuple[str, float, Callable[[Company], float | None]], ...] = (
        ("discounted cash flow", 0.35, discounted_cash_flow),
        ("owner earnings", 0.35, owner_earnings),
        ("EV/EBITDA", 0.20, ebitda_multiple),
        ("residual income", 0.10, residual_income),
    )
    votes = tuple(_vote(name, weight, model(c), c.cap) for name, weight, model in models)
    gaps = [(v.lean, v.weight) for v in votes if v.lean is not None]
    if not gaps:
        return Reading("valuation", None, None, 0.0, votes)
    gap = sum(lean * weight for lean, weight in gaps) / sum(weight for _, weight in gaps)
    score = round(min(max(gap / FULL_GAP, -1.0), 1.0), 6) + 0.0
    return Reading("valuation", score, signal_of(gap, DEAD_ZONE), abs(score), votes)


def _vote(name: str, weight: float, worth: float | None, cap: float | None) -> Vote:
    """The gap of one model as its lean; it may exceed 1."""
    gap = margin_of_safety(worth, cap)
    if worth is None or gap is None or cap is None:
        return Vote(name, weight, None, 0.0, f"{name}: figures missing")
    if worth <= 0:
        return Vote(name, weight, None, 0.0, f"{name}: no positive value")
    if worth > ABSURD * cap or worth < cap / ABSURD:
        return Vote(name, weight, None, 0.0, f"{name}: set aside, {worth / cap:.2g} x market cap")
    return Vote(name, weight, round(gap, 6), 1.0, f"{name} {100 * gap:+z.0f} %")


def owner_earnings(c: Company) -> float | None:
    """NI + D&A - capex - change of working capital, five years at 15 %, then <= 3 %, x 0.75."""
    now, income = c.now, c.values(lambda y: y.net_income)
    capital = c.values(lambda y: y.working_capital)
    if now.net_income is None or now.d_and_a is None or now.capex is None or len(capital) < 2:
        return None
    flow = now.net_income + now.d_and_a - now.capex - (capital[0] - capital[1])
    grown = cagr(income)
    rate = DEFAULT_GROWTH if grown is None else min(grown, MAX_GROWTH)
    worth = with_terminal_growth(flow, [rate] * 5, 0.15, min(rate, 0.03))
    return None if worth is None else 0.75 * worth


def discounted_cash_flow(c: Company) -> float | None:
    """Three stages of free cash flow at the cost of capital, in three scenarios, less for unsteady flows."""
    flows, cap, discount = c.values(lambda y: y.fcf), c.cap, cost_of_capital(c)
    if c.now.fcf is None or len(flows) < 2 or cap is None or discount is None:
        return None
    base = max(c.now.fcf, 0.85 * statistics.fmean(flows[:3]))
    grown = cagr(c.values(lambda y: y.revenue))
    limit = BIG_CAP_GROWTH if cap > BIG_CAP else MAX_GROWTH
    rate = DEFAULT_GROWTH if grown is None else min(grown, limit)
    worth = 0.0
    for weight, times_growth, times_discount in SCENARIOS:
        # What shrinks must shrink faster in the bear case, and cannot shrink below nothing.
        stretch = times_growth if rate > 0 else 2.0 - times_growth
        growths, lasting = _stages(max(rate * stretch, -1.0))
        value = with_terminal_growth(base, growths, discount * times_discount, lasting)
        worth += weight * (value or 0.0)
    mean = statistics.fmean(flows)
    unsteady = statistics.pstdev(flows) / mean if mean > 0 else 1.0
    return worth * max(0.7, 1.0 - 0.5 * unsteady)


def _stages(rate: float) -> tuple[list[float], float]:
    """Growth of seven years, and after them: three at `rate`, four fading, then at most 3 %."""
    lasting = min(0.03, 0.6 * rate)
    middle = (rate + 0.03) / 2.0
    fading = [middle * (4 - i) / 4 + lasting * i / 4 for i in range(4)]
    return [rate] * 3 + fading, lasting


def cost_of_capital(c: Company) -> float | None:
    """Weighted cost of equity (CAPM) and of debt after 25 % tax, within 6 to 20 %."""
    debt, cap, cover = c.now.debt, c.cap, c.now.interest_cover
    if debt is None or not cap:
        return None
    equity_cost = RISK_FREE + RISK_PREMIUM * (1.0 if c.now.beta is None else c.now.beta)
    spread = ASSUMED_SPREAD if cover is None else 0.10 / cover if cover > 0 else MAX_DEBT_COST
    debt_cost = min(RISK_FREE + max(0.01, spread), MAX_DEBT_COST)
    total = cap + max(debt, 0.0)
    mixed = (cap * equity_cost + max(debt, 0.0) * debt_cost * (1.0 - TAX)) / total
    return min(max(mixed, 0.06), 0.20)


def ebitda_multiple(c: Company) -> float | None:
    """The company's own median multiple of up to eight years on EBITDA now, less net debt."""

    def multiple(i: int) -> float | None:
        y = c.filed.years[i]
        if y.market_cap is None or y.net_cash is None or y.ebitda is None or y.ebitda <= 0:
            return None
        return (y.market_cap - y.net_cash) / y.ebitda

    past = [
        m for i in range(min(8, len(c.filed.years))) if (m := multiple(i)) is not None and m > 0
    ]
    if len(past) < 2 or c.now.ebitda is None or c.now.net_cash is None:
        return None
    return statistics.median(past) * c.now.ebitda + c.now.net_cash


def residual_income(c: Company) -> float | None:
    """Book value + five years of (NI - 10 % of book) growing with it, then <= 3 %; excess x 0.8.

    An excess below zero takes from the book value; None without positive book value.
    """
    book, income = c.now.equity, c.now.net_income
    if book is None or income is None or book <= 0:
        return None
    excess = income - COST_OF_EQUITY * book
    grown = cagr(c.values(lambda y: y.equity))
    rate = 0.03 if grown is None else min(max(grown, 0.0), 0.10)
    size = with_terminal_growth(abs(excess), [rate] * 5, COST_OF_EQUITY, 0.03)
    return None if size is None else book + 0.8 * math.copysign(size, excess)

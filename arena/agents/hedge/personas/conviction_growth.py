"""Conviction growth: quality in a growing economy, bought in fear and held with conviction."""

from __future__ import annotations

import statistics

from arena.agents.hedge.company import Company, share_up
from arena.agents.hedge.intrinsic import with_exit
from arena.agents.hedge.personas.common import (
    eps_cagr,
    income_cagr,
    revenue_cagr,
    share_count_growth,
)
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Gate,
    Persona,
    above,
    at_least,
    below,
    times,
    within,
    yes_no,
)

YEARS = 5
TERMS = ((0.8, 0.12, 18.0), (0.6, 0.15, 15.0), (0.0, 0.18, 12.0))
"""(quality from, discount, exit P/E): the better the company, the more is paid for its earnings."""

GROWTH_CAP, GROWTH_HAIRCUT, GROWTH_FLOOR = 0.20, 0.8, 0.05


def quality(c: Company) -> float | None:
    """Mean in [0, 1] of return on equity (20 % is full), what is not owed, and steps of profit up."""
    roe, owed = c.now.roe, c.now.liabilities_to_assets
    parts = (
        None if roe is None else min(max(roe / 0.20, 0.0), 1.0),
        None if owed is None else min(max(1.0 - owed, 0.0), 1.0),
        share_up(c.values(lambda y: y.net_income)),
    )
    known = [p for p in parts if p is not None]
    return statistics.fmean(known) if known else None


def worth(c: Company) -> float | None:
    """Five years of earnings at 0.8 x their growth (5 to 16 %), then an exit P/E by quality."""
    grade, grown = quality(c), income_cagr(c)
    if grade is None:
        return None
    _, discount, exit_pe = next(t for t in TERMS if grade >= t[0])
    rate = GROWTH_FLOOR
    if grown is not None:
        rate = max(GROWTH_FLOOR, GROWTH_HAIRCUT * min(grown, GROWTH_CAP))
    return with_exit(c.now.net_income, rate, discount, YEARS, exit_pe)


PERSONA = Persona(
    "conviction_growth",
    "Conviction growth",
    "You believe in the growth of a whole economy and in the companies that carry it. You want "
    "high returns on capital, rising profits, clean accounts and owners beside you; when others "
    "panic about such a company you buy, and you let winners run. Weak figures you sell early.",
    (
        Block(
            "profit",
            (
                Check("roe", "Return on equity", lambda c: c.now.roe,
                      above((0.20, 3), (0.15, 2), (0.10, 1))),
                Check("margin", "Operating margin", lambda c: c.now.operating_margin,
                      above((0.20, 2), (0.15, 1))),
                Check("eps", "Growth of earnings per share a year", eps_cagr,
                      above((0.20, 3), (0.15, 2), (0.10, 1)), trend=True),
            ),
        ),
        Block(
            "growth",
            (
                Check("revenue", "Revenue growth a year", revenue_cagr,
                      above((0.20, 3), (0.15, 2), (0.10, 1)), trend=True),
                Check("income", "Growth of net income a year", income_cagr,
                      above((0.25, 3), (0.20, 2), (0.15, 1)), trend=True),
                Check("steady", "Years in which revenue grew",
                      lambda c: share_up(c.values(lambda y: y.revenue)), at_least((0.8, 1)),
                      trend=True),
            ),
        ),
        Block(
            "balance",
            (
                Check("liabilities", "Liabilities over assets",
                      lambda c: c.now.liabilities_to_assets, below((0.5, 2), (0.7, 1))),
                Check("current_ratio", "Current ratio", lambda c: c.now.current_ratio,
                      above((2.0, 2), (1.5, 1)), times),
            ),
        ),
        Block(
            "cash",
            (
                Check("fcf", "Free cash flow", lambda c: c.now.fcf, above((0, 2)), yes_no),
                Check("dividends", "Pays a dividend", lambda c: c.now.dividends, above((0, 1)),
                      yes_no),
            ),
        ),
        Block(
            "management",
            (
                Check("shares", "Change in the number of shares", share_count_growth,
                      within((-1.0, -0.001, 2), (-0.001, 0.005, 1)), trend=True),
            ),
        ),
    ),
    lens=("return_20_pct", "return_60_pct", "return_250_pct", "volatility_session_pct"),
    bull_at=0.60,
    worth=worth,
    gate=Gate(bullish_from=0.30, bearish_to=-0.30),
)  # fmt: skip

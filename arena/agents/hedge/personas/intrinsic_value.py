"""Intrinsic value: the story must agree with the numbers."""

from __future__ import annotations

import statistics

from arena.agents.fundamentals import ratio
from arena.agents.hedge.company import Company, change
from arena.agents.hedge.intrinsic import with_terminal_growth
from arena.agents.hedge.personas.common import revenue_cagr
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Gate,
    Persona,
    Points,
    above,
    below,
    plain,
    times,
    yes_no,
)

YEARS = 10
LASTING_GROWTH, DEFAULT_GROWTH, MAX_GROWTH = 0.025, 0.04, 0.12
RISK_FREE, RISK_PREMIUM = 0.04, 0.05


def worth(c: Company) -> float | None:
    """Ten years of free cash flow before interest, growth fading to 2.5 %, less net debt.

    d = 4 % + beta x 5 %, with the market's beta of 1 where none is stated.
    """
    now = c.now
    if now.fcf is None or now.net_cash is None:
        return None
    tax = 0.25 if now.tax_rate is None else now.tax_rate
    flow = now.fcf + (now.interest_expense or 0.0) * (1.0 - tax)
    grown = revenue_cagr(c)
    start = DEFAULT_GROWTH if grown is None else min(grown, MAX_GROWTH)
    growths = [start + (LASTING_GROWTH - start) * i / (YEARS - 1) for i in range(YEARS)]
    discount = RISK_FREE + RISK_PREMIUM * (1.0 if now.beta is None else now.beta)
    firm = with_terminal_growth(flow, growths, discount, LASTING_GROWTH)
    return None if firm is None else max(0.0, firm + now.net_cash)


def price_against_own_past(c: Company) -> float | None:
    """P/E now over the median P/E of up to five years; None unless all of them are positive."""
    past = c.values(lambda y: ratio(y.net_income, y.market_cap))[:5]
    now = c.earnings_yield
    if now is None or now <= 0 or len(past) < 2 or min(past) <= 0:
        return None
    return statistics.median(past) / now


PERSONA = Persona(
    "intrinsic_value",
    "Intrinsic value",
    "You value a company by telling its story and then making the figures carry it: growth, the "
    "cash it throws off, the risk in both. A good company at too high a price is a bad investment, "
    "and a poor one can be cheap enough. What you pay for is the gap between value and price.",
    (
        Block(
            "growth",
            (
                Check("revenue_cagr", "Revenue growth a year", revenue_cagr,
                      above((0.08, 2), (0.03, 1)), trend=True),
                Check("fcf_up", "Free cash flow above its start",
                      lambda c: change(c.values(lambda y: y.fcf)), above((0, 1)), yes_no, True),
                Check("roic", "Return on invested capital", lambda c: c.now.roic, above((0.10, 1))),
            ),
        ),
        Block(
            "risk",
            (
                Check("beta", "Beta", lambda c: c.now.beta, below((1.3, 1)), plain),
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((1.0, 1)), times),
                Check("cover", "Operating income over interest", lambda c: c.now.interest_cover,
                      above((3.0, 1)), times),
            ),
        ),
        Block(
            "relative price",
            (
                Check("pe_past", "P/E over its own median", price_against_own_past,
                      Points(lambda x: 1.0 if x < 0.7 else -1.0 if x > 1.3 else 0.0, 1.0), times),
            ),
        ),
    ),
    lens=("return_250_pct", "volatility_session_pct", "z_50"),
    worth=worth,
    gate=Gate(bullish_from=0.25, bearish_to=-0.25, needed_for_bullish=0.25),
)  # fmt: skip

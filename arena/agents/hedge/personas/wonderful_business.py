"""Wonderful business: a moat, honest capital, predictable results, a fair price."""

from __future__ import annotations

import statistics

from arena.agents.fundamentals import ratio
from arena.agents.hedge.company import (
    RECORD_YEARS,
    Company,
    deviation,
    share,
    share_up,
    yearly_growth,
)
from arena.agents.hedge.intrinsic import margin_of_safety
from arena.agents.hedge.personas.common import fcf_over_income, fcf_price, share_count_growth
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Persona,
    Points,
    above,
    at_least,
    below,
    times,
    within,
    words,
    yes_no,
)


def roic_level(c: Company) -> float | None:
    """3: return on invested capital over 15 % in 80 % of years; 2: in half; 1: in any."""
    good = share(c.values(lambda y: y.roic), lambda x: x > 0.15)
    return None if good is None else 3.0 if good >= 0.8 else 2.0 if good >= 0.5 else float(good > 0)


def pricing_level(c: Company) -> float | None:
    """2: gross margin rose in 70 % of steps; 1: over 30 % on average."""
    margins = c.values(lambda y: y.gross_margin)
    rising = share_up(margins)
    if rising is None:
        return None
    return 2.0 if rising >= 0.7 else float(statistics.fmean(margins) > 0.30)


def growth_level(c: Company) -> float | None:
    """3: mean revenue growth over 5 %, deviating by less than 10 points; 2: over 0, 20; 1: over 0."""
    rates = yearly_growth(c.values(lambda y: y.revenue))
    if len(rates) + 1 < RECORD_YEARS:
        return None
    mean = statistics.fmean(rates)
    spread = statistics.fmean(abs(r - mean) for r in rates)
    if mean > 0.05 and spread < 0.10:
        return 3.0
    return 2.0 if mean > 0 and spread < 0.20 else float(mean > 0)


def fcf_trend(c: Company) -> float | None:
    """Newest free cash flow over the oldest of up to five years."""
    flows = c.values(lambda y: y.fcf)[:5]
    return ratio(flows[0], flows[-1]) if len(flows) > 2 else None


DILUTION = Points(
    lambda x: 2.0 if x <= -0.05 else 1.0 if x <= 0.05 else -1.0 if x > 0.2 else 0.0, 2.0
)
INSIDERS = Points(lambda x: 2.0 if x > 0.7 else 1.0 if x > 0.4 else -1.0 if x < 0.1 else 0.0, 2.0)

PERSONA = Persona(
    "wonderful_business",
    "Wonderful business",
    "You would rather own an excellent business at a fair price than the reverse. You turn every "
    "question round: what would ruin this? High returns on capital for many years, managers who "
    "treat owners as partners, results you could have foretold. If it is too hard, you say so.",
    (
        Block(
            "moat",
            (
                Check("roic", "Return on invested capital over 15 %", roic_level,
                      above((2.5, 3), (1.5, 2), (0.5, 1)),
                      words("never", "in some years", "in most years", "nearly always")),
                Check("pricing", "Gross margin", pricing_level, above((1.5, 2), (0.5, 1)),
                      words("low", "over 30 %", "rising"), True),
                Check("capex", "Capex over revenue", lambda c: c.now.capex_share,
                      below((0.05, 2), (0.10, 1))),
                Check("rd", "Does research", lambda c: c.now.rd, above((0, 1)), yes_no),
                Check("intangibles", "Owns intangibles", lambda c: c.now.intangible_assets,
                      above((0, 1)), yes_no),
            ),
            0.35,
        ),
        Block(
            "management",
            (
                Check("cash_profit", "Free cash flow over net income", fcf_over_income,
                      above((1.1, 3), (0.9, 2), (0.7, 1)), times),
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.3, 3), (0.7, 2), (1.5, 1)), times),
                Check("cash", "Cash over revenue", lambda c: ratio(c.now.cash, c.now.revenue),
                      within((0.10, 0.25, 2), (0.05, 0.40, 1))),
                Check("insiders", "Insider trades that were purchases",
                      lambda c: c.now.insider_buy_share, INSIDERS),
                Check("shares", "Change in the number of shares", share_count_growth, DILUTION,
                      trend=True),
            ),
            0.25,
        ),
        Block(
            "predictability",
            (
                Check("growth", "Revenue growth", growth_level, above((2.5, 3), (1.5, 2), (0.5, 1)),
                      words("none", "positive", "positive and fairly even", "over 5 % and even"),
                      True),
                Check("profit_record", "Years with an operating profit",
                      lambda c: share(c.values(lambda y: y.operating_income), lambda x: x > 0,
                                      RECORD_YEARS),
                      at_least((1.0, 3), (0.8, 2), (0.6, 1))),
                Check("margin_spread", "Deviation of the operating margin",
                      lambda c: deviation(c.values(lambda y: y.operating_margin)),
                      below((0.03, 2), (0.07, 1))),
                Check("fcf_record", "Years with free cash flow",
                      lambda c: share(c.values(lambda y: y.fcf), lambda x: x > 0, RECORD_YEARS),
                      at_least((1.0, 2), (0.8, 1))),
            ),
            0.25,
        ),
        Block(
            "value",
            (
                Check("fcf_yield", "Mean free cash flow over market cap",
                      lambda c: c.mean_fcf_yield, above((0.08, 4), (0.05, 3), (0.03, 1))),
                Check("fair_price", "Margin of safety at 15 times free cash flow",
                      lambda c: margin_of_safety(fcf_price(c, 15), c.cap),
                      above((0.3, 3), (0.1, 2), (-0.1, 1))),
                Check("fcf_trend", "Free cash flow over that of its start", fcf_trend,
                      above((1.2, 3), (1.0, 2)), times, True),
            ),
            0.15,
        ),
    ),
    lens=("return_250_pct", "drawdown_pct", "volatility_session_pct"),
    bull_at=0.75,
    bear_at=0.55,
)  # fmt: skip

"""Low-risk doubles: if it goes well much is won, if not little is lost."""

from __future__ import annotations

import statistics

from arena.agents.hedge.company import Company, cagr, yearly_growth
from arena.agents.hedge.scoring import Block, Check, Persona, above, at_least, below, times, words

YEARS = 3


def cash_level(c: Company) -> float | None:
    """2: free cash flow positive for three years and not falling; 1: positive."""
    flows = c.values(lambda y: y.fcf)[:YEARS]
    if len(flows) < YEARS:
        return None
    if min(flows) <= 0:
        return 0.0
    return 2.0 if flows[0] >= flows[-1] else 1.0


def revenue_growth(c: Company) -> float | None:
    """Mean yearly growth of revenue over the last three years."""
    rates = yearly_growth(c.values(lambda y: y.revenue))[:YEARS]
    return statistics.fmean(rates) if len(rates) > 1 else None


PERSONA = Persona(
    "low_risk_doubles",
    "Low-risk doubles",
    "You wait for the few bets where the loss is small and known and a double within three years is "
    "likely: simple businesses, cheap cash flow, no debt that could end the game. You make few "
    "bets and large ones, and borrow good ideas without shame. Uncertainty is fine, risk is not.",
    (
        Block(
            "downside",
            (
                Check("net_cash", "More cash than debt",
                      lambda c: None if c.now.net_cash is None else float(c.now.net_cash > 0),
                      above((0, 3)), words("no", "yes")),
                Check("current_ratio", "Current ratio", lambda c: c.now.current_ratio,
                      at_least((2.0, 2), (1.2, 1)), times),
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.3, 2), (0.7, 1)), times),
                Check("cash", "Free cash flow of three years", cash_level,
                      above((1.5, 2), (0.5, 1)),
                      words("not always positive", "positive", "positive and not falling"), True),
            ),
            0.45,
        ),
        Block(
            "value",
            (
                Check("fcf_yield", "Mean free cash flow over market cap",
                      lambda c: c.mean_fcf_yield,
                      above((0.10, 4), (0.07, 3), (0.05, 2), (0.03, 1))),
                Check("capex", "Capex over revenue", lambda c: c.now.capex_share,
                      below((0.05, 2), (0.10, 1))),
            ),
            0.35,
        ),
        Block(
            "doubling",
            (
                Check("revenue", "Mean revenue growth of three years", revenue_growth,
                      above((0.15, 2), (0.05, 1)), trend=True),
                Check("fcf_growth", "Growth of free cash flow a year",
                      lambda c: cagr(c.values(lambda y: y.fcf)),
                      above((0.20, 3), (0.08, 2), (0, 1)), trend=True),
                Check("fcf_yield_now", "Free cash flow over market cap", lambda c: c.fcf_yield,
                      above((0.08, 3), (0.05, 1))),
            ),
            0.20,
        ),
    ),
    lens=("from_low_pct", "z_50", "volatility_session_pct"),
    bull_at=0.75,
    bear_at=0.40,
)  # fmt: skip

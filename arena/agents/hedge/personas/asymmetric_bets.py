"""Asymmetric bets: momentum and growth with a small loss in view; concentrate, and cut fast."""

from __future__ import annotations

from arena.agents.hedge.personas.common import eps_cagr, insider_block, news_block, revenue_cagr
from arena.agents.hedge.scoring import Block, Check, Persona, above, below, times

PERSONA = Persona(
    "asymmetric_bets",
    "Asymmetric bets",
    "You hunt for bets that win several times what they can lose. Price momentum, growth and easy "
    "money matter more to you than a low multiple; when all agree you bet heavily, on either "
    "side, and when the tape says you are wrong you turn at once and without regret.",
    (
        Block(
            "growth and momentum",
            (
                Check("revenue", "Revenue growth a year", revenue_cagr,
                      above((0.08, 3), (0.04, 2), (0.01, 1)), trend=True),
                Check("eps", "Growth of earnings per share a year", eps_cagr,
                      above((0.08, 3), (0.04, 2), (0.01, 1)), trend=True),
                Check("price", "Price change over 250 sessions", lambda c: c.long_return_frac,
                      above((0.5, 3), (0.2, 2), (0, 1))),
            ),
            0.35,
        ),
        Block(
            "risk",
            (
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.3, 3), (0.7, 2), (1.5, 1)), times),
                Check("volatility", "Volatility of a session", lambda c: c.session_volatility_frac,
                      below((0.01, 3), (0.02, 2), (0.04, 1))),
            ),
            0.20,
        ),
        Block(
            "price",
            (
                Check("earnings_yield", "Net income over market cap", lambda c: c.earnings_yield,
                      above((1 / 15, 2), (1 / 25, 1))),
                Check("fcf_yield", "Free cash flow over market cap", lambda c: c.fcf_yield,
                      above((1 / 15, 2), (1 / 25, 1))),
                Check("ebit_yield", "Operating income over enterprise value",
                      lambda c: c.ebit_yield, above((1 / 15, 2), (1 / 25, 1))),
                Check("ebitda_yield", "EBITDA over enterprise value", lambda c: c.ebitda_yield,
                      above((1 / 10, 2), (1 / 18, 1))),
            ),
            0.20,
        ),
        news_block(0.15),
        insider_block(0.10),
    ),
    lens=("return_5_pct", "return_20_pct", "return_60_pct", "volatility_session_pct", "volume_ratio"),
    bull_at=0.75,
    bear_at=0.45,
)  # fmt: skip

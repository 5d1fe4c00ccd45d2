"""Patient quality growth: superior growth from research and management, held for years."""

from __future__ import annotations

from arena.agents.hedge.company import Company, change, deviation, share
from arena.agents.hedge.personas.common import eps_cagr, insider_block, news_block, revenue_cagr
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Persona,
    above,
    below,
    pct,
    times,
    within,
    words,
)


def margin_level(c: Company) -> float | None:
    """2: operating margin not below that of its start; 1: positive."""
    margins = c.values(lambda y: y.operating_margin)
    rise = change(margins)
    if rise is None:
        return None
    return 2.0 if rise >= 0 else float(margins[0] > 0)


PERSONA = Persona(
    "quality_growth",
    "Patient quality growth",
    "You ask everyone who deals with a company before you judge it: is research turned into "
    "products, do margins hold, is management candid? You pay up for outstanding growth and keep "
    "it for many years. Ordinary growth at a low price does not interest you.",
    (
        Block(
            "growth",
            (
                Check("revenue", "Revenue growth a year", revenue_cagr,
                      above((0.20, 3), (0.10, 2), (0.03, 1)), trend=True),
                Check("eps", "Growth of earnings per share a year", eps_cagr,
                      above((0.20, 3), (0.10, 2), (0.03, 1)), trend=True),
                Check("rd", "Research over revenue", lambda c: c.now.rd_share,
                      within((0.03, 0.15, 3), (0.15, 99.0, 2), (1e-9, 0.03, 1))),
            ),
            0.30,
        ),
        Block(
            "margins",
            (
                Check("margin", "Operating margin", margin_level, above((1.5, 2), (0.5, 1)),
                      words("a loss", "positive but below its start", "not below its start"), True),
                Check("gross_margin", "Gross margin", lambda c: c.now.gross_margin,
                      above((0.5, 2), (0.3, 1))),
                Check("margin_spread", "Deviation of the operating margin",
                      lambda c: deviation(c.values(lambda y: y.operating_margin), 3),
                      below((0.02, 2), (0.05, 1))),
            ),
            0.25,
        ),
        Block(
            "management",
            (
                Check("roe", "Return on equity", lambda c: c.now.roe,
                      above((0.20, 3), (0.10, 2), (0, 1)), pct),
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.3, 2), (1.0, 1)), times),
                Check("fcf_record", "Years with free cash flow",
                      lambda c: share(c.values(lambda y: y.fcf), lambda x: x > 0), above((0.8, 1))),
            ),
            0.20,
        ),
        Block(
            "price",
            (
                Check("earnings_yield", "Net income over market cap", lambda c: c.earnings_yield,
                      above((1 / 20, 2), (1 / 30, 1))),
                Check("fcf_yield", "Free cash flow over market cap", lambda c: c.fcf_yield,
                      above((1 / 20, 2), (1 / 30, 1))),
            ),
            0.15,
        ),
        insider_block(0.05),
        news_block(0.05),
    ),
    lens=("return_60_pct", "return_250_pct", "volatility_session_pct"),
    bull_at=0.75,
    bear_at=0.45,
)  # fmt: skip

"""Growth at a reasonable price: know what you own, and do not pay more than it grows."""

from __future__ import annotations

from arena.agents.hedge.company import Company, growth
from arena.agents.hedge.personas.common import eps_cagr, insider_block, news_block
from arena.agents.hedge.scoring import Block, Check, Persona, above, below, plain, times, yes_no


def growth_for_price(c: Company) -> float | None:
    """Yearly growth of earnings in percent over P/E, 1 / PEG; 0 without growth or earnings."""
    rate, cheap = eps_cagr(c), c.earnings_yield
    if rate is None or cheap is None:
        return None
    return 0.0 if rate <= 0 or cheap <= 0 else 100.0 * rate * cheap


PERSONA = Persona(
    "reasonable_price",
    "Growth at a reasonable price",
    "You like companies that an ordinary customer understands, with earnings that grow and a price "
    "that has not run ahead of them: price to earnings against growth is your first look. You "
    "ask for a plain story in two sentences, low debt, and no fashion. The rest you leave alone.",
    (
        Block(
            "growth",
            (
                Check("revenue", "Revenue growth over all years",
                      lambda c: growth(c.values(lambda y: y.revenue)),
                      above((0.25, 3), (0.10, 2), (0.02, 1)), trend=True),
                Check("eps", "Growth of earnings per share over all years",
                      lambda c: growth(c.values(lambda y: y.eps)),
                      above((0.25, 3), (0.10, 2), (0.02, 1)), trend=True),
            ),
            0.30,
        ),
        Block(
            "price",
            (
                Check("earnings_yield", "Net income over market cap", lambda c: c.earnings_yield,
                      above((1 / 15, 2), (1 / 25, 1))),
                Check("growth_for_price", "Growth in percent over P/E", growth_for_price,
                      above((1.0, 3), (1 / 2, 2), (1 / 3, 1)), plain, True),
            ),
            0.25,
        ),
        Block(
            "soundness",
            (
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.5, 2), (1.0, 1)), times),
                Check("margin", "Operating margin", lambda c: c.now.operating_margin,
                      above((0.20, 2), (0.10, 1))),
                Check("fcf", "Free cash flow", lambda c: c.now.fcf, above((0, 2)), yes_no),
            ),
            0.20,
        ),
        news_block(0.15),
        insider_block(0.10),
    ),
    lens=("return_60_pct", "rsi_14", "volatility_session_pct"),
    bull_at=0.75,
    bear_at=0.45,
)  # fmt: skip

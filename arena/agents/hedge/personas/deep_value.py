"""Deep value: hard numbers, hated names, and first of all what can be lost."""

from __future__ import annotations

from arena.agents.hedge.company import Company
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Persona,
    above,
    at_least,
    below,
    pct,
    plain,
    times,
    words,
)

MANY_BAD_STORIES = 5


def insider_level(c: Company) -> float | None:
    """2: insiders bought more than twice what they sold; 1: bought more than they sold."""
    bought, sold = c.now.insider_bought_shares, c.now.insider_sold_shares
    if bought is None or sold is None:
        return None
    return 2.0 if bought - sold > sold else float(bought > sold)


def bad_stories(c: Company) -> float | None:
    return float(c.news.n_bad) if c.news is not None and c.news.n_stories else None


PERSONA = Persona(
    "deep_value",
    "Deep value",
    "You dig through filings for what others hate and the figures defend: cash flow that is cheap "
    "against the whole price, little debt, insiders who buy. You go against the crowd on both "
    "sides: bad headlines do not scare you, and a loved, expensive name is there to be sold.",
    (
        Block(
            "value",
            (
                Check("fcf_yield", "Free cash flow over market cap", lambda c: c.fcf_yield,
                      at_least((0.15, 4), (0.12, 3), (0.08, 2)), pct),
                Check("ebit_yield", "Operating income over enterprise value",
                      lambda c: c.ebit_yield, above((1 / 6, 2), (1 / 10, 1))),
            ),
        ),
        Block(
            "balance",
            (
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.5, 2), (1.0, 1)), times),
                Check("net_cash", "More cash than debt",
                      lambda c: None if c.now.net_cash is None else float(c.now.net_cash > 0),
                      above((0, 1)), words("no", "yes")),
            ),
        ),
        Block(
            "insiders",
            (
                Check("insiders", "Insiders bought", insider_level, above((1.5, 2), (0.5, 1)),
                      words("less than they sold", "more than they sold",
                            "more than twice what they sold")),
            ),
        ),
        Block(
            "contrarian",
            (
                Check("hated", "Bad headlines", bad_stories, at_least((MANY_BAD_STORIES, 1)), plain),
            ),
        ),
    ),
    lens=("drawdown_pct", "from_low_pct", "rsi_14", "z_50"),
)  # fmt: skip

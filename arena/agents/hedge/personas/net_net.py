"""Net-net value: proven earnings, a strong balance sheet, and a price below what is there."""

from __future__ import annotations

import math

from arena.agents.fundamentals import ratio
from arena.agents.hedge.company import Company, change, share
from arena.agents.hedge.intrinsic import margin_of_safety
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Persona,
    above,
    at_least,
    below,
    pct,
    times,
    yes_no,
)

FAIR_MULTIPLES = 22.5
"""15 times earnings x 1.5 times book."""


def net_current_assets_to_cap(c: Company) -> float | None:
    """Current assets less all liabilities, over market cap."""
    assets, owed = c.now.current_assets, c.now.liabilities
    return None if assets is None or owed is None else ratio(assets - owed, c.cap)


def multiples_margin(c: Company) -> float | None:
    """Margin of safety against sqrt(22.5 x EPS x book per share); -1 where either is a loss."""
    eps, book = c.now.eps, c.now.book_per_share
    if eps is None or book is None:
        return None
    return margin_of_safety(math.sqrt(FAIR_MULTIPLES * max(eps, 0.0) * max(book, 0.0)), c.price)


PERSONA = Persona(
    "net_net",
    "Net-net value",
    "You trust assets and a long record, not forecasts. You want to buy for less than the company "
    "would fetch if it were wound up, with earnings in every year and little owed to anyone, so "
    "that even a mistake costs little. Enthusiasm in the price is a warning.",
    (
        Block(
            "stability",
            (
                Check("eps_record", "Years with a profit per share",
                      lambda c: share(c.values(lambda y: y.eps), lambda x: x > 0),
                      at_least((1.0, 3), (0.8, 2))),
                Check("eps_up", "Earnings per share above their start",
                      lambda c: change(c.values(lambda y: y.eps)), above((0, 1)), yes_no, True),
            ),
        ),
        Block(
            "strength",
            (
                Check("current_ratio", "Current ratio", lambda c: c.now.current_ratio,
                      at_least((2.0, 2), (1.5, 1)), times),
                Check("liabilities", "Liabilities over assets",
                      lambda c: c.now.liabilities_to_assets, below((0.5, 2), (0.8, 1))),
                Check("dividends", "Years with a dividend",
                      lambda c: share(c.values(lambda y: y.dividends), lambda x: x > 0),
                      above((0.5, 1))),
            ),
        ),
        Block(
            "value",
            (
                Check("ncav", "Net current assets over market cap", net_current_assets_to_cap,
                      at_least((1.0, 4), (0.67, 2)), pct),
                Check("multiples", "Margin to the root of 22.5 x earnings x book", multiples_margin,
                      above((0.5, 3), (0.2, 1))),
            ),
        ),
    ),
    lens=("drawdown_pct", "z_50", "rsi_14"),
)  # fmt: skip

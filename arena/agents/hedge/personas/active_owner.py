"""Active owner: a few strong brands, disciplined capital, and value that pressure can free."""

from __future__ import annotations

from arena.agents.hedge.company import Company, growth, share
from arena.agents.hedge.intrinsic import margin_of_safety, with_exit
from arena.agents.hedge.personas.common import share_count_growth
from arena.agents.hedge.scoring import Block, Check, Persona, above, below, words, yes_no


def revenue_growth(c: Company) -> float | None:
    return growth(c.values(lambda y: y.revenue))


def something_to_fix(c: Company) -> float | None:
    """1 where sales grew by more than 15 % and the operating margin is still below 10 %."""
    grown, margin = revenue_growth(c), c.now.operating_margin
    return None if grown is None or margin is None else float(grown > 0.15 and margin < 0.10)


PERSONA = Persona(
    "active_owner",
    "Active owner",
    "You hold very few positions, in simple businesses with strong brands and dependable cash, and "
    "you use your votes: costs, balance sheet, management. You look for a clear reason why value "
    "will come out, and then you commit. You bet against what is overpriced with the same energy.",
    (
        Block(
            "quality",
            (
                Check("revenue", "Revenue growth over all years", revenue_growth,
                      above((0.5, 2), (0.0, 1)), trend=True),
                Check("margin", "Years with an operating margin over 15 %",
                      lambda c: share(c.values(lambda y: y.operating_margin), lambda x: x > 0.15),
                      above((0.5, 2))),
                Check("fcf", "Years with free cash flow",
                      lambda c: share(c.values(lambda y: y.fcf), lambda x: x > 0), above((0.5, 1))),
                Check("roe", "Return on equity", lambda c: c.now.roe, above((0.15, 2))),
            ),
        ),
        Block(
            "discipline",
            (
                Check("leverage", "Years with debt below equity",
                      lambda c: share(c.values(lambda y: y.debt_to_equity), lambda x: x < 1.0),
                      above((0.5, 2))),
                Check("dividends", "Pays a dividend", lambda c: c.now.dividends, above((0, 1)), yes_no),
                Check("shares", "Change in the number of shares", share_count_growth,
                      below((0.0, 1)), trend=True),
            ),
        ),
        Block(
            "room for pressure",
            (
                Check("lever", "Growing with a thin margin", something_to_fix, above((0, 2)),
                      words("no", "yes")),
            ),
        ),
        Block(
            "value",
            (
                Check("margin_of_safety", "Margin of safety, five years at 6 % and 15 times",
                      lambda c: margin_of_safety(with_exit(c.now.fcf, 0.06, 0.10, 5, 15), c.cap),
                      above((0.3, 3), (0.1, 1))),
            ),
        ),
    ),
    lens=("return_60_pct", "drawdown_pct", "volatility_session_pct"),
)  # fmt: skip

"""Numbers that several creeds read, and the two blocks that hear news and insiders."""

from __future__ import annotations

from arena.agents.hedge.company import Company, cagr
from arena.agents.hedge.scoring import Block, Check, above, plain


def revenue_cagr(c: Company) -> float | None:
    return cagr(c.values(lambda y: y.revenue))


def eps_cagr(c: Company) -> float | None:
    return cagr(c.values(lambda y: y.eps))


def income_cagr(c: Company) -> float | None:
    return cagr(c.values(lambda y: y.net_income))


def share_count_growth(c: Company) -> float | None:
    """Change of the number of shares over all years; negative where they were bought back."""
    counts = c.values(lambda y: y.shares)
    return counts[0] / counts[-1] - 1.0 if len(counts) > 1 and counts[-1] > 0 else None


def fcf_over_income(c: Company) -> float | None:
    """Free cash flow for each unit of profit; None without a profit."""
    fcf, income = c.now.fcf, c.now.net_income
    return None if fcf is None or income is None or income <= 0 else fcf / income


def fcf_price(c: Company, multiple: float) -> float | None:
    """What the company is worth at a plain multiple of its free cash flow, which is 0 for a loss."""
    return None if c.now.fcf is None else max(c.now.fcf, 0.0) * multiple


def signed(x: float) -> str:
    return f"{x:+z.2f}"


NEWS_POINTS = above((0.4, 8), (-0.2, 6), (-1.01, 3))
INSIDER_POINTS = above((0.7, 8), (0.4, 6), (-0.01, 4))


def news_block(weight: float) -> Block:
    """8 points for good news, 6 for mixed, 3 for bad."""

    def tone(c: Company) -> float | None:
        return None if c.news is None else c.news.score

    return Block("news", (Check("news", "Tone of the news", tone, NEWS_POINTS, signed),), weight)


def insider_block(weight: float) -> Block:
    """8 points where insiders mostly buy, 6 where they do both, 4 where they mostly sell."""
    check = Check(
        "insiders", "Insider trades that were purchases", lambda c: c.now.insider_buy_share,
        INSIDER_POINTS, plain,
    )  # fmt: skip
    return Block("insiders", (check,), weight)

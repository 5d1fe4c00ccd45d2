"""Owner earnings: within what one understands, a moat, and cash that really belongs to the owner."""

from __future__ import annotations

import statistics

from arena.agents.hedge.company import RECORD_YEARS, Company, cagr, change, share, share_up
from arena.agents.hedge.intrinsic import with_terminal_growth
from arena.agents.hedge.personas.common import income_cagr, share_count_growth
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Gate,
    Persona,
    above,
    at_least,
    below,
    plain,
    times,
    words,
    yes_no,
)

DISCOUNT, LASTING_GROWTH, HAIRCUT = 0.10, 0.025, 0.85


def owner_earnings(c: Company) -> float | None:
    """Net income + depreciation - capex that only maintains - growth of working capital.

    Maintenance is the median of 85 % of capex, depreciation, and the usual share of revenue.
    """
    now = c.now
    if now.net_income is None or now.d_and_a is None or now.capex is None:
        return None
    guesses = [0.85 * now.capex, now.d_and_a]
    usual = c.values(lambda y: y.capex_share)
    if usual and now.revenue is not None:
        guesses.append(statistics.fmean(usual) * now.revenue)
    tied_up = c.values(lambda y: y.working_capital)
    more_tied_up = tied_up[0] - tied_up[1] if len(tied_up) > 1 else 0.0
    return now.net_income + now.d_and_a - statistics.median(guesses) - more_tied_up


def worth(c: Company) -> float | None:
    """Ten years of owner earnings, growth cautious and then halved, at 10 %, less 15 % for error."""
    flow, grown = owner_earnings(c), income_cagr(c)
    first = min(0.7 * min(max(0.0 if grown is None else grown, -0.05), 0.15), 0.08)
    growths = [first] * 5 + [min(first / 2.0, 0.04)] * 5
    value = with_terminal_growth(flow, growths, DISCOUNT, LASTING_GROWTH)
    return None if value is None else HAIRCUT * value


def returns_record(c: Company) -> float | None:
    """2: return on equity over 15 % in 80 % of years; 1: in 60 %."""
    good = share(c.values(lambda y: y.roe), lambda x: x > 0.15, RECORD_YEARS)
    return None if good is None else 2.0 if good >= 0.8 else float(good >= 0.6)


def strong_margins(c: Company) -> float | None:
    """1 where the operating margin averages over 20 % and is not below its start."""
    margins = c.values(lambda y: y.operating_margin)
    if len(margins) < RECORD_YEARS:
        return None
    return float(statistics.fmean(margins) > 0.20 and margins[0] >= margins[-1])


def mean_gross_margin(c: Company) -> float | None:
    margins = c.values(lambda y: y.gross_margin)
    return statistics.fmean(margins) if margins else None


def stability(c: Company) -> float | None:
    """1 - coefficient of variation, averaged over return on equity and operating margin."""
    parts = []
    for values in (c.values(lambda y: y.roe), c.values(lambda y: y.operating_margin)):
        if len(values) < RECORD_YEARS:
            return None
        mean = statistics.fmean(values)
        parts.append(0.0 if mean <= 0 else max(0.0, 1.0 - statistics.pstdev(values) / mean))
    return statistics.fmean(parts)


PERSONA = Persona(
    "owner_earnings",
    "Owner earnings",
    "You buy businesses you understand as if you bought them whole, for the cash an owner could "
    "take out without harming them. You want a moat, steady returns on little debt and honest "
    "managers, and a price clearly below value. If a strong business is dear you wait; a poor one "
    "is dear at any price.",
    (
        Block(
            "soundness",
            (
                Check("roe", "Return on equity", lambda c: c.now.roe, above((0.15, 2))),
                Check("leverage", "Debt to equity", lambda c: c.now.debt_to_equity,
                      below((0.5, 2)), times),
                Check("margin", "Operating margin", lambda c: c.now.operating_margin,
                      above((0.15, 2))),
                Check("current_ratio", "Current ratio", lambda c: c.now.current_ratio,
                      above((1.5, 1)), times),
            ),
        ),
        Block(
            "consistency",
            (
                Check("income_up", "Years in which net income rose",
                      lambda c: share_up(c.values(lambda y: y.net_income), RECORD_YEARS),
                      at_least((1.0, 3)), trend=True),
            ),
        ),
        Block(
            "moat",
            (
                Check("roe_record", "Return on equity over 15 %", returns_record,
                      above((1.5, 2), (0.5, 1)), words("seldom", "mostly", "nearly always")),
                Check("margin_record", "Operating margin over 20 % and not falling", strong_margins,
                      above((0, 1)), words("no", "yes"), True),
                Check("turnover", "Revenue over assets", lambda c: c.now.asset_turnover,
                      above((1.0, 1)), times),
                Check("stability", "Stability of returns and margins, 0 to 1", stability,
                      above((0.7, 1)), plain),
            ),
        ),
        Block(
            "pricing power",
            (
                Check("gross_margin_change", "Change in gross margin",
                      lambda c: change(c.values(lambda y: y.gross_margin)),
                      at_least((0.02, 3), (0.002, 2), (-0.002, 1)), trend=True),
                Check("gross_margin", "Mean gross margin", mean_gross_margin,
                      above((0.5, 2), (0.3, 1))),
            ),
        ),
        Block(
            "book value",
            (
                Check("book_up", "Years in which book value per share rose",
                      lambda c: share_up(c.values(lambda y: y.book_per_share)),
                      at_least((0.8, 3), (0.6, 2), (0.4, 1)), trend=True),
                Check("book_growth", "Growth of book value per share a year",
                      lambda c: cagr(c.values(lambda y: y.book_per_share)),
                      above((0.15, 2), (0.10, 1)), trend=True),
            ),
        ),
        Block(
            "management",
            (
                Check("shares", "Change in the number of shares", share_count_growth,
                      below((0.0, 1)), trend=True),
                Check("dividends", "Pays a dividend", lambda c: c.now.dividends, above((0, 1)),
                      yes_no),
            ),
        ),
    ),
    lens=("return_250_pct", "z_50", "drawdown_pct"),
    worth=worth,
    gate=Gate(bearish_to=-0.50, needed_for_bullish=0.0),
)  # fmt: skip

"""Disruptive growth: what changes an industry, and grows faster than anyone draws it."""

from __future__ import annotations

from arena.agents.hedge.company import Company, change, growth, share, yearly_growth
from arena.agents.hedge.intrinsic import margin_of_safety, with_exit
from arena.agents.hedge.scoring import Block, Check, Persona, above, below, words, yes_no


def acceleration(c: Company) -> float | None:
    """Revenue growth of the last year less that of the year before."""
    rates = yearly_growth(c.values(lambda y: y.revenue))
    return rates[0] - rates[1] if len(rates) > 1 else None


def latest_growth(c: Company) -> float | None:
    return growth(c.values(lambda y: y.revenue), 1)


def leverage_of_scale(c: Company) -> float | None:
    """Growth of revenue less growth of operating costs, over all years."""
    sales = growth(c.values(lambda y: y.revenue))
    costs = growth(c.values(lambda y: y.operating_costs))
    return None if sales is None or costs is None else sales - costs


def cash_level(c: Company) -> float | None:
    """3: free cash flow grew by 30 % and was never negative; 2: positive in 75 %; 1: in half."""
    flows = c.values(lambda y: y.fcf)
    positive = share(flows, lambda x: x > 0)
    if positive is None:
        return None
    if positive == 1.0 and flows[0] > 1.3 * flows[-1]:
        return 3.0
    return 2.0 if positive >= 0.75 else float(positive > 0.5)


def margin_level(c: Company) -> float | None:
    """3: operating margin over 15 % and rising; 2: over 10 %; 1: rising."""
    margins = c.values(lambda y: y.operating_margin)
    rise = change(margins)
    if rise is None:
        return None
    if margins[0] > 0.15 and rise > 0:
        return 3.0
    return 2.0 if margins[0] > 0.10 else float(rise > 0)


def building_level(c: Company) -> float | None:
    """2: capex over 10 % of revenue and up by 20 %; 1: over 5 % of revenue."""
    part, grown = c.now.capex_share, growth(c.values(lambda y: y.capex))
    if part is None:
        return None
    return 2.0 if part > 0.10 and grown is not None and grown > 0.20 else float(part > 0.05)


def levels(n: int) -> tuple[tuple[float, float], ...]:
    """Limits for a number that already counts its points."""
    return tuple((points - 0.5, float(points)) for points in range(n, 0, -1))


PERSONA = Persona(
    "disruption",
    "Disruptive growth",
    "You look years ahead for technology that remakes an industry: research, accelerating sales, "
    "margins that widen with scale. Volatility does not frighten you and today's earnings matter "
    "little; a company that no longer surprises has lost its claim to a high price.",
    (
        Block(
            "disruption",
            (
                Check("acceleration", "Change in revenue growth", acceleration, above((0, 2))),
                Check("latest_growth", "Revenue growth of the last year", latest_growth,
                      above((1.0, 3), (0.5, 2), (0.2, 1)), trend=True),
                Check("gross_margin_change", "Change in gross margin",
                      lambda c: change(c.values(lambda y: y.gross_margin)),
                      above((0.05, 2), (0, 1)), trend=True),
                Check("gross_margin", "Gross margin", lambda c: c.now.gross_margin,
                      above((0.5, 2))),
                Check("scale", "Revenue growth beyond that of operating costs", leverage_of_scale,
                      above((0, 2)), trend=True),
                Check("rd", "Research over revenue", lambda c: c.now.rd_share,
                      above((0.15, 3), (0.08, 2), (0.05, 1))),
            ),
            5,
        ),
        Block(
            "innovation",
            (
                Check("rd_growth", "Growth of research over all years",
                      lambda c: growth(c.values(lambda y: y.rd)), above((0.5, 3), (0.2, 2)),
                      trend=True),
                Check("rd_intensity", "Research takes more of revenue",
                      lambda c: change(c.values(lambda y: y.rd_share)), above((0, 2)), yes_no, True),
                Check("cash", "Free cash flow", cash_level, above(*levels(3)),
                      words("rarely positive", "often positive", "mostly positive",
                            "always positive and growing")),
                Check("margins", "Operating margin", margin_level, above(*levels(3)),
                      words("thin", "rising", "over 10 %", "over 15 % and rising"), True),
                Check("building", "Capital expenditure", building_level, above(*levels(2)),
                      words("small", "over 5 % of revenue", "over 10 % of revenue and growing")),
                Check("payout", "Dividends over income", lambda c: c.now.payout,
                      below((0.2, 2), (0.4, 1))),
            ),
            5,
        ),
        Block(
            "value",
            (
                Check("margin_of_safety", "Margin of safety, five years at 20 % and 25 times",
                      lambda c: margin_of_safety(with_exit(c.now.fcf, 0.20, 0.15, 5, 25), c.cap),
                      above((0.5, 3), (0.2, 1))),
            ),
        ),
    ),
    lens=("return_20_pct", "return_60_pct", "volatility_session_pct"),
)  # fmt: skip

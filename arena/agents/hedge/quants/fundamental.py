"""Fundamentals desk: four votes of three ratios each; the majority wins.

A ratio that is unknown is no failure; a vote with fewer than two known ratios abstains.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents.hedge.company import Company, growth
from arena.agents.hedge.quants.reading import Reading, Vote

Test = tuple[str, bool | None]
MIN_KNOWN = 2


def fundamental(c: Company) -> Reading:
    """Profitability, growth, health, price. Confidence = part of the votes cast that the winner has."""
    votes = [
        _vote("profitability", _profitability(c)),
        _vote("growth", _growth(c)),
        _vote("health", _health(c)),
        _vote("price", _price(c), good=False),
    ]
    cast = [v.lean for v in votes if v.lean is not None]
    if not cast:
        return Reading("fundamentals", None, None, 0.0, tuple(votes))
    up, down = cast.count(1.0), cast.count(-1.0)
    score = round((up - down) / len(cast), 6)
    if up == down:
        return Reading(
            "fundamentals", 0.0, "neutral", round(cast.count(0.0) / len(cast), 6), tuple(votes)
        )
    confidence = round(max(up, down) / len(cast), 6)
    return Reading(
        "fundamentals", score, "bullish" if up > down else "bearish", confidence, tuple(votes)
    )


def _profitability(c: Company) -> list[Test]:
    return [
        ("return on equity > 15 %", _over(c.now.roe, 0.15)),
        ("net margin > 20 %", _over(c.now.net_margin, 0.20)),
        ("operating margin > 15 %", _over(c.now.operating_margin, 0.15)),
    ]


def _growth(c: Company) -> list[Test]:
    return [
        ("revenue +10 %", _over(growth(c.values(lambda y: y.revenue), 1), 0.10)),
        ("earnings +10 %", _over(growth(c.values(lambda y: y.net_income), 1), 0.10)),
        ("book value +10 %", _over(growth(c.values(lambda y: y.equity), 1), 0.10)),
    ]


def _health(c: Company) -> list[Test]:
    fcf, income, leverage = c.now.fcf, c.now.net_income, c.now.debt_to_equity
    return [
        ("current ratio > 1.5", _over(c.now.current_ratio, 1.5)),
        ("debt < half of equity", None if leverage is None else leverage < 0.5),
        (
            "cash flow > 0.8 x earnings",
            None if fcf is None or income is None else fcf > 0.8 * income,
        ),
    ]


def _price(c: Company) -> list[Test]:
    """Dear by P/E > 25, P/B > 3, P/S > 5, asked as yields: a loss is dear, not cheap."""
    cap = c.cap
    return [
        ("P/E > 25", _under(c.now.net_income, cap, 1 / 25)),
        ("P/B > 3", _under(c.now.equity, cap, 1 / 3)),
        ("P/S > 5", _under(c.now.revenue, cap, 1 / 5)),
    ]


def _over(value: float | None, limit: float) -> bool | None:
    return None if value is None else value > limit


def _under(part: float | None, cap: float | None, limit: float) -> bool | None:
    return None if part is None or not cap else part / cap < limit


def _vote(name: str, tests: Sequence[Test], *, good: bool = True) -> Vote:
    """Two or more that hold win one side, none the other; `good`: whether to hold is good."""
    known = [(label, held) for label, held in tests if held is not None]
    if len(known) < MIN_KNOWN:
        return Vote(name, 1.0, None, 0.0, f"{name}: too few ratios are known")
    n = sum(held for _, held in known)
    side = 1.0 if n >= 2 else -1.0 if n == 0 else 0.0
    lean = (side if good else -side) + 0.0
    return Vote(name, 1.0, lean, 1.0, f"{name}: {n} of {len(known)} hold")

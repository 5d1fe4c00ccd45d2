"""The figures an agent is told, and the lines they are told in: facts are exactly what is rendered."""

from __future__ import annotations

from typing import Any

from arena.agents.measures import (
    as_closes,
    return_frac,
    rsi,
    sma_gap_frac,
    vol_annual_frac,
    vol_daily_frac,
    z_score,
)
from arena.core.types import MarketContext, TrackView

RECENT = 10
SIDE_WORD = {1: "long", 0: "flat", -1: "short"}

MEASURES = (
    ("return_1_frac", "return over 1 session", 100.0, "%"),
    ("return_5_frac", "return over 5 sessions", 100.0, "%"),
    ("return_20_frac", "return over 20 sessions", 100.0, "%"),
    ("return_60_frac", "return over 60 sessions", 100.0, "%"),
    ("rsi_14", "RSI(14)", 1.0, ""),
    ("z_50", "deviations from the 50-session mean", 1.0, ""),
    ("sma_200_gap_frac", "distance to the 200-session mean", 100.0, "%"),
    ("vol_daily_frac", "volatility of a day (60 sessions)", 100.0, "%"),
    ("vol_annual_frac", "volatility of a year", 100.0, "%"),
)
"""Key, words, factor and unit of each measure; rounded to four decimals as told."""


def market_facts(market: MarketContext) -> dict[str, Any]:
    """Figures of the market context, rounded as they are shown."""
    closes = as_closes([bar.close for bar in market.bars])
    raw = {
        "return_1_frac": return_frac(closes, 1),
        "return_5_frac": return_frac(closes, 5),
        "return_20_frac": return_frac(closes, 20),
        "return_60_frac": return_frac(closes, 60),
        "rsi_14": rsi(closes),
        "z_50": z_score(closes),
        "sma_200_gap_frac": sma_gap_frac(closes, 200),
        "vol_daily_frac": vol_daily_frac(closes),
        "vol_annual_frac": vol_annual_frac(closes, market.asset.annual_base),
    }
    return {
        "asset": market.asset.id,
        "name": market.asset.name,
        "asset_class": market.asset.asset_class,
        "session": market.session.isoformat(),
        "closes": [(b.session.isoformat(), b.close) for b in market.bars[-RECENT:]],
        **{k: None if v is None else round(v, 4) for k, v in raw.items()},
    }


def view_facts(view: TrackView) -> dict[str, Any]:
    """Figures of the track's own view."""
    return {
        "side": view.side,
        "position": SIDE_WORD[view.side],
        "entry_price": view.entry_price,
        "past": [
            (p.session.isoformat(), p.action, p.price, None if p.next_return_frac is None else round(p.next_return_frac, 4))
            for p in view.past
        ],
    }  # fmt: skip


def market_lines(facts: dict[str, Any]) -> list[str]:
    """The market part of a prompt."""
    lines = [
        f"Asset: {facts['asset']} ({facts['name']}, {facts['asset_class']})",
        f"Last closed session: {facts['session']}",
        "Closes, oldest first: " + ", ".join(f"{day} {price}" for day, price in facts["closes"]),
        "Measures:",
    ]
    for key, words, factor, unit in MEASURES:
        value = facts[key]
        told = "not enough history" if value is None else f"{round(factor * value, 2)}{unit}"
        lines.append(f"- {words}: {told}")
    return lines


def view_lines(facts: dict[str, Any]) -> list[str]:
    """The part about the track itself; an empty past leaves no trace."""
    entry = f", entered at {facts['entry_price']}" if facts["entry_price"] else ""
    lines = [f"Your position: {facts['position']}{entry}"]
    if facts["past"]:
        lines.append("Your last decisions and what the price did until the next close:")
        for day, action, price, after in facts["past"]:
            moved = "not known yet" if after is None else f"{round(100 * after, 2)}%"
            lines.append(f"- {day} {action} at {price}: {moved}")
    return lines

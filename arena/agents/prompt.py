"""From values to a prompt. A `Sheet` renders and remembers in one step, so that the facts handed to
a model are exactly the values it reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import BaseModel

from arena.agents.measures import measure
from arena.core.types import Bar, MarketContext, TrackView
from arena.llm.fields import asked_fields, marker_of

Value = str | int | float | None

SIDE_WORD = {1: "long", -1: "short", 0: "flat"}
CLASS_WORD = {"stock": "stock", "etf": "exchange-traded fund", "crypto": "cryptocurrency"}
CLOSES_SHOWN = 10
UNKNOWN = "unknown"


def show(value: Value) -> str:
    """A value as the prompt spells it: shortest digits, no exponent; None is `unknown`."""
    if value is None:
        return UNKNOWN
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def percent(frac: float | None) -> float | None:
    """A fraction as percent with two decimals (and no negative zero)."""
    return None if frac is None else round(frac * 100.0, 2) + 0.0


def rounded_price(price: float) -> float:
    """Two decimals, or six significant digits where that is finer."""
    return round(price, max(2, 5 - math.floor(math.log10(price))))


@dataclass
class Sheet:
    """A user message in the making: titled blocks, and the `facts` that stand in them.

    `offered` are the ids of evidence that an answer may cite.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    offered: list[str] = field(default_factory=list)
    _blocks: list[str] = field(default_factory=list)

    def values(self, title: str, rows: Sequence[tuple[str, str, Value, str]]) -> None:
        """A block of `label: value unit` lines; each row is (fact name, label, value, unit)."""
        lines = []
        for name, label, value, unit in rows:
            self._remember(name, value)
            lines.append(f"{label}: {show(value)}{unit if value is not None else ''}")
        self._add(title, lines)

    def table(
        self, title: str, name: str, heads: Sequence[str], rows: Sequence[list[Value]]
    ) -> None:
        """A block of columns, kept as one fact; without rows neither title nor fact exists."""
        if rows:
            self._remember(name, [list(row) for row in rows])
            self._add(title, [" | ".join(heads), *(" | ".join(map(show, row)) for row in rows)])

    def offer(self, ids: Sequence[str]) -> None:
        """Ids that stand in a block just added, and may be cited."""
        self.offered += [i for i in ids if i not in self.offered]
        self.facts["evidence_ids"] = self.offered

    def _remember(self, name: str, value: Any) -> None:
        if name in self.facts:
            raise ValueError(f"fact `{name}` is already on the sheet")
        self.facts[name] = value

    def _add(self, title: str, lines: Sequence[str]) -> None:
        self._blocks.append("\n".join([f"## {title}", *lines]))

    def text(self) -> str:
        return "\n\n".join(self._blocks)


def market_blocks(sheet: Sheet, market: MarketContext) -> None:
    """Asset, session, recent closes and measures: what every track of the slot sees alike."""
    asset_block(sheet, market)
    closes_block(sheet, market.bars)
    m = measure(market.bars, market.asset.annual_base)
    sheet.values(
        "Measures at that close",
        [
            ("return_1_pct", "Return over 1 session", percent(m.return_1_frac), " %"),
            ("return_5_pct", "Return over 5 sessions", percent(m.return_5_frac), " %"),
            ("return_20_pct", "Return over 20 sessions", percent(m.return_20_frac), " %"),
            ("return_60_pct", "Return over 60 sessions", percent(m.return_60_frac), " %"),
            ("sma_50_gap_pct", "Above (+) or below (-) the 50-session mean",
             percent(m.sma_50_gap_frac), " %"),
            ("sma_200_gap_pct", "Above (+) or below (-) the 200-session mean",
             percent(m.sma_200_gap_frac), " %"),
            ("rsi_14", "RSI over 14 sessions, 0 to 100", rounded(m.rsi_14, 1), ""),
            ("z_50", "Deviations from the 50-session mean", rounded(m.z_50, 2), ""),
            ("volatility_session_pct", "Volatility of a session, last 60",
             percent(m.volatility_session_frac), " %"),
            ("volatility_year_pct", "The same for a year", percent(m.volatility_year_frac), " %"),
        ],
    )  # fmt: skip


def account_blocks(sheet: Sheet, view: TrackView) -> None:
    """Position and the latest decisions with what followed: what only this track sees."""
    entry = None if view.entry_price is None else rounded_price(view.entry_price)
    rows: list[tuple[str, str, Value, str]] = [
        ("position", "Position now", SIDE_WORD[view.side], ""),
        ("exposure_pct", "Signed exposure, of equity", percent(view.exposure_frac), " %"),
        ("equity", "Equity", round(view.equity, 2), ""),
    ]
    if view.side:
        rows.append(("entry_price", "Entered at", entry, ""))
    sheet.values("Your account", rows)
    sheet.table(
        "Your latest decisions, and what the price did until the next close",
        "past",
        ("session", "action", "close", "change in %"),
        [
            [p.session.isoformat(), p.action, rounded_price(p.price), percent(p.next_return_frac)]
            for p in view.past
        ],
    )


def asset_block(sheet: Sheet, market: MarketContext) -> None:
    """What is traded, and its last close."""
    asset = market.asset
    sheet.values(
        "Asset",
        [
            ("asset", "Symbol", asset.id, ""),
            ("name", "Name", asset.name, ""),
            ("asset_class", "Kind", CLASS_WORD[asset.asset_class], ""),
            ("session", "Session just closed", market.session.isoformat(), ""),
            ("close", "Its close", rounded_price(market.price), ""),
        ],
    )


def closes_block(sheet: Sheet, bars: Sequence[Bar]) -> None:
    """The last ten closes."""
    sheet.table(
        "Latest closes",
        "closes",
        ("session", "close"),
        [[b.session.isoformat(), rounded_price(b.close)] for b in bars[-CLOSES_SHOWN:]],
    )


def rounded(value: float | None, digits: int) -> float | None:
    """Rounded, without a negative zero; None stays None."""
    return None if value is None else round(value, digits) + 0.0


def output_contract(schema: type[BaseModel], offered: Sequence[str]) -> str:
    """How to answer, told from the schema itself, so that the two cannot part.

    Ids are asked for only where the sheet has `offered` any.
    """
    lines = []
    for name, info in asked_fields(schema, offered).items():
        marker = marker_of(info.metadata)
        form = marker.describe(info.annotation) if marker else info.description or "value"
        lines.append(f'  "{name}": {form}')
    body = ",\n".join(lines)
    return f"Answer with one JSON object of this form, and nothing else:\n{{\n{body}\n}}"


def plain(facts: Mapping[str, Any]) -> list[str]:
    """Every value of `facts` as the prompt spells it, for checks that nothing is on the side."""
    spelt: list[str] = []
    for value in facts.values():
        rows = value if isinstance(value, list) else [[value]]
        for row in rows:
            spelt += [show(cell) for cell in (row if isinstance(row, list) else [row])]
    return spelt

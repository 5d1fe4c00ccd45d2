"""A badge for one entry: a small SVG for a README or a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from arena.core.text import clean_foreign

CHAR_PX, PAD_PX, HEIGHT_PX = 6.6, 8, 20
"""Width of a character of 11 px Verdana on average: SVG cannot measure text."""

GREY, GREEN, RED = "#5B6875", "#007A5C", "#B3261E"
"""White on each is readable (contrast above 4.5)."""

Row = Mapping[str, Any]


def entry_badge(rows: Sequence[Row], entry: str, strategy: str) -> str | None:
    """The badge of `entry` under `strategy` from the rows of a board by entry; None: not on it."""
    own = [r for r in rows if r["entry"] == entry and r["strategy"] == strategy]
    if not own:
        return None
    row = own[0]
    value = row["metrics"]["CR"]["value"]
    if row["voided"]:
        return badge(entry, "voided", GREY)
    change = "no return yet" if value is None else percent(value)
    n_ranked = sum(r["rank"] is not None for r in rows if r["strategy"] == strategy)
    place = f"#{row['rank']} of {n_ranked} · " if row["rank"] is not None else ""
    stand_in = " · stand-in" if row["group"] == "stand_in" else ""
    # What is printed as nought has no direction.
    sign = 0 if value is None else round(100 * value, 1)
    return badge(entry, f"{place}{change}{stand_in}", GREEN if sign > 0 else RED if sign < 0 else GREY)


def percent(fraction: float) -> str:
    """A return in percent, with its sign; nought has none."""
    shown = round(100 * fraction, 1) + 0.0
    return f"{shown:+.1f} %".replace("-", "−") if shown else "0.0 %"


def badge(label: str, text: str, colour: str = GREY) -> str:
    """`label` on dark beside `text` on `colour`; both may come from anybody."""
    left, right = (clean_foreign(t, 60) or "?" for t in (label, text))
    wide = [round(CHAR_PX * len(t)) + 2 * PAD_PX for t in (left, right)]
    one, two = escape(left), escape(right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(wide)}" height="{HEIGHT_PX}" role="img" '
        f'aria-label="{one}: {two}"><title>{one}: {two}</title>'
        f'<rect width="{wide[0]}" height="{HEIGHT_PX}" fill="#1B2733"/>'
        f'<rect x="{wide[0]}" width="{wide[1]}" height="{HEIGHT_PX}" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{wide[0] / 2:g}" y="14">{one}</text>'
        f'<text x="{wide[0] + wide[1] / 2:g}" y="14">{two}</text></g></svg>\n'
    )

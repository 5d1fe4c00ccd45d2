"""What is noticed about prices: recorded and shown, never silently changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

JUMP_LOG_RETURN = 0.4
"""A larger move from close to close is recorded; it may be a split, an error, or real."""

DISAGREE_FRAC = 0.01
"""Closes of two sources further apart than this are recorded."""


@dataclass(frozen=True, slots=True)
class PriceCheck:
    """`kind` is gap, jump, disagree, scale, revision or quarantine; `value`, `other` are closes."""

    asset: str
    session: date
    kind: str
    source: str
    value: float | None
    other: float | None
    detail: str


def insanity(row: Mapping[Any, Any]) -> str | None:
    """Why a bar may not enter, or None.

    Prices must be finite and > 0 with low <= open, close <= high. Volume and adj_close may be
    missing (NaN); where they stand they must be finite, volume >= 0 and adj_close > 0.
    """
    prices = {name: float(row[name]) for name in ("open", "high", "low", "close")}
    for name, value in prices.items():
        if not math.isfinite(value):
            return f"{name} is {value}"
        if value <= 0:
            return f"{name} is {value}, prices must be > 0"
    if prices["high"] < max(prices["open"], prices["close"]):
        return f"high {prices['high']} is below open or close"
    if prices["low"] > min(prices["open"], prices["close"]):
        return f"low {prices['low']} is above open or close"
    volume, adjusted = float(row["volume"]), float(row["adj_close"])
    if volume < 0 or math.isinf(volume):
        return f"volume is {volume}, it must be >= 0 or missing"
    if adjusted <= 0 or math.isinf(adjusted):
        return f"adj_close is {adjusted}, it must be > 0 or missing"
    return None


def find_jumps(asset: str, closes: Sequence[tuple[date, float, str]]) -> list[PriceCheck]:
    """Moves of more than 0.4 in log from one stored close to the next."""
    found = []
    for (_, before, _), (day, after, source) in pairwise(closes):
        move = math.log(after / before)
        if abs(move) > JUMP_LOG_RETURN:
            percent = 100 * (after / before - 1)
            found.append(
                PriceCheck(asset, day, "jump", source, after, before, f"{percent:+.1f}% in a session")
            )
    return found


def find_gaps(
    asset: str, source: str, expected: Sequence[date], present: set[date]
) -> list[PriceCheck]:
    """Sessions of the calendar without a final bar."""
    return [
        PriceCheck(asset, day, "gap", source, None, None, "the market was open, no final bar")
        for day in expected
        if day not in present
    ]


def find_disagreements(
    asset: str, source: str, ours: Mapping[date, float], theirs: Mapping[date, float]
) -> list[PriceCheck]:
    """Sessions whose closes differ by more than 1 % between two sources."""
    found = []
    for day in sorted(ours.keys() & theirs.keys()):
        apart = theirs[day] / ours[day] - 1.0
        if abs(apart) > DISAGREE_FRAC:
            detail = f"a second source is {100 * apart:+.2f}% away"
            found.append(PriceCheck(asset, day, "disagree", source, ours[day], theirs[day], detail))
    return found

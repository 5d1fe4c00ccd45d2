"""Sums of figures that may be unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T", int, float)


def total(values: Sequence[T | None]) -> T | None:
    """Sum, or None as soon as one part is unknown (or there is none): an unknown cost is never a zero."""
    known = [v for v in values if v is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(values) else None

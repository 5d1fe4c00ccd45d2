"""Marks on answer fields: what a field means, so that a rule can fill a schema it has never seen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lean:
    """The field says which way: `long`, `neutral` and `short` are its words for that."""

    long: str
    neutral: str
    short: str


@dataclass(frozen=True, slots=True)
class Confidence:
    """The field is a strength between `low` and `high`."""

    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """The field is a reason in words, of at most `max_chars`."""

    max_chars: int = 600


@dataclass(frozen=True, slots=True)
class Cites:
    """The field lists ids out of those offered in `facts[offered]`."""

    offered: str

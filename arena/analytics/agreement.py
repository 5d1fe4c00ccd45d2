"""How far two people agree who scored the same things independently.

`a` and `b` are their scores of the same n items in the same order, each score one of a few
categories (0, 1, 2). Categories are names here: 0 against 2 counts no more than 0 against 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

NoKappa = Literal["no_observations", "one_category"]
"""Why there is no kappa: nothing was scored by both, or both gave every item the same one category,
so that chance alone would agree always."""

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Kappa:
    """`value` in [-1, 1], 1 full agreement and 0 what chance would give; None with a `reason`.

    `observed_frac` and `expected_frac` are the shares of items agreed on, in fact and by chance.
    """

    value: float | None
    reason: NoKappa | None
    n: int
    observed_frac: float | None
    expected_frac: float | None


def percent_agreement(a: Sequence[int], b: Sequence[int]) -> float | None:
    """Share of items with equal scores, in percent (0 to 100); None for no item.

    Raises:
        ValueError: the two are not of one length.
    """
    agreed = [x == y for x, y in zip(a, b, strict=True)]
    return 100.0 * sum(agreed) / len(agreed) if agreed else None


def cohen_kappa(a: Sequence[int], b: Sequence[int]) -> Kappa:
    """Unweighted kappa: (p_o - p_e) / (1 - p_e), p_e = sum over categories of p_a(k) p_b(k).

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20 (1960) 37-46.

    Raises:
        ValueError: the two are not of one length.
    """
    agreed = [x == y for x, y in zip(a, b, strict=True)]
    n = len(agreed)
    if n == 0:
        return Kappa(None, "no_observations", 0, None, None)
    of_a, of_b = Counter(a), Counter(b)
    # Integers up to here, so that "chance agrees always" is exact and not a matter of rounding.
    by_chance = sum(count * of_b[category] for category, count in of_a.items())
    observed = sum(agreed) / n
    if by_chance == n * n:
        return Kappa(None, "one_category", n, observed, 1.0)
    expected = by_chance / (n * n)
    return Kappa((observed - expected) / (1.0 - expected), None, n, observed, expected)


def disagreements(
    items: Sequence[Item], a: Sequence[int], b: Sequence[int]
) -> list[tuple[Item, int, int]]:
    """(item, score of a, score of b) where they differ, the furthest apart first.

    Raises:
        ValueError: the three are not of one length.
    """
    apart = [(item, x, y) for item, x, y in zip(items, a, b, strict=True) if x != y]
    return sorted(apart, key=lambda row: -abs(row[1] - row[2]))

"""A second look at closes: what another vendor says, bar by bar, and where it only counts in other units.

After a split, or where dividends are taken out, a vendor's closes are ours times one number for as
long as that holds. Such a stretch is one remark, not one a bar. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from statistics import median

from arena.market.checks import DISAGREE_FRAC, PriceCheck, find_disagreements

STRETCH_BARS = 5
"""Fewer bars in one ratio may be chance; each is then a disagreement of its own."""

SAME_RATIO_FRAC = 0.002
"""Bars of a stretch lie no further than this from one ratio."""

SPLIT_FRAC = 0.005
"""A ratio this close to that of a split is named after it."""

SPLITS = {float(n): f"{n}:1" for n in range(2, 51)} | {
    n / m: f"{n}:{m}" for n, m in ((3, 2), (4, 3), (5, 2), (5, 3), (5, 4))
}


def second_look(
    asset: str, source: str, ours: Mapping[date, float], theirs: Mapping[date, float]
) -> list[PriceCheck]:
    """What `source` says otherwise about closes > 0, oldest first.

    `scale`: 5 bars or more in a row whose ratio theirs / ours is one number, and not about 1; the
    check stands at the first of them. `disagree`: any other close more than 1 % away.
    """
    days = sorted(ours.keys() & theirs.keys())
    found: list[PriceCheck] = []
    single: list[date] = []
    for stretch in _stretches([(day, theirs[day] / ours[day]) for day in days]):
        if all(abs(ratio - 1.0) <= DISAGREE_FRAC for _, ratio in stretch):
            continue
        if len(stretch) < STRETCH_BARS:
            single += [day for day, _ in stretch]
            continue
        first, last = stretch[0][0], stretch[-1][0]
        ratio = median(r for _, r in stretch)
        detail = (
            f"from {first} to {last}, {len(stretch)} bars, a second source is "
            f"{ratio:.4g} times ours{_split(ratio)}"
        )
        found.append(PriceCheck(asset, first, "scale", source, ours[first], theirs[first], detail))
    found += find_disagreements(asset, source, ours, {day: theirs[day] for day in single})
    return sorted(found, key=lambda check: check.session)


def _stretches(ratios: Iterable[tuple[date, float]]) -> list[list[tuple[date, float]]]:
    """Bars in a row around one ratio, each stretch as long as it can be."""
    spread = (1.0 + SAME_RATIO_FRAC) / (1.0 - SAME_RATIO_FRAC)
    found: list[list[tuple[date, float]]] = []
    low = high = 0.0
    for day, ratio in ratios:
        low, high = min(low, ratio), max(high, ratio)
        if found and high <= low * spread:
            found[-1].append((day, ratio))
        else:
            found.append([(day, ratio)])
            low = high = ratio
    return found


def _split(ratio: float) -> str:
    """The split that the ratio is close to, in words: how many old shares' worth one price is."""
    size = max(ratio, 1.0 / ratio)
    nearest = min(SPLITS, key=lambda split: abs(size / split - 1.0))
    if abs(size / nearest - 1.0) > SPLIT_FRAC:
        return ""
    side = "ours are" if ratio > 1.0 else "theirs are"
    return f", as if only {side} adjusted for a {SPLITS[nearest]} split"

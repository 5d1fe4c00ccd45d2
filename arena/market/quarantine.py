"""Bars of live sources that do not enter until somebody else says the same.

A jump of more than 0.4 in log is believed when a split explains it, when a second source has the same
close, or when the next five sessions stay at the new level. Until then the asset-day has no bar, and
so have the days after it that are no nearer to the old price. A spike that goes away again is never
believed without a second source.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date

from arena.core.rows import ActionRow
from arena.core.types import Bar
from arena.market.checks import DISAGREE_FRAC, JUMP_LOG_RETURN, PriceCheck

STAYS_SESSIONS = 5
"""After that many sessions at a new level it is the price: errors of vendors are mended sooner."""

Agrees = Callable[[date, float], bool]
"""Whether a second source has about this close on that day."""


def held_back(
    asset: str,
    bars: Sequence[Bar],
    source_of: Callable[[date], str],
    splits: Sequence[ActionRow] = (),
    agrees: Agrees = lambda _day, _close: False,
) -> list[PriceCheck]:
    """Quarantine checks of the bars that may not enter yet, oldest first; `value` is the held close,
    `other` the last one that was believed. `agrees` is asked about suspects only."""
    found: list[PriceCheck] = []
    if not bars:
        return found
    good = bars[0]
    for at, bar in enumerate(bars[1:], start=1):
        if (
            believable(good, bar, splits)
            or _stays(bars, at, good)
            or agrees(bar.session, bar.close)
        ):
            good = bar
            continue
        percent = 100 * (bar.close / good.close - 1)
        found.append(
            PriceCheck(
                asset, bar.session, "quarantine", source_of(bar.session), bar.close, good.close,
                f"{percent:+.1f}% from {good.session}, no split explains it and no second source "
                "has it yet",
            )
        )  # fmt: skip
    return found


def believable(before: Bar, after: Bar, splits: Sequence[ActionRow]) -> bool:
    """Whether the move is small, as it stands or with the splits between the two bars undone."""
    move = math.log(after.close / before.close)
    ratio = 1.0
    for split in splits:
        if split.kind == "split" and before.session < split.ex_date <= after.session:
            ratio *= split.value
    return min(abs(move), abs(move + math.log(ratio))) <= JUMP_LOG_RETURN


def _stays(bars: Sequence[Bar], at: int, good: Bar) -> bool:
    """Whether the five bars after `at` are all nearer to its close than to the last good one."""
    later = bars[at + 1 : at + 1 + STAYS_SESSIONS]
    return len(later) == STAYS_SESSIONS and all(
        abs(math.log(b.close / bars[at].close)) < abs(math.log(b.close / good.close)) for b in later
    )


def same_price(ours: float, theirs: float | None) -> bool:
    """Whether a second source's price is within 1 % of ours."""
    return theirs is not None and abs(theirs / ours - 1.0) <= DISAGREE_FRAC

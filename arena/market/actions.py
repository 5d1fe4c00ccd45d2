"""Splits in price series: raw bars are kept, contexts show them in the units of their slot.

A split of ratio r (new shares for one old) divides every earlier price by r and multiplies every
earlier volume by r; adjusting is exact arithmetic on stored bars and never touches the store.
Dividends change no bar: they are paid by the ledger (`portfolio.corporate_actions`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from arena.core.rows import ActionRow
from arena.core.types import Bar

ROUNDING_FRAC = 1e-6
"""A vendor's prices have some seven digits, and 3 x (x / 3) is not always x."""


def adjust_bars(
    bars: Sequence[Bar], actions: Iterable[ActionRow], as_of_utc: datetime
) -> tuple[Bar, ...]:
    """Raw bars in the share units of `as_of_utc`: each divided by the splits after it known by then.

    Bars without such a split are the same objects, so that nothing changes where nothing was split.
    """
    splits = [a for a in _splits(actions) if a.known_at_utc <= as_of_utc]
    return tuple(_divided(bar, _after(splits, bar.session)) for bar in bars)


def raw_bars(
    bars: Sequence[Bar], actions: Iterable[ActionRow], stored: Mapping[date, float] | None = None
) -> tuple[Bar, ...]:
    """A vendor's bars, which it has divided by its splits, in the units of their own day: what is stored.

    A split that the bars around it show as a jump has not been worked in by the vendor (yet); bars
    before it are raw already.

    Args:
        stored: raw closes kept before the newest split was known. On the morning of a split no bar
            follows it yet, and only they tell whether the vendor has worked it in.
    """
    worked_in = [a for a in _splits(actions) if not _shows(bars, a)]
    undone = _multiplied(bars, worked_in)
    if stored and worked_in:
        without = _multiplied(bars, worked_in[:-1])
        if _agreeing(without, stored) > _agreeing(undone, stored):
            return without
    return undone


def lesson_bars(
    bars: Sequence[Bar], actions: Iterable[ActionRow], session: date
) -> tuple[Bar, ...]:
    """Raw bars that follow `session`, in the share units of that day: a move to them is one of value."""
    splits = _splits(actions)
    return tuple(_divided(b, 1.0 / _after(splits, session, b.session)) for b in bars)


def equal_prices(a: float, b: float) -> bool:
    """Equal but for the rounding of a ratio that was divided out and multiplied back."""
    return math.isclose(a, b, rel_tol=ROUNDING_FRAC)


def _multiplied(bars: Sequence[Bar], splits: Sequence[ActionRow]) -> tuple[Bar, ...]:
    return tuple(_divided(bar, 1.0 / _after(splits, bar.session)) for bar in bars)


def _agreeing(bars: Sequence[Bar], stored: Mapping[date, float]) -> int:
    return sum(b.session in stored and equal_prices(b.close, stored[b.session]) for b in bars)


def _splits(actions: Iterable[ActionRow]) -> list[ActionRow]:
    """One a day: two sources may both have it."""
    by_day: dict[date, ActionRow] = {}
    for action in sorted(actions, key=lambda a: (a.ex_date, a.source)):
        if action.kind == "split":
            by_day.setdefault(action.ex_date, action)
    return list(by_day.values())


def _after(splits: Sequence[ActionRow], session: date, upto: date = date.max) -> float:
    return math.prod(s.value for s in splits if session < s.ex_date <= upto)


def _divided(bar: Bar, ratio: float) -> Bar:
    if ratio == 1.0:
        return bar
    return replace(
        bar, open=bar.open / ratio, high=bar.high / ratio, low=bar.low / ratio,
        close=bar.close / ratio, volume=None if bar.volume is None else bar.volume * ratio,
    )  # fmt: skip


def _shows(bars: Sequence[Bar], split: ActionRow) -> bool:
    before = [b for b in bars if b.session < split.ex_date][-1:]
    after = [b for b in bars if b.session >= split.ex_date][:1]
    if not before or not after:
        return False
    move = math.log(after[0].close / before[0].close)
    return abs(move + math.log(split.value)) < abs(move)

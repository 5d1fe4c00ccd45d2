"""Seal the market at a slot: everything that was known then, and nothing that was not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from arena.core.errors import DataError
from arena.core.types import MarketContext, Slot
from arena.market.history import History

N_BARS = 260
"""Closed bars in a context: a year and a margin, so that 200-session measures exist."""


def seal(
    history: History,
    slot: Slot,
    n_bars: int = N_BARS,
    *,
    stories: Sequence[dict[str, Any]] = (),
    brief: dict[str, Any] | None = None,
    fundamentals: Sequence[dict[str, Any]] = (),
) -> MarketContext:
    """The last `n_bars` bars known at the slot, ending with the slot's session, and what was read
    and filed by then.

    Later bars are not looked at, so more data after the slot change nothing.

    Raises:
        DataError: the bar of the slot's session is missing, or there are fewer than `n_bars`.
        InvariantError: something unknown at the slot slipped in (checked by the context itself).
    """
    known = history.up_to(slot.session, n_bars)
    if not known or known[-1].session != slot.session or known[-1].known_at_utc > slot.as_of_utc:
        raise DataError(f"{slot.asset} has no final bar for {slot.session} at {slot.as_of_utc}.")
    if len(known) < n_bars:
        raise DataError(
            f"{slot.asset} has {len(known)} bars up to {slot.session}; a context needs {n_bars}."
        )
    return MarketContext(
        history.asset, slot.session, slot.as_of_utc, known, tuple(stories), brief,
        tuple(fundamentals),
    )  # fmt: skip


def first_possible_start(history: History, n_bars: int = N_BARS) -> date | None:
    """The first session with enough bars up to it, or None."""
    return history.bars[n_bars - 1].session if len(history.bars) >= n_bars else None

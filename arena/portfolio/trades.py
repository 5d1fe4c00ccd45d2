"""Round trips: what one account earned from flat to flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FLAT_FRAC = 1e-9
"""A position below this share of the trip's largest position is flat: sums of tranches round."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One closed trade in quote currency.

    `side` is 1 or -1. `pnl` is net of `fee`, the fees of all its legs. `first_leg` and `last_leg`
    are indices into the legs it was made from.
    """

    side: int
    pnl: float
    fee: float
    first_leg: int
    last_leg: int


def round_trips(
    units: Sequence[float] | NDArray[np.float64],
    price: Sequence[float] | NDArray[np.float64],
    fee: Sequence[float] | NDArray[np.float64],
) -> tuple[RoundTrip, ...]:
    """Closed round trips of one account.

    Args:
        units: signed units of each leg in time order, shape (L,); legs of 0 units are skipped.
        price: price of each leg, shape (L,).
        fee: fee of each leg in quote currency, shape (L,).

    Returns:
        Trips in time order. Adds and partial closes belong to their trip, a flip ends one and
        starts the next, a trip still open at the end is not counted (definitions 2.1).
    """
    trips: list[RoundTrip] = []
    held = largest = cash = paid = 0.0
    first = side = 0
    for i, (n, p, f) in enumerate(zip(units, price, fee, strict=True)):
        n, p, f = float(n), float(p), float(f)
        if n == 0.0:
            continue
        if side == 0:
            first, side, largest, cash, paid = i, 1 if n > 0 else -1, 0.0, 0.0, 0.0
        held += n
        cash -= n * p + f
        paid += f
        largest = max(largest, abs(held))
        if abs(held) <= FLAT_FRAC * largest:
            trips.append(RoundTrip(side, cash, paid, first, i))
            held, side = 0.0, 0
    return tuple(trips)

"""What a simulation hands back, and the checks of what it takes in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.core.actions import INTENT_CODE
from arena.core.errors import ConfigError, InvariantError
from arena.portfolio.book import Floats, Legs, Price
from arena.portfolio.kernel import WIPE, slipped
from arena.portfolio.strategies import CODES


@dataclass(frozen=True)
class Curves:
    """Curves of A accounts over T sessions; column D is the state after all fills up to close D.

    `balance`, `units`, `cash` (A, T): the last column is after the forced close, if there was one.
    `side` (A, T) int8: in the last column the side before it. `legs`: arrays (A, T, 3), without the
    forced close, whose legs (A, 3) are `final_legs`. `bankrupt_at` (A,): session index, -1 = never.
    The arrays are views of session-major memory.
    """

    balance: Floats
    side: NDArray[np.int8]
    units: Floats
    cash: Floats
    bankrupt_at: NDArray[np.int64]
    final_legs: Legs | None
    _leg_units: Floats
    _leg_fee: Floats
    _wiped_at: Floats
    _fill: Floats
    _slippage_frac: Floats | None

    @cached_property
    def legs(self) -> Legs:
        """Every trade but the forced close, (A, T, 3)."""
        slippage = None if self._slippage_frac is None else self._slippage_frac[:, None]
        price = leg_prices(self._leg_units, self._fill, slippage, self._wiped_at)
        return Legs(self._leg_units, price, self._leg_fee)

    @cached_property
    def traded_notional(self) -> Floats:
        """Sum of |units| x price of each session's legs, the forced close included, (A, T)."""
        total: Floats = (np.abs(self.legs.units) * self.legs.price).sum(axis=2)
        if self.final_legs is not None:
            total[:, -1] += (np.abs(self.final_legs.units) * self.final_legs.price).sum(axis=1)
        return total


def leg_prices(
    units: Floats, fill: Price, slippage_frac: Floats | None, wiped_at: Floats
) -> Floats:
    """Price of each leg, the shape of `units` (..., 3); 0 where nothing traded."""
    price = np.zeros(units.shape)
    for leg in range(WIPE):
        np.copyto(
            price[..., leg],
            slipped(fill, units[..., leg], slippage_frac),
            where=units[..., leg] != 0.0,
        )
    price[..., WIPE] = wiped_at
    return price


def checked_codes(codes: ArrayLike) -> NDArray[np.integer]:
    """Orders as an integer array.

    Raises:
        InvariantError: one of them is no `INTENT_CODE`.
    """
    array = np.asarray(codes)
    whole = array.dtype.kind in "iu"
    if not whole or (array.size and (array.min() < CODES.start or array.max() >= CODES.stop)):
        raise InvariantError(f"orders hold values that are no intent code; known: {INTENT_CODE}")
    return array


def checked_prices(prices: ArrayLike, what: str) -> Floats:
    """Prices as a float array; NaN is a declared gap.

    Raises:
        InvariantError: one of them is not positive, or infinite.
    """
    array = np.asarray(prices, dtype=np.float64)
    bad = (array <= 0.0) | np.isinf(array)
    if bad.any():
        at = tuple(int(i[0]) for i in np.nonzero(bad)) if array.ndim else ()
        raise InvariantError(
            f"{what}{list(at)} is {array[at]}; the rule is 0 < price, NaN for a gap"
        )
    return array


def by_session(prices: ArrayLike | None, what: str, n_accounts: int, n_sessions: int) -> Floats:
    """Prices with the session first: (T,) if shared by all accounts, else (T, A).

    Raises:
        ConfigError: missing, or of another shape than (T,) or (A, T).
        InvariantError: a price is not positive.
    """
    if prices is None:
        raise ConfigError(f"{what} is missing; fill `next` needs it.")
    array = checked_prices(prices, what)
    if array.shape not in ((n_sessions,), (n_accounts, n_sessions)):
        raise ConfigError(
            f"{what} has shape {array.shape}; it must be ({n_sessions},) or "
            f"({n_accounts}, {n_sessions}), as the intents are."
        )
    return np.ascontiguousarray(array.T)

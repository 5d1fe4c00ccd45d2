"""Random timing of the same trading: an account's spells shuffled and turned, and the money they make.

A spell is a run of sessions on one side (long, short, flat); the window's end is joined to its
beginning. Spells of one side exchange their lengths and the whole is turned by a random number of
sessions: each side is held as long, and switched as often but for one switch where the ends meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arena.analytics.bootstrap import DRAWS, generator
from arena.analytics.window import FloatArray
from arena.core.actions import INTENT_CODE, Intent
from arena.core.season import Fill
from arena.portfolio import Costs, simulate

Sides = NDArray[np.int8]

ALL_IN = "flip_on_reversal"
"""Any all-in rule settles explicit targets alike; this one has the plainest table."""


@dataclass(frozen=True, eq=False)
class Tape:
    """Prices of an asset over an account's T sessions, each (T,); NaN where nothing traded.

    `days` are calendar days since the previous session, for the borrow fee of shorts.
    """

    opens: FloatArray
    closes: FloatArray
    days: FloatArray
    costs: Costs
    fill: Fill

    @property
    def fills(self) -> FloatArray:
        """Where the orders of each session fill."""
        return self.closes if self.fill == "close" else self.opens

    @property
    def first(self) -> int:
        """First session with a choice: a first decision that fills at the next open leaves one flat."""
        return 1 if self.fill == "next" else 0

    @cached_property
    def wiped_at(self) -> NDArray[np.int64]:
        """For a short entered at each of the n sessions from `first` on, the session at which a price
        has first wiped it out, counted as they are; n + 1 where none does."""
        slip = self.costs.slippage_bps / 1e4
        fills, closes = self.fills[self.first :], self.closes[self.first :]
        n = len(fills)
        highest = np.append(np.maximum(fills, closes), closes[-1])
        found = np.full(n, n + 1, dtype=np.int64)
        for begin, price in enumerate(fills.tolist()):
            wiped = np.flatnonzero(highest[begin:] * (1.0 + slip) >= 2.0 * price * (1.0 - slip))
            if len(wiped):
                found[begin] = begin + wiped[0]
        return found


@dataclass(frozen=True, eq=False)
class Spells:
    """D timings of K spells on a circle of `n` sessions: spell k of row d holds `side[k]` for
    `length[d, k]` sessions from `begin[d, k]` on. One that runs past the end goes on from session 0."""

    side: Sides
    begin: NDArray[np.int64]
    length: NDArray[np.int64]
    n: int

    def dense(self) -> Sides:
        """Side of each session, (D, n)."""
        d, n = len(self.begin), self.n
        laid_out = np.repeat(np.tile(self.side, d), self.length.ravel()).reshape(d, n)
        return np.take_along_axis(laid_out, (np.arange(n) - self.begin[:, :1]) % n, axis=1)


def own_spells(path: Sides) -> Spells:
    """The spells of one path (n,), as the only row."""
    begin = np.flatnonzero(path != np.roll(path, 1))
    if len(begin) == 0:
        begin = np.zeros(1, dtype=np.int64)
    length = np.diff(begin, append=begin[0] + len(path))
    return Spells(path[begin], begin[None, :], length[None, :], len(path))


def random_spells(own: Spells, name: str, draws: int = DRAWS) -> Spells:
    """Random timings of the same spells, seeded by `name`."""
    rng = generator(name)
    length = np.tile(own.length, (draws, 1))
    for side in np.unique(own.side):
        same = np.flatnonzero(own.side == side)
        length[:, same] = rng.permuted(length[:, same], axis=1)
    turn = rng.integers(0, own.n, (draws, 1))
    return Spells(own.side, (np.cumsum(length, axis=1) - length + turn) % own.n, length, own.n)


def final_values(spells: Spells, tape: Tape) -> FloatArray:
    """Final equity over capital of each timing, (D,), all-in, closed at the end.

    A spell multiplies equity by (1 - f)^2 P_out (1 - s) / (P_in (1 + s)) when long and by
    (1 - f)^2 (2 - P_out (1 + s) / (P_in (1 - s))) when short. Where that is not the whole rule (a gap
    in prices, a borrow fee, a short that could be wiped out), the account engine settles the row.
    """
    gaps = not np.isfinite(np.concatenate([tape.fills[tape.first :], tape.closes])).all()
    if gaps or (tape.costs.borrow_bps_year > 0.0 and (spells.side < 0).any()):
        return _by_engine(spells.dense(), tape)
    held = spells.side != 0
    begin, end = spells.begin[:, held], (spells.begin + spells.length)[:, held]
    short = np.broadcast_to(spells.side[held] < 0, end.shape)
    fills = np.append(tape.fills, tape.closes[-1])[tape.first :]
    inside, over = np.minimum(end, spells.n), end > spells.n
    kept = _factor(fills[inside] / fills[begin], short, tape.costs)
    kept[over] *= _factor(fills[end[over] - spells.n] / fills[0], short[over], tape.costs)
    values: FloatArray = kept.prod(axis=1)
    if short.any():
        at_risk = (short & (tape.wiped_at[begin] <= inside)).any(axis=1)
        at_risk |= (over & short & (tape.wiped_at[0] <= end - spells.n)).any(axis=1)
        if at_risk.any():
            values[at_risk] = _by_engine(spells.dense()[at_risk], tape)
    return values


def _factor(ratio: FloatArray, short: NDArray[np.bool_], costs: Costs) -> FloatArray:
    """What a spell from a price to `ratio` times that price makes of equity, costs included."""
    keep, slip = (1.0 - costs.fee_bps / 1e4) ** 2, costs.slippage_bps / 1e4
    long_factor = ratio * ((1.0 - slip) / (1.0 + slip))
    short_factor = 2.0 - ratio * ((1.0 + slip) / (1.0 - slip))
    factor: FloatArray = np.where(short, short_factor, long_factor)
    return keep * factor


def _by_engine(sides: Sides, tape: Tape) -> FloatArray:
    """`sides` (D, n) from the tape's first choice on; an order stands one session earlier under `next`."""
    codes = np.where(sides == 0, np.int8(INTENT_CODE[Intent.FLAT]), sides)
    if tape.fill == "next":
        never_filled = np.full((len(codes), 1), INTENT_CODE[Intent.KEEP], dtype=codes.dtype)
        codes = np.hstack([codes, never_filled])
    curves = simulate(
        tape.closes, tape.opens, codes, [ALL_IN] * len(codes), tape.costs, 1.0, tape.fill,
        days=tape.days,
    )  # fmt: skip
    return curves.balance[:, -1].copy()

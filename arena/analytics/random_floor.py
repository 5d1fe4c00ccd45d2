"""The luck floor: how many accounts with the same trading but random timing a row has beaten.

Random accounts (`random_timing`) hold the row's own spells at other times, at the same prices, fill
rule and costs. Own and random timing are both settled all-in, also for pyramids: what is compared is
timing, not size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arena.analytics.bootstrap import DRAWS, MIN_RETURNS
from arena.analytics.random_timing import (
    Sides,
    Tape,
    final_values,
    own_spells,
    random_spells,
)
from arena.analytics.window import FloatArray

NoFloor = Literal["too_few_observations", "never_traded", "one_position"]
REASONS: tuple[NoFloor, ...] = ("one_position", "never_traded", "too_few_observations")


@dataclass(frozen=True, slots=True)
class Floor:
    """`better_than_frac`: share of random accounts that ended strictly below the row; or a `reason`.

    `own_return_frac` is the row's own timing settled all-in, `median_return_frac` that of the draws.
    """

    better_than_frac: float | None
    own_return_frac: float | None
    median_return_frac: float | None
    n_draws: int
    reason: NoFloor | None

    def to_json(self) -> dict[str, Any]:
        return {
            "better_than_frac": self.better_than_frac, "own_return_frac": self.own_return_frac,
            "median_return_frac": self.median_return_frac, "n_draws": self.n_draws,
            "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Draws:
    """Final equity over capital, of the account's own timing and of each random one (D,)."""

    own: float
    random: FloatArray
    reason: NoFloor | None


def draw_account(sides: Sides, tape: Tape, name: str, draws: int = DRAWS) -> Draws:
    """Own and random final values of one account.

    Args:
        sides: -1, 0 or 1 after the fills of each session, (T,), before a forced close.
        name: what seeds the draws, usually the account's id.
    """
    path = sides[tape.first :]
    if len(path) == 0:
        return Draws(1.0, np.ones(draws), "too_few_observations")
    own = own_spells(path)
    value = float(final_values(own, tape)[0])
    if reason := _no_timing(path):
        return Draws(value, np.full(draws, value), reason)
    return Draws(value, final_values(random_spells(own, name, draws), tape), None)


def floor_of(accounts: list[Draws]) -> Floor:
    """Floor of one account, or of an entry: the mean over its accounts, own and draw by draw.

    An account without any timing of its own stands still beside the others; where none has one,
    there is no floor.
    """
    reasons = [a.reason for a in accounts]
    if not accounts or all(reasons):
        reason: NoFloor = next((r for r in REASONS if r in reasons), "too_few_observations")
        return Floor(None, None, None, 0, reason)
    own = float(np.mean([a.own for a in accounts]))
    random = np.mean([a.random for a in accounts], axis=0)
    # A draw that happens to repeat the row's timing may differ in the last bit; it is not below it.
    below = np.count_nonzero(random < own - 1e-12)
    return Floor(below / len(random), own - 1.0, float(np.median(random)) - 1.0, len(random), None)


def _no_timing(path: Sides) -> NoFloor | None:
    if len(path) < MIN_RETURNS:
        return "too_few_observations"
    if not path.any():
        return "never_traded"
    return "one_position" if (path == path[0]).all() else None

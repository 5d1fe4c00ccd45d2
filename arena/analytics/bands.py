"""Many curves as one: their mean with the lowest and the highest on each day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from arena.analytics.entry_curve import Curve
from arena.analytics.window import FloatArray


@dataclass(frozen=True, eq=False)
class Band:
    """Returns since the start (fractions) at `sessions` (T,) over `n` curves."""

    name: str
    sessions: pd.DatetimeIndex
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n: int


def bands(curves: Mapping[str, Sequence[Curve]]) -> list[Band]:
    """One band for each name, in order of name (Figure 2 of the paper).

    At each session: mean, minimum and maximum of V / V_0 - 1 over the curves of that name; a session
    that a curve does not have carries its last value, and is 0 before its first.
    """
    made = []
    for name, own in sorted(curves.items()):
        each = [pd.Series(c.values[1:], index=c.sessions) for c in own]
        wide = pd.concat(each, axis="columns", sort=True)
        growth = wide.ffill().fillna(1.0).to_numpy(float) - 1.0
        sessions = pd.DatetimeIndex(wide.index)
        made.append(
            Band(name, sessions, growth.mean(axis=1), growth.min(axis=1), growth.max(axis=1), len(own))
        )
    return made

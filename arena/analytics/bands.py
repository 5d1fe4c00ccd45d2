"""Many curves as one: their mean with the lowest and the highest on each day."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

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


def bands(curves: pd.DataFrame, over: str) -> list[Band]:
    """One band for each value of the column `over`, in order of name (Figure 2 of the paper).

    `curves` has agent, model, session and value (V / V_0), one row a curve and session. At each
    session: mean, minimum and maximum of V / V_0 - 1 over the curves of that name; a session that a
    curve does not have carries its last value, and is 0 before its first.
    """
    made = []
    for name, rows in curves.groupby(over, sort=True):
        wide = rows.pivot_table(index="session", columns=["agent", "model"], values="value")
        growth = wide.sort_index().ffill().fillna(1.0).to_numpy(float) - 1.0
        made.append(
            Band(
                str(name), pd.DatetimeIndex(wide.sort_index().index), growth.mean(axis=1),
                growth.min(axis=1), growth.max(axis=1), growth.shape[1],
            )
        )  # fmt: skip
    return made

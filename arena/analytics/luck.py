"""Ranks and words that do not claim more than the sample can carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from arena.analytics.bootstrap import Interval, difference_interval
from arena.analytics.entry_curve import Curve
from arena.analytics.window import FloatArray

Row = dict[str, Any]
Verdict = Literal[
    "above Buy & Hold", "below Buy & Hold", "not distinguishable from Buy & Hold", "too short to tell"
]


def daily_returns(values: FloatArray) -> FloatArray:
    """V_t / V_{t-1} - 1 of a curve that begins with its capital, up to and with a wipe-out."""
    if len(values) and values.min() <= 0.0:
        values = values[: int(np.argmax(values <= 0.0)) + 1]
    return values[1:] / values[:-1] - 1.0


def paired_returns(curve: Curve, other: Curve) -> tuple[FloatArray, FloatArray]:
    """Returns of two curves between the days that both have; from V_0 on where both begin together."""
    days, a, b = np.intersect1d(
        curve.sessions.to_numpy("datetime64[D]"), other.sessions.to_numpy("datetime64[D]"),
        return_indices=True,
    )  # fmt: skip
    if len(days) == 0:
        return np.empty(0), np.empty(0)
    together = int(a[0] == b[0] == 0)
    own, others = (
        daily_returns(np.concatenate([c.values[:together], c.values[1:][picks]]))
        for c, picks in ((curve, a), (other, b))
    )
    n = min(len(own), len(others))  # a wiped-out curve ends early
    return own[:n], others[:n]


def curve_difference(curve: Curve, other: Curve, name: str) -> Interval:
    """`difference_interval` of two curves over their common days."""
    return difference_interval(*paired_returns(curve, other), name)


def verdict(excess: Interval | None) -> Verdict | None:
    """What the interval of the difference to Buy & Hold says; None without a Buy & Hold."""
    if excess is None:
        return None
    if excess.low is None or excess.high is None:
        return "too short to tell"
    if excess.holds_zero:
        return "not distinguishable from Buy & Hold"
    return "above Buy & Hold" if excess.low > 0.0 else "below Buy & Hold"


def same_rank(
    rows: Sequence[Row], difference: Callable[[Row, Row], Interval]
) -> list[str | None]:
    """Label of each row's rank, in order: "2=" where it cannot be told from the leader of its group.

    Down each window's ranking, the first row leads. A row whose difference interval to the leader
    holds 0 shares the leader's number; the first that can be told from it leads the next group and
    keeps its own number, so 1=, 1=, 3. Without an interval a row stands alone. None without a rank.
    """
    labels: list[str | None] = [None] * len(rows)
    windows: dict[tuple[Any, Any], list[int]] = {}
    for i, row in enumerate(rows):
        if row["rank"] is not None:
            windows.setdefault((row["start"], row["end"]), []).append(i)
    for members in windows.values():
        groups: list[list[int]] = []
        for i in sorted(members, key=lambda i: int(rows[i]["rank"])):
            if groups and difference(rows[i], rows[groups[-1][0]]).holds_zero:
                groups[-1].append(i)
            else:
                groups.append([i])
        for group in groups:
            number = rows[group[0]]["rank"]
            for i in group:
                labels[i] = f"{number}=" if len(group) > 1 else str(number)
    return labels

"""Growth: how much the account made."""

from __future__ import annotations

import math

from arena.analytics.registry import metric
from arena.analytics.result import Undefined
from arena.analytics.window import FloatArray, Window


def growth(values: FloatArray) -> float:
    """V_T / V_0 of a curve that starts above 0."""
    if values[0] <= 0:
        raise Undefined("nonpositive_equity")
    return float(values[-1] / values[0])


@metric("CR", returns="simple")
def cumulative_return(w: Window) -> float:
    """Cumulative return, V_T / V_0 - 1, after all costs.

    Sampling: first and last mark. Not annualised. Sign: a gain is positive; below -1 where a short
    lost more than the capital. Undefined without a mark. Source: the paper's CR (product of 1 + r);
    the paper's code starts after the first fee, which only mode `ama` does.
    """
    return growth(w.values) - 1.0


@metric("CR_gross", returns="simple", fees="gross")
def cumulative_return_gross(w: Window) -> float:
    """CR of the twin account that pays no fee, no slippage and no borrow, from the same actions.

    Sampling, sign and NaN rule as CR. Source: the paper's dashboard shows CR with and without fees.
    """
    return growth(w.gross) - 1.0


@metric("CR_log", returns="log")
def cumulative_log_return(w: Window) -> float:
    """Sum of ln(V_t / V_{t-1}), which telescopes to ln(V_T / V_0).

    Sampling: all marks. Not annualised. Undefined (nonpositive_equity) when any mark is <= 0.
    Source: the CR of InvestorBench's tables.
    """
    if w.values.min() <= 0:
        raise Undefined("nonpositive_equity")
    return math.log(growth(w.values))


@metric("AR", annualised=True, returns="simple")
def annualised_return(w: Window) -> float:
    """Annualised return, (V_T / V_0)^(B/T) - 1.

    Sampling: T sessions, flat ones too (mode `ama`: the sampled returns only). Annualised with B.
    Undefined when V_T < 0 (no real root: nonpositive_equity) or when it is no finite number
    (overflow); exactly -1 when V_T = 0. Source: the paper's AR, with B = 365 for coins.
    """
    ratio = growth(w.values)
    if ratio < 0:
        raise Undefined("nonpositive_equity")
    if w.n_periods == 0:
        raise Undefined("no_observations")
    return float(ratio ** (w.base / w.n_periods)) - 1.0

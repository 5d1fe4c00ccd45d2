"""Against doing nothing: the account beside Buy & Hold over the same window, fees and fill."""

from __future__ import annotations

import numpy as np

from arena.analytics.registry import metric
from arena.analytics.result import Undefined
from arena.analytics.returns import growth
from arena.analytics.window import Window


@metric("excess_bh", returns="simple", benchmark="buy_hold")
def excess_over_buy_hold(w: Window) -> float:
    """CR minus the CR of Buy & Hold.

    A difference of fractions (shown in percentage points). Not annualised. Undefined without a
    benchmark over the same marks (missing_benchmark). Source: ours.
    """
    return growth(w.values) - growth(w.benchmark)


@metric("days_over_bh", returns="simple", benchmark="buy_hold")
def days_over_buy_hold(w: Window) -> float:
    """Share of marks after V_0 at which V_t / V_0 stands above Buy & Hold's; equal is not above.

    Undefined as `excess_bh` is. Source: a figure of the paper's dashboard.
    """
    own, other = w.values, w.benchmark
    if len(own) < 2:
        raise Undefined("no_observations")
    if own[0] <= 0 or other[0] <= 0:
        raise Undefined("nonpositive_equity")
    ahead = own[1:] / own[0] > other[1:] / other[0]
    return int(np.count_nonzero(ahead)) / len(ahead)

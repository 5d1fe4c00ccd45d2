"""All metrics of one curve: `compute(AccountSeries(...))`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from arena.analytics import relative, returns, risk, trades  # noqa: F401 - they register their metrics
from arena.analytics.registry import METRICS, Metric, pick
from arena.analytics.result import AMA_FLAG, DEGENERATE, MetricResult, Reason, Undefined
from arena.analytics.window import AccountSeries, Mode, Window

__all__ = ["ALL_METRICS", "SHORT_SAMPLE_N", "AccountSeries", "Mode", "as_ama", "compute"]

ALL_METRICS: tuple[str, ...] = tuple(METRICS)
"""Every registered metric: the full set."""

SHORT_SAMPLE_N = 30
"""An annualised figure of fewer observations is flagged `short_sample`."""


def compute(
    series: AccountSeries, mode: Mode = "standard", names: Iterable[str] | None = None
) -> dict[str, MetricResult]:
    """Metrics of one account by name; `names` None means the board's fourteen.

    Never raises for what is in the data: a value that does not exist has a reason instead.

    Raises:
        UnknownNameError: a name that is not registered.
    """
    window = Window(series, mode)
    flags = series.flags
    if "bankrupt" not in flags and (window.equity <= 0).any():
        flags = ("bankrupt", *flags)
    with np.errstate(all="ignore"):
        return {m.name: _evaluate(m, window, flags) for m in pick(names)}


def as_ama(result: MetricResult) -> MetricResult:
    """The result as the paper's code prints it: 0 where the metric is degenerate, always flagged."""
    flags = (*result.flags, AMA_FLAG)
    if result.reason in DEGENERATE:
        return replace(result, value=0.0, status="ok", reason=None, flags=flags)
    return replace(result, flags=flags)


def _evaluate(m: Metric, window: Window, flags: tuple[str, ...]) -> MetricResult:
    value: float | None = None
    reason: Reason | None = None
    try:
        value = m.formula(window)
        if not math.isfinite(value):
            value, reason = None, "overflow"
    except Undefined as no_value:
        reason = no_value.reason
    except OverflowError:
        reason = "overflow"
    n = _count(m, window)
    if m.annualised and n < SHORT_SAMPLE_N:
        flags = (*flags, "short_sample")
    basis = {"period": "1d", "B": window.base, "fees": "net", **dict(m.basis)}
    if m.name == "SR":
        basis["rf_annual"] = window.series.rf_annual
    result = MetricResult(
        m.name, value, "undefined" if value is None else "ok", reason, n, m.unit, basis, flags
    )
    return as_ama(result) if window.mode == "ama" and window.n_marks else result


def _count(m: Metric, window: Window) -> int:
    try:
        return int(getattr(window, m.count))
    except Undefined:
        return window.n_marks

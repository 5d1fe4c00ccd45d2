"""Metrics of a board row: of the mean curve where a curve decides, pooled counts where counts do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arena.analytics.entry_curve import CRYPTO_BASE, Curve
from arena.analytics.registry import BOARD_METRICS
from arena.analytics.result import MetricResult
from arena.analytics.series import AccountSeries, as_ama, compute
from arena.analytics.window import Mode

CURVE_METRICS = (
    "CR", "CR_gross", "AR", "AV", "SR", "MDD", "Sortino", "Calmar", "excess_bh", "days_over_bh",
)  # fmt: skip
POOLED = ("win_rate_trades", "win_rate_active", "time_in_market")
USED = ("CR", *POOLED, "turnover")
"""What a row of more than one account needs of each account's stored results."""

Stored = dict[str, MetricResult]


def row_metrics(
    own: Sequence[Curve],
    curve: Curve,
    benchmark: Curve | None,
    stored: Sequence[Stored],
    mode: Mode,
    extra_flags: Sequence[str] = (),
) -> Stored:
    """The board's metrics of one or more accounts.

    Args:
        own: their curves. curve: the mean of those. benchmark: Buy & Hold's mean curve over the same assets.
        stored: their stored results (mode standard), in the order of `own`: all, or `USED` of more than one.
        extra_flags: what the board knows beyond them (`partial_window`).

    One account in mode `standard` shows what is stored; all else is computed from the mean curve.
    Mode `ama` has no rule for stocks and coins together: everything is `mixed_classes`.
    """
    if len(stored) == 1 and mode == "standard":
        return {k: _flagged(r, extra_flags) for k, r in stored[0].items()}
    flags = _account_flags(stored, extra_flags)
    series = AccountSeries(
        equity=curve.values,
        base=curve.base,
        asset_class="crypto" if curve.base == CRYPTO_BASE else "stock",
        equity_gross=curve.gross,
        benchmark=_aligned(curve, benchmark),
        flags=flags,
    )
    results = compute(series, mode, CURVE_METRICS)
    for name in POOLED:
        results[name] = _pool([s[name] for s in stored])
    results["turnover"] = _turnover(own, curve, [s["turnover"] for s in stored])
    for name in (*POOLED, "turnover"):
        basis = {**results[name].basis, "B": curve.base}
        results[name] = replace(results[name], basis=basis, flags=flags)
        if mode == "ama":
            results[name] = as_ama(results[name])
    if mode == "ama" and len({c.base for c in own}) > 1:
        results = {
            k: replace(r, value=None, status="undefined", reason="mixed_classes")
            for k, r in results.items()
        }
    return {name: results[name] for name in BOARD_METRICS}


def _flagged(result: MetricResult, flags: Sequence[str]) -> MetricResult:
    return replace(result, flags=(*result.flags, *flags)) if flags else result


def _account_flags(stored: Sequence[Stored], extra: Sequence[str]) -> tuple[str, ...]:
    """Flags of any account that hold for their mean; stale marks add up."""
    seen = [flag for s in stored for flag in s["CR"].flags]
    flags = [f for f in ("bankrupt", "forced_close", "partial_window") if f in (*seen, *extra)]
    stale = sum(int(f.split(":")[1]) for f in seen if f.startswith("stale_marks:"))
    return (*flags, f"stale_marks:{stale}") if stale else tuple(flags)


def _aligned(
    curve: Curve, benchmark: Curve | None
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """The benchmark only if it has the very same marks: equal length alone could be other days."""
    if benchmark is None or not benchmark.sessions.equals(curve.sessions):
        return None
    return benchmark.values


def _pool(results: Sequence[MetricResult]) -> MetricResult:
    """Shares of all accounts together, each weighted by the count it is a share of."""
    known = [(r.value, r.n) for r in results if r.value is not None and r.n > 0]
    if not known:
        return results[0]
    n = sum(count for _, count in known)
    return replace(
        results[0],
        value=sum(share * count for share, count in known) / n,
        status="ok",
        reason=None,
        n=n,
    )


def _turnover(own: Sequence[Curve], mean: Curve, results: Sequence[MetricResult]) -> MetricResult:
    """Traded notional of all accounts over the mean curve, both as fractions of V_0."""
    traded = []
    for curve, result in zip(own, results, strict=False):
        marks = curve.values[1:]
        solvent = marks[marks > 0]
        if result.value is not None and len(solvent):
            traded.append(result.value * float(solvent.mean()))
    marks = mean.values[1:]
    solvent = marks[marks > 0]
    if len(traded) < len(results) or len(solvent) == 0:
        return next((r for r in results if r.value is None), results[0])
    value = float(np.mean(traded)) / float(solvent.mean())
    return replace(results[0], value=value, n=len(marks))

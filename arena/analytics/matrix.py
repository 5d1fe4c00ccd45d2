"""Metrics of many curves at once, in row blocks that stay inside the processor's cache.

The same numbers as `series.compute`, NaN where that is undefined. Curves that a formula needs care
for (a mark <= 0, a NaN) leave the fast path and go through `compute` itself, so the rules of edge
cases exist once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.analytics.risk import ROLLING_WINDOW, SHARP_MOVE_FRAC, TAIL_MIN_N, tail_count
from arena.analytics.series import ALL_METRICS, compute
from arena.analytics.window import EXPOSURE_FLOOR, STD_FLOOR, AccountSeries, FloatArray
from arena.core.errors import ConfigError

CORE = ("CR", "AR", "AV", "SR", "MDD", "Calmar")
BLOCK_ROWS = 256

Out = dict[str, FloatArray]
Extra = FloatArray | None


def core_matrix(equity: FloatArray, base: ArrayLike) -> Out:
    """CR, AR, AV, SR, MDD and Calmar of N curves.

    Args:
        equity: (N, T+1), V_0 first. base: marks a year, scalar or (N,).

    Returns:
        Name -> (N,) fractions; NaN where `compute` is undefined.

    Raises:
        ConfigError: `equity` is not a matrix, or a V_0 is <= 0.
    """
    equity, bases = _checked(equity, base)
    out = {name: np.full(len(equity), np.nan) for name in CORE}
    for rows in _blocks(len(equity)):
        _core_block(equity[rows], bases[rows], {k: v[rows] for k, v in out.items()})
    _repair(out, equity, bases, CORE, lambda _: {})
    return out


def full_matrix(
    equity: FloatArray,
    base: ArrayLike,
    *,
    gross: Extra = None,
    notional: Extra = None,
    traded: Extra = None,
    benchmark: Extra = None,
    trip_pnl: Sequence[tuple[float, ...]] | None = None,
) -> Out:
    """Every registered metric of N one-asset curves.

    Args:
        equity, gross, benchmark: (N, T+1), V_0 first. notional, traded: (N, T), see `AccountSeries`.
        base: marks a year, scalar or (N,). trip_pnl: net results of each account's round trips.

    Returns:
        Name -> (N,); NaN where `compute` is undefined, so also where its input was not given.

    Raises:
        ConfigError: as `core_matrix`, or an input of another shape.
    """
    equity, bases = _checked(equity, base)
    n, marks = len(equity), equity.shape[1]
    _same_shape("gross", gross, (n, marks))
    _same_shape("benchmark", benchmark, (n, marks))
    _same_shape("notional", notional, (n, marks - 1))
    _same_shape("traded", traded, (n, marks - 1))
    if trip_pnl is not None and len(trip_pnl) != n:
        raise ConfigError(f"trip_pnl has {len(trip_pnl)} accounts; equity has {n}.")
    out = {name: np.full(n, np.nan) for name in ALL_METRICS}

    def part(matrix: Extra, rows: slice) -> Extra:
        return None if matrix is None else matrix[rows]

    for rows in _blocks(n):
        view = {k: v[rows] for k, v in out.items()}
        returns = _core_block(equity[rows], bases[rows], view)
        if marks > 1:
            with np.errstate(all="ignore"):
                _shape_block(equity[rows], returns, bases[rows], view)
                _trade_block(
                    equity[rows],
                    returns,
                    bases[rows],
                    part(notional, rows),
                    part(traded, rows),
                    view,
                )
                _relative_block(equity[rows], part(gross, rows), part(benchmark, rows), view)
    if trip_pnl is not None:
        out["win_rate_trades"][:] = [
            sum(p > 0 for p in trips) / len(trips) if trips and np.isfinite(trips).all() else np.nan
            for trips in trip_pnl
        ]

    def extras(i: int) -> dict[str, FloatArray | tuple[float, ...] | None]:
        return {
            "equity_gross": None if gross is None else gross[i],
            "notional": None if notional is None else notional[i],
            "traded": None if traded is None else traded[i],
            "benchmark": None if benchmark is None else benchmark[i],
            "trip_pnl": None if trip_pnl is None else trip_pnl[i],
        }

    given = [m for m in (gross, notional, traded, benchmark) if m is not None]
    _repair(out, equity, bases, ALL_METRICS, extras, given)
    return out


def _checked(equity: FloatArray, base: ArrayLike) -> tuple[FloatArray, FloatArray]:
    equity = np.ascontiguousarray(equity, dtype=np.float64)
    if equity.ndim != 2 or equity.shape[1] == 0:
        raise ConfigError(f"equity has shape {equity.shape}; it must be (N, T+1), V_0 first.")
    if (equity[:, 0] <= 0).any():
        row = int(np.argmax(equity[:, 0] <= 0))
        raise ConfigError(
            f"The starting capital of curve {row} is {equity[row, 0]}; it must be above 0."
        )
    return equity, np.broadcast_to(np.asarray(base, dtype=np.float64), (len(equity),))


def _same_shape(name: str, matrix: Extra, shape: tuple[int, int]) -> None:
    if matrix is not None and matrix.shape != shape:
        raise ConfigError(f"{name} has shape {matrix.shape}; it must be {shape}.")


def _blocks(n: int) -> list[slice]:
    return [slice(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]


def _core_block(v: FloatArray, base: FloatArray, out: Out) -> FloatArray:
    """Fill the six into `out` and give back the returns (rows, T)."""
    t = v.shape[1] - 1
    if t == 0:
        return v[:, :0]
    with np.errstate(all="ignore"):
        r = v[:, 1:] / v[:, :-1]
        r -= 1.0
        ratio = v[:, -1] / v[:, 0]
        out["CR"][:] = ratio - 1.0
        out["AR"][:] = ratio ** (base / t) - 1.0
        drawdown = np.maximum.accumulate(v, axis=1)
        np.divide(v, drawdown, out=drawdown)
        # 1 - min(V/peak) instead of max((peak - V)/peak): one pass over the block less.
        out["MDD"][:] = 1.0 - drawdown.min(axis=1)
        out["Calmar"][:] = out["AR"] / np.where(out["MDD"] == 0.0, np.nan, out["MDD"])
        if t > 1:
            mean = r.mean(axis=1)
            gap = r - mean[:, None]
            std = np.sqrt(np.einsum("ij,ij->i", gap, gap) / (t - 1))
            std[std < STD_FLOOR] = 0.0
            out["AV"][:] = std * np.sqrt(base)
            out["SR"][:] = mean / np.where(std == 0.0, np.nan, std) * np.sqrt(base)
    return r


def _shape_block(v: FloatArray, r: FloatArray, base: FloatArray, out: Out) -> None:
    """Metrics of the curve alone that are not in the core."""
    t = r.shape[1]
    out["CR_log"][:] = np.log(v[:, -1] / v[:, 0])
    peak = np.maximum.accumulate(v, axis=1)
    out["ADD"][:] = 1.0 - (v[:, 1:] / peak[:, 1:]).mean(axis=1)
    out["ReturnOverMDD"][:] = out["CR"] / np.where(out["MDD"] == 0.0, np.nan, out["MDD"])
    out["win_rate_periods"][:] = np.count_nonzero(r > 0, axis=1) / t
    out["sharp_loss"][:] = np.count_nonzero(r < -SHARP_MOVE_FRAC, axis=1)
    out["sharp_gain"][:] = np.count_nonzero(r > SHARP_MOVE_FRAC, axis=1)
    step = np.arange(t, dtype=np.int32)
    last_kept = np.maximum.accumulate(np.where(r < 0, np.int32(-1), step), axis=1)
    out["loss_streak"][:] = (step - last_kept).max(axis=1)
    if t > 1:
        out["DV"][:] = out["AV"] / np.sqrt(base)
        losses = np.minimum(r, 0.0)
        dd = np.sqrt(np.einsum("ij,ij->i", losses, losses) / t)
        out["Sortino"][:] = r.mean(axis=1) / np.where(dd < STD_FLOOR, np.nan, dd) * np.sqrt(base)
    if t >= TAIL_MIN_N:
        k, place = tail_count(t), 0.05 * (t - 1)
        low = int(place)
        # VaR lies between the order statistics `low` and `low + 1`; k - 1 is one of the two.
        part = np.partition(r, (low, low + 1), axis=1)
        out["TailLoss_5"][:] = part[:, :k].mean(axis=1)
        out["VaR_5"][:] = part[:, low] + (place - low) * (part[:, low + 1] - part[:, low])
    if t >= ROLLING_WINDOW:
        out["rolling_vol_20"][:] = r[:, -ROLLING_WINDOW:].std(axis=1, ddof=1)


def _trade_block(
    v: FloatArray, r: FloatArray, base: FloatArray, notional: Extra, traded: Extra, out: Out
) -> None:
    t, equity = r.shape[1], v[:, 1:]
    if notional is not None:
        exposure = np.abs(notional)
        held: NDArray[np.bool_] = exposure > EXPOSURE_FLOOR
        share = exposure / equity
        out["PU"][:] = out["conc_avg"][:] = share.mean(axis=1)
        out["conc_max"][:] = share.max(axis=1)
        out["time_in_market"][:] = np.count_nonzero(held, axis=1) / t
        begun = held[:, :-1]
        periods = np.count_nonzero(begun, axis=1)
        won = np.count_nonzero(begun & (r[:, 1:] > 0), axis=1)
        out["win_rate_active"][:] = won / np.where(periods == 0, np.nan, periods)
    if traded is not None:
        out["turnover"][:] = np.abs(traded).sum(axis=1) / equity.mean(axis=1)
        out["turnover_annual"][:] = out["turnover"] * base / t


def _relative_block(v: FloatArray, gross: Extra, benchmark: Extra, out: Out) -> None:
    if gross is not None:
        out["CR_gross"][:] = gross[:, -1] / gross[:, 0] - 1.0
    if benchmark is not None:
        out["excess_bh"][:] = v[:, -1] / v[:, 0] - benchmark[:, -1] / benchmark[:, 0]
        ahead = v[:, 1:] / v[:, :1] > benchmark[:, 1:] / benchmark[:, :1]
        out["days_over_bh"][:] = np.count_nonzero(ahead, axis=1) / ahead.shape[1]


def _repair(
    out: Out,
    equity: FloatArray,
    bases: FloatArray,
    names: Sequence[str],
    extras: Callable[[int], dict[str, FloatArray | tuple[float, ...] | None]],
    given: Sequence[FloatArray] = (),
) -> None:
    """Give the rows with a mark <= 0 or a non-finite input to `compute`; infinities become NaN."""
    # The sum is finite if every item is; a false alarm only costs time.
    odd = (equity.min(axis=1) <= 0) | ~np.isfinite(equity.sum(axis=1))
    for matrix in given:
        odd |= ~np.isfinite(matrix.sum(axis=1))
    for i in np.flatnonzero(odd).tolist():
        base = int(bases[i])
        kind = "crypto" if base == 365 else "stock"
        series = AccountSeries(equity[i], base, kind, **extras(i))  # type: ignore[arg-type]
        for name, result in compute(series, names=names).items():
            out[name][i] = np.nan if result.value is None else result.value
    for column in out.values():
        column[~np.isfinite(column)] = np.nan

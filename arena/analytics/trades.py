"""Trading: how often the account was right, how much of the time and how hard it was invested."""

from __future__ import annotations

import math

import numpy as np

from arena.analytics.registry import metric
from arena.analytics.result import Undefined
from arena.analytics.window import FloatArray, Window


@metric("win_rate_trades", count="n_trips")
def win_rate_trades(w: Window) -> float:
    """Round trips with a net result above 0 / closed round trips.

    A trip runs from flat to flat; a flip ends one and starts the next; exactly 0 is no win. An
    open position counts only where the end of the window closed it (`forced_close`). Undefined
    without a closed trip. Source: the paper names a win rate without a formula; this one is ours.
    """
    pnl = w.series.trip_pnl
    if not pnl:
        raise Undefined("no_closed_trades")
    if not all(map(math.isfinite, pnl)):
        raise Undefined("nonfinite_input")
    return sum(p > 0.0 for p in pnl) / len(pnl)


@metric("win_rate_periods", count="n_returns", returns="simple")
def win_rate_periods(w: Window) -> float:
    """Sessions with a return above 0 / all sessions, flat ones too (quantstats leaves those out)."""
    returns = w.need_returns(1)
    return int(np.count_nonzero(returns > 0.0)) / len(returns)


@metric("win_rate_active", count="n_exposed", returns="simple")
def win_rate_active(w: Window) -> float:
    """Winning sessions among those that began with a position.

    Needs one such session (too_few_observations). The same in every mode. Source: ours.
    """
    exposed = w.exposed_returns
    if len(exposed) == 0:
        raise Undefined("too_few_observations")
    return int(np.count_nonzero(exposed > 0.0)) / len(exposed)


def _solvent(w: Window) -> tuple[FloatArray, FloatArray]:
    """Exposure (k, assets) and equity (k,) at the marks with equity above 0."""
    exposure, equity = w.gross_exposure, w.equity[1:]
    if not np.isfinite(equity).all():
        raise Undefined("nonfinite_input")
    solvent = equity > 0.0
    if not solvent.any():
        raise Undefined("nonpositive_equity")
    return exposure[solvent], equity[solvent]


@metric("PU", count="n_marks")
def position_utilisation(w: Window) -> float:
    """Mean over marks of sum |notional| / V. Above 1 with leverage or a losing short; never clipped.

    Marks with V > 0 only. Source: TradeTrap's position utilisation.
    """
    exposure, equity = _solvent(w)
    return float((exposure.sum(axis=1) / equity).mean())


@metric("conc_avg", count="n_marks")
def average_concentration(w: Window) -> float:
    """Mean over marks of the largest |notional| / V; 0 when flat. Marks with V > 0 only.

    Source: TradeTrap, with |w| where its formula has a signed weight.
    """
    exposure, equity = _solvent(w)
    return float((exposure.max(axis=1) / equity).mean())


@metric("conc_max", count="n_marks")
def max_concentration(w: Window) -> float:
    """Largest |notional| / V of any mark. Marks with V > 0 only. Source: as `conc_avg`."""
    exposure, equity = _solvent(w)
    return float((exposure.max(axis=1) / equity).max())


@metric("time_in_market", count="n_marks")
def time_in_market(w: Window) -> float:
    """Share of marks 1..T with a position open (sum |notional| > 1e-9)."""
    held = w.in_market
    return int(np.count_nonzero(held)) / len(held)


def _turnover(w: Window) -> float:
    traded = w.series.traded
    if w.n_marks == 0 or traded is None:
        raise Undefined("no_observations")
    total = float(np.add.reduce(np.abs(np.asarray(traded, dtype=np.float64))))
    equity = w.equity[1:]
    if not (math.isfinite(total) and np.isfinite(equity).all()):
        raise Undefined("nonfinite_input")
    solvent = equity[equity > 0.0]
    if len(solvent) == 0:
        raise Undefined("nonpositive_equity")
    return total / float(solvent.mean())


@metric("turnover", unit="ratio", count="n_marks")
def turnover(w: Window) -> float:
    """Sum of |traded notional| / mean equity of marks 1..T (those with V > 0).

    Two-sided: one purchase and its sale count about 2. Not annualised. Source: ours.
    """
    return _turnover(w)


@metric("turnover_annual", unit="ratio", count="n_marks", annualised=True)
def turnover_annual(w: Window) -> float:
    """Turnover x B / T."""
    return _turnover(w) * w.base / w.n_marks

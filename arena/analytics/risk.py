"""Risk: how rough the way was, and what was earned per unit of it.

Deviations, tails and ratios use the returns up to and with the one that wiped an account out.
"""

from __future__ import annotations

import math

import numpy as np

from arena.analytics.registry import metric
from arena.analytics.result import Undefined
from arena.analytics.returns import annualised_return, cumulative_return
from arena.analytics.window import STD_FLOOR, FloatArray, Window

ROLLING_WINDOW = 20
TAIL_MIN_N = 20
SHARP_MOVE_FRAC = 0.01


def tail_count(n: int) -> int:
    """k = ceil(0.05 n), in integers so that 0.05 x 100 cannot become 6."""
    return (n + 19) // 20


def rolling_vol(returns: FloatArray, window: int) -> FloatArray:
    """Sample deviation (ddof 1) of the last `window` returns at each step; NaN until they exist.

    Shapes: (n,) -> (n,). Per period, not annualised.
    """
    out = np.full(len(returns), np.nan)
    if window >= 2 and len(returns) >= window:
        views = np.lib.stride_tricks.sliding_window_view(returns, window)
        out[window - 1 :] = views.std(axis=1, ddof=1)
    return out


@metric("DV", count="n_returns", returns="simple", ddof=1)
def period_volatility(w: Window) -> float:
    """Deviation of the returns, s (ddof 1), per session.

    Needs 2 returns. Non-negative; exactly 0 below 1e-12. Source: FinMMEval's daily volatility.
    """
    return w.std


@metric("AV", count="n_returns", annualised=True, returns="simple", ddof=1)
def annualised_volatility(w: Window) -> float:
    """Annualised volatility, s x sqrt(B), s with ddof 1.

    Needs 2 returns. Non-negative. Source: the paper's AV (there always 252), B = 365 for coins.
    """
    return w.std * math.sqrt(w.base)


@metric("SR", unit="ratio", count="n_returns", annualised=True, returns="simple", ddof=1)
def sharpe(w: Window) -> float:
    """Sharpe ratio, (mean(r) - rf_p) / s x sqrt(B), with rf_p = (1 + rf_annual)^(1/B) - 1, rf 0.

    Needs 2 returns and s >= 1e-12 (zero_variance). Sign: that of the mean excess return.
    Source: the paper's SR as its table computes it (its formula mixes a daily mean with an annual
    deviation).
    """
    s = w.std
    if s == 0.0:
        raise Undefined("zero_variance")
    rf_p: float = (1.0 + w.series.rf_annual) ** (1.0 / w.base) - 1.0
    return (w.mean - rf_p) / s * math.sqrt(w.base)


@metric("Sortino", unit="ratio", count="n_returns", annualised=True, returns="simple", mar=0.0)
def sortino(w: Window) -> float:
    """Sortino ratio, mean(r) / DD x sqrt(B), DD = sqrt(mean(min(r, 0)^2)) over all n returns.

    Needs 2 returns and DD >= 1e-12 (no_downside). Target return 0. Sign: that of the mean.
    Source: Sortino and Price, as empyrical computes it.
    """
    losses = np.minimum(w.need_returns(2), 0.0)
    dd = math.sqrt(float(np.add.reduce(losses * losses)) / len(losses))
    if dd < STD_FLOOR:
        raise Undefined("no_downside")
    return w.mean / dd * math.sqrt(w.base)


@metric("MDD")
def max_drawdown(w: Window) -> float:
    """Maximum drawdown, max of (peak_t - V_t) / peak_t, the peak including V_0.

    Sampling: all marks. Positive in every mode; above 1 only where equity fell below 0.
    Source: the paper's MDD, taken on equity as its code does (its formula is on R_t).
    """
    return float(w.drawdown.max())


@metric("ADD")
def average_drawdown(w: Window) -> float:
    """Average drawdown: mean over marks 1..T of (peak_t - V_t) / peak_t.

    Non-negative, not annualised. Source: what InvestorBench's card calls AV, under its own name.
    """
    later = w.drawdown[1:]
    if len(later) == 0:
        raise Undefined("no_observations")
    return float(later.mean())


@metric("Calmar", unit="ratio", annualised=True, returns="simple")
def calmar(w: Window) -> float:
    """Calmar ratio, AR / MDD.

    Undefined as AR is, and without a drawdown (no_drawdown). Sign: that of AR. Source: Young 1991,
    over the whole window.
    """
    mdd = max_drawdown(w)
    ar = annualised_return(w)
    if mdd == 0.0:
        raise Undefined("no_drawdown")
    return ar / mdd


@metric("ReturnOverMDD", unit="ratio", returns="simple")
def return_over_mdd(w: Window) -> float:
    """CR / MDD, not annualised. Undefined without a drawdown. Source: LiveMACE's "calmar"."""
    mdd = max_drawdown(w)
    if mdd == 0.0:
        raise Undefined("no_drawdown")
    return cumulative_return(w) / mdd


@metric("VaR_5", count="n_returns", returns="simple", quantile=0.05)
def value_at_risk(w: Window) -> float:
    """Historical value at risk: the 5 % quantile of returns, linear interpolation.

    Needs 20 returns. A signed return: a loss is negative. Source: standard (type 7 quantile).
    """
    return float(np.quantile(w.need_returns(TAIL_MIN_N), 0.05))


@metric("TailLoss_5", count="n_returns", returns="simple", quantile=0.05)
def tail_loss(w: Window) -> float:
    """Expected shortfall: mean of the k smallest returns, k = ceil(0.05 n).

    Needs 20 returns. A signed return: a loss is negative. Source: LiveMACE's TailLoss; the k of
    empyrical's CVaR.
    """
    returns = w.need_returns(TAIL_MIN_N)
    k = tail_count(len(returns))
    return float(np.partition(returns, k - 1)[:k].mean())


@metric("rolling_vol_20", count="n_returns", returns="simple", ddof=1)
def last_rolling_vol(w: Window) -> float:
    """Deviation (ddof 1) of the last 20 returns, per session; undefined until 20 exist."""
    return float(rolling_vol(w.need_returns(ROLLING_WINDOW)[-ROLLING_WINDOW:], ROLLING_WINDOW)[-1])


@metric("sharp_loss", unit="count", count="n_returns", returns="simple")
def sharp_losses(w: Window) -> float:
    """Number of sessions that lost more than 1 %. Source: TradeTrap's and LiveMACE's diagnostics."""
    return float(np.count_nonzero(w.need_returns(1) < -SHARP_MOVE_FRAC))


@metric("sharp_gain", unit="count", count="n_returns", returns="simple")
def sharp_gains(w: Window) -> float:
    """Number of sessions that gained more than 1 %."""
    return float(np.count_nonzero(w.need_returns(1) > SHARP_MOVE_FRAC))


@metric("loss_streak", unit="count", count="n_returns", returns="simple")
def loss_streak(w: Window) -> float:
    """Longest run of losing sessions in a row."""
    longest = run = 0
    for lost in (w.need_returns(1) < 0.0).tolist():
        run = run + 1 if lost else 0
        longest = max(longest, run)
    return float(longest)

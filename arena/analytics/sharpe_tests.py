"""Whether a Sharpe ratio survives its own sample: probabilistic and deflated Sharpe ratio.

Sources: D. H. Bailey and M. Lopez de Prado, "The Sharpe ratio efficient frontier", Journal of Risk
15 (2012), and "The deflated Sharpe ratio", Journal of Portfolio Management 40 (2014). Ratios here
are of one session, not annualised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, variance

import numpy as np

from arena.analytics.bootstrap import MIN_RETURNS
from arena.analytics.window import STD_FLOOR, FloatArray

NORMAL = NormalDist()
EULER_GAMMA = 0.5772156649015329


def session_sharpe(returns: FloatArray) -> float | None:
    """m / s of daily returns (divisor n - 1); None for fewer than 20 or without variance."""
    if len(returns) < MIN_RETURNS or not np.isfinite(returns).all():
        return None
    std = float(np.std(returns, ddof=1))
    return None if std < STD_FLOOR else float(np.mean(returns)) / std


def shape(returns: FloatArray) -> tuple[float, float]:
    """Skewness and kurtosis (3 for a bell curve) with divisor n; `returns` must vary."""
    gap = returns - np.mean(returns)
    spread = float(np.mean(gap**2))
    return float(np.mean(gap**3)) / spread**1.5, float(np.mean(gap**4)) / spread**2


def probabilistic_sharpe(
    sharpe: float, n: int, skewness: float, kurtosis: float, threshold: float = 0.0
) -> float | None:
    """Probability that the true ratio lies above `threshold`, given an estimate of n returns.

    Phi((SR - SR*) sqrt(n - 1) / sqrt(1 - g3 SR + (g4 - 1) / 4 SR^2)). None for n < 2, or where the
    moments leave no positive variance under the root.
    """
    spread = 1.0 - skewness * sharpe + (kurtosis - 1.0) / 4.0 * sharpe**2
    if n < 2 or spread <= 0.0:
        return None
    return NORMAL.cdf((sharpe - threshold) * math.sqrt(n - 1) / math.sqrt(spread))


def expected_best_sharpe(n_trials: int, variance_of_trials: float) -> float:
    """Ratio that the best of `n_trials` without any skill is expected to show.

    sqrt(V) ((1 - g) z(1 - 1/N) + g z(1 - 1/(N e))), g = Euler's constant; 0 for a single trial.
    """
    if n_trials < 2:
        return 0.0
    first = NORMAL.inv_cdf(1.0 - 1.0 / n_trials)
    second = NORMAL.inv_cdf(1.0 - 1.0 / (n_trials * math.e))
    return math.sqrt(variance_of_trials) * ((1.0 - EULER_GAMMA) * first + EULER_GAMMA * second)


def deflation(trials: Sequence[float]) -> float:
    """Threshold that the best of these ratios had to pass: `expected_best_sharpe` of them."""
    return expected_best_sharpe(len(trials), variance(trials)) if len(trials) > 1 else 0.0


def sharpe_probability(returns: FloatArray, threshold: float = 0.0) -> float | None:
    """`probabilistic_sharpe` of daily returns; with `deflation` as threshold, the deflated one."""
    sharpe = session_sharpe(returns)
    if sharpe is None:
        return None
    return probabilistic_sharpe(sharpe, len(returns), *shape(returns), threshold)

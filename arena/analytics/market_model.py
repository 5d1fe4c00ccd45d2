"""What of an account is its asset, and what fee it could bear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arena.analytics.bootstrap import MIN_RETURNS
from arena.analytics.window import STD_FLOOR, FloatArray

NoModel = Literal["too_few_observations", "nonfinite_input", "zero_variance", "no_turnover"]


@dataclass(frozen=True, slots=True)
class MarketModel:
    """r = alpha + beta r_asset + rest. `alpha_annual_frac` is alpha times marks a year."""

    alpha_annual_frac: float | None
    beta: float | None
    n: int
    reason: NoModel | None

    def to_json(self) -> dict[str, Any]:
        return {
            "alpha_annual_frac": self.alpha_annual_frac, "beta": self.beta, "n": self.n,
            "reason": self.reason,
        }  # fmt: skip


def market_model(returns: FloatArray, asset: FloatArray, base: int) -> MarketModel:
    """Least squares of daily returns on those of the asset on the same days, both shape (n,).

    beta = cov(r, r_asset) / var(r_asset); alpha = mean(r) - beta mean(r_asset), annualised by
    `base`, not compounded. Undefined for n < 20 and for an asset that never moved. An account that
    never traded has alpha and beta 0. Source: W. F. Sharpe, "A simplified model for portfolio
    analysis", Management Science 9 (1963); Jensen's alpha with a risk-free rate of 0.

    Raises:
        ValueError: the two are not of one length.
    """
    n = len(returns)
    if len(asset) != n:
        raise ValueError(f"{n} returns against {len(asset)} of the asset; they need the same days")
    if n < MIN_RETURNS:
        return MarketModel(None, None, n, "too_few_observations")
    if not (np.isfinite(returns).all() and np.isfinite(asset).all()):
        return MarketModel(None, None, n, "nonfinite_input")
    gap = asset - asset.mean()
    if float(np.std(asset, ddof=1)) < STD_FLOOR:
        return MarketModel(None, None, n, "zero_variance")
    beta = float(gap @ (returns - returns.mean()) / (gap @ gap))
    alpha = float(returns.mean() - beta * asset.mean())
    return MarketModel(alpha * base, beta, n, None)


def break_even_fee_bps(
    gross_return_frac: float | None, turnover: float | None
) -> tuple[float | None, NoModel | None]:
    """Fee in basis points of traded notional that would eat the return before fees, and the reason
    where there is none.

    1e4 x CR_gross / turnover, turnover two-sided in units of mean equity. Below 0 the account loses
    before any fee. Undefined without turnover.
    """
    if gross_return_frac is None or turnover is None:
        return None, "too_few_observations"
    if turnover <= 0.0:
        return None, "no_turnover"
    return 1e4 * gross_return_frac / turnover, None

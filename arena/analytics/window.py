"""What formulas see of one account: its curve as the mode samples it, with shared steps computed once.

Mode `standard`: V_0 is the capital, every session is an observation. Mode `ama` follows the paper's
published code: V_0 is the equity after the first session (so the entry fee vanishes), stocks keep
only returns other than 0, coins keep every mark and a leading 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arena.analytics.result import Undefined
from arena.core.errors import ConfigError

Mode = Literal["standard", "ama"]
FloatArray = NDArray[np.float64]

STD_FLOOR = 1e-12
"""Below this a deviation is rounding noise: thirty equal returns have a std of 1e-17, not 0."""
EXPOSURE_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class AccountSeries:
    """One account (or an average of accounts) over T sessions.

    `equity` has T+1 values, the capital V_0 first; `equity_gross` and `benchmark` are aligned with
    it. `notional` (T,), or (T, assets), is signed units x price at each mark; `side` (T,) stands in
    for it where only the direction is known; `traded` (T,) is traded notional of each session.
    `trip_pnl` are the net results of closed round trips. `base` is marks a year (365 or 252).

    Raises:
        ConfigError: no V_0, or V_0 <= 0.
    """

    equity: FloatArray
    base: int
    asset_class: str
    equity_gross: FloatArray | None = None
    notional: FloatArray | None = None
    side: NDArray[np.integer] | FloatArray | None = None
    traded: FloatArray | None = None
    trip_pnl: tuple[float, ...] | None = None
    benchmark: FloatArray | None = None
    flags: tuple[str, ...] = ()
    rf_annual: float = 0.0

    def __post_init__(self) -> None:
        if len(self.equity) == 0 or self.equity[0] <= 0:
            first = self.equity[0] if len(self.equity) else "missing"
            raise ConfigError(f"The starting capital of a curve is {first}; it must be above 0.")


def _finite(values: FloatArray) -> FloatArray:
    if not np.isfinite(values).all():
        raise Undefined("nonfinite_input")
    return values


class Window:
    """An `AccountSeries` under a mode. Every property may raise `Undefined`."""

    def __init__(self, series: AccountSeries, mode: Mode) -> None:
        self.series, self.mode = series, mode
        self.base = series.base
        self.equity = np.asarray(series.equity, dtype=np.float64)
        self.n_marks = len(self.equity) - 1

    def _from_start(self, curve: FloatArray | None) -> FloatArray:
        """`curve` checked and beginning with the mode's V_0."""
        if self.n_marks == 0:
            raise Undefined("no_observations")
        if curve is None:
            raise Undefined("no_observations")
        curve = _finite(np.asarray(curve, dtype=np.float64))
        return curve if self.mode == "standard" else curve[1:]

    @cached_property
    def values(self) -> FloatArray:
        """V_0 .. V_T of the mode."""
        return self._from_start(self.equity)

    @cached_property
    def gross(self) -> FloatArray:
        return self._from_start(self.series.equity_gross)

    @cached_property
    def benchmark(self) -> FloatArray:
        """Buy & Hold over the same marks."""
        curve = self.series.benchmark
        if self.n_marks == 0:
            raise Undefined("no_observations")
        if curve is None or len(curve) != len(self.equity):
            raise Undefined("missing_benchmark")
        return self._from_start(curve)

    @cached_property
    def all_returns(self) -> FloatArray:
        """Simple returns from the capital on, up to and with the one that wiped the account out."""
        self.values  # noqa: B018 - raises for an empty or non-finite curve
        equity = self.equity
        if equity.min() <= 0:
            equity = equity[: int(np.argmax(equity <= 0)) + 1]
        return equity[1:] / equity[:-1] - 1.0

    @cached_property
    def returns(self) -> FloatArray:
        """The returns that the mode samples."""
        returns = self.all_returns
        if self.mode == "standard":
            return returns
        later = returns[1:]
        if self.series.asset_class == "crypto":
            return np.concatenate(([0.0], later))
        moved: FloatArray = later[later != 0.0]
        return moved

    @property
    def n_returns(self) -> int:
        return len(self.returns)

    @property
    def n_all_returns(self) -> int:
        return len(self.all_returns)

    @property
    def n_periods(self) -> int:
        """Exponent's divisor of an annual rate: every session; in `ama` the sampled returns."""
        return self.n_marks if self.mode == "standard" else self.n_returns

    def need_returns(self, at_least: int) -> FloatArray:
        if len(self.returns) < at_least:
            raise Undefined("too_few_observations")
        return self.returns

    @cached_property
    def mean(self) -> float:
        return float(np.add.reduce(self.returns)) / len(self.returns)

    @cached_property
    def std(self) -> float:
        """Sample deviation (ddof 1) of two or more returns; exactly 0 below `STD_FLOOR`."""
        gap = self.need_returns(2) - self.mean
        std = float(np.sqrt(np.add.reduce(gap * gap) / (len(gap) - 1)))
        return 0.0 if std < STD_FLOOR else std

    @cached_property
    def drawdown(self) -> FloatArray:
        """(peak - V) / peak at each of V_0 .. V_T; the peak includes V_0."""
        if self.values[0] <= 0:
            raise Undefined("nonpositive_equity")
        peak = np.maximum.accumulate(self.values)
        return (peak - self.values) / peak

    @cached_property
    def gross_exposure(self) -> FloatArray:
        """|notional| of each asset at marks 1..T, shape (T, assets)."""
        notional = self.series.notional
        if self.n_marks == 0 or notional is None:
            raise Undefined("no_observations")
        return np.abs(_finite(np.asarray(notional, dtype=np.float64))).reshape(self.n_marks, -1)

    @cached_property
    def in_market(self) -> NDArray[np.bool_]:
        """Whether a position stood at marks 1..T."""
        if self.series.notional is None and self.series.side is not None and self.n_marks:
            sided: NDArray[np.bool_] = np.asarray(self.series.side) != 0
            return sided
        held: NDArray[np.bool_] = np.add.reduce(self.gross_exposure, axis=1) > EXPOSURE_FLOOR
        return held

    @cached_property
    def exposed_returns(self) -> FloatArray:
        """Returns of the periods that began with a position; the first period begins flat."""
        returns = self.all_returns
        return returns[1:][self.in_market[: len(returns) - 1]]

    @property
    def n_exposed(self) -> int:
        return len(self.exposed_returns)

    @property
    def n_trips(self) -> int:
        return len(self.series.trip_pnl or ())

"""The ledger of A accounts: what they hold, what trading costs them, what was traded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.core.errors import ConfigError
from arena.portfolio.strategies import get_strategy
from arena.portfolio.tables import RuleTables

Floats = NDArray[np.float64]
Price = float | Floats
DAYS_A_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class Costs:
    """What trading costs, in basis points: fee and slippage a side, borrow of a short a year."""

    GROSS: ClassVar[Costs]
    fee_bps: float
    slippage_bps: float = 0.0
    borrow_bps_year: float = 0.0

    def __post_init__(self) -> None:
        for name, limit in (("fee_bps", 1e4), ("slippage_bps", 1e4), ("borrow_bps_year", 1e6)):
            value = getattr(self, name)
            if not 0 <= value < limit:
                raise ConfigError(f"{name} is {value}; the rule is 0 <= {name} < {limit:g}.")


Costs.GROSS = Costs(0.0)


@dataclass(frozen=True, slots=True)
class Legs:
    """Trades as signed units, price and fee, shape (A, 3) or (A, T, 3); all zero without a trade.

    Leg 0 closes or sheds, leg 1 opens or adds, leg 2 closes a bankrupt account at the mark, free.
    """

    units: Floats
    price: Floats
    fee: Floats


@dataclass(slots=True)
class Book:
    """State of A accounts and the constants of their rules; every array has shape (A,).

    `cash` and `units` (signed) are the ledger, `tranche` the units of one pyramid tranche, `mark`
    the last price, `row` the position as a row of `rules`. Bankrupt accounts are frozen.
    `slippage_frac` and `borrow_frac_day` are None where no account pays any. Made by `Book.open`.
    """

    cash: Floats
    units: Floats
    tranche: Floats
    row: NDArray[np.intp]
    bankrupt: NDArray[np.bool_]
    mark: Price
    rules: RuleTables
    all_in: NDArray[np.bool_]
    keep_frac: Floats
    tranche_share: Floats
    notional_fee_frac: Floats
    slippage_frac: Floats | None
    borrow_frac_day: Floats | None

    @classmethod
    def open(
        cls, strategies: Sequence[str], capital: float, costs: Sequence[Costs] | Costs
    ) -> Book:
        """A flat book with one account for each strategy id.

        Args:
            strategies: A ids of `STRATEGIES`, at least one; an id may occur many times.
            capital: cash of each account in quote currency.
            costs: one for all accounts, or one for each.

        Raises:
            UnknownNameError: no such strategy.
            ConfigError: no strategy, capital not positive, or lengths that differ.
        """
        n = len(strategies)
        if n == 0:
            raise ConfigError("A book needs at least one strategy.")
        if not (isfinite(capital) and capital > 0):
            raise ConfigError(f"capital is {capital}; the rule is capital > 0.")
        each = [costs] * n if isinstance(costs, Costs) else costs
        if len(each) != n:
            raise ConfigError(
                f"{n} strategies but {len(each)} costs; give one for all or one for each."
            )
        rule = [get_strategy(s) for s in strategies]
        fee_frac = np.array([c.fee_bps for c in each]) / 1e4
        slippage_frac = np.array([c.slippage_bps for c in each]) / 1e4
        borrow_frac_day = np.array([c.borrow_bps_year for c in each]) / 1e4 / DAYS_A_YEAR
        all_in = np.array([s.kind == "all_in" for s in rule])
        rules = RuleTables(rule, fee_frac.tolist())
        return cls(
            cash=np.full(n, float(capital)),
            units=np.zeros(n),
            tranche=np.zeros(n),
            row=rules.flat_row.copy(),
            bankrupt=np.zeros(n, dtype=np.bool_),
            mark=1.0,  # nothing is held yet: any price values the book
            rules=rules,
            all_in=all_in,
            keep_frac=1.0 - fee_frac,
            tranche_share=np.array([1.0 / s.enter_tranches for s in rule]),
            notional_fee_frac=np.where(all_in, 0.0, fee_frac),
            slippage_frac=slippage_frac if slippage_frac.any() else None,
            borrow_frac_day=borrow_frac_day if borrow_frac_day.any() else None,
        )

    @property
    def side(self) -> NDArray[np.int8]:
        """-1 short, 0 flat, 1 long, shape (A,)."""
        return self.rules.side.take(self.row)

    def equity(self, price: ArrayLike) -> Floats:
        """Cash + units x `price` (one, or one an account), (A,); NaN matters only to a holder."""
        value = self.units * np.asarray(price, dtype=np.float64)
        return self.cash + np.where(self.units == 0.0, 0.0, value)

    def copy(self) -> Book:
        """An independent book in the same state."""
        return replace(
            self,
            cash=self.cash.copy(),
            units=self.units.copy(),
            tranche=self.tranche.copy(),
            row=self.row.copy(),
            bankrupt=self.bankrupt.copy(),
        )

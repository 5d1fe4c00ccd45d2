"""What an account is worth at a price of the moment. Shown beside settled numbers, never stored.

Between two closes an account holds what it held at the last one, until the order decided since then
fills. Both are worked out here by the engine that settles them later, at quotes instead of bars.
"""

from __future__ import annotations

import numpy as np

from arena.core.actions import INTENT_CODE, Intent
from arena.core.season import Season
from arena.core.types import AssetClass
from arena.portfolio.engine import Book, Costs, advance
from arena.portfolio.strategies import CODES, POSITIONS, get_strategy


def costs_of(season: Season, asset_class: AssetClass) -> Costs:
    """What an account of the season pays on this class of asset."""
    return Costs(season.fee_bps[asset_class], season.slippage_bps, season.borrow_bps_year)


def value_now(
    strategy: str,
    costs: Costs,
    side: int,
    units: float,
    cash: float,
    price: float,
    order: Intent | None = None,
    fill_price: float | None = None,
) -> float | None:
    """Equity at `price`, in quote currency.

    Args:
        side, units, cash: after the last settled session.
        order: decided since then; None where nothing waits, or it has not filled yet.
        fill_price: where it filled.

    Returns:
        None where a pyramid's order changes the position: how many tranches it holds is the ledger's.
    """
    held = cash + units * price
    if order is None or fill_price is None:
        return held
    rule, code = get_strategy(strategy), INTENT_CODE[order]
    could_hold = [p for p in POSITIONS if np.sign(p) == side]
    if all(rule.next_position(p, code) == p for p in could_hold):
        return held
    if rule.kind != "all_in" and side != 0:
        return None
    book = Book.open([strategy], 1.0, costs)
    book.cash[:], book.units[:], book.mark = cash, units, fill_price
    book.row += max(could_hold, key=abs) * len(CODES)
    advance(book, code, fill_price, price, days=0)
    return float(book.equity(price)[0])

"""The account engine: one kernel that settles A accounts at once, live and in replays.

One ledger serves every strategy: equity = cash + signed units x price. A session has four steps,
always in this order: borrow fee, order at the fill price, mark at the close, bankruptcy. `advance`
runs one session and `simulate` loops the same kernel over a window: equal to the last bit.

Sizes and fees, with E = equity at the price P of the order, f = fee rate, N = 3 tranches:

    all-in    opens +-E(1-f)/P units for a fee of fE, closes for a fee of fE
    pyramid   fixes its tranche q = E(1-f)/(PN) units at the first entry; an add trades
              min(q, max(0, (E(1-f) - |units|P)/P)), one of zero changes nothing;
              every fee is f x traded notional

With slippage s a buy fills at P(1+s) and a sale at P(1-s): all-in orders are sized and valued
there, tranches are sized at P. The fill price of an order, `KEEP` is none, is a mark too: an
account without equity is closed there before it trades. The all-in accounting is that of the testbed of the Agent Market
Arena paper, the rest is our definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from arena.core.actions import INTENT_CODE, Intent
from arena.core.errors import ConfigError
from arena.core.season import Fill
from arena.portfolio.book import Book, Costs, Floats, Legs, Price
from arena.portfolio.curves import Curves, by_session, checked_codes, checked_prices, leg_prices
from arena.portfolio.kernel import KEEP, N_LEGS, settle

__all__ = ["Book", "Costs", "Curves", "Legs", "advance", "force_close", "simulate"]

FLAT = INTENT_CODE[Intent.FLAT]


def advance(
    book: Book,
    order_codes: ArrayLike,
    fill_price: ArrayLike,
    close_price: ArrayLike,
    days: float = 1,
) -> Legs:
    """Settle one session of every account, in place.

    Args:
        book: A accounts; changed.
        order_codes: `INTENT_CODE` of the order, one or one an account.
        fill_price: where the order trades, one or one an account. NaN: the order is dropped.
        close_price: the session's mark, one or one an account. NaN: nothing traded, the order is
            dropped and the last mark carried.
        days: calendar days since the last session, for the borrow fee.

    Returns:
        The legs of the session, arrays of shape (A, 3).

    Raises:
        InvariantError: an order that is no intent code, or a price that is not positive.
    """
    fill, close = _price(fill_price, "fill_price"), _price(close_price, "close_price")
    n = len(book.cash)
    units, fee, wiped_at = np.zeros((N_LEGS, n)), np.zeros((N_LEGS, n)), np.zeros(n)
    settle(book, checked_codes(order_codes), fill, close, days, units, fee, wiped_at)
    return Legs(units.T, leg_prices(units.T, fill, book.slippage_frac, wiped_at), fee.T)


def force_close(book: Book, price: ArrayLike) -> Legs:
    """Close every position at `price`, costs included: the end of a replay or an import."""
    return advance(book, FLAT, price, price, days=0)


def simulate(
    prices_close: ArrayLike,
    prices_open: ArrayLike | None,
    intents: ArrayLike,
    strategies: Sequence[str],
    costs: Sequence[Costs] | Costs,
    capital: float,
    fill: Fill,
    force_close: bool = True,
    days: ArrayLike | None = None,
) -> Curves:
    """Equity curves of A accounts over T sessions.

    Args:
        prices_close: (T,) for all accounts or (A, T); NaN where nothing traded.
        prices_open: the same for opens; only `fill="next"` reads it.
        intents: `INTENT_CODE` decided after each session, (A, T).
        strategies: A ids.
        costs: one for all accounts, or A of them.
        capital: cash of each account before its first trade.
        fill: `close`: decision t trades at close t. `next`: at open t+1, so the first session still
            holds the capital and the last decision never trades.
        force_close: close everything at the last mark, costs included.
        days: calendar days since the previous session, (T,), for the borrow fee; default 1.

    Raises:
        ConfigError: shapes that differ, no session, a missing open, an unknown fill.
        InvariantError: a code that is no intent, or a price that is not positive.
        UnknownNameError: no such strategy.
    """
    codes = checked_codes(intents)
    if codes.ndim != 2 or codes.shape[0] != len(strategies) or codes.shape[1] == 0:
        raise ConfigError(
            f"intents have shape {codes.shape}; it must be ({len(strategies)}, T) with T >= 1: "
            "one row for each strategy."
        )
    if fill not in get_args(Fill):
        raise ConfigError(f"fill is `{fill}`; it must be one of {', '.join(get_args(Fill))}.")
    n, n_sessions = codes.shape
    elapsed = [1.0] * n_sessions if days is None else np.asarray(days, dtype=np.float64).tolist()
    if len(elapsed) != n_sessions:
        raise ConfigError(
            f"days has {len(elapsed)} items; it must have one for each of {n_sessions} sessions."
        )
    closes = by_session(prices_close, "prices_close", n, n_sessions)
    fills = closes
    orders = np.ascontiguousarray(codes.T)
    if fill == "next":
        fills = by_session(prices_open, "prices_open", n, n_sessions)
        orders = np.concatenate([np.full((1, n), KEEP, dtype=orders.dtype), orders[:-1]])

    book = Book.open(strategies, capital, costs)
    balance, units, cash = np.empty((3, n_sessions, n))
    side = np.empty((n_sessions, n), dtype=np.int8)
    # Planes by leg: the third is touched by bankruptcies only, so its zeros cost nothing.
    leg_units, leg_fee = np.zeros((2, N_LEGS, n_sessions, n))
    wiped_at = np.zeros((n_sessions, n))
    for t, (order, at, close, day_count) in enumerate(
        zip(orders, _rows(fills), _rows(closes), elapsed, strict=True)
    ):
        balance[t] = settle(
            book, order, at, close, day_count, leg_units[:, t], leg_fee[:, t], wiped_at[t]
        )
        units[t], cash[t] = book.units, book.cash
        book.rules.side.take(book.row, out=side[t], mode="clip")
    final_legs = None
    if force_close:
        final_legs = advance(book, FLAT, book.mark, book.mark, days=0)
        balance[-1], units[-1], cash[-1] = book.cash, book.units, book.cash
    return Curves(
        balance=balance.T,
        side=side.T,
        units=units.T,
        cash=cash.T,
        bankrupt_at=np.where(book.bankrupt, (balance <= 0.0).argmax(axis=0), -1),
        final_legs=final_legs,
        _leg_units=leg_units.transpose(2, 1, 0),
        _leg_fee=leg_fee.transpose(2, 1, 0),
        _wiped_at=wiped_at.T,
        _fill=fills.T,
        _slippage_frac=book.slippage_frac,
    )


def _price(price: ArrayLike, what: str) -> Price:
    array = checked_prices(price, what)
    return float(array) if array.ndim == 0 else array.copy()


def _rows(prices: Floats) -> Sequence[Price]:
    """One price a session: floats where all accounts share them."""
    return prices.tolist() if prices.ndim == 1 else list(prices)

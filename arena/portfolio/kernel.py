"""The kernel: one session of A accounts, in place. Everything that moves money is here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.core.actions import INTENT_CODE, Intent
from arena.portfolio.book import Book, Floats, Price
from arena.portfolio.strategies import CODES

Codes = int | NDArray[np.integer]

KEEP = INTENT_CODE[Intent.KEEP]
REDUCE, RAISE, WIPE = range(3)
N_LEGS = 3


def settle(
    book: Book, codes: Codes, fill: Price, close: Price, days: float,
    units: Floats, fee: Floats, wiped_at: Floats,
) -> Floats:  # fmt: skip
    """Borrow fee, order at `fill`, mark at `close`, bankruptcy; returns equity at the mark, (A,).

    `codes`, `fill` and `close` are one value or one an account. The legs go into `units` and
    `fee` (3, A) and, for leg 2, the price into `wiped_at` (A,); all must come in as zeros.
    """
    codes, fill, close = _without_gaps(codes, fill, close, book.mark)
    rules, slippage = book.rules, book.slippage_frac
    if book.borrow_frac_day is not None:
        short_notional = np.maximum(book.units * book.mark * -1.0, 0.0)
        book.cash -= short_notional * book.borrow_frac_day * days
    equity = _mark(book, fill, units[WIPE], wiped_at, codes)

    cell = book.row + codes
    cell -= CODES.start
    row = rules.next_row.take(cell, mode="clip")

    traded, paid = units[REDUCE], fee[REDUCE]
    closing = rules.close.take(cell, mode="clip")
    np.multiply(book.units, closing, out=traded)
    if rules.sheds:
        traded += book.tranche * rules.shed.take(cell, mode="clip")
    if rules.pyramid:
        book.tranche += book.tranche * closing
    price = slipped(fill, traded, slippage)
    if slippage is not None:
        equity = np.maximum(book.cash + book.units * price, 0.0)
    if rules.all_in:
        np.multiply(equity, rules.close_fee.take(cell, mode="clip"), out=paid)
    _trade(book, traded, price, paid)

    traded, paid = units[RAISE], fee[RAISE]
    equity = book.units * fill
    equity += book.cash
    share = rules.open.take(cell, mode="clip")
    if slippage is None:
        np.multiply(equity, share, out=traded)
        traded /= fill
    else:
        np.maximum(equity, 0.0, out=equity)
        np.multiply(equity, share, out=traded)
        traded /= np.where(book.all_in, slipped(fill, share, slippage), fill)
    if rules.pyramid:
        book.tranche += np.abs(traded) * book.tranche_share
    if rules.adds:
        direction = rules.add.take(cell, mode="clip")
        room = (equity * book.keep_frac - np.abs(book.units) * fill) / fill
        added = np.minimum(book.tranche, np.maximum(room, 0.0))
        added *= direction
        traded += added
        stuck = (direction != 0.0) & (added == 0.0)
        if stuck.any():
            np.copyto(row, book.row, where=stuck)
    if rules.all_in:
        np.multiply(equity, rules.open_fee.take(cell, mode="clip"), out=paid)
    _trade(book, traded, slipped(fill, traded, slippage), paid)

    book.row, book.mark = row, close
    return _mark(book, close, units[WIPE], wiped_at)


def slipped(price: Price, units: Floats, slippage_frac: Floats | None) -> Price:
    """Where trades of these signed units fill: a buy above `price`, a sale below it."""
    return price if slippage_frac is None else price * (1.0 + slippage_frac * np.sign(units))


def _without_gaps(
    codes: Codes, fill: Price, close: Price, mark: Price
) -> tuple[Codes, Price, Price]:
    """Without a close, or a fill, there is no trade; without a close the last mark stands."""
    if isinstance(fill, float) and isinstance(close, float) and fill == fill and close == close:
        return codes, fill, close
    no_close = np.isnan(close)
    no_trade = no_close | np.isnan(fill)
    if not no_trade.any():
        return codes, fill, close
    return (
        np.where(no_trade, KEEP, codes),
        np.where(no_trade, mark, fill),
        np.where(no_close, mark, close),
    )


def _trade(book: Book, traded: Floats, price: Price, paid: Floats) -> None:
    """Exchange cash for units; `paid` holds the fee on equity and gets the fee on notional."""
    flow = traded * price
    if book.rules.pyramid:
        paid += np.abs(flow) * book.notional_fee_frac
    flow += paid
    book.cash -= flow
    book.units += traded


def _mark(
    book: Book, price: Price, wiped: Floats, wiped_at: Floats, codes: Codes | None = None
) -> Floats:
    """Equity at `price`; accounts with none left are closed there, free of fee, and frozen.

    With `codes` it is the mark before an order: those who keep have none and are not judged there.
    """
    equity: Floats = book.units * price
    equity += book.cash
    if equity.min() > 0.0:
        return equity
    broke = (equity <= 0.0) & ~book.bankrupt
    if codes is not None:
        broke &= np.not_equal(codes, KEEP)
    if broke.any():
        held = broke & (book.units != 0.0)
        np.copyto(wiped, -book.units, where=held)
        np.copyto(wiped_at, price, where=held)
        np.copyto(book.cash, equity, where=broke)
        book.units[broke] = 0.0
        book.row[broke] = book.rules.frozen
        book.bankrupt |= broke
    return equity

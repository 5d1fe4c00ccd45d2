"""A second account engine, plain and slow, written from the rules alone.

It shares nothing with `arena.portfolio`: floats, `if` and one account at a time. The fast engine is
tested against it, and `check` may replay a stored account with it. If the two differ, one of them
misreads `docs/protocol.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

from arena.core.actions import Intent
from arena.core.errors import UnknownNameError

TRANCHES = 3
SINGLE_STEP = ("baseline", "testbed_normal", "close_on_reversal", "flip_on_reversal")
PYRAMIDS = ("pyramid_exit", "pyramid_entry")
LONG, FLAT, SHORT = 1, 0, -1


@dataclass(frozen=True, slots=True)
class SlowRow:
    """An account after all fills up to close(session).

    In the last row `side` is the side before a forced close; the other fields are after it.
    """

    side: int
    units: float
    cash: float
    balance: float


@dataclass(slots=True)
class _Account:
    """One account in motion. `tranche_units` and `tranches` belong to the pyramids."""

    name: str
    long_only: bool
    fee: float
    slip: float
    cash: float
    units: float = 0.0
    tranche_units: float = 0.0
    tranches: int = 0
    mark: float | None = None
    bankrupt: bool = False

    @property
    def side(self) -> int:
        if self.units > 0:
            return LONG
        if self.units < 0:
            return SHORT
        return FLAT

    @property
    def balance(self) -> float:
        """Equity at the last mark. A position implies a mark or a fill before it."""
        return self.cash if self.units == 0 or self.mark is None else self.equity(self.mark)

    def equity(self, price: float) -> float:
        return self.cash + self.units * price

    def accrue_borrow(self, bps_year: float, days: int) -> None:
        if self.units < 0 and self.mark is not None:
            self.cash -= abs(self.units) * self.mark * bps_year / 1e4 * days / 365

    def stop_if_wiped_out(self, price: float) -> None:
        """Definitions 1.4: closed at this price without a fee, debt kept, never trades again."""
        worth = self.equity(price)
        if worth <= 0:
            self.cash, self.units, self.bankrupt = worth, 0.0, True

    def corporate_action(self, kind: str, value: float) -> None:
        """A split makes `value` shares of one, a dividend pays `value` a share (a short pays it)."""
        if kind == "dividend":
            self.cash += self.units * value
            return
        self.units *= value
        self.tranche_units *= value
        if self.mark is not None:
            self.mark /= value

    def execute(self, intent: Intent, price: float) -> None:
        if intent is Intent.KEEP:  # no order, so the account is judged at the close only
            return
        self.stop_if_wiped_out(price)
        if self.bankrupt:
            return
        if intent is Intent.FLAT:
            self.close(price)
        elif self.name in PYRAMIDS:
            self._pyramid(intent, price)
        else:
            self._go(_wanted_side(self.name, intent, self.side), price)

    def _go(self, wanted: int, price: float) -> None:
        if wanted == SHORT and self.long_only:
            wanted = FLAT
        if wanted == self.side:
            return
        self.close(price)
        if wanted != FLAT and self.cash > 0:
            fill = self._fill_price(wanted, price)
            stake = self.equity(price) * (1 - self.fee)
            self.units = wanted * stake / fill
            self.cash = 0.0 if wanted == LONG else 2 * stake

    def close(self, price: float) -> None:
        """Everything into cash: all-in pays the fee on its equity, a pyramid on what it trades."""
        if self.units == 0:
            return
        fill = self._fill_price(-self.side, price)
        worth = self.equity(fill)
        base = abs(self.units) * fill if self.name in PYRAMIDS else max(worth, 0.0)
        self.cash, self.units = worth - self.fee * base, 0.0
        self.tranches, self.tranche_units = 0, 0.0

    def _pyramid(self, intent: Intent, price: float) -> None:
        if intent is Intent.HOLD:
            return
        signal = LONG if intent is Intent.LONG else SHORT
        if self.side == FLAT:
            if signal == LONG or not self.long_only:
                self._first_tranches(signal, price)
        elif signal == self.side:
            if self.name == "pyramid_entry" and self.tranches < TRANCHES:
                self._add(signal, price)
        elif self.name == "pyramid_entry" or self.tranches == 1:
            self.close(price)
        else:
            self._trade(signal * self.tranche_units, price)
            self.tranches -= 1

    def _first_tranches(self, signal: int, price: float) -> None:
        self.tranche_units = self.equity(price) * (1 - self.fee) / (price * TRANCHES)
        self.tranches = TRANCHES if self.name == "pyramid_exit" else 1
        self._trade(signal * self.tranche_units * self.tranches, price)

    def _add(self, signal: int, price: float) -> None:
        room = (self.equity(price) * (1 - self.fee) - abs(self.units) * price) / price
        amount = min(self.tranche_units, max(0.0, room))
        if amount > 0:
            self._trade(signal * amount, price)
            self.tranches += 1

    def _trade(self, units: float, price: float) -> None:
        fill = self._fill_price(LONG if units > 0 else SHORT, price)
        self.cash -= units * fill + self.fee * abs(units) * fill
        self.units += units

    def _fill_price(self, direction: int, price: float) -> float:
        return price * (1 + direction * self.slip)


def _wanted_side(name: str, intent: Intent, side: int) -> int:
    """Definitions 3.5, the four strategies that are all in or out."""
    if intent is Intent.HOLD:
        return FLAT if name == "baseline" else side
    signal = LONG if intent is Intent.LONG else SHORT
    if side in (FLAT, signal):
        return signal
    if name == "close_on_reversal":
        return FLAT
    if name == "testbed_normal" and signal == SHORT:
        return FLAT
    return signal


def _open_account(strategy: str, capital: float, fee_bps: float, slippage_bps: float) -> _Account:
    name = strategy.removesuffix("_lo")
    if strategy == "buy_hold":
        name = "baseline"
    if name not in SINGLE_STEP + PYRAMIDS:
        known = [*SINGLE_STEP, *PYRAMIDS, "buy_hold"]
        raise UnknownNameError("strategy", strategy, known)
    return _Account(name, strategy.endswith("_lo"), fee_bps / 1e4, slippage_bps / 1e4, capital)


def replay_account(
    strategy: str,
    intents: Sequence[Intent],
    opens: Sequence[float],
    closes: Sequence[float],
    *,
    capital: float = 100_000.0,
    fee_bps: float = 0.0,
    slippage_bps: float = 0.0,
    borrow_bps_year: float = 0.0,
    fill: Literal["close", "next"] = "close",
    force_close: bool = True,
    days: Sequence[int] | None = None,
    actions: Mapping[int, Sequence[tuple[str, float]]] | None = None,
) -> list[SlowRow]:
    """One row a session for one account; definitions 3.4, 3.5 and 1.4.

    Args:
        strategy: id as in `arena.portfolio`, `_lo` for long only.
        intents: decision of each session, same length as `opens` and `closes`.
        opens: first price of each session, read under `fill="next"` only.
        closes: last price of each session; NaN: no trade, the mark is carried, borrow still runs.
        days: calendar days from the session before (borrow); 1 each if not given.
        fill: `close` executes decision D at close(D), `next` at open(D+1).
        actions: (kind, value) of splits and dividends before anything else of a session, by its index.
        force_close: close what is open at the last valid close, with its costs.

    Raises:
        UnknownNameError: a strategy that does not exist.
    """
    account = _open_account(strategy, capital, fee_bps, slippage_bps)
    rows: list[SlowRow] = []
    for t, close in enumerate(closes):
        for kind, value in (actions or {}).get(t, ()):
            account.corporate_action(kind, value)
        if not account.bankrupt:
            account.accrue_borrow(borrow_bps_year, 1 if days is None else days[t])
            if not isnan(close):
                if fill == "close":
                    account.execute(intents[t], close)
                elif t > 0 and not isnan(opens[t]):
                    account.execute(intents[t - 1], opens[t])
                account.mark = close
            if account.mark is not None:
                account.stop_if_wiped_out(account.mark)
        rows.append(SlowRow(account.side, account.units, account.cash, account.balance))
    if force_close and rows and account.units != 0 and account.mark is not None:
        account.close(account.mark)
        rows[-1] = SlowRow(rows[-1].side, account.units, account.cash, account.cash)
    return rows

"""The accounts of one track: orders in, equity rows, fills and summaries out.

A ledger is a pure fold over (order, prices): feeding it the stored decisions of a track rebuilds
exactly the accounts that were stored, which is how a run resumes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from arena.core.hashing import account_key
from arena.core.ids import TrackId
from arena.core.rows import ActionRow, EquityRow, FillRow
from arena.core.season import Season
from arena.core.types import Asset
from arena.portfolio.corporate_actions import apply_action
from arena.portfolio.engine import Book, Costs, Legs, advance, force_close

Leg = tuple[float, float, float]
"""Signed units, price, fee."""


@dataclass
class AccountHistory:
    """All that happened to one account, kept for its metrics; parallel lists, one item a session."""

    account: str
    strategy: str
    balance: list[float] = field(default_factory=list)
    balance_gross: list[float] = field(default_factory=list)
    side: list[int] = field(default_factory=list)
    notional: list[float] = field(default_factory=list)
    traded: list[float] = field(default_factory=list)
    legs: list[Leg] = field(default_factory=list)
    bankrupt: bool = False
    forced_close: bool = False
    open_side: int = 0
    """Side at the last mark, before a forced close: what pages call "position now"."""


class Ledger:
    """Accounts of one track under one season, one per strategy, net and gross.

    The reference strategy is always computed, for the track's view, and stored only if asked for.
    """

    def __init__(
        self, track: TrackId, asset: Asset, season: Season, strategies: Sequence[str]
    ) -> None:
        self.track, self.season, self.strategies = track, season, tuple(strategies)
        net = Costs(
            season.fee_bps[asset.asset_class], season.slippage_bps, season.borrow_bps_year
        )
        reference = season.reference_strategy
        computed = self.strategies + (() if reference in self.strategies else (reference,))
        self._n = len(computed)
        self.reference = computed.index(reference)
        self.book = Book.open(
            computed + computed, season.capital, [net] * self._n + [Costs.GROSS] * self._n
        )
        self.accounts = [AccountHistory(track.account(s), s) for s in self.strategies]
        self.sessions: list[date] = []
        self.last_price = math.nan
        self.stale_marks = 0

    def corporate_action(self, action: ActionRow) -> None:
        """A split or a dividend at the open, before anything is traded.

        It is no trade: there is no fill, and a dividend belongs to the curve, not to a round trip.
        Legs count in the shares of now, so that what is bought before a split and sold after it is one trip.
        """
        apply_action(self.book, action)
        if action.kind == "split":
            ratio = action.value
            for account in self.accounts:
                account.legs = [(u * ratio, price / ratio, fee) for u, price, fee in account.legs]

    def settle(
        self,
        session: date,
        order: int,
        fill_price: float,
        close: float,
        *,
        slot_key: str,
        filled_at_utc: datetime,
        rule: str,
    ) -> tuple[list[EquityRow], list[FillRow]]:
        """Execute `order` at `fill_price`, mark at `close` (NaN: nothing traded, mark carried)."""
        days = (session - self.sessions[-1]).days if self.sessions else 1
        legs = advance(self.book, order, fill_price, close, days)
        self.sessions.append(session)
        if math.isnan(close):
            self.stale_marks += 1
        else:
            self.last_price = close
        fills = self._record(legs, session, slot_key, filled_at_utc, rule, first_leg=0)
        for account in self.accounts:
            account.open_side = account.side[-1]
        return self._equity_rows(), fills

    def close_out(
        self, *, slot_key: str, filled_at_utc: datetime
    ) -> tuple[list[EquityRow], list[FillRow]]:
        """Forced close at the last mark, with fee; replaces the last session's row."""
        legs = force_close(self.book, self.last_price)
        session = self.sessions[-1]
        undone = [(a.traded.pop(), a.open_side) for a in self.accounts]
        for account in self.accounts:
            for series in (account.balance, account.balance_gross, account.side, account.notional):
                series.pop()
        fills = self._record(legs, session, slot_key, filled_at_utc, "forced_close", first_leg=2)
        for account, (traded, open_side) in zip(self.accounts, undone, strict=True):
            account.traded[-1] += traded
            account.open_side = open_side
            account.forced_close = open_side != 0
        return self._equity_rows(), fills

    def _record(
        self,
        legs: Legs,
        session: date,
        slot_key: str,
        filled_at_utc: datetime,
        rule: str,
        first_leg: int,
    ) -> list[FillRow]:
        equity = self.book.equity(self.last_price)
        fills = []
        for i, account in enumerate(self.accounts):
            traded = 0.0
            for leg in range(legs.units.shape[1]):
                units = float(legs.units[i, leg])
                if units == 0.0:
                    continue
                price, fee = float(legs.price[i, leg]), float(legs.fee[i, leg])
                traded += abs(units) * price
                account.legs.append((units, price, fee))
                fills.append(
                    FillRow(
                        account.account, session, first_leg + leg, slot_key, filled_at_utc,
                        units, price, fee, rule,
                    )
                )  # fmt: skip
            account.balance.append(float(equity[i]))
            account.balance_gross.append(float(equity[i + self._n]))
            account.side.append(int(self.book.side[i]))
            account.notional.append(float(self.book.units[i]) * self.last_price)
            account.traded.append(traded)
            account.bankrupt = bool(self.book.bankrupt[i])
        return fills

    def _equity_rows(self) -> list[EquityRow]:
        return [
            EquityRow(
                account_key(a.account),
                self.sessions[-1],
                self.last_price,
                a.side[-1],
                float(self.book.units[i]),
                float(self.book.cash[i]),
                a.balance[-1],
                a.balance_gross[-1],
            )
            for i, a in enumerate(self.accounts)
        ]

    def reference_position(self, price: float) -> tuple[int, float, float]:
        """Side, equity and exposure (signed notional / equity) of the reference account at `price`."""
        i = self.reference
        equity = float(self.book.equity(price)[i])
        units = float(self.book.units[i])
        exposure = units * price / equity if equity > 0 else 0.0
        return int(self.book.side[i]), equity, exposure

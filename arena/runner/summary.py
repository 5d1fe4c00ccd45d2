"""From an account's history to the one row that pages read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from arena.analytics.result import MetricResult
from arena.analytics.series import AccountSeries, compute
from arena.core.hashing import account_key, canonical_json
from arena.core.rows import SummaryRow
from arena.core.types import Asset
from arena.portfolio.trades import round_trips
from arena.runner.ledger import AccountHistory, Ledger

SPARKLINE_POINTS = 60


@dataclass
class Counts:
    """Decisions of a track so far; the same for each of its accounts."""

    n_decisions: int = 0
    n_failed: int = 0
    n_gaps: int = 0
    n_late: int = 0
    last_action: str | None = None
    last_action_session: date | None = None


def sparkline(balance: Sequence[float], capital: float) -> list[float]:
    """Return since the start at up to 60 evenly spaced marks, the last one included."""
    n = len(balance)
    picks = np.unique(np.linspace(0, n - 1, min(n, SPARKLINE_POINTS)).round().astype(int))
    return [round(balance[i] / capital - 1.0, 6) for i in picks]


def account_metrics(
    account: AccountHistory, ledger: Ledger, asset: Asset, benchmark: Sequence[float] | None
) -> dict[str, MetricResult]:
    """All standard metrics of one account; the curve starts at the capital, before the first fee."""
    capital = ledger.season.capital
    flags = []
    if account.bankrupt:
        flags.append("bankrupt")
    if account.forced_close:
        flags.append("forced_close")
    if ledger.stale_marks:
        flags.append(f"stale_marks:{ledger.stale_marks}")
    units, price, fee = np.array(account.legs, dtype=float).reshape(-1, 3).T
    return compute(
        AccountSeries(
            equity=np.array([capital, *account.balance]),
            base=asset.annual_base,
            asset_class=asset.asset_class,
            equity_gross=np.array([capital, *account.balance_gross]),
            notional=np.array(account.notional),
            side=np.array(account.side),
            traded=np.array(account.traded),
            trip_pnl=tuple(t.pnl for t in round_trips(units, price, fee)),
            benchmark=None if benchmark is None else np.array([capital, *benchmark]),
            flags=tuple(flags),
        )
    )


def summary_rows(
    ledger: Ledger, asset: Asset, group: str, counts: Counts, benchmark: Sequence[float] | None
) -> tuple[SummaryRow, ...]:
    """One row per stored account of the ledger's track."""
    track = ledger.track
    return tuple(
        SummaryRow(
            account=a.account,
            account_key=account_key(a.account),
            run=track.run,
            agent=track.agent,
            model=track.model,
            asset=track.asset,
            strategy=a.strategy,
            grp=group,
            start=ledger.sessions[0],
            end=ledger.sessions[-1],
            n_sessions=len(ledger.sessions),
            n_decisions=counts.n_decisions,
            n_failed=counts.n_failed,
            n_gaps=counts.n_gaps,
            n_late=counts.n_late,
            balance=a.balance[-1],
            balance_gross=a.balance_gross[-1],
            bankrupt=a.bankrupt,
            position=a.open_side,
            last_action=counts.last_action,
            last_action_session=counts.last_action_session,
            metrics_json=canonical_json(
                {k: v.to_json() for k, v in account_metrics(a, ledger, asset, benchmark).items()}
            ),
            sparkline_json=canonical_json(sparkline(a.balance, ledger.season.capital)),
        )
        for a in ledger.accounts
    )

"""Equity, fills and summaries against a recomputation by the slow second engine."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise

from arena.audit.check_live import LiveMarkets
from arena.audit.check_market import bars_at
from arena.audit.finding import Finding
from arena.audit.rows import load
from arena.audit.slow_engine import SlowRow, replay_account
from arena.core.actions import FAILED, GAPS, Intent, Status
from arena.core.rows import AssetRow, BarRow, DecisionRow, EquityRow, FillRow, RunRow, SummaryRow
from arena.core.season import Season
from arena.store.store import Store

TOLERANCE = 1e-9

Actions = Mapping[date, Sequence[tuple[str, float]]]
"""Splits and dividends, as (kind, value), that each session of an account began with."""


def close_to(a: float, b: float, scale: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE * max(scale, 1.0))


def check_accounts(
    store: Store, runs: list[RunRow], decisions: list[DecisionRow]
) -> Iterator[Finding | int]:
    """Every account of every run."""
    bars: dict[str, list[BarRow]] = defaultdict(list)
    for bar in load(store, BarRow, ""):
        bars[bar.asset].append(bar)
    classes = {a.asset: a.asset_class for a in load(store, AssetRow, "")}
    equity: dict[int, list[EquityRow]] = defaultdict(list)
    for row in load(store, EquityRow, "ORDER BY account_key, session"):
        equity[row.account_key].append(row)
    fills: dict[str, list[FillRow]] = defaultdict(list)
    for fill in load(store, FillRow, "ORDER BY account, session, leg"):
        fills[fill.account].append(fill)
    by_track: dict[str, list[DecisionRow]] = defaultdict(list)
    for decision in decisions:
        by_track[decision.track].append(decision)
    seasons = {r.run: Season.model_validate(json.loads(r.spec_json)["season"]) for r in runs}
    of_run = {r.run: r for r in runs}
    live = LiveMarkets(store, decisions)
    summaries = load(store, SummaryRow, "ORDER BY account")
    if lost := equity.keys() - {s.account_key for s in summaries}:
        yield Finding("breach", "summary", f"{len(lost)} accounts with equity have no summary")
    if bare := fills.keys() - {s.account for s in summaries}:
        yield Finding("breach", "summary", f"{min(bare)} has fills and no summary")
    for summary in summaries:
        run = of_run.get(summary.run)
        if run is None or summary.asset not in classes:
            yield Finding("breach", "runs", f"{summary.account} belongs to no stored run and asset")
            continue
        mine = by_track[summary.account.rsplit(":", 1)[0]]
        if run.kind == "live":
            market = live.market(run.run, summary.asset)
            prices, quoted = market.bars, market.quotes(mine, classes[summary.asset], run.fill)
            actions = market.actions()
        else:
            prices = {b.session: b for b in bars_at(bars[summary.asset], run.revision)}
            quoted, actions = {}, {}
        yield from check_account(
            summary, run, seasons[summary.run], classes[summary.asset], prices, quoted,
            mine, equity[summary.account_key], fills[summary.account], actions,
        )  # fmt: skip


def check_account(
    summary: SummaryRow, run: RunRow, season: Season, asset_class: str, prices: dict[date, BarRow],
    quoted: dict[date, float], decisions: list[DecisionRow], equity: list[EquityRow], fills: list[FillRow],
    actions: Actions,
) -> Iterator[Finding | int]:  # fmt: skip
    """One account: prices, rows, fills and summary. `quoted` are fills of live coins by session."""
    yield len(equity) + len(fills) + 1
    for row in equity:
        bar = prices.get(row.session)
        if bar is not None and bar.close != row.price:
            yield Finding(
                "breach", "bars",
                f"{summary.account} was marked at {row.price} on {row.session}, the stored bar of "
                f"{summary.asset} closes at {bar.close}",
            )  # fmt: skip
            return
    benchmark = summary.grp == "benchmark"
    intents = [Intent.LONG] * len(equity) if benchmark else [Intent(d.intent) for d in decisions]
    if len(intents) != len(equity) or not equity:
        yield Finding(
            "breach", "completeness",
            f"{summary.account} has {len(equity)} equity rows for {len(intents)} decisions",
        )  # fmt: skip
        return
    sessions = [r.session for r in equity]
    last_session = max((s for s in prices if s <= run.end), default=None)
    days = [1, *((b - a).days for a, b in pairwise(sessions))]
    closes = [prices[s].close if s in prices else math.nan for s in sessions]
    opens = [quoted.get(s, prices[s].open) if s in prices else math.nan for s in sessions]
    if season.fill == "next":
        intents = waiting(intents, closes)
    ended = run.kind != "live" and equity[-1].session == last_session

    def slow(fee_bps: float, slippage_bps: float, borrow_bps_year: float) -> list[SlowRow]:
        return replay_account(
            "baseline" if benchmark else summary.strategy,
            intents,
            opens,
            closes,
            capital=season.capital,
            fee_bps=fee_bps,
            slippage_bps=slippage_bps,
            borrow_bps_year=borrow_bps_year,
            fill=season.fill,
            force_close=ended,
            days=days,
            actions={at: actions[s] for at, s in enumerate(sessions) if s in actions},
        )

    net = slow(season.fee_bps[asset_class], season.slippage_bps, season.borrow_bps_year)  # type: ignore[index]
    gross = slow(0.0, 0.0, 0.0)
    yield from compare(summary, season.capital, equity, net, gross)
    yield from check_fills(summary, season, equity, fills, actions)
    follows = (
        equity[-1].balance, equity[-1].balance_gross, equity[0].session, equity[-1].session,
        len(equity), len(decisions), sum(Status(d.status) in FAILED for d in decisions),
        sum(Status(d.status) in GAPS for d in decisions), sum(d.late for d in decisions),
    )  # fmt: skip
    stored = (
        summary.balance, summary.balance_gross, summary.start, summary.end, summary.n_sessions,
        summary.n_decisions, summary.n_failed, summary.n_gaps, summary.n_late,
    )  # fmt: skip
    if stored != follows:
        yield Finding(
            "breach", "summary", f"the summary of {summary.account} does not follow from its rows"
        )


def waiting(intents: list[Intent], closes: list[float]) -> list[Intent]:
    """Orders by session, with those that still wait over sessions without a price: a gap cancels none."""
    orders: list[Intent] = []
    for intent, close in zip(intents, closes, strict=True):
        held = math.isnan(close) and bool(orders) and orders[-1] is not Intent.KEEP
        orders.append(orders[-1] if held else intent)
    return orders


def compare(
    summary: SummaryRow, capital: float, equity: list[EquityRow], net: list[SlowRow],
    gross: list[SlowRow],
) -> Iterator[Finding]:  # fmt: skip
    """Stored rows against the second engine's; the first difference is named."""
    for row, expected, free in zip(equity, net, gross, strict=True):
        for name, stored, recomputed in (
            ("balance", row.balance, expected.balance),
            ("balance_gross", row.balance_gross, free.balance),
            ("cash", row.cash, expected.cash),
            ("units", row.units, expected.units),
        ):
            scale = capital / row.price if name == "units" else capital
            if not close_to(stored, recomputed, scale):
                yield Finding(
                    "breach", "equity",
                    f"{name} of {summary.account} on {row.session} is {stored!r}, decisions and bars "
                    f"give {recomputed!r}",
                )  # fmt: skip
                return


def check_fills(
    summary: SummaryRow, season: Season, equity: list[EquityRow], fills: list[FillRow], actions: Actions
) -> Iterator[Finding]:
    """Fills, splits and dividends add up to the units and, with fees and borrow, to the cash of every
    row."""
    units, cash, at = 0.0, season.capital, 0
    for row in equity:
        for kind, value in actions.get(row.session, ()):
            cash += units * value if kind == "dividend" else 0.0
            units *= value if kind == "split" else 1.0
        while at < len(fills) and fills[at].session <= row.session:
            fill = fills[at]
            units += fill.units
            cash -= fill.units * fill.price + fill.fee
            at += 1
        same_cash = season.borrow_bps_year > 0 or close_to(row.cash, cash, season.capital)
        if not close_to(row.units, units, season.capital / row.price) or not same_cash:
            yield Finding(
                "breach", "fills",
                f"fills of {summary.account} up to {row.session} give {units!r} units and {cash!r} "
                f"cash, its row has {row.units!r} and {row.cash!r}",
            )  # fmt: skip
            return
    if at != len(fills):
        yield Finding("breach", "fills", f"{summary.account} has fills after its last session")

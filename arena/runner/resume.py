"""Rebuild a run's tracks from its stored decisions, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from arena.core.actions import Intent, Status
from arena.core.errors import ConfigError
from arena.core.rows import EquityRow, FillRow, WriteUnit
from arena.core.types import Slot
from arena.runner.plan import Plan
from arena.runner.round import seal_slot
from arena.runner.summary import summary_rows
from arena.runner.track import Track
from arena.store import reader
from arena.store.store import Store


def restore(plan: Plan, store: Store) -> int:
    """Feed stored decisions back through the tracks; returns how many there were.

    Accounts asked for now but not stored yet (a strategy added to a finished run) are filled in
    from the same decisions, without a call.

    Raises:
        ConfigError: a stored slot was sealed from other data than today's.
    """
    stored = reader.decisions(store, plan.run)
    if stored.empty:
        return 0
    by_track = {str(t): f.sort_values("seq") for t, f in stored.groupby("track")}
    accounts = set(reader.summaries(store, plan.run)["account"])
    due = {a: [s for r in plan.rounds for s in r.slots if s.asset == a] for a in plan.assets}
    hashes = {asset: _hashes(plan, due[asset], stored) for asset in plan.assets}
    bench = {asset: _benchmark(plan, due[asset]) for asset in plan.assets}
    units = []
    for track in plan.tracks:
        rows = by_track.get(str(track.id))
        if rows is None:
            continue
        asset = track.asset.id
        equity, fills = replay_decisions(plan, track, due[asset], rows, hashes[asset])
        missing = {a.account for a in track.ledger.accounts} - accounts
        if missing:
            units.append(_added_accounts(track, missing, equity, fills, bench[asset][: len(rows)]))
    store.write(units)
    return len(stored)


def replay_decisions(
    plan: Plan, track: Track, due: Sequence[Slot], rows: pd.DataFrame, hashes: Mapping[str, str]
) -> tuple[list[EquityRow], list[FillRow]]:
    """Run a track through its stored decisions; its equity rows and fills, in order."""
    equity: list[EquityRow] = []
    fills: list[FillRow] = []
    for slot, row in zip(due, rows.to_dict("records"), strict=False):
        _same_market(row, slot, hashes)
        bar = plan.histories[slot.asset].bar(slot.session)
        before = track.begin(slot, bar)
        last = slot.session == plan.last_session[slot.asset]
        after = track.finish(
            slot, bar, Intent(row["intent"]), Status(row["status"]), bool(row["late"]), last
        )
        equity += after.equity or before.equity
        fills += before.fills + after.fills
        track.chain = row["chain_hash"]
    return equity, fills


def _hashes(plan: Plan, due: Sequence[Slot], stored: pd.DataFrame) -> dict[str, str]:
    decided = set(stored["slot_key"])
    sealed = (seal_slot(plan, s) for s in due if s.key in decided)
    return {s.slot.key: s.market.market_hash if s.market else "" for s in sealed}


def _same_market(row: Mapping[Any, Any], slot: Slot, hashes: Mapping[str, str]) -> None:
    if row["slot_key"] != slot.key or row["market_hash"] not in ("", hashes[slot.key]):
        raise ConfigError(
            f"data changed; use --new: {row['decision']} was made on another market context than "
            "today's data give."
        )


def _benchmark(plan: Plan, due: Sequence[Slot]) -> list[float]:
    """Balances of Buy & Hold over the whole window, on a ledger of its own."""
    model = plan.benchmarks[due[0].asset]
    track = Track(model.id, model.asset, model.season, model.ledger.strategies, model.group)
    track.ledger.last_price = model.ledger.last_price
    for slot in due:
        bar = plan.histories[slot.asset].bar(slot.session)
        track.begin(slot, bar)
        last = slot.session == plan.last_session[slot.asset]
        track.finish(slot, bar, Intent.LONG, Status.OK, False, last)
    return track.ledger.accounts[0].balance


def _added_accounts(
    track: Track,
    missing: set[str],
    equity: Sequence[EquityRow],
    fills: Sequence[FillRow],
    benchmark: Sequence[float],
) -> WriteUnit:
    summaries = [
        s
        for s in summary_rows(track.ledger, track.asset, track.group, track.counts, benchmark)
        if s.account in missing
    ]
    keys = {s.account_key for s in summaries}
    return WriteUnit(
        rows=(
            *(e for e in equity if e.account_key in keys),
            *(f for f in fills if f.account in missing),
        ),
        summaries=tuple(summaries),
    )

"""Rebuild a run's tracks from its stored decisions, so that nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from arena.agents.registry import get_agent
from arena.core.actions import Intent, Status
from arena.core.errors import ConfigError, InvariantError
from arena.core.rows import EquityRow, FillRow, WriteUnit
from arena.core.types import Slot
from arena.runner.plan import Plan
from arena.runner.sealing import Sealer
from arena.runner.summary import summary_rows
from arena.runner.track import Track
from arena.runner.vote import VOTE
from arena.store import reader
from arena.store.store import Store


def restore(plan: Plan, store: Store, sealer: Sealer) -> int:
    """Feed stored decisions back through the tracks; returns how many had been asked for, warm-up apart.

    Accounts asked for now but not stored yet (a strategy added to a finished run) are filled in
    from the same decisions, without a call.

    Raises:
        ConfigError: a stored slot was sealed from other data than today's.
    """
    stored = reader.decisions(store, plan.run, phase=None)
    if stored.empty:
        return 0
    hashes = {asset: _hashes(plan, sealer, asset, stored) for asset in plan.assets}
    feed(plan, store, stored, hashes)
    return int((stored["phase"].eq("live") & ~stored["model"].isin(list(VOTE.values()))).sum())


def feed(
    plan: Plan, store: Store, stored: pd.DataFrame, hashes: Mapping[str, Mapping[str, str]]
) -> None:
    """Every track through its `stored` decisions and back to its memory; accounts that the store does
    not have yet are written.

    Args:
        hashes: of the market of each slot, by asset and slot key.
    """
    by_track = {str(t): f.sort_values("seq") for t, f in stored.groupby("track")}
    memories = reader.memories(store, plan.run)
    accounts = set(reader.summaries(store, plan.run)["account"])
    bench = {asset: _benchmark(plan, asset) for asset in plan.assets}
    units = []
    for track in plan.all_tracks:
        rows = by_track.get(str(track.id))
        if rows is None:
            continue
        equity, fills = replay_decisions(plan, track, rows, hashes[track.asset.id])
        remember(track, memories.get(str(track.id)))
        missing = {a.account for a in track.ledger.accounts} - accounts
        if missing and track.ledger.sessions and track.phase == "live":
            held = bench[track.asset.id][: len(track.ledger.sessions)]
            units.append(_added_accounts(track, missing, equity, fills, held))
    store.write(units)


def remember(track: Track, stored: Mapping[str, Any] | None) -> None:
    """Give a track its memory back, as it was after its last decision.

    Raises:
        InvariantError: the stored memory is not that of the last decision.
        ConfigError: it is of a kind or version that this arena cannot read.
    """
    if track.memory is None:
        return
    if stored is None or stored["seq"] != len(track.log) - 1:
        raise InvariantError(
            f"The memory of {track.id} is not that of its last decision; `check` says what is wrong."
        )
    track.memory = get_agent(track.id.agent).memory(json.loads(stored["content_json"]))


def replay_decisions(
    plan: Plan, track: Track, rows: pd.DataFrame, hashes: Mapping[str, str]
) -> tuple[list[EquityRow], list[FillRow]]:
    """Run a track through its stored decisions; equity rows and fills of its live phase, in order."""
    equity: list[EquityRow] = []
    fills: list[FillRow] = []
    for slot, row in zip(plan.slots_of(track), rows.to_dict("records"), strict=False):
        _same_market(row, slot, hashes)
        bar = plan.histories[slot.asset].bar(slot.session)
        before = track.begin(slot, bar)
        after = track.finish(
            slot, bar, Intent(row["intent"]), Status(row["status"]), bool(row["late"]),
            plan.ends_at(slot), row["decided_at_utc"].to_pydatetime(),
        )  # fmt: skip
        equity += after.equity or before.equity
        fills += before.fills + after.fills
        track.chain = row["chain_hash"]
    return equity, fills


def _hashes(
    plan: Plan, sealer: Sealer, asset: str, stored: pd.DataFrame
) -> dict[str, str]:
    decided = set(stored.loc[stored["asset"] == asset, "slot_key"])
    due = (s for rnd in plan.rounds for s in rnd.slots if s.asset == asset and s.key in decided)
    sealed = (sealer.again(s) for s in due)
    return {s.slot.key: s.market.market_hash if s.market else "" for s in sealed}


def _same_market(row: Mapping[Any, Any], slot: Slot, hashes: Mapping[str, str]) -> None:
    if row["slot_key"] != slot.key or row["market_hash"] not in ("", hashes.get(slot.key)):
        raise ConfigError(
            f"data changed; use --new: {row['decision']} was made on another market context than "
            "today's data give."
        )


def _benchmark(plan: Plan, asset: str) -> list[float]:
    """Balances of Buy & Hold over the whole window, on a ledger of its own."""
    model = plan.benchmarks[asset]
    track = Track(
        model.id, model.asset, model.season, model.strategies, model.group,
        first_live=model.first_live, live_price=model.live_price,
    )  # fmt: skip
    track.quote_of, track.actions_of = model.quote_of, model.actions_of
    for slot in plan.slots_of(track):
        bar = plan.histories[slot.asset].bar(slot.session)
        track.begin(slot, bar)
        track.finish(slot, bar, Intent.LONG, Status.OK, False, plan.ends_at(slot))
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

"""A live run from the store: its tracks as they were, from the bars as they were used."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import pandas as pd

from arena.core.hashing import account_key
from arena.core.types import Bar, Slot
from arena.market.history import History
from arena.runner.plan import Plan, Round
from arena.runner.resume import feed
from arena.runner.round import benchmark_unit, step_benchmark
from arena.runner.sealing import Sealed
from arena.store import live_reader, reader
from arena.store.store import Store


def restore_live(plan: Plan, store: Store) -> None:
    """Feed the stored decisions of a live run back through its tracks, and step Buy & Hold along.

    The calendar and the newest bars are not asked: slots are those that were decided, and a bar that
    a source revised, or delivered too late, is the one that the accounts were settled with. Rows of
    Buy & Hold that a crash kept from the store are written.
    """
    stored = reader.decisions(store, plan.run, phase=None)
    if stored.empty:
        return
    rounds = decided_rounds(stored)
    histories = {
        a: History(asset, used_bars(store, plan.run, a)) for a, asset in plan.assets.items()
    }
    before = replace(plan, rounds=rounds, histories=histories)
    hashes = {
        asset: dict(zip(rows["slot_key"], rows["market_hash"], strict=True))
        for asset, rows in stored[stored["market_hash"] != ""].groupby("asset")
    }
    feed(before, store, stored, {a: hashes.get(a, {}) for a in plan.assets})
    for asset, track in plan.benchmarks.items():
        done = live_reader.last_marked(store, account_key(track.ledger.accounts[0].account))
        for slot in before.slots_of(track):
            rows = step_benchmark(before, Sealed(slot, histories[asset].bar(slot.session), None))
            if done is None or slot.session > done:
                store.write([benchmark_unit(track, rows)])


def decided_rounds(stored: pd.DataFrame) -> tuple[Round, ...]:
    """The rounds that any of these decisions belongs to, in order."""
    slots = sorted(
        {
            Slot(asset, session.date(), moment.to_pydatetime())
            for asset, session, moment in zip(
                stored["asset"], stored["session"], stored["as_of_utc"], strict=True
            )
        },
        key=lambda s: (s.as_of_utc, s.asset),
    )
    return tuple(Round(at, tuple(found)) for at, found in groupby(slots, lambda s: s.as_of_utc))


def used_bars(store: Store, run: str, asset: str) -> tuple[Bar, ...]:
    """Bars of decided sessions as they were used, oldest first; gaps are not among them."""
    return tuple(
        Bar(b.session, b.open, b.high, b.low, b.close, b.volume, b.known_at_utc)
        for b in live_reader.bars_as_used(store, run, asset).values()
        if b is not None
    )

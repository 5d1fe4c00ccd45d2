"""What the Overview reads besides the board's rows, cached by the store's data version."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.ids import TrackId
from arena.core.season import RunSpec
from arena.runner.boards import select_board
from arena.runner.luck_board import luck_board
from arena.store import activity, reader
from arena.store.store import Store
from arena.ui import queries, since

Row = dict[str, Any]
Key = tuple[str, int]
_cached = st.cache_data(max_entries=64, show_spinner=False)


@_cached
def spend(key: Key, _store: Store, run: str) -> dict[str, tuple[int, int, float]]:
    """Live decisions, those of known cost, and their cost in USD, by track."""
    frame = activity.spend(_store, run)
    costs = frame["cost_usd"].astype(float).fillna(0.0)
    return {
        str(t): (int(n), int(priced), float(usd))
        for t, n, priced, usd in zip(frame["track"], frame["n"], frame["n_priced"], costs, strict=True)
    }


@lru_cache(maxsize=1 << 16)
def _track(account: str) -> str:
    return str(TrackId.parse(account))


def cost_per_decision(row: Row, spent: dict[str, tuple[int, int, float]]) -> float | None:
    """USD a decision of a board row; None where the cost of any of them is unknown."""
    accounts = [row["account"]] if "account" in row else row["accounts"]
    found = [spent[t] for t in sorted(set(map(_track, accounts))) if t in spent]
    n = sum(f[0] for f in found)
    if n == 0 or sum(f[1] for f in found) < n:
        return None
    return sum(f[2] for f in found) / n


@_cached
def news(
    key: Key, _store: Store, run: str, seen: datetime | None, agents: queries.Axis, models: queries.Axis,
    assets: queries.Axis, strategies: queries.Axis,
) -> since.News:  # fmt: skip
    """What was decided since `seen`, or on the newest session, and who changed places by it."""
    fresh = activity.fresh_decisions(_store, run, seen, agents, models, assets)
    shown = queries.rows(key, _store, run, "entry", agents, models, assets, strategies)
    now = {r["entry"]: int(r["rank"]) for r in shown if r["rank"] is not None}
    before: dict[str, int] = {}
    if len(fresh) and now:
        first = pd.Timestamp(fresh["first_session"].min()).date()
        curves = queries.curves(key, _store, run, assets, strategies[0])
        before = since.ranks_before(curves, list(now), first)
    spec = RunSpec.model_validate_json(reader.run(_store, run)["spec_json"]).season.action_spec
    return since.news_of(fresh, spec, before, now)


@_cached
def account_luck(
    key: Key, _store: Store, run: str, agent: str, model: str, assets: queries.Axis, strategy: str
) -> dict[str, Row]:
    """What chance could explain of the accounts of one entry, by account id."""
    shown = queries.rows(key, _store, run, "account", (agent,), (model,), assets, (strategy,))
    own = [r for r in shown if r["group"] != "benchmark"]
    data = select_board(
        _store, run, agents=(agent,), models=(model,), assets=assets, strategies=(strategy,)
    )
    return luck_board(_store, data, own)

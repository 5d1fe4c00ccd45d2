"""What pages read, cached by the store's data version: a new round makes a new key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

import pandas as pd
import streamlit as st

from arena.analytics.entry_curve import Curve, curves_of, entry_curve
from arena.analytics.leaderboard import board
from arena.core.season import RunSpec
from arena.core.types import AssetClass
from arena.runner import reviews
from arena.runner.boards import select_board
from arena.runner.luck_board import luck_board
from arena.store import live_reader, news_reader, reader
from arena.store.actions_reader import run_bars
from arena.store.store import Store
from arena.ui.tokens import BUY_HOLD

Axis = tuple[str, ...]

_cached = st.cache_data(max_entries=64, show_spinner=False)
_shared = st.cache_resource(max_entries=12, show_spinner=False)
"""For what is large and read only: one object for all visitors, where `_cached` unpickles a copy for
each run of a page (a tenth of a second for a thousand rows)."""


def version(store: Store) -> tuple[str, int]:
    """Cache key of everything visible: which store, and how often it changed."""
    return store.store_id, reader.data_version(store)


@_shared
def runs(key: tuple[str, int], _store: Store) -> pd.DataFrame:
    """Runs that have an account, newest first; nobody may change the frame."""
    frame = reader.runs(_store)
    frame = frame[frame["run"].isin(reader.settled_runs(_store))].reset_index(drop=True)
    for at in frame.index[frame["kind"] == "live"]:
        end = live_reader.run_as_settled(_store, str(frame.loc[at, "run"]))["end"]
        frame.loc[at, "end"] = pd.Timestamp(end)
    return frame


@_shared
def summaries(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    """Accounts of a run, without the texts of their metrics and sparklines; nobody may change it."""
    return reader.accounts(_store, run)


@_shared
def account_curves(
    key: tuple[str, int], _store: Store, run: str, strategy: str
) -> dict[str, Curve]:
    """Curve of every account of a run under one strategy (Buy & Hold's is `buy_hold`), read once for
    all filters of all visitors; nobody may change it."""
    data = reader.accounts(_store, run)
    names = data.loc[data["strategy"] == strategy, "account"].tolist()
    chosen = reader.summaries(_store, run, names)
    capital = RunSpec.model_validate_json(str(reader.run(_store, run)["spec_json"])).season.capital
    equity = reader.equity(_store, names, ("balance", "balance_gross"))
    return curves_of(chosen, equity, {run: capital})


def _curves(key: tuple[str, int], store: Store, run: str, strategies: Iterable[str]) -> dict[str, Curve]:
    parts = [account_curves(key, store, run, s) for s in sorted(set(strategies))]
    return {account: curve for part in parts for account, curve in part.items()}


@_shared
def rows(
    key: tuple[str, int], _store: Store, run: str, by: Literal["entry", "account"], agents: Axis, models: Axis,
    assets: Axis, strategies: Axis,
) -> list[dict[str, Any]]:  # fmt: skip
    """Board rows of one run under the four axes."""
    data = select_board(
        _store, run, agents=agents, models=models, assets=assets, strategies=strategies,
        with_equity=False,
    )  # fmt: skip
    return board(
        data.summaries, data.equity, by=by, capital=data.capital, voided=data.voided,
        unranked=data.unranked, fills=data.fills, cutoffs=data.cutoffs,
        curves=_curves(key, _store, run, data.summaries["strategy"]),
    )  # fmt: skip


@_cached
def luck(
    key: tuple[str, int], _store: Store, run: str, by: Literal["entry", "account"], agents: Axis, models: Axis,
    assets: Axis, strategies: Axis, limit: int = 200,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """What chance could explain of the first `limit` of `rows` under the same axes, by
    `luck_board.row_key`: some milliseconds an account, so a page asks for what it shows."""
    shown = rows(key, _store, run, by, agents, models, assets, strategies)[:limit]
    data = select_board(
        _store, run, agents=agents, models=models, assets=assets, strategies=strategies,
        with_equity=False,
    )  # fmt: skip
    every = data.summaries
    wanted = {a for row in shown for a in ([row["account"]] if by == "account" else row["accounts"])}
    own = every[every["account"].isin(wanted) | (every["grp"] == "benchmark")].reset_index(drop=True)
    data = replace(data, summaries=own, equity=reader.equity(_store, own["account"].tolist()))
    return luck_board(_store, data, shown)


def entry_name(agent: str, model: str) -> str:
    """`agent@model`, and `buy_hold` for Buy & Hold."""
    return BUY_HOLD if agent == BUY_HOLD else f"{agent}@{model}"


def accounts_of(
    key: tuple[str, int], store: Store, run: str, assets: Axis, strategy: str
) -> dict[str, dict[str, Curve]]:
    """Curves of the accounts under one strategy, and of Buy & Hold, by `entry_name` and asset; no asset
    means all."""
    made = _curves(key, store, run, (strategy, BUY_HOLD))
    found: dict[str, dict[str, Curve]] = {}
    every = summaries(key, store, run)
    for account, agent, model, asset in zip(
        *(every[c] for c in ("account", "agent", "model", "asset")), strict=True
    ):
        if account in made and (not assets or asset in assets):
            found.setdefault(entry_name(agent, model), {})[asset] = made[account]
    return found


@_shared
def curves(
    key: tuple[str, int], _store: Store, run: str, assets: Axis, strategy: str
) -> dict[str, Curve]:
    """Curve of every entry, and of Buy & Hold, by `entry_name`; nobody may change it."""
    parts = accounts_of(key, _store, run, assets, strategy)
    return {name: entry_curve(list(parts[name].values())) for name in sorted(parts)}


ACTS = ("agent", "model", "asset", "session", "action", "status", "late")


@_shared
def acts(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    """ACTS of the live decisions of a run, by slot; nobody may change the frame."""
    return reader.decisions(_store, run, columns=ACTS)


@_cached
def prices(key: tuple[str, int], _store: Store, run: str, asset: str) -> pd.DataFrame:
    """Closes of an asset inside the run's window."""
    row = live_reader.run_as_settled(_store, run)
    frame = run_bars(_store, row, asset)
    inside = (frame["session"] >= pd.Timestamp(row["start"])) & (
        frame["session"] <= pd.Timestamp(row["end"])
    )
    return frame.loc[inside, ["session", "close"]].reset_index(drop=True)


@_cached
def price_checks(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    """What was noticed about the prices of a run's assets up to its end."""
    row = live_reader.run_as_settled(_store, run)
    assets = sorted(set(reader.summaries(_store, run)["asset"]))
    frame = reader.price_checks(_store, assets)
    return frame[frame["session"] <= pd.Timestamp(row["end"])].reset_index(drop=True)


@_cached
def last_round(key: tuple[str, int], _store: Store, run: str) -> dict[str, Any] | None:
    return reader.last_round(_store, run)


@_cached
def asset_classes(key: tuple[str, int], _store: Store) -> dict[str, AssetClass]:
    frame = reader.assets(_store)
    return dict(zip(frame["asset"], frame["asset_class"], strict=True))


@_cached
def bars(key: tuple[str, int], _store: Store, run: str, asset: str) -> pd.DataFrame:
    """Bars of an asset up to the run's end, with the history before its start."""
    row = live_reader.run_as_settled(_store, run)
    frame = run_bars(_store, row, asset)
    return frame[frame["session"] <= pd.Timestamp(row["end"])].reset_index(drop=True)


@_cached
def news_slots(key: tuple[str, int], _store: Store, run: str, asset: str) -> list[dict[str, Any]]:
    return news_reader.slots(_store, run, asset)


@_cached
def stories(key: tuple[str, int], _store: Store, sha256: str | None) -> list[dict[str, Any]]:
    return news_reader.stories(_store, sha256)


@_cached
def articles(
    key: tuple[str, int], _store: Store, asset: str, told: Axis, as_of_utc: datetime
) -> pd.DataFrame:
    return news_reader.articles(_store, asset, told, as_of_utc)


@_cached
def brief(key: tuple[str, int], _store: Store, brief_id: str) -> dict[str, Any] | None:
    return news_reader.brief(_store, brief_id)


@_cached
def brief_decisions(key: tuple[str, int], _store: Store, brief_id: str) -> pd.DataFrame:
    return news_reader.decisions_of_brief(_store, brief_id)


@_cached
def newest_reviews(key: tuple[str, int], _store: Store) -> pd.DataFrame:
    return news_reader.reviews(_store)


@_cached
def rejected(key: tuple[str, int], _store: Store, run: str) -> frozenset[str]:
    """Market hashes of a run whose brief was rejected in review."""
    return news_reader.rejected_briefs(_store, run)


@_cached
def review_sample(key: tuple[str, int], _store: Store, asset_class: AssetClass) -> tuple[str, ...]:
    return reviews.sample(_store, asset_class)


@_cached
def notes(key: tuple[str, int], _store: Store, asset: str) -> pd.DataFrame:
    return news_reader.notes(_store, asset)


def source_health(store: Store) -> list[dict[str, Any]]:
    """Not cached by version: a poll without anything new is no change of the data."""
    return news_reader.source_health(store)

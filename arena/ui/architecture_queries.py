"""What the page on architecture and model reads, cached by the store's data version."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from arena.analytics.behaviour import holding
from arena.analytics.entry_curve import Curve
from arena.analytics.regimes import REGIMES, UnderWater, by_regime, regimes, under_water
from arena.analytics.role_league import RoleScore, role_counts, role_scores
from arena.analytics.variance import Split, split
from arena.core.season import RunSpec
from arena.runner.boards import select_board
from arena.store import reader
from arena.store.signals import signals
from arena.store.store import Store
from arena.ui import queries
from arena.ui.queries import Axis
from arena.ui.tokens import BUY_HOLD

Key = tuple[str, int]

_cached = st.cache_data(max_entries=64, show_spinner=False)


@_cached
def accounts(
    key: Key,
    _store: Store,
    run: str,
    assets: Axis,
    strategy: str,
) -> pd.DataFrame:
    """Accounts of one strategy with Buy & Hold.

    Columns: agent, model, asset, grp, account, value (net return, a fraction or NaN).
    """
    data = select_board(_store, run, assets=assets, strategies=(strategy,), with_equity=False)
    frame = data.summaries
    frame = frame[(frame["strategy"] == strategy) | (frame["grp"] == "benchmark")]
    values = [json.loads(m)["CR"]["value"] for m in frame["metrics_json"]]
    return frame[["agent", "model", "asset", "grp", "account"]].assign(
        value=pd.array(values, dtype="float64")
    )


@_cached
def variance(
    key: Key, _store: Store, run: str, assets: Axis, strategy: str, entries: Axis
) -> Split:
    """Split of the returns of the accounts of these entries (`agent@model`)."""
    own = accounts(key, _store, run, assets, strategy)
    own = own[_names(own).isin(entries) & own["value"].notna()]
    return split(
        own["value"].tolist(), own["asset"].tolist(), own["model"].tolist(), own["agent"].tolist()
    )


@_cached
def asset_regimes(key: Key, _store: Store, run: str, assets: Axis) -> dict[str, pd.DataFrame]:
    """Regimes by session of each asset, told with the history before the run's start."""
    out = {}
    for asset in assets:
        bars = queries.bars(key, _store, run, asset)
        out[asset] = regimes(
            pd.Series(bars["close"].to_numpy(float), index=pd.DatetimeIndex(bars["session"]))
        )
    return out


@_cached
def role_counts_of(key: Key, _store: Store, run: str) -> pd.DataFrame:
    """Counts of every role of a run, see `role_league.role_counts`."""
    said = signals(_store, run)
    moves = []
    for asset in sorted(queries.summaries(key, _store, run)["asset"].unique()):
        bars = queries.bars(key, _store, run, str(asset))
        move = bars["close"].shift(-1) / bars["close"] - 1.0
        moves.append(
            pd.DataFrame({"asset": asset, "session": bars["session"], "move": move}).dropna()
        )
    spec = RunSpec.model_validate_json(str(reader.run(_store, run)["spec_json"])).season.action_spec
    return role_counts(said, pd.concat(moves), spec)


def league(key: Key, store: Store, run: str, assets: Axis, models: Axis) -> list[RoleScore]:
    """Role scores over these assets and models: added up from counts that are made once a run."""
    counts = role_counts_of(key, store, run)
    return role_scores(counts[counts["asset"].isin(assets) & counts["model"].isin(models)])


def pair(key: Key, store: Store, run: str, asset: str, strategy: str) -> dict[str, pd.Series]:
    """Entries of one asset by name with their growth by session, for two to be held side by side."""
    found = queries.accounts_of(key, store, run, (asset,), strategy)
    return {name: _growth(own[asset]) for name, own in found.items()}


def _growth(curve: Curve) -> pd.Series:
    return pd.Series(curve.values[1:], index=curve.sessions)


def _names(frame: pd.DataFrame) -> pd.Series:
    return pd.Series(map(queries.entry_name, frame["agent"], frame["model"]), index=frame.index, dtype="str")


@_cached
def weather(
    key: Key, _store: Store, run: str, assets: Axis, strategy: str, entries: Axis
) -> dict[str, tuple[dict[str, tuple[float | None, int]], UnderWater]]:
    """By entry, in the given order, and Buy & Hold: mean return by regime (pooled over accounts, with the
    number of sessions) and time under water of the entry's curve."""
    inside = asset_regimes(key, _store, run, assets)
    accounts = queries.accounts_of(key, _store, run, assets, strategy)
    mean = queries.curves(key, _store, run, assets, strategy)
    out = {}
    for name in (*entries, BUY_HOLD):
        if name not in mean:
            continue
        found = [by_regime(_growth(own), inside[asset]) for asset, own in sorted(accounts[name].items())]
        pooled = {r: _pooled([f[r] for f in found]) for r in REGIMES}
        out[name] = (pooled, under_water(mean[name].values))
    return out


def _pooled(means: list[tuple[float | None, int]]) -> tuple[float | None, int]:
    known = [(m, n) for m, n in means if m is not None]
    total = sum(n for _, n in known)
    return (sum(m * n for m, n in known) / total if total else None, total)


@_cached
def held(key: Key, _store: Store, run: str, assets: Axis, strategy: str) -> pd.DataFrame:
    """How long entries were invested and how often they turned, see `behaviour.holding`."""
    own = accounts(key, _store, run, assets, strategy).set_index("account")
    # A row for every account and session: not kept, and names are categories.
    rows = reader.equity(_store, own.index.tolist(), ("side",))
    place = rows["account"].cat.codes.to_numpy()
    for name in ("agent", "model"):
        of = own.loc[rows["account"].cat.categories, name]
        rows[name] = of.astype("category").array.take(place)
    return holding(rows)

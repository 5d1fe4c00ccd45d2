"""What pages read, cached by the store's data version: a new round makes a new key."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import pandas as pd
import streamlit as st

from arena.analytics.entry_curve import curves_of, entry_curve
from arena.analytics.leaderboard import board
from arena.core.types import AssetClass
from arena.runner import reviews
from arena.runner.boards import select_board
from arena.runner.luck_board import luck_board
from arena.store import news_reader, reader
from arena.store.store import Store

Axis = tuple[str, ...]

_cached = st.cache_data(max_entries=64, show_spinner=False)


def version(store: Store) -> tuple[str, int]:
    """Cache key of everything visible: which store, and how often it changed."""
    return store.store_id, reader.data_version(store)


@_cached
def runs(key: tuple[str, int], _store: Store) -> pd.DataFrame:
    """Runs that have an account, newest first."""
    frame = reader.runs(_store)
    settled = set(reader.summaries(_store)["run"])
    return frame[frame["run"].isin(settled)].reset_index(drop=True)


@_cached
def summaries(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    return reader.summaries(_store, run)


@_cached
def rows(
    key: tuple[str, int], _store: Store, run: str, by: Literal["entry", "account"], agents: Axis, models: Axis,
    assets: Axis, strategies: Axis,
) -> list[dict[str, Any]]:  # fmt: skip
    """Board rows of one run under the four axes."""
    data = select_board(
        _store, run, agents=agents, models=models, assets=assets, strategies=strategies
    )
    return board(
        data.summaries, data.equity, by=by, capital=data.capital, voided=data.voided,
        unranked=data.unranked, fills=data.fills,
        cutoffs=data.cutoffs,
    )  # fmt: skip


@_cached
def luck(
    key: tuple[str, int], _store: Store, run: str, by: Literal["entry", "account"], agents: Axis, models: Axis,
    assets: Axis, strategies: Axis, limit: int = 200,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """What chance could explain of the first `limit` of `rows` under the same axes, by
    `luck_board.row_key`: some milliseconds an account, so a page asks for what it shows."""
    data = select_board(
        _store, run, agents=agents, models=models, assets=assets, strategies=strategies
    )
    shown = rows(key, _store, run, by, agents, models, assets, strategies)
    return luck_board(_store, data, shown[:limit])


@_cached
def curves(
    key: tuple[str, int], _store: Store, run: str, models: Axis, assets: Axis, strategy: str
) -> pd.DataFrame:
    """Entry curves in long form: agent, model, session, value and gross relative to V_0."""
    data = select_board(_store, run, models=models, assets=assets, strategies=(strategy,))
    made = curves_of(data.summaries, data.equity, data.capital)
    parts = []
    for (agent, model), group in data.summaries.groupby(["agent", "model"], sort=True):
        own = [made[a] for a in group["account"] if a in made]
        if own:
            curve = entry_curve(own)
            parts.append(
                pd.DataFrame(
                    {
                        "agent": agent,
                        "model": model,
                        "session": curve.sessions,
                        "value": curve.values[1:],
                        "gross": curve.gross[1:],
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


@_cached
def decisions(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    return reader.decisions(_store, run)


@_cached
def prices(key: tuple[str, int], _store: Store, run: str, asset: str) -> pd.DataFrame:
    """Closes of an asset inside the run's window."""
    row = reader.run(_store, run)
    frame = reader.bars(_store, asset, int(row["revision"]))
    inside = (frame["session"] >= pd.Timestamp(row["start"])) & (
        frame["session"] <= pd.Timestamp(row["end"])
    )
    return frame.loc[inside, ["session", "close"]].reset_index(drop=True)


@_cached
def price_checks(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:
    """What was noticed about the prices of a run's assets up to its end."""
    row = reader.run(_store, run)
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
    row = reader.run(_store, run)
    frame = reader.bars(_store, asset, int(row["revision"]))
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

"""The part of the Health page about what goes on by the clock: live seasons, quotes, jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED, GAPS
from arena.core.clock import utc_now
from arena.core.season import RunSpec
from arena.core.settings import ROOT
from arena.runner.next_slot import next_decision
from arena.store import jobs_reader, live_reader, quotes_reader, reader
from arena.store.store import Store
from arena.ui import board, health, queries
from arena.ui import format as fmt
from arena.ui.links import LAUNCH_PAGE
from arena.ui.pulse import age_words, going_on
from arena.ui.session import state

Key = tuple[str, int]


def seasons(key: Key, store: Store) -> None:
    """Each live season that goes on: when it decides next, what came of its last round, what is wrong."""
    st.header("Live seasons", anchor="live-seasons")
    runs = health.every_run(key, store)
    live = runs[[going_on(run) and pd.isna(run["voided_reason"]) for _, run in runs.iterrows()]]
    troubles = _troubles()
    if live.empty and not troubles:
        st.markdown(":small[:gray[None goes on.]]")
        return
    rows = [_season(key, store, str(r["run"]), str(r["spec_json"]), troubles) for _, r in live.iterrows()]
    # A season that could not begin has no run yet.
    waiting = [r for r in troubles if r not in set(live["run"])]
    rows += [{"run": run, "what": troubles[run]} for run in waiting]
    text = st.column_config.TextColumn
    st.dataframe(
        pd.DataFrame(rows, columns=["run", "next", "last", "came", "spent", "what"]), hide_index=True,
        key="live_seasons", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(rows), most=12), alt="Live seasons, their next slot and last round",
        column_config={
            "run": text("Season", width=150), "next": text("Next slot", width=225),
            "last": text("Last round", width=150), "came": text("What came of it", width=215),
            "spent": text("Spent", width=62), "what": text("Trouble", width=290),
        },
    )  # fmt: skip


def _troubles() -> dict[str, str]:
    ticker = state().ticker
    return {} if ticker is None or ticker.live is None else dict(ticker.live.troubles)


def _season(
    key: Key, store: Store, run: str, spec_json: str, troubles: dict[str, str]
) -> dict[str, Any]:
    now = utc_now()
    spec = RunSpec.model_validate_json(spec_json)
    due = next_decision(spec, queries.asset_classes(key, store), now)
    last = reader.last_round(store, run)
    spent = live_reader.spent_usd(store, run)
    return {
        "run": run,
        "next": None if due is None else f"{fmt.moment(due.as_of_utc)} · {', '.join(due.assets)}",
        "last": None if last is None else fmt.moment(last["as_of_utc"]),
        "came": None if last is None else came_of(last, now),
        "spent": f"${spent:.2f}",
        "what": troubles.get(run),
    }


def came_of(last: dict[str, Any], now_utc: datetime) -> str:
    """`16 decisions, 4 failed, 2 h ago` of a round as `reader.last_round` gives it."""
    counts = last["statuses"]
    parts = [fmt.counted(last["n_decisions"], "decision")]
    for words, which in (("failed", FAILED), ("without one", GAPS)):
        if n := sum(counts.get(s, 0) for s in which):
            parts.append(f"{n} {words}")
    return f"{', '.join(parts)}, {age_words(last['decided_at_utc'], now_utc)} ago"


def quotes(store: Store) -> None:
    """The newest quote of each asset and its age: shown beside settled numbers, never part of them."""
    st.header("Quotes", anchor="quotes")
    newest = quotes_reader.newest_quotes(store)
    if not newest:
        st.markdown(":small[:gray[None was stored yet. They come every five minutes in market hours.]]")
        return
    now = utc_now()
    table = pd.DataFrame(
        [
            {"asset": asset, "price": f"{price:,.2f}", "at": fmt.moment(at), "age": age_words(at, now), "source": source}
            for asset, (price, at, source, _) in newest.items()
        ]
    )
    text = st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, key="quotes", row_height=board.ROW_HEIGHT, width="content",
        height=board.height(len(table), most=12), alt="Newest quote of each asset",
        column_config={
            "asset": text("Asset", width=120), "price": text("Price", width=110),
            "at": text("Held at", width=190), "age": text("Age", width=90), "source": text("Source", width=200),
        },
    )  # fmt: skip


def jobs(store: Store) -> None:
    """How many jobs are in which state; the list itself is on Launch a run."""
    st.header("Jobs", anchor="jobs")
    found = jobs_reader.jobs(store)
    if not found:
        st.markdown(":small[:gray[Nobody has launched a run.]]")
        return
    counts = pd.Series([job["status"] for job in found]).value_counts()
    words = ", ".join(f"{n} {status}" for status, n in counts.items())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{words}, of the last {len(found)}.", width="content")
        st.page_link(ROOT / LAUNCH_PAGE, label="Launch a run", icon=":material/rocket_launch:")

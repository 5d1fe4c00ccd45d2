"""What every results page begins with: the store, the run picker, and what kind of run this is."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from arena.store.store import Store
from arena.ui import filters, queries, states
from arena.ui.session import store_or_stop, version


@dataclass(frozen=True, eq=False)
class RunPage:
    """The chosen run's row, its summaries, and the store with its cache key."""

    store: Store
    key: tuple[str, int]
    run: pd.Series
    summaries: pd.DataFrame

    @property
    def run_id(self) -> str:
        return str(self.run["run"])

    @property
    def brief_maker(self) -> str:
        """Who writes the run's briefs: a model, `digest`, or `none` where it reads prices only."""
        return str(json.loads(self.run["spec_json"]).get("brief", "none"))


def open_run(title: str) -> RunPage:
    """Draw the head of the page; stops the script with a message where there is nothing to show."""
    states.banners()
    store = store_or_stop(title)
    key = version(store)
    runs = queries.runs(key, store)
    if runs.empty:
        st.title(title)
        states.empty_store()
    run = filters.title_row(title, runs)
    summaries = queries.summaries(key, store, str(run["run"]))
    states.status_line(run, summaries)
    states.background_line()
    return RunPage(store, key, run, summaries)

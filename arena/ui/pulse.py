"""The line that keeps a page fresh: it asks every half minute, or as the host says, whether anything changed."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from arena.core.clock import utc_now
from arena.core.season import RunSpec
from arena.core.settings import refresh_s
from arena.runner.next_slot import NextDecision, next_decision
from arena.ui import format as fmt
from arena.ui import marks, queries
from arena.ui.page import RunPage
from arena.ui.session import state, version

NEW_YORK = ZoneInfo("America/New_York")


def line(page: RunPage) -> None:
    """Status and the refresh switch; reruns the page when the data version is another one.

    What is opened is in the URL, so a rerun keeps it; the browser keeps the scroll, as a rerun sends
    only what changed.
    """
    st.session_state.drawn_version = _drawn(page)
    paused = not st.session_state.get("refresh", True)
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        with st.container(width="content"):
            st.fragment(_look, run_every=None if paused else refresh_s())(page, paused)
        st.toggle(
            "Refresh", value=True, key="refresh", help=f"Looks for new data every {refresh_s():g} s",
        )  # fmt: skip


def _look(page: RunPage, paused: bool) -> None:
    store = state().store
    if store is not None:
        now = (version(store), _quoted_utc(page))
        if now != st.session_state.drawn_version:
            st.session_state.drawn_version = now
            st.rerun()
    st.markdown(words(page, paused), width="content")


def _drawn(page: RunPage) -> tuple[tuple[str, int], datetime | None]:
    return page.key, _quoted_utc(page)


def _quoted_utc(page: RunPage) -> datetime | None:
    """When the newest quote held that this page shows marks at; None where it shows none."""
    if not going_on(page.run):
        return None
    # A viewer puts another store in the place of the one that the page was drawn from.
    return marks.newest_utc(state().store or page.store, set(page.summaries["asset"].unique()))


def going_on(run: pd.Series) -> bool:
    """Whether a run is a live season that has not ended."""
    return bool(run["kind"] == "live" and run["status"] == "running")


def words(page: RunPage, paused: bool) -> str:
    """When the next decision is due and how old quotes are, of a live run; and when this was looked at."""
    checked = "not refreshed" if paused else f"checked every {refresh_s():g} s"
    run = page.run
    if not going_on(run):
        made = run["finished_at_utc"] if run["status"] == "done" else run["created_at_utc"]
        verb = "finished" if run["status"] == "done" else "begun"
        when = fmt.moment(made.to_pydatetime())
        return f":small[:gray[Run {verb} {when} · {checked}]]"
    spec = RunSpec.model_validate_json(str(run["spec_json"]))
    due = next_decision(spec, queries.asset_classes(page.key, page.store), utc_now())
    quoted = _quoted_utc(page)
    age = "" if quoted is None else f" · quotes {age_words(quoted, utc_now())} old"
    return f"{due_words(due, utc_now())} :small[:gray[{age} · {checked}]]"


def age_words(then_utc: datetime, now_utc: datetime) -> str:
    return fmt.age_seconds(max(0.0, (now_utc - then_utc).total_seconds()))


def due_words(due: NextDecision | None, now_utc: datetime) -> str:
    """Next decision **Thu 2 Oct, 00:05 UTC** · Wed 20:05 New York · in 14 h 53 min."""
    if due is None:
        return "No next decision: the run's assets are not in the store"
    there = due.as_of_utc.astimezone(NEW_YORK)
    at = due.as_of_utc.astimezone(UTC)
    minutes = max(int((at - now_utc).total_seconds() // 60), 0)
    wait = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
    return (
        f"Next decision **{at:%a} {at.day} {at:%b}, {at:%H:%M} UTC** · "
        f"{there:%a %H:%M} New York · in {wait}"
    )

"""What a page says when there is nothing, something old, or something made up."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from arena.ui import format as fmt
from arena.ui.prose import for_badge, for_markdown
from arena.ui.session import state, waiting

DISCLAIMER = "Simulated paper trading, not investment advice."


def banners() -> None:
    """Trouble with the store, above everything else; the data stay."""
    now = state()
    if now.store is not None and now.paused:
        st.error(for_markdown(f"The runner waits. {now.paused}"), icon=":material/pause_circle:")
    if now.store is not None and now.message and now.level in ("warning", "error"):
        show = st.warning if now.level == "warning" else st.error
        show(for_markdown(now.message))
    if now.store is not None and now.store.age_s is not None:
        age = fmt.age_seconds(now.store.age_s)
        st.badge(f"Snapshot, {age} old", icon=":material/schedule:", color="orange")


def empty_store() -> None:
    """No run yet: either one is on its way, or the page says how to make one."""
    if state().progress() is not None:
        st.write("The first replay is on its way: rule-based stand-ins over the last 90 sessions.")
        waiting()
    else:
        st.info(
            "No run yet. Make one with `python -m arena replay --data sample --start 2025-08-01 "
            "--end 2025-09-30 --assets ZORVANE,QUBIXCOIN --agents vanilla --models offline/trend`.",
            title="Nothing to show",
        )
    st.stop()


def status_line(run: pd.Series, summaries: pd.DataFrame) -> None:
    """What kind of run this is, and what in it is not what it may look like."""
    groups = set(summaries["grp"].unique())
    live, going_on = run["kind"] == "live", run["status"] == "running"
    with st.container(horizontal=True, vertical_alignment="center"):
        if live:
            st.badge("Live" if going_on else "Live, over", icon=":material/sensors:", color="blue")
        else:
            st.badge(str(run["kind"]).capitalize(), icon=":material/history:", color="blue")
        if run["synthetic"]:
            st.badge("Synthetic prices, fictional assets", icon=":material/science:", color="orange")
        if "model" not in groups and "stand_in" in groups:
            st.badge("Rule-based stand-ins, no LLM", icon=":material/rule:", color="orange")
        if run["fill"] == "close":
            st.badge("Fills at a price already known", icon=":material/info:", color="gray")
        # A live season that goes on is as it should be; a replay that does is not finished.
        if run["status"] != "done" and not (live and going_on):
            st.badge(f"{run['status']}", icon=":material/hourglass:", color="orange")
        if late := n_late(summaries):
            st.badge(
                f"{fmt.counted(late, 'late decision')}: no live evidence",
                icon=":material/schedule:", color="orange",
            )  # fmt: skip
        if pd.notna(run["voided_reason"]):
            reason = for_badge(str(run["voided_reason"]))
            st.badge(f"Voided: {reason}", icon=":material/block:", color="red")
        if pd.notna(run["note"]):
            st.badge(for_badge(str(run["note"])), icon=":material/info:", color="orange")


def n_late(summaries: pd.DataFrame) -> int:
    """Decisions of a run that were made after their slot's time, each once, however many strategies
    follow it."""
    late = summaries[(summaries["grp"] != "benchmark") & (summaries["n_late"] > 0)]
    return int(late.groupby(["agent", "model", "asset"])["n_late"].max().sum())


def background_line() -> None:
    """Progress of a replay that is still running behind this page; no timer without one."""
    if state().progress() is not None:
        _background()


@st.fragment(run_every="2s")
def _background() -> None:
    now = state().progress()
    if now is None:
        st.rerun()
    st.progress(now[0], text=now[1])


def price_checks(checks: pd.DataFrame) -> None:
    """Gaps, jumps, disagreements and revisions of the prices behind this page; none is repaired."""
    if checks.empty:
        return
    words = f"{len(checks)} price check{'s' if len(checks) > 1 else ''}: noticed, not changed"
    with st.expander(words, icon=":material/rule:"):
        shown = checks[["asset", "session", "kind", "value", "other", "source", "detail"]]
        st.dataframe(
            shown, hide_index=True, key="price_checks", alt="What was noticed about prices",
            column_config={"session": st.column_config.DateColumn("session", format="D MMM YYYY")},
        )  # fmt: skip


def rejected_badge(n_decisions: int | None = None) -> None:
    """Beside a brief that a reviewer rejects, or beside the decisions that read one."""
    words = "Brief rejected in review"
    if n_decisions is not None:
        words = f"{n_decisions} decision{'' if n_decisions == 1 else 's'} read a rejected brief"
    st.badge(words, icon=":material/block:", color="red")


def footer(text: str) -> None:
    st.markdown(f":small[:gray[{text} {DISCLAIMER}]]")

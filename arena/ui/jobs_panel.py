"""Jobs: the one that is shown, what waits, and the history. All of it read from the table each time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED, Status
from arena.core.clock import utc_now
from arena.core.errors import ArenaError, ConfigError, UnknownNameError
from arena.core.settings import ROOT
from arena.runner.asker import Admin, Asker
from arena.runner.job_request import JobRequest, keyless, request_of
from arena.runner.jobs import OVER
from arena.store import jobs_reader, reader
from arena.store.jobs_reader import Job
from arena.store.store import Store
from arena.ui import auth, board, own_key
from arena.ui import format as fmt
from arena.ui.launch import CHANGE, FILLED, JOB, duration
from arena.ui.launch_form import window_words
from arena.ui.links import OVERVIEW_PAGE, launch_params
from arena.ui.prose import for_markdown
from arena.ui.tokens import ACTION_MARK

EVERY_S = 2
MARKS = {
    "queued": "◷", "running": "▶", "done": "✓", "failed": "✕", "stopped": "■", "interrupted": "◐",
}  # fmt: skip
COLORS: dict[str, Any] = {
    "queued": "gray", "running": "blue", "done": "green", "failed": "red", "stopped": "gray",
    "interrupted": "orange",
}  # fmt: skip
ICONS = {
    "queued": ":material/schedule:", "running": ":material/sync:", "done": ":material/check:",
    "failed": ":material/error:", "stopped": ":material/stop_circle:", "interrupted": ":material/motion_photos_paused:",
}  # fmt: skip
ACTIONS = {"done": "Open", "failed": "Why?", "stopped": "Resume", "interrupted": "Resume", "queued": "Show", "running": "Show"}
SAID, CLICK, CLICKED, ORDER = "jobs_said", "job_click", "job_clicked_row", "jobs_order"


def shown_job(store: Store) -> Job | None:
    """The job that the address names, else the one that runs, else the one that waits longest."""
    wanted = st.query_params.get(JOB)
    if wanted:
        try:
            return jobs_reader.job(store, wanted)
        except UnknownNameError:
            st.warning(f"There is no job {for_markdown(wanted[:60])}.")
    waiting = jobs_reader.open_jobs(store)
    running = [j for j in waiting if j["status"] == "running"]
    return next(iter(running or waiting), None)


def panel(store: Store, jobs: Any) -> None:
    """Right of the form: the job, and what waits. Its timer lives as long as anything is under way."""
    job = shown_job(store)
    if job is not None and job["status"] not in OVER:
        _watched(store, jobs, str(job["job"]))
    elif job is not None:
        card(store, jobs, job)
    else:
        with st.container(border=True):
            st.header("Nothing under way", width="content")
            st.markdown("A run that is launched shows its progress here, also after a reload or in another tab.")
    _queue(store, job)


@st.fragment(run_every=EVERY_S)
def _watched(store: Store, jobs: Any, job_id: str) -> None:
    job = jobs_reader.job(store, job_id)
    if job["status"] in OVER:
        # A full run draws the history anew and ends the timer.
        st.rerun()
    card(store, jobs, job)


def card(store: Store, jobs: Any, job: Job) -> None:
    """One job: how far, what it spent, what it did last, and what can be done with it."""
    request, status = _request(job), str(job["status"])
    if request is None:
        st.warning(f"{for_markdown(str(job['job']))} was asked for in another version; ask for it anew.")
        return
    with st.container(border=True):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.header("Running now" if status == "running" else "Job", width="content")
            st.badge(status, icon=ICONS[status], color=COLORS[status])
        st.code(job["run"] or job["job"], language=None)
        began = job["started_at_utc"] or job["created_at_utc"]
        st.markdown(
            f":small[{for_markdown(request.protocol)} · {for_markdown(job['title'])} · {window_words(request)} · "
            f"{fmt.counted(request.epochs, 'epoch')} · {'started' if job['started_at_utc'] else 'asked for'} "
            f"{fmt.moment(began)}]"
        )
        if request.kind == "replay":
            _progress(store, job)
        if job["error"]:
            why = str(job["error"])
            (st.error if status == "failed" else st.warning)(for_markdown(why[:1].upper() + why[1:]))
        _last_steps(store, job)
        _actions(store, jobs, job, request)


def _progress(store: Store, job: Job) -> None:
    done, planned = int(job["n_done"]), max(int(job["n_planned"]), 1)
    share = min(done / planned, 1.0)
    st.progress(share, text=f"**{done:,} of {planned:,}** decisions · {share:.0%}")
    n, failed = jobs_reader.counts(store, [job["run"]]).get(str(job["run"]), (0, 0))
    cap = job["budget_usd"]
    with st.grid(3, min_column_width=100):
        st.metric("Spent", f"${job['spent_usd']:,.2f}", "no budget" if cap is None else f"of ${cap:,.2f}",
                  delta_color="off", delta_arrow="off")  # fmt: skip
        left = job["eta_s"]
        took = _took(job)
        st.metric("Time left, about", fmt.MISSING if left is None else duration(float(left)),
                  None if took is None else f"{duration(took)} so far", delta_color="off", delta_arrow="off")  # fmt: skip
        st.metric("Failed", f"{failed:,}", f"{failed / n:.1%} of {n:,}" if n else None, delta_color="off", delta_arrow="off")
    if cap:
        used = min(float(job["spent_usd"]) / cap, 1.0)
        st.progress(used, text=f"Budget · {used:.0%} used")
    if job["status"] == "running":
        st.markdown(f":small[**Now** · {for_markdown(job['step'])}]")


def _last_steps(store: Store, job: Job) -> None:
    steps = jobs_reader.last_steps(store, str(job["run"])) if job["run"] else []
    if not steps:
        return
    table = pd.DataFrame(
        {
            "session": [s["session"] for s in steps],
            "entry": [f"{s['agent']}@{s['model']}" for s in steps],
            "asset": [s["asset"] for s in steps],
            "action": [_action(s) for s in steps],
            "usd": [s["cost_usd"] for s in steps],
        }
    )
    st.dataframe(
        table, hide_index=True, key="last_steps", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        alt="The newest decisions of this job", height=board.height(len(table), most=4),
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM", width=62),
            "entry": st.column_config.TextColumn("Entry", width=158),
            "asset": st.column_config.TextColumn("Asset", width=76),
            "action": st.column_config.TextColumn("Action", width=72),
            "usd": st.column_config.NumberColumn("$", format="%.3f", width=52),
        },
    )  # fmt: skip


def _action(step: Mapping[str, Any]) -> str:
    failed = Status(step["status"]) in FAILED
    return f"{'□' if failed else ACTION_MARK[step['action']]} {step['action']}"


def _actions(store: Store, jobs: Any, job: Job, request: JobRequest) -> None:
    who, status = auth.asker(store), str(job["status"])
    mine = isinstance(who, Admin) or (job["requested_by"] == "visitor" and job["origin"] == who.origin)
    has_result = bool(job["run"]) and bool(jobs_reader.counts(store, [job["run"]]))
    with st.container(horizontal=True, vertical_alignment="center"):
        stop = status not in OVER and jobs is not None and mine
        if stop and st.button("Stop", icon=":material/stop_circle:", key=f"stop_{job['job']}"):
            _do(lambda: jobs.ask_stop(job["job"], who), "It stops after the current slot, and keeps what it did.")
        if status in OVER[1:] and jobs is not None and mine:
            _again(jobs, job, request, who)
        if has_result:
            st.page_link(ROOT / OVERVIEW_PAGE, label="Open results", icon=":material/open_in_new:",
                         query_params={"run": str(job["run"])})  # fmt: skip
            _again_links(str(job["run"]))
            if isinstance(who, Admin) and jobs is not None and status in OVER:
                _delete(store, jobs, str(job["run"]), who)
    if said := st.session_state.pop(SAID, None):
        (st.error if said[0] == "error" else st.success)(for_markdown(said[1]))
    if status == "running" and mine:
        st.markdown(":small[:gray[Stop takes effect after the current slot.]]")


def _delete(store: Store, jobs: Any, run: str, who: Asker) -> None:
    """For the admin, of ad-hoc runs only; asked twice, since nothing brings it back."""
    if not reader.run(store, run)["workbench"]:
        return
    with st.popover("Delete", icon=":material/delete:", type="tertiary"):
        st.markdown("Deletes the run with all its epochs, decisions and attempts. It cannot be taken back.")
        if st.button("Delete this run", key=f"delete_{run}"):
            _do(lambda: jobs.delete(run, who), "The run is deleted; its job stays in the history.")


def _again_links(run: str) -> None:
    """The form filled in as this run was made; a link to the page one is on would look chosen."""
    for label, icon, other in (
        ("Run this again", ":material/replay:", False),
        ("With another model", ":material/swap_horiz:", True),
    ):
        st.button(label, icon=icon, type="tertiary", key=f"{'other' if other else 'same'}_{run}",
                  on_click=_fill_from, args=(run, other))  # fmt: skip


def _fill_from(run: str, other_model: bool) -> None:
    st.session_state.pop(FILLED, None)
    for name, value in launch_params(run, other_model=other_model).items():
        st.query_params[name] = value
    if not other_model:
        st.query_params.pop(CHANGE, None)


def _again(jobs: Any, job: Job, request: JobRequest, who: Asker) -> None:
    """Resume, with more money where money ran out."""
    word = "Retry" if job["status"] == "failed" else "Resume"
    budget = job["budget_usd"]
    if budget is not None:
        # A provider may charge more than was set aside for a call.
        spent = float(job["spent_usd"])
        budget = st.number_input("Budget, $", spent, 1e6, max(spent, float(budget)), step=1.0,
                                 key=f"budget_{job['job']}", width=120)  # fmt: skip
    needs_key = set(request.own_keys) - own_key.held().keys()
    may = isinstance(who, Admin) or keyless(request) or not needs_key
    if st.button(word, icon=":material/play_arrow:", key=f"again_{job['job']}", disabled=not may):
        keys = own_key.covered(request.own_keys)
        _do(lambda: jobs.again(job["job"], who, budget_usd=budget, own_keys=keys), "")


def _do(act: Any, words: str) -> None:
    try:
        act()
    except ArenaError as error:
        st.session_state[SAID] = ("error", str(error))
    else:
        if words:
            st.session_state[SAID] = ("ok", words)
    st.rerun()


def _queue(store: Store, shown: Job | None) -> None:
    """Jobs that wait behind the one that is shown, and seasons that an admin enrolled."""
    for job in jobs_reader.open_jobs(store):
        if shown is not None and job["job"] == shown["job"]:
            continue
        word = "Now" if job["status"] == "running" else "Next"
        with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{word}** · {for_markdown(job['title'])}", width="content")
            st.badge(str(job["status"]), icon=ICONS[str(job["status"])], color=COLORS[str(job["status"])])
    for season in jobs_reader.seasons(store):
        if season["ended_at_utc"] is None:
            cap = season["budget_day_usd"]
            money = "no paid model" if cap is None else f"at most \\${cap:,.2f} a day"
            with st.container(border=True):
                st.markdown(f"**Live season** · {for_markdown(season['label'])} · {money}")


def history(store: Store) -> None:
    """All jobs, the newest first, and one button for each: open, resume, or why it failed."""
    st.header("Job history", anchor="history")
    found = jobs_reader.jobs(store)
    if not found:
        st.markdown(":small[:gray[No job yet.]]")
        return
    requests = [_request(j) for j in found]
    counts = jobs_reader.counts(store, [j["run"] for j in found if j["run"]])
    table = pd.DataFrame(
        {
            "job": [j["run"] or j["job"] for j in found],
            "state": [f"{MARKS[j['status']]} {j['status']}" for j in found],
            "protocol": [None if r is None else r.protocol for r in requests],
            "window": [None if r is None else window_words(r) for r in requests],
            "entries": [None if r is None else len(r.agents) * len(r.models) for r in requests],
            "progress": [_share(j) for j in found],
            "decisions": [counts.get(j["run"], (0, 0))[0] for j in found],
            "failed": [counts.get(j["run"], (0, 0))[1] for j in found],
            "spent": [j["spent_usd"] for j in found],
            "budget": [j["budget_usd"] for j in found],
            "started": [j["started_at_utc"] for j in found],
            "took": [None if (t := _took(j)) is None else duration(t) for j in found],
            "act": [ACTIONS[j["status"]] for j in found],
        }
    )
    st.session_state[ORDER] = [j["job"] for j in found]
    _table(table)
    st.markdown(
        ":small[:gray[A job is resumed by the same request: nothing is asked twice. Keys stay on the server; nothing "
        "is spent before the budget has reserved it.]]"
    )


def _request(job: Job) -> JobRequest | None:
    """None for a job of another version, which cannot be read any more."""
    try:
        return request_of(job)
    except ConfigError:
        return None


def _table(table: pd.DataFrame) -> None:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    st.dataframe(
        table, hide_index=True, key="jobs", row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(table), most=12), alt="Jobs with their state",
        column_config={
            "job": text("Job", width=164), "state": text("State", width=92), "protocol": text("Protocol", width=84),
            "window": text("Window", width=142), "entries": number("Entries", width=52),
            "progress": st.column_config.ProgressColumn("Progress", format="%d%%", min_value=0, max_value=100, width=88),
            "decisions": number("Decisions", width=66), "failed": number("Failed", width=48),
            "spent": number("Spent, $", format="%.2f", width=60), "budget": number("Budget", format="%.2f", width=56),
            "started": st.column_config.DatetimeColumn("Started, UTC", format="D MMM HH:mm", timezone="UTC", width=92),
            "took": text("Took", width=74),
            "act": st.column_config.ButtonColumn("Action", width=66, type="tertiary", key=CLICK, on_click=_clicked),
        },
    )  # fmt: skip


def _clicked() -> None:
    clicked = st.session_state.get(CLICK)
    st.session_state[CLICKED] = None if clicked is None else clicked.row


def follow_click(store: Store) -> None:
    """Before anything is drawn: lead to the result, or show the job, of the row that was clicked."""
    at, order = st.session_state.pop(CLICKED, None), st.session_state.get(ORDER, [])
    if at is None or at >= len(order):
        return
    job = jobs_reader.job(store, order[at])
    if job["status"] == "done" and jobs_reader.counts(store, [job["run"]]):
        st.switch_page(ROOT / OVERVIEW_PAGE, query_params={"run": str(job["run"])})
    st.query_params[JOB] = order[at]


def _share(job: Job) -> float | None:
    """How far a job is, in percent; None where it has no length (a season)."""
    return None if not job["n_planned"] else min(100 * job["n_done"] / job["n_planned"], 100.0)


def _took(job: Job) -> float | None:
    began: datetime | None = job["started_at_utc"]
    if began is None:
        return None
    return max(((job["finished_at_utc"] or utc_now()) - began).total_seconds(), 0.0)



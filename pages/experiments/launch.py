"""Launch a run: the form, the job that is under way, and the history of jobs."""

import streamlit as st

from arena.ui import jobs_panel, launch, states
from arena.ui.queries import version
from arena.ui.session import state, store_or_stop

store = store_or_stop("Launch a run")
jobs_panel.follow_click(store)
states.banners()
st.title("Launch a run")
jobs = getattr(state(), "jobs", None)
left, right = st.columns([0.56, 0.44])
with left:
    launch.form(store, jobs, version(store))
with right:
    jobs_panel.panel(store, jobs)
jobs_panel.history(store)
states.footer("")

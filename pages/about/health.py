"""Health: what is wrong first, then the machinery piece by piece."""

import streamlit as st

from arena.ui import health, health_keep, health_live, states
from arena.ui.session import store_or_stop

store = store_or_stop("Health")
key = health.version(store)
st.title("Health")
health.problems(store)
health.machinery(key, store)
health_live.seasons(key, store)
health_live.jobs(store)
health_keep.safe_until(store)
host = health.host_gate()
health.runs_table(key, store, host=host)
health.invariants(key, store, host=host)
health.sources(store)
health_live.quotes(store)
health.prices(key, store)
health.models()
health.host()
states.footer("")

"""Health: what is wrong first, then the machinery piece by piece."""

import streamlit as st

from arena.ui import health, states
from arena.ui.session import store_or_stop

store = store_or_stop("Health")
key = health.version(store)
st.title("Health")
health.problems(store)
health.machinery(key, store)
host = health.host_gate()
health.runs_table(key, store, host=host)
health.invariants(key, store, host=host)
health.sources(store)
health.prices(key, store)
health.models()
health.host()
states.footer("")

"""Methods: what the numbers mean and what they do not."""

import streamlit as st

from arena.ui import methods

st.title("Methods")
parts = {
    "Protocol": methods.protocol,
    "Metrics": methods.metrics,
    "News": methods.news,
    "Agents": methods.agents,
    "Limits": methods.limits,
}
parts[methods.part()]()
methods.footer()

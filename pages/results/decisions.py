"""Decisions: what an agent saw, said and did at one slot, and what came of it."""

import streamlit as st

from arena.ui import decision_detail, decisions, states
from arena.ui.page import open_run

page = open_run("Decisions")
place = decisions.controls(page)
decisions.not_found(place)
decisions.search_results(page, place.words)

if place.compare and place.slot:
    decision_detail.side_by_side(page, place.track.decision(place.slot), place.compare)
else:
    left, right = st.columns([0.305, 0.695])
    with left:
        opened = decisions.slot_list(page, place)
    with right:
        if opened is not None:
            decision_detail.detail(page, opened.decision, newer=opened.newer, older=opened.older)
            decision_detail.others(page, opened.decision, (place.track.asset, opened.slot))
states.footer("")

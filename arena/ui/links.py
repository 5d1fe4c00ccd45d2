"""Addresses of single decisions, for tables, markers and buttons of other pages."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from arena.core.ids import TrackId
from arena.core.settings import ROOT
from arena.ui.prose import for_markdown

DECISIONS_PAGE = "pages/results/decisions.py"
"""For `st.switch_page(ROOT / DECISIONS_PAGE, query_params=decision_params(id))`; links take `decision_url`."""


def decision_params(decision_id: str) -> dict[str, str]:
    """URL parameters of the Decisions page that open one decision.

    Raises:
        ConfigError: no decision id.
    """
    track = TrackId.parse(decision_id)
    slot = decision_id.split(":", 3)[3] if decision_id.count(":") >= 3 else ""
    place = {"run": track.run, "entry": track.entry, "asset": track.asset}
    return place | ({"slot": slot} if slot else {})


def decision_url(decision_id: str) -> str:
    """`/decisions?run=...` that opens a decision in a browser of its own; a track id opens its newest.

    Raises:
        ConfigError: no decision id.
    """
    return f"/decisions?{urlencode(decision_params(decision_id))}"


def decision_link(decision_id: str, label: str) -> None:
    """A link to one decision, or with a track's id to its newest, in this tab."""
    st.page_link(
        ROOT / DECISIONS_PAGE, label=for_markdown(label), icon=":material/forum:",
        query_params=decision_params(decision_id),
    )  # fmt: skip

"""The service as pages see it."""

from __future__ import annotations

import time

import streamlit as st

from arena.runner import service
from arena.runner.service import ServiceState
from arena.store import reader
from arena.store.store import Store
from arena.ui.prose import for_markdown
from arena.ui.tokens import Theme


def state() -> ServiceState:
    return service.ensure_started()


def theme() -> Theme:
    return "dark" if st.context.theme.type == "dark" else "light"


def on_phone() -> bool:
    return "Mobi" in st.context.headers.get("User-Agent", "")


HOLD_S = 20.0
"""How long pages wait for the end of a round before they show a part of it."""

_shown: dict[str, tuple[int, float]] = {}
"""By store, the version that pages show and when it became that."""


def version(store: Store) -> tuple[str, int]:
    """Cache key of everything that pages show: which store, and how often it changed.

    While live rounds are being carried out it moves every 20 s at most: a board in the middle of one
    holds some entries a session ahead of others, and would be worked out anew after each commit.
    """
    state().before_a_round_shows(_prepare)
    key, now, now_s = store.store_id, reader.data_version(store), time.monotonic()
    shown, since_s = _shown.get(key, (now, now_s))
    if shown > now or not state().deciding or now_s - since_s > HOLD_S:
        shown, since_s = now, now_s
    _shown[key] = shown, since_s
    return key, shown


def _prepare(store: Store) -> None:
    from arena.ui.warming import warm

    warm(store)


PAGE_QUERY_S = 30.0
"""A visitor who waits longer has left; the query would go on beside everybody else's."""


def store_or_stop(title: str) -> Store:
    """The open store, whose queries end in time, or a page that says why there is none yet and looks
    again by itself."""
    now = state()
    if now.store is not None:
        return now.store.limited(PAGE_QUERY_S)
    st.title(title)
    if now.level == "error":
        st.error(for_markdown(now.message or "The store cannot be opened."), title="No store")
        st.stop()
    waiting()
    return st.stop()


@st.fragment(run_every="1s")
def waiting() -> None:
    """Progress of the background work; reruns the page at the first account there is to show."""
    now = state()
    done = now.progress()
    if now.level == "error" or (now.store is not None and done is None):
        st.rerun()
    share, words = done or (0.0, "Starting")
    st.progress(share, text=words)
    if now.store is not None and len(reader.summaries(now.store)):
        st.rerun()

"""A visitor's own key: in the memory of this session, handed to a run that is launched with it, and
nowhere else. It ends with the tab, and with that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

HELD = "own_keys"
MIN_CHARS, MOST_CHARS = 8, 500
PROMISE = (
    "It stays in the memory of this tab and of a run that you launch with it, until that run ends. It is "
    "written to no table, log, cache or export, and the host cannot look it up. Close the tab and it is gone."
)


def held() -> dict[str, str]:
    """The keys of this session by the variable that they stand for."""
    return dict(st.session_state.get(HELD, {}))


def covered(names: Sequence[str]) -> Mapping[str, str]:
    """The session's keys for these variables."""
    return {name: key for name, key in held().items() if name in names}


def fields(names: Sequence[str]) -> None:
    """A field for each variable that a chosen model needs; one that was filled shows only that it is."""
    if not names:
        return
    with st.container(border=True):
        st.markdown("**A key of your own**")
        st.markdown(f":small[:gray[{PROMISE}]]")
        for name in names:
            if name in held():
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.badge(f"{name} is held in this tab", icon=":material/key:", color="green")
                    st.button("Forget it", key=f"forget_{name}", type="tertiary", on_click=forget, args=(name,))
            else:
                st.text_input(
                    name, type="password", key=_field(name), on_change=_take, args=(name,),
                    autocomplete="off", width=360, max_chars=MOST_CHARS,
                )  # fmt: skip


def forget(name: str) -> None:
    kept = held()
    kept.pop(name, None)
    st.session_state[HELD] = kept


def _field(name: str) -> str:
    return f"own_key_{name}"


def _take(name: str) -> None:
    given = st.session_state.get(_field(name), "").strip()
    # Emptied, so that the value is in one place of the session only.
    st.session_state[_field(name)] = ""
    if MIN_CHARS <= len(given) <= MOST_CHARS:
        st.session_state[HELD] = {**held(), name: given}

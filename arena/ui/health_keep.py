"""The part of the Health page about copies: up to which moment nothing can be lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from arena.core import settings
from arena.core.clock import utc_now
from arena.core.errors import StoreError
from arena.runner.safety import safety
from arena.store.offsite import public_url
from arena.store.store import Store
from arena.ui import auth
from arena.ui import format as fmt
from arena.ui.prose import for_markdown

LABEL_PX = 140


def safe_until(store: Store) -> None:
    """The newest copy, what it lacks, and where copies are kept."""
    st.header("Safe until", anchor="safe-until")
    try:
        known = safety(store)
    except StoreError as error:
        st.error(for_markdown(str(error)))
        return
    _headline(known)
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        st.subheader("On this disk", width="content", anchor=False)
        _facts(_backup(known["backup"]))
    with right.container(border=True, height="stretch"):
        st.subheader("Away from it", width="content", anchor=False)
        _facts(_upload(known["upload"]))


def _headline(known: dict[str, Any]) -> None:
    if known["safe_until_utc"] is None:
        st.markdown("No copy has been made yet; the first comes with the first day that has decisions.")
        return
    at = datetime.fromisoformat(known["safe_until_utc"])
    newer = known["n_since"]
    since = "nothing was decided since" if not newer else f"{fmt.counted(newer, 'decision')} since"
    where = "away from this disk" if known["where"] == "upload" else "on this disk only"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(
            fmt.moment(at), icon=":material/verified_user:",
            color="green" if known["where"] == "upload" else "blue",
        )  # fmt: skip
        st.markdown(f":small[:gray[{where}; {since}.]]", width="content")


def _backup(backup: dict[str, Any] | None) -> dict[str, str]:
    if backup is None:
        return {"Newest": "none yet", "Kept": _rotation()}
    return {
        "Newest": fmt.moment(datetime.fromisoformat(backup["at_utc"])),
        "Made": _ago(backup["at_utc"]),
        "Decisions": _number(backup["n_decisions"]),
        "Data version": _number(backup["data_version"]),
        "Kept": f"{backup['n_kept']}; {_rotation()}",
    }


def _upload(upload: dict[str, Any] | None) -> dict[str, str]:
    url = settings.upload_url()
    if upload is None or url is None:
        return {"Target": "none: set ARENA_UPLOAD_URL, or this disk is the only place"}
    at = upload["at_utc"]
    size = upload["size_bytes"]
    return {
        "Target": public_url(url) if auth.unlocked() else upload["kind"],
        "Newest": "nothing has arrived yet" if at is None else fmt.moment(datetime.fromisoformat(at)),
        "Made": fmt.MISSING if at is None else _ago(at),
        "Decisions": _number(upload["n_decisions"]),
        "Data version": _number(upload["data_version"]),
        "Size": fmt.MISSING if size is None else f"{size / 1e6:,.1f} MB",
    }


def _rotation() -> str:
    daily, weekly = settings.backups_kept()
    return f"at most {daily} daily, {weekly} weekly" if daily + weekly else "none: ARENA_BACKUPS_KEPT is 0,0"


def _ago(at: str) -> str:
    return f"{fmt.age_seconds(max(0.0, (utc_now() - datetime.fromisoformat(at)).total_seconds()))} ago"


def _number(value: int | None) -> str:
    return fmt.MISSING if value is None else f"{value:,}"


def _facts(facts: dict[str, str]) -> None:
    for label, value in facts.items():
        with st.container(horizontal=True, gap="small"):
            st.markdown(f":gray[{label}]", width=LABEL_PX)
            st.text(value, width="stretch")

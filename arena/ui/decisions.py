"""Parts of the Decisions page: which track, the list of its slots, and the search.

The URL is the state: `run`, `entry`, `asset`, `slot`, `show`, `q`, `compare`. Widgets are set from it
before they are drawn and write it when they change, so that a link shows the same view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from arena.core.actions import FAILED, GAPS, Status
from arena.core.errors import ConfigError
from arena.core.ids import TrackId
from arena.store.search import LIMIT, MAX_CHARS, Hit
from arena.ui import board, decision_queries
from arena.ui import format as fmt
from arena.ui.links import decision_params
from arena.ui.page import RunPage
from arena.ui.prose import for_markdown, plain
from arena.ui.session import on_phone, theme
from arena.ui.tokens import ACTION_MARK, TOKENS, Theme

LARGE_LOSS_FRAC = 0.03
"""A move of this size or more against the position that a decision asked for."""

FLAGS = ("failed", "flips", "large loss")
LATE = "late"
ACTIONS = ("BUY", "HOLD", "SELL")
WARMUP = "warm-up"
MOST_SLOTS = 1_000
LIST_HEIGHT, PHONE_LIST_HEIGHT = 1_500, 312


@dataclass(frozen=True)
class Place:
    """The chosen track and what the URL says of it; `missing` are parameters that name nothing."""

    track: TrackId
    slot: str | None
    show: tuple[str, ...]
    words: str
    compare: str | None
    missing: tuple[tuple[str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Opened:
    """The open decision, with those after and before it in the list as it is filtered."""

    decision: str
    slot: str
    newer: str | None
    older: str | None


def go_to(decision_id: str, **more: str) -> None:
    """Callback: open a decision, keeping search and filters."""
    for name, value in {**decision_params(decision_id), **more}.items():
        st.query_params[name] = value


def drop(*names: str) -> None:
    """Callback: take parameters out of the URL."""
    for name in names:
        st.query_params.pop(name, None)


def controls(page: RunPage) -> Place:
    """Entry, asset and search on one wrapping line, the filters of the list below it."""
    every = decision_queries.tracks(page.key, page.store, page.run_id)
    if every.empty:
        st.info("An import or a rescored run may hold accounts alone.", title="No decision in this run")
        st.stop()
    missing: list[tuple[str, str, tuple[str, ...]]] = []
    asked_run = st.query_params.get("run")
    if asked_run and asked_run != page.run_id:
        missing.append(("run", asked_run, ()))
    every = every.assign(entry=every["agent"] + "@" + every["model"])
    entries = tuple(dict.fromkeys(every["entry"]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry = _choice("Entry", "entry", entries, missing, width=250)
        own = every[every["entry"] == entry]
        assets = tuple(own["asset"])
        asset = _choice("Asset", "asset", assets, missing, pills=len(assets) <= 6)
        found = own[own["asset"] == asset].iloc[0]
        track = TrackId(page.run_id, str(found["agent"]), str(found["model"]), str(found["asset"]))
        words = _search_box()
    compare = st.query_params.get("compare")
    show = () if compare else _filters(decision_queries.listing(page.key, page.store, track.run, str(track)))
    st.session_state["de_place"] = {"entry": entry, "asset": asset}
    return Place(
        track, st.query_params.get("slot"), show, words, compare, tuple(missing)
    )


def _choice(
    label: str, name: str, options: tuple[str, ...], missing: list[tuple[str, str, tuple[str, ...]]],
    *, pills: bool = False, width: int | str = "content",
) -> str:  # fmt: skip
    wanted = st.query_params.get(name)
    if wanted is not None and wanted not in options:
        missing.append((name, wanted, options))
    if wanted not in options:
        kept = st.session_state.get("de_place", {}).get(name)
        wanted = kept if kept in options else options[0]
    key = f"de_{name}"
    st.session_state[key] = wanted

    def changed() -> None:
        if st.session_state[key] is not None:
            st.query_params[name] = st.session_state[key]
            drop("compare")

    if pills:
        st.segmented_control(
            label, options, key=key, required=True, format_func=for_markdown, on_change=changed
        )
    else:
        st.selectbox(label, options, key=key, on_change=changed, width=width)  # type: ignore[arg-type]
    return str(wanted)


def _filters(made: pd.DataFrame) -> tuple[str, ...]:
    odd = sorted(set(made["status"]) - {Status.OK.value})
    late = [LATE] if made["late"].any() else []
    options = [*FLAGS, *ACTIONS, *odd, *late, *([WARMUP] if (made["phase"] == "warmup").any() else [])]
    chosen = [s for s in st.query_params.get_all("show") if s in options]
    st.session_state["de_show"] = chosen

    def changed() -> None:
        st.query_params["show"] = st.session_state["de_show"] or []

    st.pills(
        "Show only", options, selection_mode="multi", key="de_show", on_change=changed,
        help=f"flips: asks for another side than the one held. large loss: the next session moved "
        f"{100 * LARGE_LOSS_FRAC:.0f} % or more against the side asked for",
    )  # fmt: skip
    return tuple(chosen)


def _search_box() -> str:
    st.session_state["de_q"] = st.query_params.get("q", "")[:MAX_CHARS]

    def changed() -> None:
        words = st.session_state["de_q"].strip()
        if words:
            st.query_params["q"] = words
        else:
            drop("q")

    return str(
        st.text_input(
            "Search prompts, answers and reasons", key="de_q", max_chars=MAX_CHARS, width=330,
            icon=":material/search:", placeholder="any words of this run", on_change=changed,
        )
    ).strip()  # fmt: skip


def not_found(place: Place) -> None:
    """A line for each parameter that names nothing; the page goes on with the nearest that exists."""
    for name, value, options in place.missing:
        there = f" There are: {', '.join(options[:12])}." if options else " The newest run is shown."
        st.warning(f"The address asks for {name} {for_markdown(_cut(value, 120))}, which is not here.{for_markdown(there)}")


def chosen_by(made: pd.DataFrame, show: Sequence[str]) -> pd.DataFrame:
    """Rows of a listing that pass the filters: alternatives within actions and within statuses, all
    else together."""
    keep = pd.Series(True, index=made.index)
    if "failed" in show:
        keep &= made["status"].isin([*FAILED, *GAPS])
    if "flips" in show:
        keep &= flips(made)
    if "large loss" in show:
        keep &= made["side_after"] * made["next_return"] <= -LARGE_LOSS_FRAC
    if LATE in show:
        keep &= made["late"]
    if WARMUP in show:
        keep &= made["phase"] == "warmup"
    for column, options in (("action", set(ACTIONS)), ("status", {s.value for s in Status})):
        some = options & set(show)
        if some:
            keep &= made[column].isin(some)
    return made[keep].reset_index(drop=True)


def flips(made: pd.DataFrame) -> pd.Series:
    return (made["side_after"] != made["side_before"]) & (made["phase"] == "live")


def slot_list(page: RunPage, place: Place) -> Opened | None:
    """The track's slots, newest first; returns the chosen one, or None for a track without any."""
    every = decision_queries.listing(page.key, page.store, place.track.run, str(place.track))
    shown = chosen_by(every, place.show).head(MOST_SLOTS)
    _slot_message(place, every, shown)
    if shown.empty:
        st.write("No decision passes these filters.")
        st.button("Show all", icon=":material/filter_alt_off:", on_click=drop, args=("show",))
        return _at(every, place.slot)
    slots = list(shown["slot_key"])
    at = slots.index(place.slot) if place.slot in slots else None
    if at is None and place.slot not in set(every["slot_key"]):
        at = 0
    # Selection is by position: the chosen slot is put back where it stands now.
    rows = [] if at is None else [at]
    st.session_state["de_list"] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    st.session_state["de_slots"] = slots
    text = st.column_config.TextColumn
    most = PHONE_LIST_HEIGHT if on_phone() else LIST_HEIGHT
    st.dataframe(
        styled(list_frame(shown), theme()), key="de_list", hide_index=True, on_select=_pick,
        selection_mode="single-row" if at is None else "single-row-required",
        row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=min(board.height(len(shown), most=9_999), most),
        alt=f"Decisions of {place.track.entry} on {place.track.asset}, the newest first",
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM", width=58),
            "action": text("Action", width=68), "conviction": st.column_config.NumberColumn(
                "Conv.", format="%.0f", width=44, help="Conviction, 0 to 100"),
            "next": st.column_config.NumberColumn(
                "Next", format="%+.1f%%", width=58, help="The asset, from this close to the next"),
            "status": text("Status", width=72),
        },
    )  # fmt: skip
    st.markdown(f":small[:gray[{_counts(every, shown)}]]")
    return _at(every, place.slot) if at is None else _opened(shown, at)


def _opened(rows: pd.DataFrame, at: int) -> Opened:
    ids = list(rows["decision"])
    return Opened(
        ids[at], str(rows["slot_key"].iloc[at]), ids[at - 1] if at > 0 else None,
        ids[at + 1] if at + 1 < len(ids) else None,
    )  # fmt: skip


def _slot_message(place: Place, every: pd.DataFrame, shown: pd.DataFrame) -> None:
    if place.slot is None or place.slot in set(shown["slot_key"]):
        return
    if place.slot in set(every["slot_key"]):
        st.markdown(":small[:gray[The open decision is not in this list: the filters leave it out.]]")
    else:
        st.warning(
            f"No decision at {for_markdown(_cut(place.slot, 60))}. This track has slots from "
            f"{every['slot_key'].iloc[-1]} to {every['slot_key'].iloc[0]}; the newest is shown."
        )


def _at(every: pd.DataFrame, slot: str | None) -> Opened | None:
    if every.empty:
        return None
    slots = list(every["slot_key"])
    return _opened(every, slots.index(slot) if slot in slots else 0)


def _pick() -> None:
    rows = st.session_state["de_list"]["selection"]["rows"]
    if rows:
        st.query_params["slot"] = st.session_state["de_slots"][rows[0]]


def _counts(every: pd.DataFrame, shown: pd.DataFrame) -> str:
    live = every[every["phase"] == "live"]
    parts = [f"{n} {s}" for s, n in live["status"].value_counts().items()]
    head = f"{fmt.counted(len(live), 'slot')}: {', '.join(parts)}"
    if n_late := int(live["late"].sum()):
        head += f" · {n_late} decided late"
    if len(shown) < len(every):
        head += f" · {len(shown)} of {len(every)} listed"
    if len(live) < len(every):
        head += f" · {len(every) - len(live)} of warm-up, which count nowhere"
    return for_markdown(head) + " · □ failed or no decision"


def list_frame(shown: pd.DataFrame) -> pd.DataFrame:
    """For the list: a failed or missing decision has the hollow mark whatever it acts as."""
    bad = shown["status"].isin([*FAILED, *GAPS])
    marks = ["□" if b else ACTION_MARK[a] for a, b in zip(shown["action"], bad, strict=True)]
    status = [WARMUP if p == "warmup" else s for p, s in zip(shown["phase"], shown["status"], strict=True)]
    return pd.DataFrame(
        {
            "session": shown["session"],
            "action": [f"{m} {a}" for m, a in zip(marks, shown["action"], strict=True)],
            "conviction": 100 * shown["conviction"].astype(float),
            "next": (100 * shown["next_return"]).round(1) + 0.0,
            "status": [f"{s}, late" if late else s for s, late in zip(status, shown["late"], strict=True)],
        }
    )


def styled(table: pd.DataFrame, now: Theme) -> Styler:
    """Actions and returns in their colours, statuses that are no opinion in the colour of a loss."""
    t = TOKENS[now]
    marks = {"▲": t.buy, "▼": t.sell, "□": t.loss}

    def paint(rows: pd.DataFrame) -> pd.DataFrame:
        out = pd.DataFrame("", index=rows.index, columns=rows.columns)
        out["action"] = [f"color: {marks.get(a[:1], t.muted)}; font-weight: 600" for a in rows["action"]]
        out["next"] = [
            "" if pd.isna(v) or v == 0 else f"color: {t.gain if v > 0 else t.loss}" for v in rows["next"]
        ]
        quiet = rows["status"].isin(["ok", WARMUP])
        out["status"] = [f"color: {t.muted if q else t.loss}" for q in quiet]
        return out

    return table.style.apply(paint, axis=None)


def search_results(page: RunPage, words: str) -> None:
    """What the search has found, in a card above the decision; a tick opens one."""
    if not words:
        return
    try:
        found = decision_queries.hits(page.key, page.store, page.run_id, words)
    except ConfigError as error:
        st.warning(for_markdown(str(error)))
        return
    with st.container(border=True):
        n = len(found.hits)
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(
                f"**{'First ' if found.more else ''}{fmt.counted(n, 'decision')}** with "
                f"“{for_markdown(words)}”",
                width="content",
            )
            st.button(
                "Close search", key="de_close", icon=":material/close:", type="tertiary",
                on_click=drop, args=("q",),
            )  # fmt: skip
        if not found.complete:
            st.warning("The scan took too long and was broken off. Search for something in a smaller run.")
        elif not n:
            st.write("Nothing in the prompts, answers and reasons of this run. Upper and lower case are alike.")
        else:
            _hit_table(found.hits)
            if found.more:
                st.markdown(f":small[:gray[Only {LIMIT} are listed. More words find fewer.]]")


def _hit_table(hits: Sequence[Hit]) -> None:
    table = pd.DataFrame(
        {
            "session": [h.session for h in hits],
            "entry": [f"{h.agent}@{h.model}" for h in hits],
            "asset": [h.asset for h in hits],
            "action": [f"{ACTION_MARK[h.action]} {h.action}" for h in hits],
            "place": [h.place if not h.role else f"{h.place}, {h.role.replace('_', ' ')}" for h in hits],
            "text": [" ".join(h.snippet.split()) for h in hits],
        }
    )
    st.session_state["de_hit_ids"] = [h.decision for h in hits]
    text = st.column_config.TextColumn
    st.dataframe(
        table, key="de_hits", hide_index=True, row_height=board.ROW_HEIGHT, on_select=_open_hit,
        height=board.height(len(hits), most=6), selection_mode="single-row", alt="Decisions found",
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM", width=64),
            "entry": text("Entry", width=180), "asset": text("Asset", width=60),
            "action": text("Action", width=72), "place": text("Found in", width=150),
            "text": text("Text", width=500),
        },
    )  # fmt: skip


def _open_hit() -> None:
    rows = st.session_state["de_hits"]["selection"]["rows"]
    if rows:
        go_to(st.session_state["de_hit_ids"][rows[0]])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def long_text(text: str, most: int) -> None:
    """Foreign text, cut with a word about what is left out."""
    plain(_cut(text, most))
    if len(text) > most:
        st.markdown(f":small[:gray[Cut here: {len(text):,} characters in all; the raw answer has them.]]")

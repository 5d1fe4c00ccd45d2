"""The board on the page: its switches, its search and its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from arena.core.ids import TrackId
from arena.core.settings import ROOT
from arena.ui import board, board_columns
from arena.ui import format as fmt
from arena.ui.board_flags import Windows, flags_of, in_short
from arena.ui.filters import SEARCH_KEY
from arena.ui.links import DECISIONS_PAGE, decision_params
from arena.ui.marks import Mark
from arena.ui.prose import for_markdown
from arena.ui.session import theme

Row = dict[str, Any]

OPEN = "open"
"""URL parameter: the row that is unfolded, by name, so that it stays open when ranks change."""

MOST_ROWS = 200
SEARCH_FROM = 25
"""Rows from which on a search field is worth its place."""

BY: dict[str, Literal["entry", "account"]] = {"Entry": "entry", "Account": "account"}


@dataclass(frozen=True)
class BoardView:
    """What the switches over the board say."""

    by: Literal["entry", "account"]
    gross: bool
    columns: str


@dataclass(frozen=True, eq=False)
class Shown:
    """Rows of the table, and what belongs to them.

    `keys` are the rows' names in `luck`; `costs` USD a decision by row, None where unknown; `windows`
    and `held_gross` first and last session, and the return of Buy & Hold before fees, by asset; `n_all`
    counts rows before the table was cut. `marks` are unrealised changes by entry, of a live season.
    """

    rows: list[Row]
    keys: list[str]
    luck: Mapping[str, Row]
    costs: list[float | None]
    windows: Windows
    held_gross: Mapping[str, float | None]
    n_all: int
    marks: Mapping[str, Mark] = field(default_factory=dict)

    @property
    def marked(self) -> bool:
        """Whether there is anything unrealised to show."""
        return any(m.change_frac is not None for m in self.marks.values())

    @property
    def chances(self) -> list[Row | None]:
        """Luck by row, None where it was not worked out."""
        return [self.luck.get(k) for k in self.keys]


def switches(*, rules: bool) -> tuple[BoardView, DeltaGenerator]:
    """Title of the board, and its switches: entry or account, net or gross, columns; all in the URL.

    `rules`: only rule-based stand-ins are on it. With the view comes a place in the row for the export.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        title = st.container(width="content")
        with st.container(horizontal=True, width="content", gap="small"):
            by = _switch("Rows", list(BY), "ov_by")
            fees = _switch("Fees", ["Net", "Gross"], "ov_fees")
            chosen = _switch("Columns", list(board_columns.SETS), "ov_columns")
            place = st.container(width="content")
    title.header(f"{'Rule-based stand-ins' if rules else 'Board'} by {BY[by]}", width="content")
    return BoardView(BY[by], fees == "Gross", chosen), place


def _switch(label: str, options: list[str], key: str) -> str:
    """One of a few, the first unless chosen otherwise."""
    return str(
        st.segmented_control(
            label, options, default=options[0], required=True, key=key, bind="query-params",
            label_visibility="collapsed",
        )
    )  # fmt: skip


def search_field(n_rows: int) -> str:
    """What is searched for; no field where all rows are seen at a glance."""
    if n_rows < SEARCH_FROM and not st.session_state.get(SEARCH_KEY) and SEARCH_KEY not in st.query_params:
        return ""
    return str(
        st.text_input(
            "Search", key=SEARCH_KEY, bind="query-params", placeholder="Search agent, model, asset",
            label_visibility="collapsed", max_chars=80, width=240,
        )
    ).strip()  # fmt: skip


def matching(rows: Sequence[Row], words: str) -> list[Row]:
    """Rows whose name has every word; Buy & Hold always."""
    asked = words.casefold().split()
    return [
        r for r in rows
        if r["group"] == "benchmark" or all(w in board.key_of(r).casefold() for w in asked)
    ]  # fmt: skip


def top(rows: Sequence[Row], most: int = MOST_ROWS) -> list[Row]:
    """The first rows, and behind them every Buy & Hold that was cut off."""
    return [*rows[:most], *(r for r in rows[most:] if r["group"] == "benchmark")]


def gross_excess(row: Row, held: Mapping[str, float | None]) -> float | None:
    """Return before fees minus Buy & Hold's before fees over the row's assets, a fraction.

    `held` is the latter by asset. None where the row covers less than its assets' window.
    """
    own = board.value(row, "CR_gross")
    others = [held.get(a) for a in row["position"]]
    if own is None or not others or "partial_window" in row["metrics"]["CR"]["flags"]:
        return None
    known = [v for v in others if v is not None]
    return None if len(known) < len(others) else own - sum(known) / len(known)


def table_of(shown: Shown, view: BoardView) -> pd.DataFrame:
    """The frame of one column set."""
    rows = shown.rows
    luck = {i: shown.luck[k] for i, k in enumerate(shown.keys) if k in shown.luck}
    table = board.frame(rows, luck)
    flags = [flags_of(r, luck.get(i), shown.windows) for i, r in enumerate(rows)]
    table["cost"] = shown.costs
    table["flag"] = [in_short(f) for f in flags]
    table["flags"] = [" · ".join(f) or None for f in flags]
    table["other"] = table["gross"]
    if view.gross:
        table["other"], table["net"] = table["net"].copy(), table["gross"]
        excess = [None if r["group"] == "benchmark" else gross_excess(r, shown.held_gross) for r in rows]
        table["excess"] = [None if e is None else 100 * e for e in excess]
    table["open"] = [None if r["group"] == "benchmark" else "Open" for r in rows]
    asset = ["asset"] if view.by == "account" else []
    columns: list[str] = ["net", *board_columns.SETS[view.columns]]
    if _with_marks(shown, view):
        found = [shown.marks.get(board.key_of(r)) for r in rows]
        change = [None if m is None else m.change_frac for m in found]
        table["mark"] = [None if c is None else 100 * c for c in change]
        columns = ["net", "mark", *(c for c in columns[1:] if c != "win")]
    return table[["rank", "name", *asset, *columns, "open", *board.MARKS]]


def _with_marks(shown: Shown, view: BoardView) -> bool:
    """Whether the unrealised column stands beside the net return, in the place of wins."""
    return (
        shown.marked and view.by == "entry" and not view.gross
        and view.columns == board_columns.FIRST_SET
    )  # fmt: skip


def settings_of(rows: Sequence[Row], view: BoardView, *, marked: bool = False) -> dict[str, Any]:
    assets = sorted({a for r in rows for a in r["position"]})
    n_sessions = max((r["n_sessions"] for r in rows), default=0)
    made = board_columns.columns(assets, n_sessions, gross=view.gross)
    made["open"] = st.column_config.ButtonColumn(
        "Open", width=50, type="tertiary", key="board_click", on_click=_clicked
    )
    if marked:
        made["curve"] = st.column_config.LineChartColumn(f"{n_sessions} days", width=72)
    if view.gross:
        made["net"] = made["gross"]
    if view.by == "account":  # the asset has a column of its own, and takes its place from others
        made |= one_asset("Entry", 144)
        made["flags"] = st.column_config.TextColumn("Flags", width=138)
    return made


def one_asset(first: str, width: int) -> dict[str, Any]:
    """Settings where a row is one asset: its action needs no asset, its position one mark, and assets
    differ in how many sessions they have."""
    text = st.column_config.TextColumn
    return {
        "curve": st.column_config.LineChartColumn("Curve", width=92),
        "name": text(first, width=width),
        "now": text("Now", width=52, help="▲ long, ■ flat, ▼ short"),
        "last": text("Last action", width=100, help="And its age at the end of the window"),
    }


def opened_among(rows: Sequence[Row]) -> int:
    """Position of the row that the address asks for, else of the first that is no Buy & Hold."""
    names = [board.key_of(r) for r in rows]
    wanted = st.query_params.get(OPEN)
    if wanted in names:
        return names.index(wanted)
    if wanted is not None:
        st.markdown(f":small[:gray[{for_markdown(wanted[:120])} is not among these rows; the first is open.]]")
    return next((i for i, r in enumerate(rows) if r["group"] != "benchmark"), 0)


def draw(shown: Shown, view: BoardView) -> Row:
    """The table; returns the open row."""
    rows, table = shown.rows, table_of(shown, view)
    at = opened_among(rows)
    # Selection is by position: the opened row is put back where it stands now.
    st.session_state["board"] = {"selection": {"rows": [at], "columns": [], "cells": []}}
    st.session_state["board_order"] = [board.key_of(r) for r in rows]
    st.dataframe(
        board.styled(table, theme()),
        key="board", hide_index=True, row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(rows)), column_config=settings_of(rows, view, marked=_with_marks(shown, view)),
        selection_mode="single-row-required", on_select=_select,
        alt=f"Leaderboard: {'entries' if view.by == 'entry' else 'accounts'} by net return, Buy & Hold among them",
    )  # fmt: skip
    return rows[at]


def _select() -> None:
    rows = st.session_state["board"]["selection"]["rows"]
    if rows:
        st.query_params[OPEN] = st.session_state["board_order"][rows[0]]


def _clicked() -> None:
    """Remember which row's button was clicked; a callback cannot leave the page itself."""
    st.session_state["board_open_row"] = st.session_state["board_click"].row


def follow_click(rows: Sequence[Row]) -> None:
    """Leave for the decisions of the row whose button was clicked: the newest of its last account."""
    at = st.session_state.pop("board_open_row", None)
    names = st.session_state.get("board_order", [])
    if at is None or at >= len(names):
        return
    row = next((r for r in rows if board.key_of(r) == names[at]), None)
    if row is not None:
        st.switch_page(ROOT / DECISIONS_PAGE, query_params=decision_params(_track(row)))


def _track(row: Row) -> str:
    """Track of an account, or of the account of an entry that acted last."""
    if "account" in row:
        return str(TrackId.parse(row["account"]))
    tracks = {t.asset: t for t in map(TrackId.parse, row["accounts"])}
    return str(tracks.get(row["last_action_asset"]) or next(iter(tracks.values())))

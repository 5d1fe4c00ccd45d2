"""Parts of the Overview page."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED
from arena.ui import board, charts
from arena.ui import format as fmt
from arena.ui.links import decision_link
from arena.ui.prose import for_badge, for_markdown
from arena.ui.session import theme
from arena.ui.tokens import agent_color, model_symbol, short_model, strategy_label

Row = dict[str, Any]
FEWEST_DOTS = 3


def _pill(words: str) -> dict[str, Any]:
    return {"delta": for_markdown(words), "delta_color": "off", "delta_arrow": "off"}


def tiles(rows: list[Row], run: Any, last_round: dict[str, Any] | None) -> None:
    """Five figures: best excess, how many are ahead, worst drawdown, last round, window."""
    entries = contenders(rows)
    excess = [(board.value(r, "excess_bh"), r["entry"]) for r in entries]
    known = [(v, e) for v, e in excess if v is not None]
    falls = [(board.value(r, "MDD"), r["entry"]) for r in entries]
    deep = [(v, e) for v, e in falls if v is not None]
    with st.grid(5, min_column_width=170):
        look: dict[str, Any] = {"border": True, "height": "stretch"}
        best = max(known) if known else (None, fmt.MISSING)
        st.metric(
            "Best vs B&H", fmt.points(best[0]), **_pill(best[1]), **look,
            help="Best net return minus Buy & Hold's over the chosen assets",
        )  # fmt: skip
        ahead = sum(v > 0 for v, _ in known)
        st.metric(
            "Ahead of B&H", f"{ahead} of {len(entries)}", **_pill("entries"), **look,
            help="Entries whose net return is above Buy & Hold's; no test of luck yet",
        )  # fmt: skip
        worst = max(deep) if deep else (None, fmt.MISSING)
        st.metric(
            "Worst drawdown", fmt.percent(None if worst[0] is None else -worst[0]),
            **_pill(worst[1]), **look,
        )  # fmt: skip
        failed, total = _last_round_counts(last_round)
        when = fmt.moment(last_round["as_of_utc"]) if last_round else fmt.MISSING
        st.metric(
            "Last round", f"{total} · {failed} failed", **_pill(when), **look,
            help="Decisions at the newest slot, and how many of them the model failed to make",
        )  # fmt: skip
        sessions = max((r["n_sessions"] for r in rows), default=0)
        st.metric(
            "Window", f"{sessions} days", **_pill(fmt.span(str(run["start"]), str(run["end"]))), **look
        )  # fmt: skip


def _last_round_counts(last_round: dict[str, Any] | None) -> tuple[int, int]:
    if last_round is None:
        return 0, 0
    statuses = last_round["statuses"]
    return sum(statuses.get(s, 0) for s in FAILED), int(last_round["n_decisions"])


def only_stand_ins(rows: list[Row]) -> bool:
    groups = {r["group"] for r in rows}
    return "stand_in" in groups and not groups & {"model", "import"}


def contenders(rows: list[Row]) -> list[Row]:
    """Entries that statements are made about: no benchmark, and no rule beside a real model."""
    rules = only_stand_ins(rows)
    return [r for r in rows if r["group"] != "benchmark" and (rules or r["group"] != "stand_in")]


def main_board(rows: list[Row], strategy: str) -> Row:
    """The ranked table; returns the chosen row (the first entry until one is clicked)."""
    rules = only_stand_ins(rows)
    shown = rows if rules else [r for r in rows if r["group"] != "stand_in"]
    st.header("Rule-based stand-ins by entry" if rules else "Board by entry")
    names = [r["entry"] for r in shown]
    if st.session_state.get("opened") not in names:
        st.session_state.opened = next(
            (r["entry"] for r in shown if r["group"] != "benchmark"), names[0]
        )
    at = names.index(st.session_state.opened)
    # Selection is by position: the opened entry is put back where it stands now.
    st.session_state["board"] = {"selection": {"rows": [at], "columns": [], "cells": []}}
    st.session_state["board_order"] = names
    assets = sorted({a for r in rows for a in r["position"]})
    sessions = max(r["n_sessions"] for r in rows)
    st.dataframe(
        board.styled(board.frame(shown), theme()),
        key="board", hide_index=True, row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING,
        height=board.height(len(shown)), column_config=board.columns(assets, sessions),
        selection_mode="single-row-required", on_select=_open,
        alt="Leaderboard: entries by net return, Buy & Hold among them",
    )  # fmt: skip
    if knowing := sorted({str(r["model"]) for r in shown if r["may_know"]}):
        known = for_badge(", ".join(knowing))
        st.badge(f"May know this period: {known}", icon=":material/history_edu:", color="orange")
    what = "stand-ins ranked among themselves; no LLM took part" if rules else "ranked by net return"
    st.markdown(
        f":small[:gray[◆ Buy & Hold takes no rank. An entry is the equal-weight average of its "
        f"accounts over the chosen assets, {what}. Strategy {strategy_label(strategy)}.]]"
    )
    return shown[at]


def _open() -> None:
    rows = st.session_state["board"]["selection"]["rows"]
    if rows:
        st.session_state.opened = st.session_state["board_order"][rows[0]]


def accounts_of(picked: Row, accounts: list[Row]) -> None:
    """The accounts of the chosen entry, unfolded."""
    held = {
        r["asset"]: board.value(r, "CR") for r in accounts if r["group"] == "benchmark"
    }
    own = [r for r in accounts if r["account"] in picked["accounts"]]
    own.sort(key=lambda r: r["asset"])
    label = for_markdown(board.name(picked))
    with st.expander(f"{label} · {len(own)} accounts", expanded=True, icon=":material/account_tree:"):
        table = board.account_frame(own, held)
        settings = board.columns([r["asset"] for r in own], picked["n_sessions"], first="Account")
        st.dataframe(
            board.styled(table, theme()), hide_index=True, row_height=board.ROW_HEIGHT,
            placeholder=fmt.MISSING, height=board.height(len(own)), column_config=settings,
            alt=f"Accounts of {label}", key="accounts",
        )  # fmt: skip
        if picked["group"] != "benchmark":
            with st.container(horizontal=True):
                for row in own:
                    track = row["account"].rsplit(":", 1)[0]
                    decision_link(track, f"Decisions on {row['asset']}")


def stand_in_board(rows: list[Row]) -> None:
    """Stand-ins apart and unranked, where real models or imports are on the board."""
    apart = [r for r in rows if r["group"] == "stand_in"]
    if only_stand_ins(rows) or not apart:
        return
    st.header("Rule-based stand-ins (no LLM), unranked")
    assets = sorted({a for r in apart for a in r["position"]})
    st.dataframe(
        board.styled(board.frame(apart).drop(columns=["rank"]), theme()), hide_index=True,
        row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING, height=board.height(len(apart)),
        column_config=board.columns(assets, apart[0]["n_sessions"]), key="stand_ins",
        alt="Rule-based stand-ins, unranked",
    )  # fmt: skip


def small_multiples(rows: list[Row]) -> None:
    """Net return by agent and by model: colour is the agent, shape the model.

    A chart that would have one dot in every row is left out, and both where the board says it all.
    """
    known = [(r, board.value(r, "CR")) for r in contenders(rows)]
    if len(known) < FEWEST_DOTS:
        return
    agents = tuple(sorted({r["agent"] for r, _ in known}))
    models = tuple(sorted({r["model"] for r, _ in known}))
    now = theme()
    points = pd.DataFrame(
        [
            {
                "agent": r["agent"],
                "model": short_model(r["model"]),
                "value": value,
                "color": agent_color(r["agent"], agents, now),
                "symbol": model_symbol(r["model"], models),
            }
            for r, value in known
            if value is not None
        ]
    )
    wanted = [
        ("Same agent, other models", "agent", "model", len(models)),
        ("Same model, other agents", "model", "agent", len(agents)),
    ]
    shown = [(title, group, member) for title, group, member, n in wanted if n > 1]
    if points.empty or not shown:
        return
    hold = [board.value(r, "CR") for r in rows if r["group"] == "benchmark"]
    for column, (title, group, member) in zip(st.columns(len(shown)), shown, strict=True):
        with column.container(border=True, height="stretch"):
            st.header(title, width="content")
            st.markdown(f":small[:gray[Net return by {group}. Dot = {member}, bar = range, tick = median.]]")
            frame = points.rename(columns={group: "group", member: "member"})
            st.plotly_chart(
                charts.range_figure(frame, hold[0] if hold else None, now), theme=None,
                config={"displayModeBar": False}, key=f"range_{group}",
                alt=f"{title}: range and median of net returns",
            )  # fmt: skip

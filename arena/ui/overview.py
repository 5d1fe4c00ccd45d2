"""Parts of the Overview page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED
from arena.runner.luck_board import row_key
from arena.ui import board, charts
from arena.ui import format as fmt
from arena.ui.prose import for_badge, for_markdown
from arena.ui.tokens import Theme, agent_color, model_symbol, short_model, strategy_label

Row = dict[str, Any]
Key = tuple[object, ...]

_kept = st.cache_data(max_entries=64, show_spinner=False)
"""For parts that only show and hold no switch: what they drew is kept by `key` and the theme, and sent
again without being made again."""

FEWEST_DOTS = 3
MOST_GROUPS = 12
"""Agents, and models, that the small charts hold: those of the best median."""


def _pill(words: str) -> dict[str, Any]:
    return {"delta": for_markdown(words), "delta_color": "off", "delta_arrow": "off"}


def tiles(
    rows: list[Row], run: Any, last_round: dict[str, Any] | None, luck: Mapping[str, Row]
) -> None:
    """Five figures: best excess, how many are ahead, worst drawdown, last round, window."""
    entries = [r for r in contenders(rows) if not board.is_vote(r) and not r["voided"]]
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
            "Ahead of B&H", f"{ahead} of {len(entries)}", **_pill(beyond_luck(entries, luck)), **look,
            help="Entries whose net return is above Buy & Hold's, and how many of them by more than "
            "luck explains: the interval of their difference does not hold zero",
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
        last = max(r["end"] for r in rows)
        sessions = max((r["n_sessions"] for r in rows), default=0)
        st.metric(
            "Window", f"{sessions} days", **_pill(fmt.span(str(run["start"]), last)), **look
        )  # fmt: skip


def beyond_luck(entries: list[Row], luck: Mapping[str, Row]) -> str:
    """How many entries are above Buy & Hold by more than noise, in two or three words."""
    verdicts = {luck[k]["verdict"] for r in entries if (k := row_key(r)) in luck}
    if verdicts <= {None, "too short to tell"}:
        return "too short to tell"
    n = sum(luck[k]["verdict"] == "above Buy & Hold" for r in entries if (k := row_key(r)) in luck)
    return f"{n or 'none'} beyond luck"


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


def after_cutoff(rows: list[Row]) -> tuple[str, ...]:
    """Models of the rows that cannot know the period: past their stated cut-off, or stand-ins."""
    kept = (r for r in rows if r["group"] != "benchmark")
    return tuple(
        sorted({r["model"] for r in kept if r["may_know"] is False or r["group"] == "stand_in"})
    )


def on_board(rows: list[Row]) -> list[Row]:
    """Rows of the ranked table: stand-ins only where nobody else plays."""
    return rows if only_stand_ins(rows) else [r for r in rows if r["group"] != "stand_in"]


def notes(rows: list[Row], strategy: str, fill: str, n_all: int) -> None:
    """What the table means, and what it leaves out."""
    if knowing := sorted({str(r["model"]) for r in rows if r["may_know"]}):
        known = for_badge(", ".join(knowing))
        st.badge(f"May know this period: {known}", icon=":material/history_edu:", color="orange")
    what = (
        "stand-ins ranked among themselves; no LLM took part" if only_stand_ins(rows)
        else "ranked by net return"
    )  # fmt: skip
    votes = " and ◇ the majority vote of an agent's models" if any(map(board.is_vote, rows)) else ""
    cut = f" The first {len(rows)} of {n_all} rows are shown: search, or filter." if len(rows) < n_all else ""
    price = "at a price already known" if fill == "close" else "at the first price after the decision"
    st.markdown(
        f":small[:gray[◆ Buy & Hold{votes} stand beside the entries. An entry is the equal-weight average "
        f"of its accounts over the chosen assets, {what}. `2=` shares a rank: the difference to the first of "
        f"the group is within noise. Strategy {strategy_label(strategy)}, fills {price}.{cut}]]"
    )


@_kept
def stand_in_board(key: Key, shade: Theme, _rows: list[Row]) -> None:
    """Stand-ins apart and unranked, where real models or imports are on the board."""
    apart = [r for r in _rows if r["group"] == "stand_in"]
    if only_stand_ins(_rows) or not apart:
        return
    st.header("Rule-based stand-ins (no LLM), unranked")
    assets = sorted({a for r in apart for a in r["position"]})
    shown = ["name", "net", "excess", "sharpe", "drawdown", "win", "curve", "balance", "now", "last"]
    table = board.frame(apart)[[*shown, *board.MARKS]]
    st.dataframe(
        board.styled(table, shade), hide_index=True,
        row_height=board.ROW_HEIGHT, placeholder=fmt.MISSING, height=board.height(len(apart)),
        column_config=board.columns(assets, apart[0]["n_sessions"]), key="stand_ins",
        alt="Rule-based stand-ins, unranked",
    )  # fmt: skip


def best_groups(known: list[tuple[Row, float | None]], axis: str) -> set[str]:
    """The first `MOST_GROUPS` agents or models by median return."""
    values: dict[str, list[float]] = {}
    for row, value in known:
        if value is not None:
            values.setdefault(str(row[axis]), []).append(value)
    return set(sorted(values, key=lambda g: -statistics.median(values[g]))[:MOST_GROUPS])


@_kept
def small_multiples(key: Key, shade: Theme, phone: bool, _rows: list[Row]) -> None:
    """Net return by agent and by model: colour is the agent, shape the model.

    A chart that would have one dot in every row is left out, and both where the board says it all.
    """
    known = [(r, board.value(r, "CR")) for r in contenders(_rows) if not board.is_vote(r)]
    if len(known) < FEWEST_DOTS:
        return
    played = known
    every = {axis: best_groups(known, axis) for axis in ("agent", "model")}
    known = [(r, v) for r, v in known if all(r[axis] in every[axis] for axis in every)]
    agents, models = (tuple(sorted(every[axis])) for axis in ("agent", "model"))
    all_agents = tuple(sorted({r["agent"] for r in _rows if r["group"] != "benchmark"}))
    cut = any(len({r[axis] for r, _ in played}) > len(every[axis]) for axis in every)
    left_out = f" The first {MOST_GROUPS} by median." if cut else ""
    points = pd.DataFrame(
        [
            {
                "agent": r["agent"],
                "model": short_model(r["model"]),
                "value": value,
                "color": agent_color(r["agent"], all_agents, shade),
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
    hold = [board.value(r, "CR") for r in _rows if r["group"] == "benchmark"]
    for column, (title, group, member) in zip(st.columns(len(shown)), shown, strict=True):
        with column.container(border=True, height="stretch"):
            st.header(title, width="content")
            st.markdown(f":small[:gray[Net return by {group}. Dot = {member}, bar = range, tick = median.{left_out}]]")
            frame = points.rename(columns={group: "group", member: "member"})
            st.plotly_chart(
                charts.range_figure(frame, hold[0] if hold else None, shade, phone=phone), theme=None,
                config={"displayModeBar": False}, key=f"range_{group}",
                alt=f"{title}: range and median of net returns",
            )  # fmt: skip

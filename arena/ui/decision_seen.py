"""What an agent saw before it decided: prices, the brief with its scores, stories, filings, memory.

Every text of a story or a model goes through `st.text`, a table or `for_markdown`.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import FAILED, GAPS, GIVEN
from arena.ui import board, decision_charts, decision_queries, queries, states
from arena.ui import format as fmt
from arena.ui.decisions import long_text
from arena.ui.market_day import SIDE, maker_badge, score_badges
from arena.ui.page import RunPage
from arena.ui.prose import for_badge, for_markdown, plain
from arena.ui.session import theme
from arena.ui.tokens import ACTION_MARK

Document = dict[str, Any]
SUMMARY_CHARS = 700
MEMORY_CHARS = 220
MOST_MEMORIES, MOST_BRIEF = 4, 14
SHORT_CHARS = 12
"""A memory of no more than a word, as of the action of a day, stands in one line with the others."""

MOST_STORIES = 40
STORY_CHARS = 300


def seen(page: RunPage, doc: Document, prefix: str, *, narrow: bool) -> None:
    """Three cards side by side where there is room, and what else was read in closed expanders."""
    st.header("What the agent saw", anchor=False)
    if doc["context"] is None and not doc["calls"]:
        st.markdown(":small[:gray[Nothing: this row rests on no market of its own.]]")
        if doc["status"] in GAPS:
            return
    with st.grid(1 if narrow else 3, min_column_width=220):
        with st.container(border=True, height="stretch"):
            _prices(page, doc, prefix)
        with st.container(border=True, height="stretch"):
            _brief(page, doc)
        with st.container(border=True, height="stretch"):
            _memory(page, doc)
    _stories(doc, prefix)
    _figures(doc, prefix)


def _title(words: str, note: str = "") -> None:
    st.markdown(f"**{words}**" + (f" :small[:gray[{note}]]" if note else ""))


def _prices(page: RunPage, doc: Document, prefix: str) -> None:
    every = queries.bars(page.key, page.store, doc["run"], doc["asset"])
    bars = every[every["session"].dt.date <= doc["session"]]
    n = doc["context"]["n_bars"] if doc["context"] else len(bars)
    shown = min(len(bars), decision_charts.TAIL)
    _title("Prices", f"{n} bars, {shown} shown")
    if bars.empty:
        st.write("The store has no bar up to this session.")
        return
    failed = doc["status"] in FAILED | GAPS
    st.plotly_chart(
        decision_charts.tail_figure(bars, doc["action"], failed, theme()), theme=None,
        config={"displayModeBar": False}, key=f"{prefix}tail",
        alt=f"Price of {doc['asset']} up to the decision",
    )  # fmt: skip
    closes = bars["close"]
    parts = [f"Close **\\${closes.iloc[-1]:,.2f}**"]
    if len(closes) > 1:
        parts.append(f"day {fmt.percent(closes.iloc[-1] / closes.iloc[-2] - 1)}")
    if len(closes) >= decision_charts.MEAN:
        mean = closes.tail(decision_charts.MEAN).mean()
        parts.append(f"{decision_charts.MEAN}-session mean \\${mean:,.2f} (dotted)")
    st.markdown(f":small[{' · '.join(parts)}]")


def _brief(page: RunPage, doc: Document) -> None:
    brief = doc["brief"]
    if brief is None:
        _title("Brief")
        if doc["brief_failure"]:
            st.badge(f"Brief failed: {for_badge(str(doc['brief_failure']['status']))}", color="red")
            st.write(f"Its maker wrote none; the agent saw {fmt.counted(len(doc['stories']), 'story', 'stories')}.")
        else:
            st.markdown(":small[:gray[No brief was made for this slot.]]")
        return
    told = fmt.counted(brief["n_stories"], "story", "stories")
    _title("Brief", f"{told} of {fmt.counted(brief['n_items'], 'item')}")
    with st.container(horizontal=True, gap="xsmall"):
        mark, color = SIDE[brief["sentiment"]]
        st.badge(f"{mark} {brief['sentiment']} {fmt.signed(brief['score'])}", color=color)
        maker_badge(brief)
        if doc["brief_rejected"]:
            states.rejected_badge()
    long_text(brief["summary"], SUMMARY_CHARS)
    whole = queries.brief(page.key, page.store, brief["id"])
    score_badges({"scores": [] if whole is None else whole["scores"]})


def _memory(page: RunPage, doc: Document) -> None:
    recalled = [r for c in doc["calls"] if c["kind"] == "memory" and c["role"] == "recall" for r in _recalled(c)]
    _title("Memory used", fmt.counted(len(recalled), "item") if recalled else "")
    if recalled:
        texts = decision_queries.remembered(page.key, page.store, doc["track"])
        told = [k for k in recalled if len(texts.get(k, "")) > SHORT_CHARS]
        for key in told[:MOST_MEMORIES]:
            plain(f"[{key}] {_cut(texts[key], MEMORY_CHARS)}")
        brief = [f"{k} {texts.get(k, '')}".strip() for k in recalled if k not in told]
        if brief:
            st.markdown(f":small[:gray[{for_markdown(', '.join(brief[:MOST_BRIEF]))}]]")
        left = max(len(told) - MOST_MEMORIES, 0) + max(len(brief) - MOST_BRIEF, 0)
        if left:
            st.markdown(f":small[:gray[and {left} more, listed under the calls]]")
    past = (doc["view"] or {}).get("past") or []
    if past:
        made = ", ".join(
            f"{ACTION_MARK.get(str(p[1]).removesuffix(GIVEN), '□')} {fmt.percent(p[3])}" for p in past
        )
        last = fmt.counted(len(past), "decision")
        st.markdown(f":small[:gray[Told of its last {last}, oldest first, and the move after each: {made}]]")
    elif not recalled:
        st.markdown(":small[:gray[None: this agent recalled nothing and had no decision behind it.]]")


def _recalled(call: dict[str, Any]) -> list[str]:
    """Ids or sessions that a recall brought back, of whatever kind the memory is."""
    entry = json.loads(call["parsed_json"] or "{}")
    found = [str(i[0]) for layer in (entry.get("found") or {}).values() for i in layer]
    return found + [str(s) for s in entry.get("sessions") or ()]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _stories(doc: Document, prefix: str) -> None:
    stories, filed = doc["stories"], doc["fundamentals"]
    if stories:
        with st.expander(f"{fmt.counted(len(stories), 'story', 'stories')} it could read", icon=":material/newspaper:"):
            table = pd.DataFrame(
                {
                    "id": [s["id"] for s in stories], "source": [s["source"] for s in stories],
                    "title": [s["title"] for s in stories],
                    "text": [_cut(s["text"] or "", STORY_CHARS) for s in stories],
                }
            ).head(MOST_STORIES)  # fmt: skip
            text = st.column_config.TextColumn
            st.dataframe(
                table, hide_index=True, row_height=board.ROW_HEIGHT, key=f"{prefix}stories",
                height=board.height(len(table), most=8), alt="Stories known at the slot",
                column_config={
                    "id": text("Id", width=92), "source": text("Outlet", width=120),
                    "title": text("Title", width=280), "text": text("Text", width=400),
                },
            )  # fmt: skip
            if len(stories) > MOST_STORIES:
                st.markdown(f":small[:gray[{MOST_STORIES} are listed; the JSON has all.]]")
    if filed:
        with st.expander(f"{fmt.counted(len(filed), 'filed figure')}", icon=":material/account_balance:"):
            table = pd.DataFrame(filed)[["field", "period", "value", "id"]].astype({"period": str})
            st.dataframe(
                table, hide_index=True, row_height=board.ROW_HEIGHT, key=f"{prefix}filed",
                height=board.height(len(table), most=8), alt="Filed figures known at the slot",
            )  # fmt: skip


def _figures(doc: Document, prefix: str) -> None:
    rows = [
        {"step": c["role"].replace("_", " "), "figure": k.replace("_", " "), "value": _value(v)}
        for c in doc["calls"]
        if c["kind"] == "compute"
        for k, v in json.loads(c["parsed_json"] or "{}").items()
        if v not in (None, [], {})
    ]
    if rows:
        with st.expander(f"{fmt.counted(len(rows), 'figure')} worked out by code", icon=":material/calculate:"):
            text = st.column_config.TextColumn
            st.dataframe(
                pd.DataFrame(rows), hide_index=True, row_height=board.ROW_HEIGHT, key=f"{prefix}figures",
                height=board.height(len(rows), most=8), alt="Figures worked out by code",
                column_config={
                    "step": text("Step", width=120), "figure": text("Figure", width=180),
                    "value": text("Value", width=420),
                },
            )  # fmt: skip


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)



"""Parts of the Market page: the chart, the list of days, sources and prices."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from arena.analytics.events import Event, largest_moves, sentiment_jumps
from arena.core.clock import utc_now
from arena.runner.reviews import RULES
from arena.ui import board, market_charts, market_days
from arena.ui import format as fmt
from arena.ui.charts import MODE_BAR, RANGES
from arena.ui.market_charts import Pin
from arena.ui.market_days import RULE_WORDS, Slot
from arena.ui.prose import for_markdown
from arena.ui.session import on_phone, theme

PRICE_FORMS = ("Line", "Candles")
DAY = "market_day"
LIST_HEIGHT, PHONE_LIST_HEIGHT = 440, 312
CHAR_PX = 6
NOTE_CHARS = 48
"""Of a note in the list of pins; the note itself stands below."""


@dataclass(frozen=True)
class MarketView:
    """What the controls say. `since` None: the whole run."""

    asset: str
    since: date | None
    candles: bool


def controls(assets: Sequence[str], end: date) -> MarketView:
    """One wrapping line of controls, all bound to the URL."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asset = st.segmented_control(
            "Asset", list(assets), default=assets[0], required=True, key="mk_asset",
            bind="query-params",
        )  # fmt: skip
        span = st.segmented_control(
            "Range", list(RANGES), default="All", required=True, key="mk_range", bind="query-params"
        )
        form = st.segmented_control(
            "Price", list(PRICE_FORMS), default=PRICE_FORMS[0], required=True, key="mk_price",
            bind="query-params",
        )  # fmt: skip
    days = RANGES[str(span)]
    since = None if days is None else (pd.Timestamp(end) - pd.Timedelta(days=days - 1)).date()
    return MarketView(str(asset), since, form == "Candles")


def within(slots: Sequence[Slot], view: MarketView) -> list[Slot]:
    """Slots of the chosen range."""
    return [s for s in slots if view.since is None or s["session"] >= view.since]


def events_of(bars: pd.DataFrame, slots: Sequence[Slot], notes: pd.DataFrame, since: date) -> list[Event]:
    """What the chart points at from `since` on; earlier bars and briefs are what it is judged by."""
    sessions = [s.date() for s in bars["session"]]
    scores = [None if s["content"] is None else float(s["content"]["score"]) for s in slots]
    jumps = sentiment_jumps([s["session"] for s in slots], scores, since)
    remarks = [
        Event(row["session"].date(), "note", f"note: {cut(str(row['text']), NOTE_CHARS)}")
        for _, row in notes.iterrows()
    ]
    found = [*largest_moves(sessions, bars["close"].tolist(), since), *jumps, *remarks]
    return [e for e in found if e.session >= since]


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def chart(
    bars: pd.DataFrame, slots: Sequence[Slot], pins: Sequence[Pin], view: MarketView, *,
    reads_news: bool, key: tuple[str, int],
) -> None:  # fmt: skip
    """Price, volume and news strip; a click on a session opens its day."""
    if bars.empty:
        st.info(f"The store has no price of {view.asset} for this run.")
        return
    days = market_days.strip_frame(slots if reads_news else [])
    name = f"market_chart_{key[1]}"
    # The figure knows nothing of the chosen day: an unchanged figure keeps its zoom.
    st.plotly_chart(
        market_charts.market_figure(
            bars, days, pins, theme(), candles=view.candles, phone=on_phone()
        ),
        theme=None, config=MODE_BAR, key=name, selection_mode="points",
        on_select=lambda: _pick_point(name),
        alt=f"Price, volume and sentiment of the news of {view.asset}",
    )  # fmt: skip
    if reads_news:
        with st.container(horizontal=True, gap="xsmall"):
            st.markdown(":small[:gray[News]]", width="content")
            st.badge("bullish", color="green")
            st.badge("neutral", color="gray")
            st.badge("bearish", color="red")
            st.badge("□ no story", color="gray")
            st.badge("✕ brief failed", color="red")
            st.badge("◇ sources failed", color="orange")
    if pins:
        words = "\u2003".join(
            f":gray-badge[{p.number}] {fmt.day(p.session)} {for_markdown(p.words)}" for p in pins
        )
        st.markdown(f":small[{words}]")


def _pick_point(name: str) -> None:
    points = st.session_state[name]["selection"]["points"]
    if points:
        _open_day(str(points[0]["x"])[:10])


def _open_day(day: str) -> None:
    st.session_state[DAY] = st.query_params["day"] = day


def asset_without_news(asset: str, slots: Sequence[Slot]) -> None:
    """A line where no story about the asset was known at any slot of the run."""
    if not any(s["n_stories"] for s in slots):
        name = for_markdown(asset)
        st.info(
            f"No story about {name} was known at any of the {fmt.counted(len(slots), 'slot')} of this "
            "run. The table of sources below says which of them answered.",
            title=f"No news about {name}",
        )


def day_list(slots: Sequence[Slot], rejected: Container[str]) -> Slot:
    """The days, newest first, with their four scores; returns the chosen one."""
    shown = list(reversed(slots))
    days = [s["session"].isoformat() for s in shown]
    wanted = st.session_state.get(DAY, st.query_params.get("day"))
    at = days.index(wanted) if wanted in days else 0
    # Selection is by position: the chosen day is put back where it stands now.
    st.session_state["days"] = {"selection": {"rows": [at], "columns": [], "cells": []}}
    st.session_state["days_order"] = days
    text = st.column_config.TextColumn
    heads = {
        rule: text(RULE_WORDS[rule].capitalize(), width=60, help="By code: ○○ 0, ●○ 1, ●● 2")
        for rule in RULES
    }
    phone = on_phone()
    most = PHONE_LIST_HEIGHT if phone else LIST_HEIGHT
    st.dataframe(
        market_days.list_frame(shown, rejected, narrow=phone), key="days", hide_index=True,
        row_height=board.ROW_HEIGHT, height=min(board.height(len(shown), most=999), most),
        selection_mode="single-row-required", on_select=_pick_row,
        alt="Days with what became of the brief and its scores",
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM", width=66),
            "news": text("News", width=92),
            "stories": None if phone else st.column_config.NumberColumn("Stories", width=54),
            "scores": text("Scores", width=120, help=f"By code: {', '.join(RULE_WORDS.values())}"),
            **heads,
        },
    )  # fmt: skip
    return shown[at]


def _pick_row() -> None:
    rows = st.session_state["days"]["selection"]["rows"]
    if rows:
        _open_day(st.session_state["days_order"][rows[0]])


def health(rows: Sequence[dict[str, Any]]) -> None:
    """What each source answered last, and why items stayed out."""
    st.header("Sources")
    if not rows:
        st.markdown(
            ":small[:gray[No source has been asked on this host; a run that was loaded brings its "
            "news along.]]"
        )
        return
    now = utc_now()

    def ago(moment: Any) -> str:
        if moment is None:
            return "never"
        return f"{fmt.age_seconds(max(0.0, (now - moment).total_seconds()))} ago"

    def refused(row: dict[str, Any]) -> str:
        reasons = sorted(row["refused"].items(), key=lambda pair: (-pair[1], pair[0]))
        return ", ".join(f"{reason.replace('_', ' ')} {n}" for reason, n in reasons) or fmt.MISSING

    marks = {"ok": "ok", "limited": "◔ limited", "failed": "✕ failed"}
    table = pd.DataFrame(
        {
            "source": [r["source"] for r in rows],
            "status": [marks.get(r["status"], r["status"]) for r in rows],
            "asked": [ago(r["at_utc"]) for r in rows],
            "answered": [ago(r["last_ok_utc"]) for r in rows],
            "wait": [None if r["retry_after_s"] is None else int(r["retry_after_s"]) for r in rows],
            "items": [r["n_items"] for r in rows],
            "kept": [r["n_kept"] for r in rows],
            "refused": [refused(r) for r in rows],
            "error": [_trouble(r, ago) for r in rows],
        }
    )
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    st.dataframe(
        table, hide_index=True, row_height=board.ROW_HEIGHT, height=board.height(len(rows)),
        placeholder=fmt.MISSING, key="source_health", alt="What each source of news answered last",
        column_config={
            "source": text("Source", width=110), "status": text("Status", width=78),
            "asked": text("Last asked", width=86), "answered": text("Last ok", width=80),
            "wait": number("Wait, s", width=58, help="How long it asked us to leave it alone"),
            "items": number("Items", width=54), "kept": number("Kept", width=50),
            "refused": text("Kept out", width=330), "error": text("Last error", width=230),
        },
    )  # fmt: skip


def _trouble(row: dict[str, Any], ago: Any) -> str | None:
    if row["last_error"] is None:
        return None
    past = "" if row["status"] != "ok" else f"{ago(row['last_error_utc'])}: "
    return past + str(row["last_error"])


def price_checks(checks: pd.DataFrame, asset: str) -> None:
    """Gaps, jumps, disagreements and revisions of the asset's prices; none is repaired."""
    st.header("Price checks")
    own = checks[checks["asset"] == asset]
    if own.empty:
        st.markdown(
            f":small[:gray[No gap, jump, revision or disagreement of two sources was found in "
            f"{for_markdown(asset)}.]]"
        )
        return
    counts = own["kind"].value_counts()
    # A detail ends in what matters, the ratio of a split: it is given the room it needs.
    detail_px = min(max(CHAR_PX * int(own["detail"].str.len().max()), 300), 760)
    with st.container(horizontal=True, gap="xsmall"):
        for kind in sorted(counts.index):
            st.badge(f"{kind} {counts[kind]}", color="gray")
        st.markdown(":small[:gray[noticed, not changed]]", width="content")
    st.dataframe(
        own[["session", "kind", "value", "other", "detail", "source"]], hide_index=True,
        row_height=board.ROW_HEIGHT, height=board.height(len(own), most=8), key="checks",
        placeholder=fmt.MISSING, alt="What was noticed about prices",
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM YYYY", width=92),
            "kind": st.column_config.TextColumn("Kind", width=70),
            "value": st.column_config.NumberColumn("Close", format="%.2f", width=76),
            "other": st.column_config.NumberColumn("Other", format="%.2f", width=76),
            "detail": st.column_config.TextColumn("Detail", width=detail_px),
            "source": st.column_config.TextColumn("Source", width=420),
        },
    )  # fmt: skip

"""The decision tape of the Equity page: one asset, everyone's calls, a click away from their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from arena.core.settings import ROOT
from arena.ui import (
    board,
    equity_queries,
    market,
    market_days,
    queries,
    states,
    tape_charts,
)
from arena.ui import format as fmt
from arena.ui.charts import MODE_BAR, PHONE_MARKS
from arena.ui.equity_charts import margins_of
from arena.ui.equity_lines import Line, Pick, short_name
from arena.ui.equity_view import EquityView
from arena.ui.links import DECISIONS_PAGE, decision_params, decision_url
from arena.ui.market_charts import Pin, pins_of
from arena.ui.page import RunPage
from arena.ui.prose import for_markdown
from arena.ui.session import on_phone, theme

MOST_ROWS = 20

Window = tuple[pd.Timestamp, pd.Timestamp]


def section(page: RunPage, view: EquityView, lines: Sequence[Line]) -> None:
    """Price, news, and the decisions of the drawn lines on one asset; a click on a mark opens it."""
    drawn, asset = view.drawn, view.asset
    faint = {x.name for x in lines if x.faint}
    assets = sorted({a for p in drawn if not p.benchmark for a in _assets(p)})
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header("What each agent did", width="content")
        if asset is None and assets:
            asset = st.segmented_control(
                "Asset of the tape", assets, default=assets[0], required=True, key="eq_tape",
                bind="query-params", label_visibility="collapsed",
            )  # fmt: skip
    if asset is None:
        return
    here = (page.key, page.store, page.run_id)
    entries = list(dict.fromkeys(p.entry for p in drawn if not p.benchmark and asset in _assets(p)))
    every = equity_queries.marks(*here, asset)
    every = every.assign(who=every["agent"] + "@" + every["model"])
    decided = set(every["who"])
    entries = [e for e in entries if e in decided]
    bright = {p.entry for p in drawn if p.name not in faint}
    shown = _rows(entries, [e for e in entries if e in bright])
    window = _narrowed(_with_newest(view, every))
    bars, slots = queries.bars(*here, asset), queries.news_slots(*here, asset)
    notes = queries.notes(page.key, page.store, asset)
    pins = pins_of(market.events_of(bars, slots, notes, window[0].date()))
    pins = [p for p in pins if p.session <= window[1]]
    slots = [s for s in slots if window[0].date() <= s["session"] <= window[1].date()]
    news = market_days.strip_frame(slots)
    has_news = bool(len(news)) and bool((news["state"] != "none").any())
    _legend(has_news)
    if page.brief_maker != "none" and not has_news:
        st.markdown(
            f":small[:gray[No story about {for_markdown(asset)} was known at a slot of this window.]]"
        )
    rejected = queries.rejected(*here)
    names = _names(drawn, shown)
    made = every[every["who"].isin(shown) & every["session"].between(*window)]
    made = made.assign(
        entry=[names[w] for w in made["who"]], rejected=[h in rejected for h in made["market_hash"]]
    ).reset_index(drop=True)
    if made.empty:
        st.write("No decision of these lines in this window.")
    if made["rejected"].any():
        states.rejected_badge(int(made["rejected"].sum()))
    inside = bars[bars["session"].between(*window)].reset_index(drop=True)
    checks = queries.price_checks(*here)
    gaps = checks.loc[(checks["asset"] == asset) & (checks["kind"] == "gap"), "session"]
    every_day = queries.asset_classes(page.key, page.store)[asset] == "crypto"
    event = st.plotly_chart(
        tape_charts.tape_figure(
            market_days.with_gaps(inside, gaps.tolist(), every_day=every_day), made,
            [names[e] for e in shown], theme(), pins=pins, span=window,
            margins=margins_of(lines, on_phone()),
            phone=on_phone(), news=news if has_news else None,
        ),
        theme=None, config=MODE_BAR, key=f"tape_{page.key[1]}", on_select="rerun",
        selection_mode="points", alt=f"Price of {asset}, its news, and every decision on it",
    )  # fmt: skip
    _open_clicked(event.selection.points, set(made["decision"]))
    _pin_words(pins)
    _table(made)


def _rows(entries: Sequence[str], bright: Sequence[str]) -> Sequence[str]:
    """The highlighted entries, or on request all, up to MOST_ROWS."""
    if len(bright) < len(entries):
        n = min(len(entries), MOST_ROWS)
        words = f"All {n} entries" if n == len(entries) else f"The best {n} of {len(entries)} entries"
        if not st.toggle(f"{words} on the tape", key="eq_rows", bind="query-params"):
            return bright[:MOST_ROWS]
    return entries[:MOST_ROWS]


def _assets(pick: Pick) -> set[str]:
    return {a.split(":")[2] for a in pick.accounts}


def _with_newest(view: EquityView, every: pd.DataFrame) -> Window:
    """The shown window, to its end: a decision may be there before the equity of its session is."""
    first, last = view.window
    if last < view.whole[1] or every.empty:
        return first, last
    return first, max(last, every["session"].max())


def _narrowed(window: Window) -> Window:
    """On a phone the last PHONE_MARKS days: more marks would touch each other."""
    first = window[1] - pd.Timedelta(days=PHONE_MARKS - 1)
    if not on_phone() or first <= window[0]:
        return window
    st.markdown(f":small[:gray[The last {PHONE_MARKS} days; a wider screen shows all.]]")
    return first, window[1]


def _names(drawn: Sequence[Pick], entries: Sequence[str]) -> Mapping[str, str]:
    """Short and distinct name of each entry."""
    own = {p.entry: p for p in drawn if p.entry in entries}
    agents, models = ({getattr(p, axis) for p in own.values()} for axis in ("agent", "model"))
    short = {e: short_name(p.agent, p.model, list(agents), list(models)) for e, p in own.items()}
    twice = {s for s in short.values() if list(short.values()).count(s) > 1}
    return {e: e if s in twice else s for e, s in short.items()}


def _legend(has_news: bool) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        st.badge("▲ BUY", color="blue")
        st.badge("■ HOLD", color="gray")
        st.badge("▼ SELL", color="orange")
        st.badge("△ hollow: late", color="gray")
        st.badge("✕ failed, acts as HOLD", color="red")
        st.badge("— no decision", color="gray")
        if has_news:
            st.markdown(":small[:gray[News]]", width="content")
            st.badge("up: bullish", color="green")
            st.badge("down: bearish", color="red")
        st.markdown(":small[:gray[A click on a mark opens the decision.]]", width="content")


def _open_clicked(points: Sequence[Mapping[str, object]], known: set[str]) -> None:
    for point in points:
        data = point.get("customdata") or ()
        decision = str(data[0]) if isinstance(data, (list, tuple)) and data else ""
        if decision in known:
            st.switch_page(ROOT / DECISIONS_PAGE, query_params=decision_params(decision))


def _pin_words(pins: Sequence[Pin]) -> None:
    if pins:
        words = "\u2003".join(
            f":gray-badge[{p.number}] {fmt.day(p.session)} {for_markdown(p.words)}" for p in pins
        )
        st.markdown(f":small[{words}]")


def _table(made: pd.DataFrame) -> None:
    """The same for those who read with a keyboard or a screen reader; made once it is opened."""
    box = st.expander(
        "Decisions on the tape", icon=":material/table:", key="eq_tape_table", on_change="rerun"
    )
    if not box.open:
        return
    shown = made.iloc[::-1].assign(link=[decision_url(d) for d in made["decision"].iloc[::-1]])
    box.dataframe(
        shown[["session", "entry", "action", "status", "late", "link"]], hide_index=True,
        row_height=board.ROW_HEIGHT, height=board.height(len(shown), most=10), key="tape_data",
        alt="Every decision on the tape, the newest first",
        column_config={
            "session": st.column_config.DateColumn("Session", format="D MMM YYYY", width=110),
            "entry": st.column_config.TextColumn("Entry", width=240),
            "action": st.column_config.TextColumn("Action", width=80),
            "status": st.column_config.TextColumn("Status", width=120),
            "late": st.column_config.CheckboxColumn("Late", width=60),
            "link": st.column_config.LinkColumn("Decision", display_text="open", width=90),
        },
    )  # fmt: skip

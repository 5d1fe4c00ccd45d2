"""The decision tape as a pure function of frames and tokens. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from arena.core.actions import FAILED, GAPS
from arena.ui import format as fmt
from arena.ui.charts import (
    MARGINS,
    MARKS,
    PHONE_LABEL_CHARS,
    axis_key,
    cut_name,
    of_days,
    panel,
    stacked,
)
from arena.ui.market_charts import CHAR_PX, Pin
from arena.ui.market_days import STATE_WORDS
from arena.ui.prose import for_plotly
from arena.ui.tokens import TOKENS, Theme, Tokens

Trace = dict[str, Any]

PRICE_PX, NEWS_PX, ROW_PX, GAP_PX = 220, 62, 30, 14
PLOT_PX = {False: 820, True: 180}
"""About how wide the panels are, by phone or not."""

NAME_CHARS = 26
"""Of an entry's name: what the left margin holds."""

HOLD_SHARE = 0.7
"""A HOLD is drawn smaller than a call: what somebody did stands out of what nobody did."""

BAR_MS = 0.75 * 86_400_000
"""How wide the bar of a day is; left alone, Plotly would fill the days between two briefs."""

NEUTRAL = 0.22
"""Half the height of a neutral brief's bar."""

_CLEAR = {"unselected": {"marker": {"opacity": 1}}}
"""A click must not fade what was not clicked."""


def tape_figure(
    bars: pd.DataFrame, made: pd.DataFrame, names: Sequence[str], theme: Theme, *,
    news: pd.DataFrame | None = None, pins: Sequence[Pin] = (),
    span: tuple[pd.Timestamp, pd.Timestamp] | None = None, margins: dict[str, int] = MARGINS,
    phone: bool = False,
) -> go.Figure:  # fmt: skip
    """The price with its pins, the news below it, and one row an entry with a mark a decision.

    Args:
        bars: session and close, with empty rows where a session has no bar.
        made: decision, entry, session, action, status, late, and `rejected` (its brief was).
        names: the rows, from the top.
        news: `market_days.strip_frame` of the slots; None or empty leaves the panel out.
        span: first and last session of the axis. margins: those of the chart above it.

    Failed decisions are hollow crosses, late ones hollow marks of what they said, gaps dashes:
    none of them is taken for a punctual opinion of the model. A mark's `customdata` begins with the
    decision's id.
    """
    t = TOKENS[theme]
    has_news = news is not None and len(news) > 0
    heights = [PRICE_PX, *([NEWS_PX] if has_news else []), ROW_PX * max(len(names), 1) + 12]
    layout = stacked(theme, heights, margins, GAP_PX)
    layout |= {"hovermode": "closest", "bargap": 0.25, "annotations": [], "shapes": []}
    traces: list[Trace] = []
    if bars["close"].notna().any():
        traces += _price(layout, bars, pins, t, phone)
    if news is not None and has_news:
        traces += _news(news, t, panel(1))
        layout["yaxis2"] |= {
            "range": [-1.1, 1.1], "showgrid": False, "zeroline": False, "tickmode": "array",
            "tickvals": [0], "ticktext": ["News"],
        }  # fmt: skip
    rows = panel(len(heights) - 1)
    traces += _acts(made, names, t, rows, phone or len(bars) > 75)
    chars = PHONE_LABEL_CHARS if phone else NAME_CHARS
    layout[axis_key(rows["yaxis"])] |= {
        "showgrid": False, "zeroline": False, "range": [len(names) - 0.4, -0.6],
        "tickmode": "array", "tickvals": list(range(len(names))),
        "ticktext": [for_plotly(cut_name(n, chars)) for n in names],
    }  # fmt: skip
    if span is None and len(bars):
        span = bars["session"].iloc[0], bars["session"].iloc[-1]
    if span is not None:
        for i in range(len(heights)):
            layout[axis_key(panel(i)["xaxis"])] |= of_days(*span)
    return go.Figure(data=traces, layout=layout)


def _price(
    layout: dict[str, Any], bars: pd.DataFrame, pins: Sequence[Pin], t: Tokens, phone: bool
) -> list[Trace]:
    closes = bars["close"].dropna()
    last, top = float(closes.iloc[-1]), float(closes.max())
    room = (top - float(closes.min())) or 0.02 * top
    foot = float(closes.min()) - (0.2 if pins else 0.06) * room
    layout["yaxis"] |= {
        "tickprefix": "$", "tickformat": ",", "nticks": 5, "zeroline": False,
        "range": [foot, top + 0.08 * room],
    }  # fmt: skip
    layout["annotations"].append(
        {
            "xref": "paper", "yref": "y", "x": 1.0, "y": last, "xanchor": "left", "showarrow": False,
            "xshift": 6, "text": f"<b>${last:,.2f}</b>", "font": {"color": t.text, "size": 12},
        }
    )  # fmt: skip
    line = {
        "type": "scatter", "x": bars["session"], "y": bars["close"], "name": "close",
        "connectgaps": False, "mode": "lines+markers" if len(closes) <= 75 else "lines", **_CLEAR,
        "line": {"color": t.text, "width": 1.6}, "marker": {"size": 3, "color": t.text},
        "hovertemplate": "%{x|%-d %b %Y} $%{y:,.2f}<extra></extra>", **panel(0),
    }  # fmt: skip
    return [line, *_pins(layout, bars.dropna(subset=["close"]), pins, foot, t, phone)]


def _pins(
    layout: dict[str, Any], known: pd.DataFrame, pins: Sequence[Pin], foot: float, t: Tokens,
    phone: bool,
) -> list[Trace]:  # fmt: skip
    """A numbered disc on the price over a dotted stem, and at its foot the words if there is room."""
    first, last = known["session"].iloc[0], known["session"].iloc[-1]
    shown = [p for p in pins if first <= p.session <= last]
    if not shown:
        return []
    day_px = PLOT_PX[phone] / max((last - first).days + 1, 1)
    at = [(p.session - first).days * day_px for p in shown]
    ends = [*at[1:], (last - first).days * day_px]
    prices = [float(known.loc[known["session"] <= p.session, "close"].iloc[-1]) for p in shown]
    free_from = 0.0
    for pin, x, price, end in zip(shown, at, prices, ends, strict=True):
        layout["shapes"].append(
            {
                "type": "line", "x0": pin.session, "x1": pin.session, "y0": foot, "y1": price,
                "layer": "below", "line": {"color": t.muted, "width": 1, "dash": "dot"},
                "xref": "x", "yref": "y",
            }
        )  # fmt: skip
        words = f"{pin.number} {pin.words}"
        need = len(words) * CHAR_PX + 6
        side = "left" if need <= end - x else "right" if need <= x - free_from else None
        free_from = x + need if side == "left" else x
        if phone or side is None:
            continue
        layout["annotations"].append(
            {
                "x": pin.session, "y": foot, "xref": "x", "yref": "y", "xanchor": side,
                "yanchor": "bottom", "showarrow": False, "xshift": 2 if side == "left" else -2,
                "text": for_plotly(words), "font": {"color": t.muted, "size": 11},
            }
        )  # fmt: skip
    return [
        {
            "type": "scatter", "x": [p.session for p in shown], "y": prices, "name": "pin",
            "mode": "markers+text", "text": [str(p.number) for p in shown],
            "textfont": {"size": 10, "color": t.text}, "cliponaxis": False,
            "marker": {"size": 16, "color": t.background, "line": {"color": t.text, "width": 1.3}},
            "hovertext": [for_plotly(p.words) for p in shown],
            "unselected": {"marker": {"opacity": 1}, "textfont": {"color": t.text}},
            "hovertemplate": "%{x|%-d %b %Y} %{hovertext}<extra></extra>", **panel(0),
        }
    ]  # fmt: skip


def _news(news: pd.DataFrame, t: Tokens, place: dict[str, str]) -> list[Trace]:
    """Bars of the briefs' scores in [-1, 1]: up for bullish, down for bearish, across the zero line
    where neutral; marks on that line where there is no score."""
    colors = {"bullish": t.gain, "neutral": t.muted, "bearish": t.loss}
    scored = news[news["score"].notna()]
    scores, states = scored["score"].astype(float).tolist(), scored["state"].tolist()
    flat = [s == "neutral" for s in states]
    traces: list[Trace] = [
        {
            "type": "bar", "x": scored["session"], "base": [-NEUTRAL if f else 0.0 for f in flat],
            "y": [2 * NEUTRAL if f else v for f, v in zip(flat, scores, strict=True)], "name": "news",
            "width": BAR_MS, "marker": {"color": [colors[s] for s in states], "line": {"width": 0}}, **_CLEAR, **place,
            "hovertext": [
                f"{STATE_WORDS[s]} {fmt.signed(v)} · {fmt.counted(int(n), 'story', 'stories')}"
                for s, v, n in zip(states, scores, scored["n_stories"], strict=True)
            ],
            "hovertemplate": "%{x|%-d %b %Y} %{hovertext}<extra></extra>",
        }
    ]  # fmt: skip
    looks = {
        "none": ("circle", t.zero, 3), "failed": ("x-open", t.loss, 6),
        "silent": ("diamond-open", t.sell, 6),
    }  # fmt: skip
    for state, (symbol, color, size) in looks.items():
        own = news[(news["state"] == state) & news["score"].isna()]
        if len(own):
            words = STATE_WORDS[state]
            traces.append(
                {
                    "type": "scatter", "x": own["session"], "y": [0.0] * len(own), "mode": "markers",
                    "name": words, "marker": {"symbol": symbol, "color": color, "size": size},
                    "hovertemplate": "%{x|%-d %b %Y} " + words + "<extra></extra>", **_CLEAR, **place,
                }
            )  # fmt: skip
    return traces


def _acts(
    made: pd.DataFrame, names: Sequence[str], t: Tokens, place: dict[str, str], small: bool
) -> list[Trace]:
    colors = {"BUY": t.buy, "HOLD": t.hold, "SELL": t.sell}
    size = 6 if small else 9
    row = {name: i for i, name in enumerate(names)}
    failed, gap = made["status"].isin(FAILED), made["status"].isin(GAPS)
    late = made["late"].astype(bool) & ~failed & ~gap
    punctual = ~(late | failed | gap)
    groups: list[tuple[pd.Series, str, str, str]] = []
    for action, symbol in MARKS.items():
        own = made["action"] == action
        groups.append((own & punctual, symbol, colors[action], action))
        groups.append((own & late, f"{symbol}-open", colors[action], f"{action}, late"))
    groups.append((failed, "x-open", t.loss, "failed, acts as HOLD"))
    # No square, as a late HOLD is a hollow one.
    groups.append((gap, "line-ew-open", t.muted, "no decision, position kept"))
    traces: list[Trace] = []
    for which, symbol, color, words in groups:
        marks = made[which]
        if marks.empty:
            continue
        tails = [
            ("" if s in ("ok", "repaired") else f", {s.replace('_', ' ')}")
            + (", read a rejected brief" if r else "")
            for s, r in zip(marks["status"], marks["rejected"], strict=True)
        ]
        said = [for_plotly(str(e)) for e in marks["entry"]]
        traces.append(
            {
                "type": "scatter", "x": marks["session"], "y": [row[e] for e in marks["entry"]],
                "mode": "markers", "name": words, **_CLEAR, **place,
                "marker": {
                    "symbol": symbol, "color": color,
                    "size": size * HOLD_SHARE if symbol.startswith("square") else size,
                    "line": {"width": 1.6 if symbol.endswith("-open") else 0},
                },
                "customdata": list(zip(marks["decision"], tails, said, strict=True)),
                "hovertemplate": "%{x|%-d %b %Y} " + words
                + "%{customdata[1]}<extra>%{customdata[2]}</extra>",
            }
        )  # fmt: skip
    return traces

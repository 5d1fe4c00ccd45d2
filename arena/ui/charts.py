"""Figures as pure functions of a frame and tokens. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from arena.ui import format as fmt
from arena.ui.prose import for_plotly
from arena.ui.tokens import TOKENS, Theme

FONT = "Source Sans Pro, Source Sans, sans-serif"
MARGINS = {"l": 134, "r": 184, "t": 12, "b": 28}
PHONE_MARGINS = MARGINS | {"l": 62, "r": 112}
PHONE_LABEL_CHARS = 9
"""Of a line's name beside it: what the margin of a phone holds, with the return behind it."""
MIN_GAP_FRAC = 0.045
"""Least distance of two direct labels, as a share of the panel's height."""


def spread(
    values: Sequence[float], low: float, high: float, gap_frac: float = MIN_GAP_FRAC
) -> list[float]:
    """Label positions near `values`, in the same order, at least `gap_frac` of the panel apart."""
    gap = gap_frac * (high - low)
    order = np.argsort(values, kind="stable")
    placed = [float(values[i]) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    excess = placed[-1] - high if placed else 0.0
    if excess > 0:
        placed[-1] = high
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    out = [0.0] * len(placed)
    for position, i in zip(placed, order, strict=True):
        out[int(i)] = position
    return out


def base_layout(theme: Theme, height: int, margins: dict[str, int]) -> dict[str, Any]:
    """Size, colours and fonts that all charts share."""
    t = TOKENS[theme]
    return {
        "height": height, "margin": margins, "paper_bgcolor": t.background,
        "plot_bgcolor": t.background, "font": {"color": t.text, "size": 12, "family": FONT},
        "showlegend": False, "hovermode": "x unified",
        "hoverlabel": {"bgcolor": t.panel, "font": {"color": t.text}},
    }  # fmt: skip


def axis_styles(theme: Theme) -> tuple[dict[str, Any], dict[str, Any]]:
    """Looks of a horizontal axis of sessions and of a vertical one."""
    t = TOKENS[theme]
    tick = {"tickfont": {"color": t.muted}}
    return (
        {"showgrid": False, "linecolor": t.grid, "tickformat": "%-d %b", **tick},
        {
            "gridcolor": t.grid, "zerolinecolor": t.zero, "zerolinewidth": 1.5,
            "title": {"font": {"color": t.muted, "size": 11}}, **tick,
        },
    )  # fmt: skip


def layout(figure: go.Figure, theme: Theme, height: int, margins: dict[str, int]) -> None:
    """Give a figure the looks that all charts share."""
    figure.update_layout(base_layout(theme, height, margins))
    across, up = axis_styles(theme)
    figure.update_xaxes(across)
    figure.update_yaxes(up)


def stacked(
    theme: Theme, heights_px: Sequence[int], margins: dict[str, int], gap_px: int
) -> dict[str, Any]:
    """Layout of panels one below the other on the same sessions, the first at the top.

    A trace is put into panel i (from 0) by `panel(i)`. Written as one dict, as a figure that is built
    step by step is checked anew at each step, which takes four times as long.
    """
    total = sum(heights_px) + gap_px * (len(heights_px) - 1)
    made = base_layout(theme, total + margins["t"] + margins["b"], margins)
    across, up = axis_styles(theme)
    foot, last = float(total), len(heights_px) - 1
    for i, height in enumerate(heights_px):
        top, foot = foot, foot - height
        own = panel(i)
        made[axis_key(own["xaxis"])] = {
            **across, "anchor": own["yaxis"], "domain": [0.0, 1.0],
            **({} if i == last else {"matches": panel(last)["xaxis"], "showticklabels": False}),
        }
        made[axis_key(own["yaxis"])] = {
            **up, "anchor": own["xaxis"], "domain": [max(foot / total, 0.0), top / total]
        }
        foot -= gap_px
    return made


def panel(i: int) -> dict[str, str]:
    """Axes of the panel i, from 0 at the top, for a trace."""
    number = "" if i == 0 else str(i + 1)
    return {"xaxis": f"x{number}", "yaxis": f"y{number}"}


def axis_key(name: str) -> str:
    """Where the layout keeps an axis: `y2` is `yaxis2`."""
    return f"{name[0]}axis{name[1:]}"


RETURN_TICKS = {"tickformat": "+.4~%", "labelalias": {"+0%": "0%"}}
SHARE_TICKS = {"tickformat": ".4~%"}
"""Only the decimals that a tick has: +0.5% where a chart reaches to one percent, +50% where to a hundred."""


def of_days(first: pd.Timestamp, last: pd.Timestamp, short_days: int = 7) -> dict[str, Any]:
    """Reach of an axis of sessions, with half a day on either side, so that the outer marks are whole.

    An axis of at most `short_days` has a tick a day: Plotly would write hours between two days.
    """
    half = pd.Timedelta(hours=12)
    ticks = {"dtick": 86_400_000} if (last - first).days <= short_days else {}
    return {"range": [first - half, last + half], **ticks}


def cut_name(name: str, max_chars: int | None) -> str:
    """`name` with an ellipsis where it is longer than a margin holds; None keeps all."""
    return name if max_chars is None or len(name) <= max_chars else f"{name[: max_chars - 1]}…"


MODE_BAR = {"displayModeBar": "hover", "displaylogo": False}
RANGES = {"1M": 31, "3M": 92, "All": None}
"""Days that a chart reaches back from the end of its run; None: all of it."""

PHONE_MARKS = 24
"""Days of marks side by side on a phone; more would touch each other."""

MARKS = {"BUY": "triangle-up", "HOLD": "square", "SELL": "triangle-down"}


def range_figure(
    points: pd.DataFrame, benchmark: float | None, theme: Theme, *, phone: bool = False
) -> go.Figure:
    """Returns by group: a dot a member, a bar over the range, the median as a tick and in words.

    `points` has group, member, value (a fraction), color and symbol; the legend names members.
    """
    return _range(tuple(points[list(DOT)].itertuples(index=False, name=None)), benchmark, theme, phone)


DOT = ("group", "member", "value", "color", "symbol")


# Plotly checks every number: 300 dots take 40 ms, a quarter of what a page may.
@lru_cache(maxsize=32)
def _range(
    dots: tuple[tuple[Any, ...], ...], benchmark: float | None, theme: Theme, phone: bool
) -> go.Figure:
    points = pd.DataFrame(dots, columns=list(DOT))
    t = TOKENS[theme]
    spans = points.groupby("group", sort=False)["value"].agg(["min", "max", "median"])
    names = [for_plotly(str(g)) for g in spans.index]
    # All bars are one trace and all ticks another: a trace a group takes seconds where there are many.
    ends = [x for low, high in zip(spans["min"], spans["max"], strict=True) for x in (low, high, None)]
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "x": ends, "y": [n for name in names for n in (name, name, None)],
            "mode": "lines", "showlegend": False, "line": {"color": t.border, "width": 9},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter", "x": spans["median"].tolist(), "y": names, "mode": "markers",
            "hoverinfo": "skip", "showlegend": False,
            "marker": {"symbol": "line-ns", "size": 20, "line": {"width": 2, "color": t.text}},
        },
    ]  # fmt: skip
    words_at_right = [
        {
            "xref": "paper", "x": 1.0, "y": name, "xanchor": "left", "showarrow": False, "xshift": 6,
            "text": fmt.percent(median), "font": {"color": t.text, "size": 12},
        }
        for name, median in zip(names, spans["median"].tolist(), strict=True)
    ]  # fmt: skip
    for member, rows in points.groupby("member", sort=False):
        words = for_plotly(str(member))
        traces.append(
            {
                "type": "scatter", "x": rows["value"].tolist(),
                "y": [for_plotly(str(g)) for g in rows["group"]], "mode": "markers", "name": words,
                "marker": {
                    "color": rows["color"].tolist(), "symbol": rows["symbol"].tolist(), "size": 10
                },
                "hovertemplate": f"{words} %{{x:+.1%}}<extra></extra>",
            }
        )  # fmt: skip
    figure = go.Figure(data=traces)
    layout(figure, theme, 130 + 46 * len(names), MARGINS)
    figure.update_layout(
        annotations=words_at_right, hovermode="closest", margin={"t": 28, "l": 110, "r": 70}, showlegend=True,
        legend={"orientation": "h", "y": -0.28, "yanchor": "top", "font": {"color": t.text}},
    )  # fmt: skip
    if phone:
        # Below the axis, where Plotly would let a list in one line scroll over it.
        list_px = 22 * points["member"].nunique()
        figure.update_layout(
            height=130 + 46 * len(names) + list_px, margin={"b": 40 + list_px},
            legend={"orientation": "v", "yref": "container", "y": 0.0, "yanchor": "bottom", "x": 0.0},
        )  # fmt: skip
    figure.update_xaxes(
        RETURN_TICKS, nticks=5 if phone else None, showgrid=True, gridcolor=t.grid
    )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    if benchmark is not None:
        figure.add_vline(x=benchmark, line={"color": t.benchmark, "dash": "dot", "width": 1.6})
        figure.add_annotation(
            x=benchmark, y=1.0, yref="paper", yanchor="bottom", showarrow=False,
            text=f"B&H {fmt.percent(benchmark)}", font={"color": t.muted, "size": 11},
        )  # fmt: skip
    return figure

"""Figures as pure functions of a frame and tokens. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from arena.core.actions import FAILED, GAPS
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


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: `growth` (T,) is V / V_0 at `sessions` (T,)."""

    name: str
    short: str
    sessions: pd.DatetimeIndex
    growth: np.ndarray
    balance: np.ndarray
    color: str
    dash: str
    benchmark: bool = False
    faint: bool = False
    """Drawn in grey without a label, where more lines are there than can be told apart."""

    @property
    def drawdown(self) -> np.ndarray:
        """Fall from the running peak (V_0 included), <= 0."""
        peak = np.maximum(np.maximum.accumulate(self.growth), 1.0)
        return self.growth / peak - 1.0


def spread(values: Sequence[float], low: float, high: float) -> list[float]:
    """Label positions near `values`, in the same order, at least MIN_GAP_FRAC of the panel apart."""
    gap = MIN_GAP_FRAC * (high - low)
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


def _layout(figure: go.Figure, theme: Theme, height: int, margins: dict[str, int]) -> None:
    t = TOKENS[theme]
    figure.update_layout(
        height=height,
        margin=margins,
        paper_bgcolor=t.background,
        plot_bgcolor=t.background,
        font={"color": t.text, "size": 12, "family": FONT},
        showlegend=False,
        hovermode="x unified",
        hoverlabel={"bgcolor": t.panel, "font": {"color": t.text}},
    )
    figure.update_xaxes(
        showgrid=False, linecolor=t.grid, tickfont={"color": t.muted}, tickformat="%-d %b"
    )
    figure.update_yaxes(
        gridcolor=t.grid, zerolinecolor=t.zero, zerolinewidth=1.5, tickfont={"color": t.muted},
        title_font={"color": t.muted, "size": 11},
    )  # fmt: skip


def equity_figure(
    lines: Sequence[Line], theme: Theme, *, log: bool, net: bool, phone: bool = False
) -> go.Figure:
    """Returns since the start with direct labels, drawdown below on the same days.

    On a log scale growth of 100 is drawn instead, as a return of 0 has no logarithm.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.03
    )
    t = TOKENS[theme]
    for line in lines:
        y = 100 * line.growth if log else line.growth - 1.0
        width = 1.0 if line.faint else 1.6 if line.benchmark else 2.2
        style = {"color": t.border if line.faint else line.color, "dash": line.dash, "width": width}
        figure.add_trace(
            go.Scatter(
                x=line.sessions, y=y, mode="lines", line=style, name=for_plotly(line.name),
                customdata=np.column_stack([line.balance, 100 * (line.growth - 1.0)]),
                hovertemplate="%{customdata[1]:+.1f}%  $%{customdata[0]:,.0f}",
            ),
            row=1, col=1,
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=line.sessions, y=line.drawdown, mode="lines", name=for_plotly(line.name),
                line={**style, "width": 1.2}, hovertemplate="%{y:.1%}",
            ),
            row=2, col=1,
        )  # fmt: skip
    _layout(figure, theme, 520, PHONE_MARGINS if phone else MARGINS)
    tick = None if log else "+.0%"
    figure.update_yaxes(tickformat=tick, labelalias={"+0%": "0%"}, row=1, col=1)
    words = f"{'Growth of 100' if log else 'Return'}, {'net' if net else 'before fees'}"
    figure.update_yaxes(title_text=words, type="log" if log else "linear", row=1, col=1)
    figure.update_yaxes(
        title_text="Drawdown", tickformat=".0%", rangemode="tozero", nticks=4, row=2, col=1
    )
    if lines:
        first = min(line.sessions[0] for line in lines)
        figure.update_xaxes(range=padded(first, max(line.sessions[-1] for line in lines)))
        _label_ends(figure, lines, log, PHONE_LABEL_CHARS if phone else None)
    figure.update_layout(title_font={"color": t.text})
    return figure


def padded(first: pd.Timestamp, last: pd.Timestamp) -> list[pd.Timestamp]:
    """Half a day on either side, so that the outer marks are whole; one axis for both charts."""
    half = pd.Timedelta(hours=12)
    return [first - half, last + half]


def _label_ends(
    figure: go.Figure, lines: Sequence[Line], log: bool, max_chars: int | None
) -> None:
    named = [x for x in lines if not x.faint]
    ends = [float(np.log10(100 * x.growth[-1]) if log else x.growth[-1] - 1.0) for x in named]
    every = np.concatenate([x.growth for x in lines])
    edges = np.log10(100 * every) if log else every - 1.0
    low, high = float(edges.min()), float(edges.max())
    pad = 0.04 * ((high - low) or 0.01)
    figure.update_yaxes(range=[low - pad, high + pad], row=1, col=1)
    for line, at in zip(named, spread(ends, low - pad, high + pad), strict=True):
        figure.add_annotation(
            xref="paper", yref="y", x=1.0, y=at, xanchor="left", showarrow=False, xshift=6,
            text=f"{for_plotly(_cut(line.short, max_chars))} <b>{fmt.percent(float(line.growth[-1]) - 1.0)}</b>",
            font={"color": line.color, "size": 12},
        )  # fmt: skip


def _cut(name: str, max_chars: int | None) -> str:
    return name if max_chars is None or len(name) <= max_chars else f"{name[: max_chars - 1]}…"


MARKS = {"BUY": "triangle-up", "HOLD": "square", "SELL": "triangle-down"}


def tape_figure(
    prices: pd.DataFrame, decisions: pd.DataFrame, names: Sequence[str], theme: Theme,
    *, phone: bool = False,
) -> go.Figure:  # fmt: skip
    """The price, and under it one row an entry with a mark a decision.

    `prices` has session and close; `decisions` has entry, session, action and status, and may have
    `rejected`: its brief was. Failed ones are crosses and gaps hollow, so that neither is taken for
    the model's opinion.
    """
    t = TOKENS[theme]
    names = [for_plotly(n) for n in names]
    decisions = decisions.assign(entry=[for_plotly(str(e)) for e in decisions["entry"]])
    colors = {"BUY": t.buy, "HOLD": t.hold, "SELL": t.sell}
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.04,
        row_heights=[0.6, 0.4] if len(names) > 2 else [0.7, 0.3],
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=prices["session"], y=prices["close"], mode="lines", name="close",
            line={"color": t.text, "width": 1.6}, hovertemplate="$%{y:,.2f}",
        ),
        row=1, col=1,
    )  # fmt: skip
    size = 6 if phone or len(prices) > 75 else 9
    failed, gap = decisions["status"].isin(FAILED), decisions["status"].isin(GAPS)
    for action, symbol in MARKS.items():
        made = decisions[(decisions["action"] == action) & ~failed & ~gap]
        _marks(figure, made, symbol, colors[action], action, size)
    _marks(figure, decisions[failed], "x", t.loss, "failed, acts as HOLD", size)
    _marks(figure, decisions[gap], "square-open", t.muted, "no decision, position kept", size)
    margins = PHONE_MARGINS if phone else MARGINS
    _layout(figure, theme, 300 + 34 * len(names), margins)
    if len(prices):
        days = prices["session"]
        figure.update_xaxes(range=padded(days.iloc[0], days.iloc[-1]))
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(tickprefix="$", tickformat=",", nticks=5, row=1, col=1)
    figure.update_yaxes(
        categoryorder="array", categoryarray=list(reversed(names)), showgrid=False,
        range=[-0.6, len(names) - 0.4], row=2, col=1,
        labelalias={n: _cut(n, PHONE_LABEL_CHARS) for n in names} if phone else {},
    )  # fmt: skip
    if len(prices):
        figure.add_annotation(
            xref="paper", yref="y", x=1.0, y=float(prices["close"].iloc[-1]), xanchor="left",
            showarrow=False, xshift=6, text=f"<b>${prices['close'].iloc[-1]:,.2f}</b>",
            font={"color": t.text, "size": 12},
        )  # fmt: skip
    return figure


def _marks(
    figure: go.Figure, made: pd.DataFrame, symbol: str, color: str, words: str, size: int
) -> None:
    if made.empty:
        return
    rejected = made["rejected"] if "rejected" in made else [False] * len(made)
    figure.add_trace(
        go.Scatter(
            x=made["session"], y=made["entry"], mode="markers", name=words,
            marker={"symbol": symbol, "color": color, "size": size},
            customdata=[", read a rejected brief" if r else "" for r in rejected],
            hovertemplate="%{x|%-d %b %Y} " + words + "%{customdata}<extra>%{y}</extra>",
        ),
        row=2, col=1,
    )  # fmt: skip


def range_figure(points: pd.DataFrame, benchmark: float | None, theme: Theme) -> go.Figure:
    """Returns by group: a dot a member, a bar over the range, the median as a tick and in words.

    `points` has group, member, value (a fraction), color and symbol; the legend names members.
    """
    t = TOKENS[theme]
    figure = go.Figure()
    groups = list(dict.fromkeys(points["group"]))
    for group in groups:
        values = points.loc[points["group"] == group, "value"]
        median, name = float(values.median()), for_plotly(str(group))
        figure.add_trace(
            go.Scatter(
                x=[values.min(), values.max()], y=[name, name], mode="lines", showlegend=False,
                line={"color": t.border, "width": 9}, hoverinfo="skip",
            )
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=[median], y=[name], mode="markers", hoverinfo="skip", showlegend=False,
                marker={"symbol": "line-ns", "size": 20, "line": {"width": 2, "color": t.text}},
            )
        )  # fmt: skip
        figure.add_annotation(
            xref="paper", x=1.0, y=name, xanchor="left", showarrow=False, xshift=6,
            text=fmt.percent(median), font={"color": t.text, "size": 12},
        )  # fmt: skip
    for member, rows in points.groupby("member", sort=False):
        words = for_plotly(str(member))
        figure.add_trace(
            go.Scatter(
                x=rows["value"], y=[for_plotly(str(g)) for g in rows["group"]], mode="markers",
                name=words, marker={"color": rows["color"], "symbol": rows["symbol"], "size": 10},
                hovertemplate=f"{words} %{{x:+.1%}}<extra></extra>",
            )
        )  # fmt: skip
    _layout(figure, theme, 130 + 46 * len(groups), MARGINS)
    figure.update_layout(
        hovermode="closest", margin={"t": 28, "l": 110, "r": 70}, showlegend=True,
        legend={"orientation": "h", "y": -0.28, "yanchor": "top", "font": {"color": t.text}},
    )  # fmt: skip
    figure.update_xaxes(tickformat="+.0%", labelalias={"+0%": "0%"}, showgrid=True, gridcolor=t.grid)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    if benchmark is not None:
        figure.add_vline(x=benchmark, line={"color": t.benchmark, "dash": "dot", "width": 1.6})
        figure.add_annotation(
            x=benchmark, y=1.0, yref="paper", yanchor="bottom", showarrow=False,
            text=f"B&H {fmt.percent(benchmark)}", font={"color": t.muted, "size": 11},
        )  # fmt: skip
    return figure

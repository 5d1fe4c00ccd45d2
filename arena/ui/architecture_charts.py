"""Figures of the page on architecture and model, as pure functions of frames and tokens. No streamlit here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from arena.analytics.bands import Band
from arena.analytics.entry_curve import Curve
from arena.analytics.variance import NOISE_P, Term
from arena.core.actions import GAPS
from arena.ui import format as fmt
from arena.ui.charts import FONT, PHONE_LABEL_CHARS, RETURN_TICKS, SHARE_TICKS, of_days
from arena.ui.market_charts import Pin
from arena.ui.prose import for_plotly
from arena.ui.tokens import TOKENS, Theme, Tokens, short_model

MOST_COLUMNS = 5
PANEL_PX, PHONE_PANEL_PX = 240, 150
COLOUR_REACH = 1.35
"""The colour scale reaches this much further than the data, so that text on a cell stays readable."""


def _layout(figure: go.Figure, t: Tokens, height: int, margins: dict[str, int]) -> None:
    figure.update_layout(
        height=height, margin=margins, paper_bgcolor=t.background, plot_bgcolor=t.background,
        font={"color": t.text, "size": 12, "family": FONT}, showlegend=False, hovermode="closest",
        hoverlabel={"bgcolor": t.panel, "font": {"color": t.text}},
    )  # fmt: skip
    figure.update_xaxes(showgrid=False, linecolor=t.grid, tickfont={"color": t.muted}, ticks="")
    figure.update_yaxes(
        gridcolor=t.grid, zerolinecolor=t.zero, zerolinewidth=1.5, tickfont={"color": t.muted},
        title_font={"color": t.muted, "size": 11}, ticks="",
    )  # fmt: skip


def faded(color: str, alpha: float) -> str:
    """`#RRGGBB` with an opacity."""
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha})"


def band_figure(
    bands: Sequence[Band],
    colors: dict[str, str],
    hold: Curve | None,
    theme: Theme,
    *,
    phone: bool = False,
) -> go.Figure:
    """One panel a band on a common axis: mean line, range filled, Buy & Hold dotted.

    `hold` is Buy & Hold's curve over the same assets.
    """
    t = TOKENS[theme]
    columns = 1 if phone else min(len(bands), MOST_COLUMNS)
    rows = math.ceil(len(bands) / columns)
    height = (PHONE_PANEL_PX if phone else PANEL_PX) * rows
    figure = make_subplots(
        rows=rows, cols=columns, shared_yaxes="all", horizontal_spacing=0.025,
        vertical_spacing=0.34 / rows if rows > 1 else 0.0,
    )  # fmt: skip
    for i, band in enumerate(bands):
        row, column = i // columns + 1, i % columns + 1
        color, name = colors[band.name], for_plotly(short_model(band.name))
        place = {"row": row, "col": column}
        edge = {"width": 0}
        figure.add_trace(
            go.Scatter(x=band.sessions, y=band.low, mode="lines", line=edge, hoverinfo="skip"),
            **place,
        )
        figure.add_trace(
            go.Scatter(
                x=band.sessions, y=band.high, mode="lines", line=edge, fill="tonexty",
                fillcolor=faded(color, 0.2), hoverinfo="skip",
            ),
            **place,
        )  # fmt: skip
        if hold is not None:
            figure.add_trace(
                go.Scatter(
                    x=hold.sessions, y=hold.values[1:] - 1.0, mode="lines", name="Buy & Hold",
                    line={"color": t.benchmark, "dash": "dot", "width": 1.4},
                    hovertemplate="Buy & Hold %{y:+.1%}<extra></extra>",
                ),
                **place,
            )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=band.sessions, y=band.mean, mode="lines", name=name,
                line={"color": color, "width": 2.2}, customdata=np.column_stack([band.low, band.high]),
                hovertemplate="%{x|%-d %b} mean %{y:+.1%}, %{customdata[0]:+.1%} to "
                f"%{{customdata[1]:+.1%}}<extra>{name}</extra>",
            ),
            **place,
        )  # fmt: skip
        ends = [float(x[-1]) for x in (band.low, band.high)]
        digits = 0 if max(map(abs, ends)) >= 0.1 else 1
        low, high = (fmt.percent(x, digits).removesuffix("%") for x in ends)
        axis = figure.get_subplot(row, column)
        figure.add_annotation(
            xref="paper", yref="paper", x=axis.xaxis.domain[0], y=axis.yaxis.domain[1], xanchor="left",
            yanchor="bottom", showarrow=False, yshift=4, font={"color": color, "size": 13},
            text=f"<b>{name} {fmt.percent(float(band.mean[-1]))}</b> ({low} … {high})",
        )  # fmt: skip
        figure.update_xaxes(
            of_days(band.sessions[0], band.sessions[-1], short_days=3),
            tickformat="%-d %b",
            nticks=4,
            **place,
        )
    _layout(figure, t, height + 60, {"l": 52, "r": 8, "t": 30, "b": 28})
    figure.update_yaxes(RETURN_TICKS, nticks=6)
    return figure


def heat_figure(grid: pd.DataFrame, theme: Theme, *, phone: bool = False) -> go.Figure:
    """Net return of agents (rows) by models (columns), values printed, colour centred on 0.

    `grid` holds fractions, NaN where the two did not play together; a row and a column of medians
    stand apart.
    """
    t = TOKENS[theme]
    full = grid.assign(median=grid.median(axis=1))
    bottom = full.median(axis=0)
    bottom["median"] = np.nan
    full = pd.concat([full, bottom.to_frame("median").T])
    z = full.to_numpy(float)
    reach = COLOUR_REACH * (np.nanmax(np.abs(z)) if np.isfinite(z).any() else 0.01) or 0.01
    names = [for_plotly(str(a)) for a in full.index]
    columns = [for_plotly(short_model(str(m))) for m in full.columns]
    shown = {c: f"{c[: PHONE_LABEL_CHARS - 1]}…" for c in columns if len(c) > PHONE_LABEL_CHARS}
    text = [[fmt.percent(float(v)) if np.isfinite(v) else "" for v in row] for row in z]
    figure = go.Figure(
        go.Heatmap(
            z=z, x=columns, y=names, text=text, texttemplate="%{text}", zmid=0, zmin=-reach, zmax=reach,
            colorscale=[[0, t.sell], [0.5, t.panel], [1, t.buy]], showscale=False, xgap=3, ygap=3,
            textfont={"color": t.text, "size": 12}, hoverongaps=False,
            hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    _layout(figure, t, 70 + 44 * len(names), {"l": 78 if phone else 96, "r": 8, "t": 30, "b": 8})
    figure.update_xaxes(
        side="top", type="category", tickangle=0, labelalias=shown if phone else {},
        tickfont={"size": 10 if phone else 12},
    )  # fmt: skip
    figure.update_yaxes(
        autorange="reversed", type="category", showgrid=False, ticks="", ticklabelstandoff=6
    )
    return figure


def share_figure(terms: Sequence[Term], theme: Theme) -> go.Figure:
    """Shares of variance as bars; a share that shuffled accounts often reach is grey and says so."""
    t = TOKENS[theme]
    shown = [term for term in terms if term.df > 0]

    def noise(term: Term) -> bool:
        return term.name == "rest" or (term.p is not None and term.p > NOISE_P)

    words = [
        f"{fmt.percent(x.share_frac, 0, sign=False)}"
        + (" within noise" if noise(x) and x.p is not None else "")
        for x in shown
    ]
    figure = go.Figure(
        go.Bar(
            x=[x.share_frac for x in shown], y=[x.name for x in shown], orientation="h", text=words,
            textposition="outside", cliponaxis=False, textfont={"color": t.text}, width=0.55,
            marker={"color": [t.hold if noise(x) else t.buy for x in shown]},
            customdata=[["" if x.p is None else f", p = {x.p:.3f}", x.df] for x in shown],
            hovertemplate="%{y} %{x:.1%}%{customdata[0]}, %{customdata[1]} df<extra></extra>",
        )
    )  # fmt: skip
    _layout(figure, t, 40 + 46 * len(shown), {"l": 96, "r": 96, "t": 4, "b": 8})
    figure.update_xaxes(visible=False, range=[0, max(x.share_frac for x in shown)])
    figure.update_yaxes(
        autorange="reversed", showgrid=False, tickfont={"color": t.text}, ticklabelstandoff=8
    )
    return figure


def style_figure(
    points: pd.DataFrame, hold: tuple[float, float] | None, theme: Theme, *, phone: bool = False
) -> go.Figure:
    """Risk against return, a mark an entry; `hold` is Buy & Hold's (volatility, return).

    `points` has name, model, agent, volatility, value (fractions), color, symbol and style.
    """
    t = TOKENS[theme]
    figure = go.Figure()
    figure.add_hline(y=0, line={"color": t.zero, "width": 1.2})
    words = [
        f"{for_plotly(f'{p.agent}@{p.model}')}<br>{p.style}" for p in points.itertuples(index=False)
    ]
    figure.add_trace(
        go.Scatter(
            x=points["volatility"], y=points["value"], mode="markers", showlegend=False, text=words,
            marker={"color": points["color"], "symbol": points["symbol"], "size": 12},
            hovertemplate="%{text}, %{y:+.1%} at %{x:.1%} a year<extra></extra>",
        )
    )  # fmt: skip
    for model, own in points.groupby("model", sort=True):
        figure.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="markers", name=for_plotly(short_model(str(model))),
                marker={"color": t.muted, "symbol": own["symbol"].iloc[0], "size": 9},
            )
        )  # fmt: skip
    for agent, own in points.groupby("agent", sort=True):
        figure.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="lines", name=for_plotly(str(agent)),
                line={"color": own["color"].iloc[0], "width": 6},
            )
        )  # fmt: skip
    if hold is not None:
        figure.add_trace(
            go.Scatter(
                x=[hold[0]], y=[hold[1]], mode="markers+text", text=["B&H"], textposition="middle left",
                textfont={"color": t.muted}, showlegend=False, name="Buy & Hold",
                marker={"symbol": "diamond-open", "size": 15, "color": t.muted, "line": {"width": 2}},
                hovertemplate="Buy & Hold<br>%{y:+.1%} at %{x:.1%} a year<extra></extra>",
            )
        )  # fmt: skip
    _layout(figure, t, 400 if phone else 520, {"l": 56, "r": 12, "t": 8, "b": 116 if phone else 96})
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0, "font": {"color": t.text}},
    )
    figure.update_xaxes(
        SHARE_TICKS, title_text="Volatility per year", title_font={"color": t.muted, "size": 11},
        showgrid=True, gridcolor=t.grid, rangemode="tozero",
    )  # fmt: skip
    figure.update_yaxes(RETURN_TICKS, title_text="Net return")
    return figure


def agreement_figure(
    share: np.ndarray, n: np.ndarray, names: Sequence[str], theme: Theme, *, phone: bool = False
) -> go.Figure:
    """How often two entries said the same, in percent; the diagonal is left empty."""
    t = TOKENS[theme]
    z = share.copy()
    np.fill_diagonal(z, np.nan)
    shown = [for_plotly(x) for x in names]
    printed = len(names) <= 20 and not phone
    text = [[f"{100 * v:.0f}" if np.isfinite(v) else "" for v in row] for row in z]
    figure = go.Figure(
        go.Heatmap(
            z=z, x=shown, y=shown, zmin=0, zmax=COLOUR_REACH, showscale=False, xgap=2, ygap=2,
            colorscale=[[0, t.background], [1, t.buy]], text=text, customdata=n,
            texttemplate="%{text}" if printed else "", hoverongaps=False,
            textfont={"color": t.text, "size": 11},
            hovertemplate="%{y} and %{x}: %{text}% of %{customdata} slots<extra></extra>",
        )
    )  # fmt: skip
    side = 118 if phone else 150
    _layout(figure, t, side + 24 * max(len(names), 4), {"l": side, "r": 8, "t": 8, "b": 100})
    size = 9 if phone else 11
    figure.update_xaxes(type="category", tickangle=-45, tickfont={"size": size}, dtick=1)
    figure.update_yaxes(
        type="category", autorange="reversed", showgrid=False, tickfont={"size": size}, dtick=1
    )
    return figure


def action_figure(shares: pd.DataFrame, theme: Theme) -> go.Figure:
    """BUY, HOLD and SELL as parts of one bar an entry. `shares` has entry, the three and n."""
    t = TOKENS[theme]
    names = [for_plotly(str(e)) for e in shares["entry"]]
    figure = go.Figure()
    for action, color in (("BUY", t.buy), ("HOLD", t.hold), ("SELL", t.sell)):
        figure.add_trace(
            go.Bar(
                x=shares[action], y=names, orientation="h", name=action, marker={"color": color},
                hovertemplate=f"%{{y}}: {action} %{{x:.0%}}<extra></extra>",
            )
        )  # fmt: skip
    _layout(figure, t, 118 + 24 * max(len(names), 4), {"l": 150, "r": 8, "t": 40, "b": 68})
    figure.update_layout(
        barmode="stack", bargap=0.25, showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )  # fmt: skip
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(
        type="category", autorange="reversed", showgrid=False, tickfont={"size": 11}, dtick=1
    )
    return figure


ACTION_SYMBOLS = {"BUY": "triangle-up", "HOLD": "square", "SELL": "triangle-down"}


def pair_figure(
    closes: pd.Series, gap: pd.Series, scores: pd.Series, actions: pd.DataFrame,
    names: tuple[str, str], colors: tuple[str, str], pins: Sequence[Pin], theme: Theme, *, phone: bool = False,
) -> go.Figure:  # fmt: skip
    """Price with pins, the profit gap of two accounts as bars, the news, and what both did.

    `closes`, `gap` (percentage points of V_0, first minus second) and `scores` (of briefs, -1 to 1) are
    by session; `actions` has entry, session, action, status and late. A panel without data is left out.
    """
    t = TOKENS[theme]
    panels = {"price": 220, "gap": 150} | ({"news": 80} if len(scores) else {}) | {"acts": 90}
    total = sum(panels.values())
    figure = make_subplots(
        rows=len(panels), cols=1, shared_xaxes=True, row_heights=list(panels.values()),
        vertical_spacing=0.035,
    )  # fmt: skip
    at = {name: i for i, name in enumerate(panels, start=1)}
    figure.add_trace(
        go.Scatter(
            x=closes.index, y=closes.to_numpy(), mode="lines", line={"color": t.text, "width": 1.6},
            hovertemplate="%{x|%-d %b %Y} $%{y:,.2f}<extra></extra>",
        ),
        row=at["price"], col=1,
    )  # fmt: skip
    for pin in pins:
        if pin.session in closes.index:
            figure.add_vline(x=pin.session, line={"color": t.muted, "dash": "dot", "width": 1})
            figure.add_annotation(
                x=pin.session, y=float(closes[pin.session]), xref="x", yref="y", text=f"<b>{pin.number}</b>",
                showarrow=False, yshift=12, bgcolor=t.panel, font={"color": t.text, "size": 11},
                hovertext=for_plotly(pin.words),
            )  # fmt: skip
    ahead = [for_plotly(names[0] if v >= 0 else names[1]) for v in gap]
    figure.add_trace(
        go.Bar(
            x=gap.index, y=gap.to_numpy(), customdata=ahead,
            marker={"color": [colors[0] if v >= 0 else colors[1] for v in gap]},
            hovertemplate="%{x|%-d %b %Y} %{y:+.1f} pp, %{customdata} ahead<extra></extra>",
        ),
        row=at["gap"], col=1,
    )  # fmt: skip
    if "news" in at:
        tone = [t.gain if v > 0.1 else t.loss if v < -0.1 else t.hold for v in scores]
        figure.add_trace(
            go.Bar(
                x=scores.index, y=scores.to_numpy(), marker={"color": tone},
                hovertemplate="%{x|%-d %b %Y} news %{y:+.2f}<extra></extra>",
            ),
            row=at["news"], col=1,
        )  # fmt: skip
    made, late = actions["status"].isin(["ok", "repaired"]), actions["late"].astype(bool)
    for action, color in (("BUY", t.buy), ("HOLD", t.hold), ("SELL", t.sell)):
        own, symbol = made & (actions["action"] == action), ACTION_SYMBOLS[action]
        _marks(figure, actions[own & ~late], symbol, color, action, at["acts"])
        _marks(figure, actions[own & late], f"{symbol}-open", color, f"{action}, late", at["acts"])
    gap = actions["status"].isin(GAPS)
    _marks(figure, actions[gap], "line-ew-open", t.muted, "no decision, position kept", at["acts"])
    _marks(figure, actions[~made & ~gap], "x-thin-open", t.loss, "no answer of the model", at["acts"])
    _layout(figure, t, total + 60, {"l": 84 if phone else 150, "r": 10, "t": 12, "b": 28})
    figure.update_yaxes(tickprefix="$", tickformat=",", nticks=5, row=at["price"], col=1)
    figure.update_yaxes(
        title_text="Gap, pp",
        tickformat="+.2~f",
        nticks=5,
        labelalias={"+0": "0"},
        row=at["gap"],
        col=1,
    )
    if "news" in at:
        figure.update_yaxes(title_text="News", range=[-1.05, 1.05], nticks=3, row=at["news"], col=1)
    rows = [for_plotly(x) for x in dict.fromkeys(names)]
    figure.update_yaxes(
        categoryorder="array", categoryarray=rows[::-1], range=[-0.6, len(rows) - 0.4], showgrid=False,
        labelalias={x: x[:12] + "…" for x in rows if len(x) > 13} if phone else {}, row=at["acts"], col=1,
    )  # fmt: skip
    figure.update_xaxes(tickformat="%-d %b")
    if len(closes):
        figure.update_xaxes(of_days(closes.index[0], closes.index[-1]))
    return figure


def _marks(
    figure: go.Figure, own: pd.DataFrame, symbol: str, color: str, words: str, row: int
) -> None:
    if own.empty:
        return
    figure.add_trace(
        go.Scatter(
            x=own["session"], y=[for_plotly(str(e)) for e in own["entry"]], mode="markers", name=words,
            marker={"symbol": symbol, "color": color, "size": 8, "line": {"color": color, "width": 2 if "open" in symbol else 0}},
            hovertemplate="%{x|%-d %b %Y} " + words + "<extra>%{y}</extra>",
        ),
        row=row, col=1,
    )  # fmt: skip

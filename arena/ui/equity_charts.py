"""Figures of the Equity page as pure functions of lines and tokens. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from arena.ui import format as fmt
from arena.ui.charts import (
    MARGINS,
    PHONE_LABEL_CHARS,
    PHONE_MARGINS,
    RETURN_TICKS,
    SHARE_TICKS,
    cut_name,
    layout,
    of_days,
    panel,
    spread,
    stacked,
)
from arena.ui.equity_lines import Line
from arena.ui.prose import for_plotly
from arena.ui.tokens import TOKENS, Theme, Tokens, strategy_label

Trace = dict[str, Any]

HEIGHTS_PX = (340, 120)
GAP_PX = 14
TOP_PX = 34
"""Room for the chart's own buttons, which would cover the label of the best line."""

POINTS_SHOWN = 40
"""With fewer sessions each one is marked, so that one alone is seen at all."""

ROLLING_SESSIONS = 60
NAME_CHARS = 26
NAME_PX = 6.2
"""About how wide a character of a label is."""


def margins_of(lines: Sequence[Line], phone: bool) -> dict[str, int]:
    """Side margins that hold the longest name beside a line's end; the tape below takes the same."""
    if phone:
        return PHONE_MARGINS
    bright = [x for x in lines if not x.faint]
    chars = max(
        (len(cut_name(x.short, NAME_CHARS)) + len(_tail(x)) for x in bright), default=8
    )  # fmt: skip
    own = max((len(cut_name(x.short, NAME_CHARS)) for x in lines if not x.benchmark), default=8)
    return MARGINS | {"l": max(64, round(NAME_PX * own) + 16), "r": round(NAME_PX * chars) + 66}


def equity_figure(
    lines: Sequence[Line],
    theme: Theme,
    *,
    log: bool,
    net: bool,
    span: tuple[pd.Timestamp, pd.Timestamp] | None = None,
    band: bool = False,
    phone: bool = False,
) -> go.Figure:
    """Returns since the start with direct labels, drawdown below on the same days.

    On a log scale growth of 100 is drawn instead, as a return of 0 has no logarithm; values of 0 and
    below are left out there. `band` draws the median and the range of all lines in place of the grey
    ones. `span` is the first and last session of the axis, which other charts may share.
    """
    t = TOKENS[theme]
    grey = [x for x in lines if x.faint]
    bright = [x for x in lines if not x.faint]
    traces: list[Trace] = []
    if band and grey:
        traces += _median([x for x in lines if not x.benchmark], t, log)
    elif grey:
        traces.append(_field(grey, t, log))
    for line in bright:
        if line.low is not None and line.high is not None:
            traces += _range(line.sessions, line.low, line.high, line.color, log)
    for line in bright:
        traces += _curve(line, log)
    made = stacked(theme, HEIGHTS_PX, {**margins_of(lines, phone), "t": TOP_PX}, GAP_PX)
    for name in ("xaxis", "xaxis2"):
        made[name]["hoverformat"] = "%-d %b %Y"
        if lines:
            made[name] |= _days(lines, span)
    words = f"{'Growth of 100' if log else 'Return'}, {'net' if net else 'before fees'}"
    made["yaxis"] |= {
        **({} if log else RETURN_TICKS),
        "type": "log" if log else "linear", "title": made["yaxis"]["title"] | {"text": words},
    }  # fmt: skip
    made["yaxis2"] |= {
        **SHARE_TICKS, "nticks": 4, "range": _depth(bright),
        "title": made["yaxis2"]["title"] | {"text": "Drawdown"},
    }  # fmt: skip
    reach = _reach(lines, log)
    if reach is not None:
        made["yaxis"]["range"] = list(reach)
        made["annotations"] = _end_labels(bright, log, reach, PHONE_LABEL_CHARS if phone else NAME_CHARS)
    return go.Figure(data=traces, layout=made)


def _days(
    lines: Sequence[Line], span: tuple[pd.Timestamp, pd.Timestamp] | None
) -> dict[str, object]:
    first, last = span or (min(x.sessions[0] for x in lines), max(x.sessions[-1] for x in lines))
    return of_days(first, last)


def _shown(growth: np.ndarray, log: bool) -> np.ndarray:
    if not log:
        return growth - 1.0
    return 100 * np.where(growth > 0, growth, np.nan)


def _curve(line: Line, log: bool) -> list[Trace]:
    """The line, and its drawdown below."""
    name = for_plotly(line.name)
    strategy = for_plotly(f" · {strategy_label(line.words)}") if line.words else ""
    growth, fall = line.growth, line.drawdown
    balances = [""] * len(growth) if line.reference else [f"  {fmt.money(b)}" for b in line.balance.tolist()]
    words = [
        f"{fmt.percent(g - 1.0)}{b}{strategy}" if g == g else ""
        for g, b in zip(growth.tolist(), balances, strict=True)
    ]
    falls = [fmt.percent(d) if d == d else "" for d in fall.tolist()]
    common = {
        "type": "scatter", "x": line.sessions, "name": name, "connectgaps": False,
        "mode": "lines+markers" if len(line.sessions) <= POINTS_SHOWN else "lines",
        "marker": {"size": 5 if len(line.sessions) <= 7 else 3, "color": line.color},
        "hovertemplate": "%{customdata}<extra>" + name + "</extra>",
    }  # fmt: skip
    style = {"color": line.color, "dash": line.dash}
    return [
        common | panel(0) | {
            "y": _shown(growth, log), "customdata": _texts(words),
            "line": style | {"width": 1.6 if line.benchmark else 2.2},
        },
        common | panel(1) | {"y": fall, "customdata": _texts(falls), "line": style | {"width": 1.2}},
    ]  # fmt: skip


def _texts(words: Sequence[str]) -> np.ndarray:
    # Plotly looks at every item of a list, not of an array.
    return np.array(words, dtype=object)


def _field(grey: Sequence[Line], t: Tokens, log: bool) -> Trace:
    """All grey lines as one trace with breaks: a browser draws one fast and a hundred slowly."""
    pause = np.array([np.nan])
    days = np.concatenate([d for x in grey for d in (x.sessions.to_numpy(), x.sessions.to_numpy()[-1:])])
    values = np.concatenate([v for x in grey for v in (_shown(x.growth, log), pause)])
    return {
        "type": "scatter", "x": days, "y": values, "mode": "lines", "name": "others",
        "line": {"color": t.zero, "width": 1}, "opacity": 0.55, "hoverinfo": "skip",
        "connectgaps": False, **panel(0),
    }  # fmt: skip


def _median(own: Sequence[Line], t: Tokens, log: bool) -> list[Trace]:
    """Median and range of the lines on every session; a line counts from its first to its last one."""
    wide = pd.DataFrame({i: pd.Series(x.growth, index=x.sessions) for i, x in enumerate(own)})
    wide = wide.sort_index().ffill(limit_area="inside")
    days = pd.DatetimeIndex(wide.index)
    middle = wide.median(axis=1).to_numpy(float)
    return [
        *_range(days, wide.min(axis=1).to_numpy(), wide.max(axis=1).to_numpy(), t.muted, log),
        {
            "type": "scatter", "x": days, "y": _shown(middle, log), "mode": "lines", "name": "median",
            "line": {"color": t.muted, "width": 2.4}, **panel(0),
            "customdata": _texts([fmt.percent(m - 1.0) for m in middle.tolist()]),
            "hovertemplate": f"%{{customdata}}<extra>median of {len(own)}</extra>",
        },
    ]  # fmt: skip


def _range(
    days: pd.DatetimeIndex, low: np.ndarray, high: np.ndarray, color: str, log: bool
) -> list[Trace]:
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    common = {
        "type": "scatter", "x": days, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip",
        "name": "range", "fillcolor": f"rgba({r},{g},{b},0.16)", **panel(0),
    }  # fmt: skip
    return [
        common | {"y": _shown(low, log)},
        common | {"y": _shown(high, log), "fill": "tonexty"},
    ]


def _reach(lines: Sequence[Line], log: bool) -> tuple[float, float] | None:
    """Ends of the vertical axis (logarithms on a log scale); None where nothing can be drawn."""
    if not lines:
        return None
    every = np.concatenate([_shown(x.growth, log) for x in lines])
    every = every[np.isfinite(every)]
    if not len(every):
        return None
    low, high = (float(np.log10(v)) if log else float(v) for v in (every.min(), every.max()))
    pad = 0.04 * ((high - low) or 0.01)
    return low - pad, high + pad


def _tail(line: Line) -> str:
    return " bankrupt" if line.bankrupt else ""


def _depth(bright: Sequence[Line]) -> list[float]:
    """Ends of the drawdown's axis, 0 at the top also where nothing fell."""
    falls = np.concatenate([x.drawdown for x in bright]) if bright else np.zeros(1)
    falls = falls[np.isfinite(falls)]
    deepest = min(float(falls.min()) if len(falls) else 0.0, -0.01)
    return [1.08 * deepest, -0.03 * deepest]


def _end_labels(
    bright: Sequence[Line], log: bool, reach: tuple[float, float], max_chars: int
) -> list[Trace]:
    """Name and value of each line at its end, pushed apart."""
    named = [x for x in bright if np.isfinite(_shown(np.array([x.end]), log)[0])]
    ends = [float(np.log10(100 * x.end) if log else x.end - 1.0) for x in named]
    return [
        {
            "xref": "paper", "yref": "y", "x": 1.0, "y": at, "xanchor": "left", "showarrow": False,
            "xshift": 6, "font": {"color": line.color, "size": 12},
            "text": f"{for_plotly(cut_name(line.short, max_chars))} <b>{fmt.percent(line.end - 1.0)}</b>"
            + _tail(line),
        }
        for line, at in zip(named, spread(ends, *reach), strict=True)
    ]  # fmt: skip


def session_returns(line: Line) -> pd.Series:
    """Simple returns from one drawn session to the next; none across a day without a value or from
    a balance of 0 or less."""
    growth = np.where(line.growth > 0, line.growth, np.nan)
    later = np.where(np.isfinite(line.growth), line.growth, np.nan)[1:]
    return pd.Series(later / growth[:-1] - 1.0, index=line.sessions[1:]).dropna()


def rolling_sharpe(line: Line, base: int, sessions: int = ROLLING_SESSIONS) -> pd.Series:
    """Mean over sample deviation of the last `sessions` returns, times the root of `base`; only where
    there are that many, and none where they do not vary."""
    returns = session_returns(line)
    window = returns.rolling(sessions)
    deviation = window.std(ddof=1)
    ratio = window.mean() / deviation.where(deviation > 1e-12) * np.sqrt(base)
    return pd.Series(ratio.dropna())


def sharpe_figure(
    lines: Sequence[Line], ratios: Sequence[pd.Series], theme: Theme, *, phone: bool = False
) -> go.Figure:
    """Rolling Sharpe of each line, labelled at its end."""
    figure = go.Figure()
    shown = [(x, r) for x, r in zip(lines, ratios, strict=True) if len(r)]
    for line, ratio in shown:
        name = for_plotly(line.name)
        figure.add_trace(
            go.Scatter(
                x=ratio.index, y=ratio.to_numpy(), name=name, text=[fmt.ratio(float(v)) for v in ratio],
                mode="lines+markers" if len(ratio) <= POINTS_SHOWN else "lines",
                marker={"size": 4, "color": line.color},
                line={"color": line.color, "dash": line.dash, "width": 1.8},
                hovertemplate="%{text}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    layout(figure, theme, 300, margins_of(lines, phone))
    figure.update_yaxes(title_text=f"Sharpe, last {ROLLING_SESSIONS} returns")
    if shown:
        values = np.concatenate([r.to_numpy(float) for _, r in shown])
        low, high = float(values.min()), float(values.max())
        pad = 0.06 * ((high - low) or 1.0)
        figure.update_yaxes(range=[low - pad, high + pad])
        ends = [float(r.iloc[-1]) for _, r in shown]
        for (line, ratio), at in zip(shown, spread(ends, low - pad, high + pad, 0.07), strict=True):
            words = for_plotly(cut_name(line.short, PHONE_LABEL_CHARS if phone else NAME_CHARS))
            figure.add_annotation(
                xref="paper", yref="y", x=1.0, y=at, xanchor="left", showarrow=False, xshift=6,
                text=f"{words} <b>{fmt.ratio(float(ratio.iloc[-1]))}</b>",
                font={"color": line.color, "size": 12},
            )  # fmt: skip
    return figure


def returns_figure(lines: Sequence[Line], theme: Theme, *, phone: bool = False) -> go.Figure:
    """Returns of single sessions: a box a line (quartiles, whiskers to 1.5 times their distance)."""
    figure = go.Figure()
    t = TOKENS[theme]
    at = list(range(len(lines)))
    names = [for_plotly(cut_name(x.short, PHONE_LABEL_CHARS if phone else NAME_CHARS)) for x in lines]
    for i, line in enumerate(lines):
        returns, name = session_returns(line), for_plotly(line.name)
        figure.add_trace(
            go.Box(
                x=returns.to_numpy(), y=[i] * len(returns), orientation="h", name=name,
                marker={"color": line.color, "size": 4}, line={"width": 1.4}, boxpoints="outliers",
                hovertemplate="%{x:+.1%}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    layout(figure, theme, 70 + 38 * len(lines), {**margins_of(lines, phone), "r": 24})
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(
        tickformat="+.1%", labelalias={"+0.0%": "0%"}, showgrid=True, gridcolor=t.grid, zeroline=True,
        zerolinecolor=t.zero,
    )  # fmt: skip
    figure.update_yaxes(
        showgrid=False, zeroline=False, autorange="reversed", tickmode="array", tickvals=at,
        ticktext=names,
    )  # fmt: skip
    return figure


def correlations(lines: Sequence[Line]) -> pd.DataFrame:
    """Correlation of session returns over the sessions that two lines share; NaN where one does not
    vary or fewer than three are shared."""
    wide = pd.DataFrame({i: session_returns(x) for i, x in enumerate(lines)})
    wide = wide.loc[:, wide.std(ddof=1) > 1e-12] if len(wide) else wide
    return wide.corr(min_periods=3).reindex(index=range(len(lines)), columns=range(len(lines)))


def correlation_figure(lines: Sequence[Line], theme: Theme, *, phone: bool = False) -> go.Figure:
    """Correlation of every pair as a printed number; colour from -1 to 1."""
    t = TOKENS[theme]
    table = correlations(lines).to_numpy(float)
    chars = PHONE_LABEL_CHARS if phone else NAME_CHARS
    names = [f"{for_plotly(cut_name(x.short, chars))}" for x in lines]
    at = list(range(len(lines)))
    texts = [[fmt.ratio(float(v)) if np.isfinite(v) else fmt.MISSING for v in row] for row in table]
    figure = go.Figure(
        go.Heatmap(
            z=table, x=at, y=at, text=texts, texttemplate="%{text}", zmid=0, zmin=-1.4, zmax=1.4,
            colorscale=[[0, t.sell], [0.5, t.panel], [1, t.buy]], showscale=False, xgap=3, ygap=3,
            textfont={"color": t.text, "size": 10 if phone else 12}, hoverongaps=False,
            customdata=[[f"{a}, {b}" for b in names] for a in names],
            hovertemplate="%{customdata}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    margins = {**margins_of(lines, phone), "t": 46, "r": 24}
    layout(figure, theme, 90 + 40 * len(lines), margins)
    figure.update_layout(hovermode="closest")
    ticks = {"tickmode": "array", "tickvals": at, "ticktext": names, "showgrid": False}
    figure.update_xaxes(side="top", tickangle=-40 if phone or len(lines) > 6 else 0, **ticks)
    figure.update_xaxes(tickformat=None)
    figure.update_yaxes(autorange="reversed", zeroline=False, **ticks)
    return figure

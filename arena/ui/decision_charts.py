"""The price before a decision, as a pure function of bars and tokens. No streamlit here."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from arena.ui.charts import FONT, MARKS
from arena.ui.tokens import TOKENS, Theme

TAIL, MEAN = 60, 20
HEIGHT_PX = 170


def tail_figure(bars: pd.DataFrame, action: str, failed: bool, theme: Theme) -> go.Figure:
    """Closes of the last TAIL of `bars` with their mean over MEAN sessions (dotted), and the action on
    the last; a failed one is a cross, so that it is not taken for the model's opinion."""
    t = TOKENS[theme]
    mean = bars["close"].rolling(MEAN).mean().tail(TAIL)
    seen = bars.tail(TAIL)
    color = t.loss if failed else {"BUY": t.buy, "SELL": t.sell}.get(action, t.muted)
    days, closes = seen["session"].to_numpy(), seen["close"].to_numpy()
    ticks = {"tickfont": {"color": t.muted}, "nticks": 4}
    # One dictionary, checked once: this chart is drawn at every step through a list.
    return go.Figure(
        {
            "data": [
                {"type": "scatter", "x": days, "y": closes, "mode": "lines", "name": "close",
                 "line": {"color": t.text, "width": 1.6}, "hovertemplate": "$%{y:,.2f}<extra></extra>"},
                {"type": "scatter", "x": days, "y": mean.to_numpy(), "mode": "lines", "name": f"mean of {MEAN}",
                 "line": {"color": t.muted, "width": 1.2, "dash": "dot"}, "hoverinfo": "skip"},
                {"type": "scatter", "x": days[-1:], "y": closes[-1:], "mode": "markers", "name": action,
                 "marker": {"symbol": "x" if failed else MARKS.get(action, "square"), "size": 11, "color": color},
                 "hovertemplate": f"{'failed' if failed else action}<extra></extra>"},
            ],
            "layout": {
                "height": HEIGHT_PX, "margin": {"l": 52, "r": 10, "t": 6, "b": 24}, "showlegend": False,
                "paper_bgcolor": t.background, "plot_bgcolor": t.background, "hovermode": "x",
                "font": {"color": t.text, "size": 12, "family": FONT},
                "hoverlabel": {"bgcolor": t.panel, "font": {"color": t.text}},
                "xaxis": {"showgrid": False, "linecolor": t.grid, "tickformat": "%-d %b", **ticks},
                "yaxis": {"gridcolor": t.grid, "tickprefix": "$", "tickformat": "~s", **ticks},
            },
        }
    )  # fmt: skip

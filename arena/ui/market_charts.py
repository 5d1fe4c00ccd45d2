"""The chart of an asset with its news, as a pure function of frames and tokens. No streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from arena.analytics.events import Event
from arena.ui import format as fmt
from arena.ui.charts import FONT, of_days
from arena.ui.market_days import STATE_WORDS
from arena.ui.prose import for_plotly
from arena.ui.tokens import TOKENS, Theme, Tokens

LANES = ("no brief", "bearish", "neutral", "bullish")
"""Rows of the news strip from the foot up: a brief's side can be read without its colour."""

MARGINS = {"l": 74, "r": 92, "t": 10, "b": 28}
PHONE_MARGINS = MARGINS | {"l": 60, "r": 14}
PLOT_PX = {False: 920, True: 290}
"""About how wide the panels are, by phone or not: what a label at the foot has room for."""

CHAR_PX = 6.4
PRICE_PX, VOLUME_PX, STRIP_PX = 300, 74, 104
GAP_PX = 18


@dataclass(frozen=True)
class Pin:
    """A session to point at: its number on the chart, and the words of everything that falls on it."""

    number: int
    session: pd.Timestamp
    labels: tuple[str, ...]

    @property
    def words(self) -> str:
        return "; ".join(self.labels)


def pins_of(events: Sequence[Event]) -> list[Pin]:
    """Events by session, numbered in order of time."""
    by_session: dict[pd.Timestamp, list[str]] = {}
    for event in sorted(events, key=lambda e: e.session):
        by_session.setdefault(pd.Timestamp(event.session), []).append(event.label)
    return [Pin(n, s, tuple(labels)) for n, (s, labels) in enumerate(by_session.items(), start=1)]


def market_figure(
    bars: pd.DataFrame,
    days: pd.DataFrame,
    pins: Sequence[Pin],
    theme: Theme,
    *,
    candles: bool = False,
    phone: bool = False,
) -> go.Figure:
    """Price with pins, volume below it, and the news strip, on the same sessions.

    `bars` has session, open, high, low, close and volume, with empty rows where a session has no bar;
    `days` has session, state, score and n_stories (`market_days.strip_frame`). A panel without data
    is left out.
    """
    t = TOKENS[theme]
    panels = {"price": PRICE_PX}
    if bars["volume"].notna().any():
        panels["volume"] = VOLUME_PX
    if not days.empty:
        panels["news"] = STRIP_PX
    total = sum(panels.values()) + GAP_PX * (len(panels) - 1)
    figure = make_subplots(
        rows=len(panels), cols=1, shared_xaxes=True, row_heights=list(panels.values()),
        vertical_spacing=GAP_PX / total,
    )  # fmt: skip
    row = {name: i for i, name in enumerate(panels, start=1)}
    _layout(figure, t, total, phone)
    if bars["close"].notna().any():
        _price(figure, bars, t, candles=candles)
        _pins(figure, bars, pins, t, phone)
        if not phone:
            _last_price(figure, bars, t)
    if "volume" in row:
        figure.add_trace(
            go.Bar(
                x=bars["session"], y=bars["volume"], name="volume", marker={"color": t.border},
                hovertemplate="volume %{y:,.3s}<extra></extra>", unselected={"marker": {"opacity": 1}},
            ),
            row=row["volume"], col=1,
        )  # fmt: skip
        figure.update_yaxes(nticks=3, tickformat="~s", title_text="Volume", row=row["volume"], col=1)
    if "news" in row:
        span_days = (days["session"].max() - days["session"].min()).days + 1
        _strip(figure, days, t, row["news"], min(max(round(0.8 * PLOT_PX[phone] / span_days), 3), 9))
    sessions = pd.concat([bars["session"], days["session"]]) if len(days) else bars["session"]
    if len(sessions):
        figure.update_xaxes(of_days(sessions.min(), sessions.max()))
    return figure


def _layout(figure: go.Figure, t: Tokens, height: int, phone: bool) -> None:
    margins = PHONE_MARGINS if phone else MARGINS
    figure.update_layout(
        height=height + margins["t"] + margins["b"], margin=margins, paper_bgcolor=t.background,
        plot_bgcolor=t.background, font={"color": t.text, "size": 12, "family": FONT},
        showlegend=False, hovermode="closest", bargap=0.25,
        hoverlabel={"bgcolor": t.panel, "font": {"color": t.text}},
    )  # fmt: skip
    figure.update_xaxes(
        showgrid=False, linecolor=t.grid, tickfont={"color": t.muted}, tickformat="%-d %b",
        rangeslider={"visible": False},
    )  # fmt: skip
    figure.update_yaxes(
        gridcolor=t.grid, zeroline=False, tickfont={"color": t.muted},
        title_font={"color": t.muted, "size": 11},
    )  # fmt: skip


def _price(figure: go.Figure, bars: pd.DataFrame, t: Tokens, *, candles: bool) -> None:
    if candles:
        figure.add_trace(
            go.Candlestick(
                x=bars["session"], open=bars["open"], high=bars["high"], low=bars["low"],
                close=bars["close"], name="price", increasing={"line": {"color": t.gain}},
                decreasing={"line": {"color": t.loss}},
            ),
            row=1, col=1,
        )  # fmt: skip
    else:
        figure.add_trace(
            go.Scatter(
                # With marks, as a session between two gaps has no line to be seen by.
                x=bars["session"], y=bars["close"], mode="lines+markers", name="close",
                connectgaps=False, line={"color": t.text, "width": 1.6},
                marker={"size": 4 if len(bars) <= 75 else 2.5, "color": t.text},
                unselected={"marker": {"opacity": 1}},
                hovertemplate="%{x|%-d %b %Y} $%{y:,.2f}<extra></extra>",
            ),
            row=1, col=1,
        )  # fmt: skip
    low, high = _span(bars, candles=candles)
    figure.update_yaxes(tickprefix="$", tickformat=",", nticks=5, range=[low, high], row=1, col=1)


def _span(bars: pd.DataFrame, *, candles: bool) -> tuple[float, float]:
    """Ends of the price axis: a strip at the foot stays free for the labels of pins."""
    low = float(bars["low" if candles else "close"].min())
    high = float(bars["high" if candles else "close"].max())
    room = (high - low) or 0.02 * high
    return low - 0.16 * room, high + 0.08 * room


def _pins(
    figure: go.Figure, bars: pd.DataFrame, pins: Sequence[Pin], t: Tokens, phone: bool
) -> None:
    """A numbered disc on the price, a dotted stem, and at its foot the words if there is room."""
    foot = float(figure.layout.yaxis.range[0])
    known = bars.dropna(subset=["close"])
    first, last = known["session"].iloc[0], known["session"].iloc[-1]
    shown = [p for p in pins if first <= p.session <= last]
    day_px = PLOT_PX[phone] / max((last - first).days + 1, 1)
    ends = [*(p.session for p in shown[1:]), last]
    for pin, end in zip(shown, ends, strict=False):
        price = float(known.loc[known["session"] <= pin.session, "close"].iloc[-1])
        room = int((end - pin.session).days * day_px / CHAR_PX)
        figure.add_shape(
            type="line", x0=pin.session, x1=pin.session, y0=foot, y1=price,
            line={"color": t.muted, "width": 1, "dash": "dot"}, row=1, col=1,
        )  # fmt: skip
        words = f"{pin.number} {pin.words}"
        if len(words) <= room and not phone:
            figure.add_annotation(
                x=pin.session, y=foot, xanchor="left", yanchor="bottom", showarrow=False, xshift=2,
                text=for_plotly(words), font={"color": t.muted, "size": 11}, row=1, col=1,
            )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=[pin.session], y=[price], mode="markers+text", text=[str(pin.number)], name="pin",
                textfont={"size": 10, "color": t.text},
                marker={"size": 17, "color": t.background, "line": {"color": t.text, "width": 1.4}},
                customdata=[for_plotly(pin.words)], cliponaxis=False,
                unselected={"marker": {"opacity": 1}, "textfont": {"color": t.text}},
                hovertemplate="%{x|%-d %b %Y} %{customdata}<extra></extra>",
            ),
            row=1, col=1,
        )  # fmt: skip


def _last_price(figure: go.Figure, bars: pd.DataFrame, t: Tokens) -> None:
    last = bars["close"].dropna().iloc[-1]
    figure.add_annotation(
        xref="paper", yref="y", x=1.0, y=float(last), xanchor="left", showarrow=False, xshift=6,
        text=f"<b>${last:,.2f}</b>", font={"color": t.text, "size": 12},
    )  # fmt: skip


def _strip(figure: go.Figure, days: pd.DataFrame, t: Tokens, row: int, size: int) -> None:
    looks = {
        "bullish": (3, "square", t.gain), "neutral": (2, "square", t.muted),
        "bearish": (1, "square", t.loss), "failed": (0, "x", t.loss),
        "silent": (0, "diamond-open", t.sell), "none": (0, "square-open", t.muted),
    }  # fmt: skip
    for state, (lane, symbol, color) in looks.items():
        own = days[days["state"] == state]
        if own.empty:
            continue
        scores = ["" if pd.isna(s) else f" {fmt.signed(s)}" for s in own["score"]]
        words = [
            f"{STATE_WORDS[state]}{score} · {fmt.counted(n, 'story', 'stories')}"
            for score, n in zip(scores, own["n_stories"], strict=True)
        ]
        figure.add_trace(
            go.Scatter(
                x=own["session"], y=[lane] * len(own), mode="markers", name=STATE_WORDS[state],
                marker={"symbol": symbol, "color": color, "size": size}, customdata=words,
                cliponaxis=False,
                unselected={"marker": {"opacity": 1}},
                hovertemplate="%{x|%-d %b %Y} %{customdata}<extra></extra>",
            ),
            row=row, col=1,
        )  # fmt: skip
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(len(LANES))), ticktext=list(LANES),
        range=[-0.6, len(LANES) - 0.4], row=row, col=1,
        # Room between a name and the mark of the first session.
        ticks="outside", ticklen=6, tickcolor=t.background,
    )  # fmt: skip

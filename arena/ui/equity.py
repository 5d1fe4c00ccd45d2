"""Parts of the Equity page."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from arena.ui import board, charts, states
from arena.ui import format as fmt
from arena.ui.charts import Line
from arena.ui.filters import strategy_pills
from arena.ui.prose import for_csv, for_markdown
from arena.ui.session import on_phone, theme
from arena.ui.tokens import (
    BUY_HOLD,
    TOKENS,
    agent_color,
    model_dash,
    short_model,
)

RANGES = {"1M": 31, "3M": 92, "All": None}
ALL_ASSETS = "All"
MOST_LINES = 6
PHONE_MARKS = 24
MODE_BAR = {"displayModeBar": "hover", "displaylogo": False}


@dataclass(frozen=True)
class EquityView:
    """What the controls say. `asset` None: entry curves over all assets."""

    asset: str | None
    models: tuple[str, ...]
    strategy: str
    days: int | None
    net: bool
    log: bool
    rebase: bool


def controls(summaries: pd.DataFrame) -> EquityView:
    """One wrapping line of controls, all bound to the URL."""
    played = summaries[summaries["grp"] != "benchmark"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asset = st.segmented_control(
            "Asset", [*sorted(set(summaries["asset"])), ALL_ASSETS], default=ALL_ASSETS,
            required=True, key="eq_asset", bind="query-params",
        )  # fmt: skip
        models = st.pills(
            "Models", sorted(set(played["model"])), selection_mode="multi", key="models",
            bind="query-params", format_func=for_markdown,
        )  # fmt: skip
        strategy = strategy_pills(played)
        days = st.segmented_control(
            "Range", list(RANGES), default="All", required=True, key="eq_range", bind="query-params"
        )
        fees = st.segmented_control(
            "Fees", ["Net", "Gross"], default="Net", required=True, key="eq_fees",
            bind="query-params",
        )  # fmt: skip
        log = st.toggle("Log", key="eq_log", bind="query-params")
        rebase = st.toggle("Rebase", value=True, key="eq_rebase", bind="query-params")
    return EquityView(
        None if asset == ALL_ASSETS else str(asset), tuple(sorted(models or ())), strategy,
        RANGES[str(days)], fees == "Net", bool(log), bool(rebase),
    )  # fmt: skip


def capital_of(run: Any) -> float:
    return float(json.loads(run["spec_json"])["season"]["capital"])


def lines_of(curves: pd.DataFrame, view: EquityView, capital: float) -> list[Line]:
    """Curves as drawn: cut to the range and, with Rebase, starting at 0 % there."""
    now = theme()
    agents = tuple(sorted(set(curves["agent"]) - {BUY_HOLD}))
    models = tuple(sorted(set(curves["model"]) - {"-"}))
    last = curves["session"].max()
    lines = []
    for (agent, model), rows in curves.groupby(["agent", "model"], sort=True):
        growth = rows["value" if view.net else "gross"].to_numpy(float)
        days = pd.DatetimeIndex(rows["session"])
        balance = capital * growth
        if view.days is not None:
            keep = np.asarray(days > last - pd.Timedelta(days=view.days))
            start = growth[np.argmax(keep) - 1] if np.argmax(keep) > 0 else 1.0
            days, growth, balance = days[keep], growth[keep], balance[keep]
            growth = growth / start if view.rebase else growth
        hold = agent == BUY_HOLD
        color = TOKENS[now].benchmark if hold else agent_color(str(agent), agents, now)
        short = "B&H" if hold else short_name(str(agent), str(model), agents)
        dash = "dot" if hold else model_dash(str(model), models)
        name = "Buy & Hold" if hold else f"{agent}@{model}"
        lines.append(Line(name, short, days, growth, balance, color, dash, hold))
    return with_faint(lines)


def with_faint(lines: list[Line]) -> list[Line]:
    """The best MOST_LINES and Buy & Hold keep colour and label; the others are drawn first, in grey."""
    own = sorted((x for x in lines if not x.benchmark), key=lambda x: -float(x.growth[-1]))
    faint = [replace(x, faint=True) for x in own[MOST_LINES:]]
    return [*faint, *own[:MOST_LINES], *(x for x in lines if x.benchmark)]


def short_name(agent: str, model: str, agents: tuple[str, ...]) -> str:
    """What tells a line apart: the model alone while one agent plays."""
    return short_model(model) if len(agents) == 1 else f"{agent} {short_model(model)}"


def chart(lines: list[Line], view: EquityView, key: tuple[str, int]) -> None:
    # The figure's key holds the data version: an unchanged figure keeps its zoom.
    st.plotly_chart(
        charts.equity_figure(lines, theme(), log=view.log, net=view.net, phone=on_phone()),
        theme=None,
        config=MODE_BAR, key=f"equity_{key[1]}",
        alt="Equity curves with drawdown below; Buy & Hold dotted",
    )  # fmt: skip


def tape(
    prices: pd.DataFrame, decisions: pd.DataFrame, view: EquityView, key: tuple[str, int],
    rejected: Container[str] = (),
) -> None:  # fmt: skip
    """Price and actions of one asset on the same days; `rejected` are hashes of markets with a brief
    that was rejected in review."""
    st.header("What each agent did")
    with st.container(horizontal=True):
        st.badge("▲ BUY", color="blue")
        st.badge("■ HOLD", color="gray")
        st.badge("▼ SELL", color="orange")
        st.badge("✕ failed, acts as HOLD", color="red")
        st.badge("□ no decision", color="gray")
    own = decisions[decisions["asset"] == view.asset]
    if view.models:
        own = own[own["model"].isin(view.models)]
    agents = tuple(sorted(set(own["agent"])))
    names = [short_name(a, m, agents) for a, m in zip(own["agent"], own["model"], strict=True)]
    made = pd.DataFrame(
        {
            "entry": names,
            "session": own["session"].to_numpy(),
            "action": own["action"].to_numpy(),
            "status": own["status"].to_numpy(),
            "rejected": [h in rejected for h in own["market_hash"]],
        }
    )
    if view.days is not None and len(prices):
        since = prices["session"].max() - pd.Timedelta(days=view.days)
        prices, made = prices[prices["session"] > since], made[made["session"] > since]
    if on_phone() and len(prices) > PHONE_MARKS:
        prices = prices.tail(PHONE_MARKS)
        made = made[made["session"] >= prices["session"].iloc[0]]
        st.markdown(f":small[:gray[The last {PHONE_MARKS} sessions; a wider screen shows all.]]")
    if made["rejected"].any():
        states.rejected_badge(int(made["rejected"].sum()))
    st.plotly_chart(
        charts.tape_figure(prices, made, sorted(set(names)), theme(), phone=on_phone()), theme=None,
        config=MODE_BAR, key=f"tape_{key[1]}", alt=f"Price of {view.asset} and every decision on it",
    )  # fmt: skip


def numbers(rows: list[dict[str, Any]]) -> None:
    """The drawn lines as a table."""
    st.header("The drawn lines in numbers")
    table = board.frame(rows)
    extra = {
        "gross": [board.value(r, "CR_gross", 100) for r in rows],
        "vol": [board.value(r, "AV", 100) for r in rows],
        "invested": [board.value(r, "time_in_market", 100) for r in rows],
        "days": [r["n_sessions"] for r in rows],
    }
    table = table.assign(**extra)
    order = ["name", "balance", "net", "gross", "excess", "vol", "sharpe", "drawdown", "win",
             "invested", "days", "failed"]  # fmt: skip
    number = st.column_config.NumberColumn
    settings = board.columns([], 0) | {
        "gross": number("Before fees", format="%+.1f%%", width=88),
        "vol": number("Volatility", format="%.1f%%", width=76, help="Deviation x root of B"),
        "invested": number("Invested", format="%.0f%%", width=70, help="Share of marks in a position"),
        "days": number("Days", width=50),
    }
    st.dataframe(
        board.styled(table, theme()), hide_index=True, column_order=order,
        row_height=board.ROW_HEIGHT, height=board.height(len(rows)), column_config=settings,
        placeholder=fmt.MISSING, key="numbers", alt="Metrics of the drawn lines",
    )  # fmt: skip


def data(lines: list[Line]) -> None:
    """The curves as numbers, and as a file."""
    with st.expander("Data", icon=":material/table:"):
        wide = pd.DataFrame({for_csv(x.name): pd.Series(x.growth - 1.0, index=x.sessions) for x in lines})
        wide.index = pd.DatetimeIndex(wide.index).date
        wide.index.name = "session"
        st.dataframe((100 * wide).round(2), height=260, key="curve_data")
        st.download_button("CSV", wide.to_csv(), "equity.csv", "text/csv", icon=":material/download:")

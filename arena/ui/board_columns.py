"""Settings of the board's columns, and which of them are shown together. Widths of a set fit 1,092 px."""

from __future__ import annotations

from typing import Any

import streamlit as st

SETS: dict[str, tuple[str, ...]] = {
    "Return": ("excess", "sharpe", "drawdown", "win", "curve", "balance", "now", "last", "flag"),
    "Risk": ("excess", "sharpe", "sharpe_ci", "drawdown", "volatility", "calmar", "alpha", "beta", "invested"),
    "Luck": ("net_ci", "verdict", "beats", "score", "score_ci", "flags"),
    "Cost": ("other", "turnover", "break_even", "cost", "decided", "failed", "flags"),
}  # fmt: skip
"""Columns behind rank, name and return. `other` is the return on the other side of fees."""

FIRST_SET = "Return"


def columns(
    assets: list[str], sessions: int, *, first: str = "Entry", gross: bool = False
) -> dict[str, Any]:
    """Settings of every column; each help gives the formula.

    Numbers carry no format: their words come from `board.styled`.
    """
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    order = ", ".join(sorted(assets))
    net = number("Net return", width=84, help="V_T / V_0 - 1, after fees. The rank goes by it")
    before = number("Before fees", width=84, help="V_T / V_0 - 1 without fees, slippage and borrowing")
    return {
        "rank": text(
            "#", width=40,
            help="Rank by net return; `=` where the difference to the group's leader is within noise",
        ),
        "name": text(first, width=170),
        "asset": text("Asset", width=66),
        "net": net,
        "mark": number(
            "Unrealised", width=78,
            help="Change since the last close at the newest quotes, after fees. Not settled: it is in no "
            "other column and in no rank",
        ),
        "gross": before,
        "other": net if gross else before,
        "bh": number("B&H", width=68, help="Buy & Hold of the same asset"),
        "excess": number(
            "vs B&H, pp", width=80,
            help="Return minus Buy & Hold's over the same assets and window, "
            + ("both before fees" if gross else "both after fees"),
        ),
        "sharpe": number(
            "Sharpe", width=64,
            help="Mean over deviation of daily returns x root of B; B is 365 with a coin, else 252. "
            "After fees. Grey: fewer than 20 returns",
        ),
        "sharpe_ci": text("95% of Sharpe", width=112, help="Interval by 1,000 block bootstraps of its days"),
        "drawdown": number("Max DD", width=72, help="Largest fall from a peak of the curve, after fees"),
        "volatility": number("Volatility", width=76, help="Deviation of daily returns x root of B"),
        "calmar": number("Calmar", width=64, help="Annual return over largest drawdown"),
        "alpha": number("Alpha, year", width=82, help="Return a year that the asset's own moves do not explain"),
        "beta": number("Beta", width=56, help="Slope of daily returns on those of the assets"),
        "invested": number("Invested", width=68, help="Share of sessions in a position"),
        "win": number("Win", width=54, help="Round trips with a profit after fees"),
        "net_ci": text("95% of return", width=112, help="Interval by 1,000 block bootstraps of its days, in percent"),
        "verdict": text(
            "Against B&H", width=136,
            help="Whether the interval of the difference to Buy & Hold holds zero",
        ),
        "beats": st.column_config.ProgressColumn(
            "Beats random", width=112, format="%.0f%%", min_value=0, max_value=100,
            help="Share of 1,000 random accounts of the same trading frequency that ended lower",
        ),
        "score": number("Right", width=60, help="BUY and SELL whose next session agreed"),
        "score_ci": text("95%, calls", width=112, help="Wilson interval in percent, and how many calls"),
        "curve": st.column_config.LineChartColumn(f"{sessions} days", width=92),
        "balance": number("Balance", width=80, help="Mean of its accounts, after fees"),
        "now": text("Now", width=64, help=f"Position in {order}: ▲ long, ■ flat, ▼ short"),
        "last": text("Last action", width=130, help="And its age at the end of the window"),
        "turnover": number("Turnover", width=76, help="Traded notional over capital"),
        "break_even": number("Break-even fee", width=102, help="Fee a side at which the return would be zero"),
        "cost": number(
            "$ a decision", width=88,
            help="Cost of model calls; – where the price of any of them is unknown",
        ),
        "decided": number("Decisions", width=74, format="%d"),
        "failed": number("Failed", width=60, format="%d", help="Decisions that the model failed to make"),
        "flag": text("Flags", width=78, help="Click the row: its card says what they mean"),
        "flags": text("Flags", width=180, help="Click the row: its card says what they mean"),
    }  # fmt: skip

"""The drawn lines of the Equity page as a table. The frame is pure; only `table` needs streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from arena.ui import board, equity_queries, equity_view
from arena.ui import format as fmt
from arena.ui.equity_lines import LineData, Pick, is_late
from arena.ui.equity_view import EquityView
from arena.ui.page import RunPage
from arena.ui.prose import for_csv
from arena.ui.session import theme
from arena.ui.tokens import BENCHMARK_MARK, TOKENS, Theme

SIGNED = {"net": 1, "gross": 1, "excess": 1}
"""Columns coloured by sign, with the decimals they are shown with."""

PERCENT = {"CR": "net", "CR_gross": "gross", "excess_bh": "excess", "AV": "volatility"}
FEW_RETURNS = 20
"""With fewer a Sharpe ratio is printed in grey."""


def frame(
    drawn: Sequence[Pick],
    rows: Mapping[str, Mapping[str, Any]],
    inside: Mapping[str, Mapping[str, float | None]],
    data: Mapping[str, LineData],
    capital: float,
    *,
    cut: bool,
    start: pd.Timestamp,
) -> pd.DataFrame:
    """One line a drawn line, the best first; ratios in percent, drawdown negative.

    `rows` are board rows over the whole run, `inside` metrics of the shown window, both by name. With
    `cut` the window's are shown, without those that need the whole run. `start` is the run's.
    """
    made = []
    for pick in drawn:
        if pick.name not in data or (pick.name not in rows and not cut):
            continue
        short, row, own = inside.get(pick.name, {}), rows.get(pick.name), data[pick.name]
        found: dict[str, Any] = {"name": f"{BENCHMARK_MARK} Buy & Hold" if pick.benchmark else pick.name}
        if cut or row is None:
            found |= {"balance": capital * float(short["balance"] or 0.0), "days": int(short["days"] or 0)}
            metric = short.get
        else:
            metrics = row["metrics"]
            found |= {"balance": row["balance"], "days": row["n_sessions"]}
            metric = lambda name, m=metrics: m[name]["value"]  # noqa: E731
            found["win"] = _times(metric("win_rate_trades"), 100)
            found["invested"] = _times(metric("time_in_market"), 100)
            found["trades"] = int(metrics["win_rate_trades"]["n"])
            found["failed"] = None if pick.benchmark else row["n_failed"]
        found |= {column: _times(metric(name), 100) for name, column in PERCENT.items()}
        found |= {"sharpe": metric("SR"), "drawdown": _times(metric("MDD"), -100)}
        if pick.benchmark:
            found["excess"] = None
        found["flags"] = flags(own, start)
        found["short"] = found["days"] <= FEW_RETURNS
        made.append(found | {"benchmark": pick.benchmark})
    table = pd.DataFrame(made)
    return table.sort_values("balance", ascending=False, kind="stable").reset_index(drop=True)


def flags(own: LineData, start: pd.Timestamp) -> str:
    """What a reader must know of a line before its numbers; empty for most."""
    parts = ["bankrupt"] if bool((own.curve.values <= 0).any()) else []
    if is_late(own, start):
        parts.append(f"from {fmt.day(own.curve.sessions[0])}")
    if own.missing:
        parts.append(fmt.counted(len(own.missing), "gap"))
    if len(own.curve.sessions) == 1:
        parts.append("one session")
    return ", ".join(parts)


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * float(value)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """As printed: rounded to the shown decimals, as a format would print -0.04 as -0.0."""
    out = table.copy()
    decimals = SIGNED | {"drawdown": 1, "sharpe": 2, "volatility": 1}
    for column, digits in decimals.items():
        out[column] = pd.to_numeric(out[column]).round(digits) + 0.0
    return out


def styled(table: pd.DataFrame, now: Theme) -> Styler:
    """Text colour by sign, the Buy & Hold row tinted."""
    t = TOKENS[now]

    def by_sign(number: object) -> str:
        if not isinstance(number, float) or pd.isna(number) or number == 0:
            return ""
        return f"color: {t.gain if number > 0 else t.loss}"

    def tint(row: pd.Series) -> list[str]:
        shade = f"background-color: {t.panel}" if row["benchmark"] else ""
        faint = f"{shade}; color: {t.muted}" if row["short"] else shade
        return [faint if column == "sharpe" else shade for column in row.index]

    words: dict[str, Callable[[Any], str]] = {
        "net": _percent, "gross": _percent, "drawdown": _percent, "sharpe": fmt.ratio,
        "excess": lambda value: _percent(value).removesuffix("%"),
    }  # fmt: skip
    return (
        table.style.apply(tint, axis=1)
        .map(by_sign, subset=pd.IndexSlice[:, list(SIGNED)])
        .format(words, na_rep=fmt.MISSING)  # type: ignore[arg-type]
    )


def _percent(value: float) -> str:
    return fmt.percent(value / 100)


def table(page: RunPage, view: EquityView, data: Mapping[str, LineData]) -> None:
    """The drawn lines in numbers, over the shown window, and as a file."""
    here = (page.key, page.store, page.run_id, view.named)
    rows = {} if view.cut else equity_queries.rows(*here, view.by_account, view.capital)
    inside = equity_queries.window_rows(*here, view.capital, view.window) if view.cut else {}
    made = frame(view.drawn, rows, inside, data, view.capital, cut=view.cut, start=view.whole[0])
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header("The drawn lines in numbers", width="content")
        file = made.assign(name=made["name"].map(for_csv)).drop(columns=["benchmark", "short"])
        st.download_button(
            "CSV", file.to_csv(index=False), "lines.csv", "text/csv",
            icon=":material/download:", type="tertiary", key="numbers_csv",
        )  # fmt: skip
    if view.cut:
        st.markdown(
            f":small[:gray[{equity_view.window_words(view.window)}, from the close before. Win, invested, "
            "trades and failed are counted over a whole run: choose the range All.]]"
        )
    columns = ["name", "balance", "net", "gross", "excess", "volatility", "sharpe", "drawdown"]
    columns += ["days"] if view.cut else ["win", "invested", "trades", "days", "failed"]
    columns += ["flags"] if made["flags"].any() else []
    st.dataframe(
        styled(shown(made), theme()), hide_index=True, column_order=columns,
        row_height=board.ROW_HEIGHT, height=board.height(len(made)), key="numbers",
        column_config=_columns(view, narrow="flags" in columns), placeholder=fmt.MISSING, alt="Metrics of the drawn lines",
    )  # fmt: skip


def _columns(view: EquityView, *, narrow: bool) -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    return {
        "name": text("Account" if view.by_account else "Entry", width=150 if narrow else 224),
        "balance": number("Balance", format="$%,.0f", width=84, help="Mean of its accounts"),
        "net": number("Net return", width=80, help="V_T / V_0 - 1, after fees"),
        "gross": number(
            "Before fees", width=86, help="The same without fees, slippage and borrowing"
        ),
        "excess": number(
            "vs B&H, pp", width=80,
            help="Net return minus Buy & Hold's over the same assets, window and fees",
        ),
        "volatility": number("Volatility", format="%.1f%%", width=74, help="Deviation x root of B"),
        "sharpe": number(
            "Sharpe", width=62,
            help="Mean over deviation of session returns x root of B; B is 365 with a coin, else 252. "
            f"Grey: fewer than {FEW_RETURNS} returns",
        ),
        "drawdown": number("Max DD", width=70, help="Largest fall from a peak"),
        "win": number("Win", format="%.0f%%", width=52, help="Round trips with a profit after fees"),
        "invested": number("Invested", format="%.0f%%", width=68, help="Share of marks in a position"),
        "trades": number("Trades", format="%d", width=58, help="Closed round trips"),
        "days": number("Days", format="%d", width=50, help="Sessions"),
        "failed": number("Failed", format="%d", width=54, help="Decisions that the model failed to make"),
        "flags": text("Flags", width=118),
        "benchmark": None,
        "short": None,
    }  # fmt: skip

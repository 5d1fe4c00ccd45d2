"""The leaderboard as a table: one frame, its column settings and its colours by sign."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from arena.ui import format as fmt
from arena.ui.tokens import ACTION_MARK, BENCHMARK_MARK, POSITION_MARK, TOKENS, Theme

Row = dict[str, Any]

ROW_HEIGHT = 34
HEADER_HEIGHT = 32
SIGNED = ("net", "excess", "bh", "gross")


def value(row: Row, metric: str, factor: float = 1.0) -> float | None:
    """A metric's number, or None where it is undefined."""
    found = row["metrics"][metric]["value"]
    return None if found is None else factor * float(found)


def name(row: Row) -> str:
    """Buy & Hold carries its mark; everyone else its id."""
    return f"{BENCHMARK_MARK} Buy & Hold" if row["group"] == "benchmark" else str(row.get("entry") or row["account"])


def last_action(row: Row) -> str | None:
    """▲ BUY TSLA · 2 d: the newest decision and its age in days at the end of the row's window."""
    word = row["last_action"]
    if word is None:
        return None
    asset = "" if "asset" in row else f" {row['last_action_asset']}"
    age = fmt.age_days(row["last_action_session"], row["end"])
    return f"{ACTION_MARK[word]} {word}{asset} · {age}"


def frame(rows: list[Row]) -> pd.DataFrame:
    """One line a row; ratios in percent, drawdown negative, as they are read."""
    return pd.DataFrame(
        [
            {
                "rank": str(r["rank"] or fmt.MISSING),
                "name": name(r),
                "net": value(r, "CR", 100),
                "excess": None if r["group"] == "benchmark" else value(r, "excess_bh", 100),
                "sharpe": value(r, "SR"),
                "drawdown": value(r, "MDD", -100),
                "win": value(r, "win_rate_trades", 100),
                "curve": [100 * v for v in r["sparkline"]],
                "balance": r["balance"],
                "now": "".join(POSITION_MARK[p] for _, p in sorted(r["position"].items())),
                "last": last_action(r),
                "failed": None if r["group"] == "benchmark" else r["n_failed"],
                "benchmark": r["group"] == "benchmark",
                "short": "short_sample" in r["metrics"]["SR"]["flags"],
            }
            for r in rows
        ]
    )


def account_frame(rows: list[Row], held: dict[str, float | None]) -> pd.DataFrame:
    """The accounts behind an entry; `held` is the Buy & Hold return by asset, a fraction."""
    table = frame(rows).assign(name=[r["asset"] for r in rows], benchmark=False)
    table.insert(3, "bh", [None if held[r["asset"]] is None else 100 * held[r["asset"]] for r in rows])  # type: ignore[operator]
    return table.drop(columns=["rank"])


def styled(table: pd.DataFrame, theme: Theme) -> Styler:
    """Text colour by sign, the Buy & Hold row tinted."""
    tokens = TOKENS[theme]

    def by_sign(number: object) -> str:
        if not isinstance(number, float) or pd.isna(number) or number == 0:
            return ""
        return f"color: {tokens.gain if number > 0 else tokens.loss}"

    def tint(row: pd.Series) -> list[str]:
        shade = f"background-color: {tokens.panel}" if row["benchmark"] else ""
        faint = f"; color: {tokens.muted}" if row["short"] else ""
        return [shade + faint if column == "sharpe" else shade for column in row.index]

    signed = [c for c in SIGNED if c in table]
    return table.style.apply(tint, axis=1).map(by_sign, subset=pd.IndexSlice[:, signed])


def columns(assets: list[str], sessions: int, *, first: str = "Entry") -> dict[str, Any]:
    """Settings of every column; each help gives the formula. Widths fit 1,092 px."""
    number = st.column_config.NumberColumn
    order = ", ".join(sorted(assets))
    return {
        "rank": st.column_config.TextColumn("#", width=40),
        "name": st.column_config.TextColumn(first, width=178),
        "net": number("Net return", format="%+.1f%%", width=82, help="V_T / V_0 - 1, after fees"),
        "bh": number("B&H", format="%+.1f%%", width=68, help="Buy & Hold of the same asset"),
        "excess": number(
            "vs B&H, pp", format="%+.1f", width=80,
            help="Net return minus Buy & Hold's over the same assets, window and fees",
        ),
        "sharpe": number(
            "Sharpe", format="%.2f", width=64,
            help="Mean over deviation of daily returns x root of B; B is 365 with a coin, else 252. "
            "Grey: fewer than 20 returns",
        ),
        "drawdown": number(
            "Max DD", format="%.1f%%", width=72, help="Largest fall from a peak of the curve"
        ),
        "win": number(
            "Win", format="%.0f%%", width=54, help="Round trips with a profit after fees"
        ),
        "curve": st.column_config.LineChartColumn(f"{sessions} days", width=100),
        "balance": number("Balance", format="$%,.0f", width=84, help="Mean of its accounts"),
        "now": st.column_config.TextColumn(
            "Now", width=70, help=f"Position in {order}: ▲ long, ■ flat, ▼ short"
        ),
        "last": st.column_config.TextColumn("Last action", width=146, help="And its age"),
        "failed": number("Failed", format="%d", width=56, help="Decisions that the model failed to make"),
        "benchmark": None,
        "short": None,
    }  # fmt: skip


def height(n_rows: int, most: int = 26) -> int:
    return HEADER_HEIGHT + ROW_HEIGHT * min(n_rows, most) + 1


def window_words(accounts: list[Row]) -> str:
    """`61 days (42 exchange sessions)` where coins and exchange-traded assets stand together."""
    counts = sorted({r["n_sessions"] for r in accounts})
    most = f"{counts[-1]} days" if len(counts) > 1 else f"{counts[0]} sessions"
    fewer = f" ({counts[0]} exchange sessions)" if len(counts) > 1 else ""
    start, end = min(r["start"] for r in accounts), max(r["end"] for r in accounts)
    return f"{most}{fewer}, {fmt.span(start, end)}"

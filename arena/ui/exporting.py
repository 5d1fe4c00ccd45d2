"""Files of what a board shows: raw numbers, fractions and units in the names."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from arena.ui.prose import for_csv

Row = dict[str, Any]

METRICS = (
    "CR", "CR_gross", "excess_bh", "AR", "AV", "SR", "MDD", "Calmar", "Sortino", "win_rate_trades",
    "time_in_market", "turnover",
)  # fmt: skip


def export_frame(
    rows: Sequence[Row], luck: Sequence[Row | None], costs: Sequence[float | None]
) -> pd.DataFrame:
    """One line a row, whatever columns the page has open; None where a number is not defined.

    Args:
        luck: answers of `runner.luck_board` by row, None where they were not worked out.
        costs: USD a decision by row, None where unknown.
    """
    lines = []
    for row, chance, cost in zip(rows, luck, costs, strict=True):
        chance = chance or {}
        line = {name: row.get(name) for name in ("run", "entry", "account", "agent", "model", "asset", "strategy", "group")}
        line |= {"rank": row["rank"], "rank_within_noise": chance.get("rank_label")}
        line |= {name: row[name] for name in ("start", "end", "n_sessions", "balance")}
        line |= {name: row["metrics"][name]["value"] for name in METRICS}
        for name in ("return", "sharpe", "excess"):
            found = chance.get(f"{name}_interval") or {}
            line |= {f"{name}_{end}_95": found.get(end) for end in ("low", "high")}
        score = chance.get("decision_score") or {}
        model = chance.get("market_model") or {}
        line |= {
            "against_buy_hold": chance.get("verdict"),
            "better_than_random_frac": (chance.get("floor") or {}).get("better_than_frac"),
            "probabilistic_sharpe": chance.get("probabilistic_sharpe"),
            "deflated_sharpe": chance.get("deflated_sharpe"),
            **{f"decision_score_{k}": score.get(k) for k in ("share_frac", "low_frac", "high_frac", "n")},
            "alpha_annual_frac": model.get("alpha_annual_frac"),
            "beta": model.get("beta"),
            "break_even_fee_bps": (chance.get("break_even_fee") or {}).get("value_bps"),
            "position": " ".join(f"{a}:{side}" for a, side in sorted(row["position"].items())),
            **{name: row[name] for name in ("last_action", "last_action_session", "n_decisions", "n_failed", "n_gaps", "n_late")},
            "cost_per_decision_usd": cost,
            "may_know_period": row["may_know"],
            "voided": row["voided"],
        }  # fmt: skip
        lines.append(line)
    return pd.DataFrame(lines).dropna(axis="columns", how="all")


def as_csv(table: pd.DataFrame) -> str:
    """CSV whose text cells no spreadsheet takes for formulas; numbers stay numbers."""
    safe = table.map(lambda cell: for_csv(cell) if isinstance(cell, str) else cell)
    return safe.to_csv(index=False)


def as_parquet(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    table.to_parquet(out, index=False)
    return out.getvalue()


def export_menu(
    name: str, rows: Sequence[Row], luck: Sequence[Row | None], costs: Sequence[float | None]
) -> None:
    """A popover with both files of `export_frame`, made when they are asked for."""
    with st.popover("Export", icon=":material/download:"):
        st.markdown(f":small[{len(rows)} rows with every column, as fractions and plain numbers.]")
        st.download_button(
            "CSV", lambda: as_csv(export_frame(rows, luck, costs)), f"{name}.csv", "text/csv",
            key="ov_csv", on_click="ignore", icon=":material/csv:",
        )  # fmt: skip
        st.download_button(
            "Parquet", lambda: as_parquet(export_frame(rows, luck, costs)), f"{name}.parquet",
            "application/octet-stream", key="ov_parquet", on_click="ignore", icon=":material/table:",
        )  # fmt: skip

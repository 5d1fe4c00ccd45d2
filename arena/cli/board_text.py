"""A leaderboard as table, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from arena.analytics.table1 import METRICS as TABLE1
from arena.cli.output import print_table

Row = dict[str, Any]

SIGNED = {"CR", "CR_gross", "AR", "excess_bh"}
PERCENT = SIGNED | {"AV", "MDD", "win_rate_trades", "win_rate_active", "time_in_market"}
COLUMNS = ("CR", "excess_bh", "SR", "MDD", "AV", "win_rate_trades")


def cell(row: Row, metric: str) -> str:
    """A metric for people: percent or ratio; an en dash where it is undefined."""
    value = row["metrics"].get(metric, {}).get("value")
    if value is None:
        return "–"
    if metric in SIGNED:
        return f"{100 * value:+.2f}"
    return f"{100 * value:.2f}" if metric in PERCENT else f"{value:.2f}"


def name(row: Row) -> str:
    """Entry, with the asset where the row is one account."""
    if "account" not in row:
        return str(row["entry"]) + _mark(row)
    who = "buy_hold" if row["group"] == "benchmark" else f"{row['agent']}@{row['model']}"
    return f"{who} {row['asset']}{_mark(row)}"


def _mark(row: Row) -> str:
    return " *" if row["may_know"] else ""


def _rank(row: Row) -> str:
    return "void" if row["voided"] else str(row["rank"] or "–")


def as_table(rows: Sequence[Row]) -> None:
    """Print; ratios in percent where the header says so."""
    heads = [f"{m} %" if m in PERCENT else m for m in COLUMNS]
    many = any(r["epochs"] for r in rows)
    print_table(
        ["run", "#", "account" if rows and "account" in rows[0] else "entry", "group", "strategy",
         *heads, "balance", "failed", "gaps", *(["epochs"] if many else [])],
        [
            [r["run"], _rank(r), name(r), r["group"], r["strategy"], *(cell(r, m) for m in COLUMNS),
             f"{r['balance']:,.0f}", str(r["n_failed"]), str(r["n_gaps"]),
             *([_epochs(r)] if many else [])]
            for r in rows
        ],
    )  # fmt: skip


    if any(r["may_know"] for r in rows):
        print("* The model's knowledge reaches into this window: it may know how it ended.")


def _epochs(row: Row) -> str:
    """How many epochs the row stands for, and the spread of their returns."""
    if not row["epochs"]:
        return "1"
    if row["epochs"]["deterministic"]:
        return f"{row['epochs']['n']}, deterministic"
    low, high = row["epochs"]["min_max"]["CR"] or (0.0, 0.0)
    return f"{row['epochs']['n']}, CR {100 * low:+.2f} to {100 * high:+.2f}"


def as_csv(rows: Sequence[Row]) -> str:
    """Plain columns, then one column a metric (fractions; empty where undefined)."""
    out = io.StringIO()
    metrics = list(rows[0]["metrics"]) if rows else []
    plain = [k for k in rows[0] if k not in ("metrics", "sparkline")] if rows else []
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*plain, *metrics])
    for row in rows:
        values = [row["metrics"].get(m, {}).get("value") for m in metrics]
        writer.writerow([*(for_spreadsheet(row[k]) for k in plain), *values])
    return out.getvalue()


def for_spreadsheet(value: Any) -> Any:
    """A leading = + - @ in text would be a formula to a spreadsheet."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@" else value


def as_latex(rows: Sequence[Row]) -> str:
    """The paper's five columns as a tabular."""
    lines = [r"\begin{tabular}{llrrrrr}", "Name & Strategy & " + " & ".join(TABLE1) + r" \\ \hline"]
    for row in rows:
        cells = " & ".join(cell(row, m) for m in TABLE1)
        label = name(row).replace("_", r"\_").replace("&", r"\&").replace("%", r"\%")
        lines.append(f"{label} & {row['strategy'].replace('_', chr(92) + '_')} & {cells} " + r"\\")
    return "\n".join([*lines, r"\end{tabular}"])

"""`leaderboard --layout table1`: the paper's table as CSV, JSON, LaTeX or for the terminal."""

from __future__ import annotations

import csv
import io
from typing import Any

from arena.analytics.table1 import BUY_HOLD, METRICS, Line, Table1
from arena.cli.board_text import for_spreadsheet
from arena.cli.output import print_table

MISSING = "–"
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def for_latex(text: str) -> str:
    """`text` with every character that LaTeX would act on spelt out."""
    return "".join(_LATEX.get(c, c) for c in text)


def _agent(line: Line) -> str:
    return "Buy & Hold" if line.agent == BUY_HOLD else line.agent


def _number(line: Line, asset: str, metric: str, missing: str) -> str:
    """Percent (SR as it is) with two decimals; `missing` where undefined or not played."""
    value = line.cells.get(asset, {}).get(metric)
    if value is None:
        return missing
    text = f"{value * (1 if metric == 'SR' else 100):.2f}"
    return "0.00" if text == "-0.00" else text


def _names(table: Table1, line: Line) -> list[str]:
    """Agent and model, and what else tells the rows apart."""
    extra = [line.run] if table.several_runs else []
    extra += [line.strategy] if table.several_strategies else []
    return [*extra, _agent(line) + (" (void)" if line.voided else ""), line.model]


def _heads(table: Table1) -> list[str]:
    extra = ["run"] if table.several_runs else []
    return [*extra, *(["strategy"] if table.several_strategies else []), "agent", "model"]


def as_csv(table: Table1) -> str:
    """One row an agent and model, one column an asset and metric, e.g. `TSLA CR %`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [(a, m) for a in table.assets for m in METRICS]
    writer.writerow([*_heads(table), *(f"{a} {m}{'' if m == 'SR' else ' %'}" for a, m in columns)])
    for line in table.lines:
        names = [for_spreadsheet(n) if n != "-" else n for n in _names(table, line)]
        writer.writerow([*names, *(_number(line, a, m, "") for a, m in columns)])
    return out.getvalue()


def as_json(table: Table1) -> list[dict[str, Any]]:
    """Fractions, SR a ratio, null where undefined."""
    return [
        {
            "run": x.run, "agent": x.agent, "model": x.model, "strategy": x.strategy, "group": x.group,
            "voided": x.voided, "assets": {a: dict(v) for a, v in x.cells.items()},
        }
        for x in table.lines
    ]  # fmt: skip


def as_latex(table: Table1) -> str:
    """A tabular that needs no package; agents apart by a line."""
    n_names, n_metrics = len(_heads(table)), len(METRICS)
    columns = "l" * n_names + "".join("|" + "r" * n_metrics for _ in table.assets)
    across = [rf"\multicolumn{{{n_metrics}}}{{c}}{{{for_latex(a)}}}" for a in table.assets]
    units = [m if m == "SR" else rf"{m} \%" for _ in table.assets for m in METRICS]
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        " & ".join([*[""] * n_names, *across]) + r" \\",
        " & ".join([*(h.capitalize() for h in _heads(table)), *units]) + r" \\",
    ]
    agent = None
    for line in table.lines:
        if line.agent != agent:
            lines.append(r"\hline")
            agent = line.agent
        names = [for_latex(n) for n in _names(table, line)]
        numbers = [
            _number(line, a, m, "--").replace("-", "$-$", 1)
            if line.cells.get(a, {}).get(m) is not None
            else "--"
            for a in table.assets
            for m in METRICS
        ]
        lines.append(" & ".join([*names, *numbers]) + r" \\")
    return "\n".join([*lines, r"\end{tabular}"])


def as_table(table: Table1) -> None:
    """For the terminal, where twenty columns have no room: one row an asset."""
    print_table(
        [*_heads(table), "asset", *(m if m == "SR" else f"{m} %" for m in METRICS)],
        [
            [*_names(table, line), asset, *(_number(line, asset, m, MISSING) for m in METRICS)]
            for line in table.lines
            for asset in table.assets
            if asset in line.cells
        ],
    )

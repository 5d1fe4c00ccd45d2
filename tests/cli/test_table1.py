"""`leaderboard --layout table1`: the paper's rows by import, as CSV, JSON and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.analytics.table1 import one_strategy, table1
from arena.cli.table1_text import as_csv, as_latex, for_latex

METRICS = ("CR", "AR", "AV", "SR", "MDD")


def row(agent: str, model: str, asset: str, *values: float | None, **more: Any) -> dict[str, Any]:
    return {
        "run": "r-e1", "strategy": "baseline", "agent": agent, "model": model, "asset": asset,
        "group": "model", "voided": False,
        "metrics": {m: {"value": v} for m, v in zip(METRICS, values, strict=True)}, **more,
    }  # fmt: skip


HOLD = row("buy_hold", "-", "BTC", 0.0066, 0.0402, 0.3005, 0.28, 0.1195, group="benchmark", strategy="buy_hold")
ROWS = [
    row("trade", "vote", "TSLA", 0.1, 0.2, 0.3, 1.0, 0.04),
    row("trade", "x_1&50%", "TSLA", -0.00004, None, 0.3, None, 0.04),
    row("deepfund", "gpt-4.1", "BTC", 0.0044, 0.0268, 0.0108, 2.45, 0.0, voided=True),
    HOLD,
]


def test_order_and_gaps() -> None:
    table = table1(ROWS)
    assert table.assets == ("TSLA", "BTC")
    # Buy & Hold first, agents by name, the vote after its models.
    names = [(x.agent, x.model) for x in table.lines]
    assert names == [("buy_hold", "-"), ("deepfund", "gpt-4.1"), ("trade", "x_1&50%"), ("trade", "vote")]
    found = list(csv.reader(io.StringIO(as_csv(table))))
    assert found[0] == [
        "agent", "model", "TSLA CR %", "TSLA AR %", "TSLA AV %", "TSLA SR", "TSLA MDD %",
        "BTC CR %", "BTC AR %", "BTC AV %", "BTC SR", "BTC MDD %",
    ]  # fmt: skip
    assert found[1] == ["Buy & Hold", "-", "", "", "", "", "", "0.66", "4.02", "30.05", "0.28", "11.95"]
    assert found[2][0] == "deepfund (void)"
    # -0.004 % is no minus zero; what is undefined stays empty.
    assert found[3] == ["trade", "x_1&50%", "0.00", "", "30.00", "", "4.00", "", "", "", "", ""]


def test_latex_holds_no_live_character() -> None:
    text = as_latex(table1(ROWS))
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{tabular}{ll|rrrrr|rrrrr}", r"\end{tabular}")
    (own,) = [x for x in lines if x.startswith("trade & x")]
    assert own == r"trade & x\_1\&50\% & 0.00 & -- & 30.00 & -- & 4.00 & -- & -- & -- & -- & -- \\"
    # 2 names and 10 figures: 11 separators in every full row, escaped ones not counted.
    body = [x for x in lines[2:-1] if x != r"\hline"]
    assert {x.replace(r"\&", "").count("&") for x in body} == {11}
    assert for_latex(r"a\b{$~^#") == r"a\textbackslash{}b\{\$\textasciitilde{}\textasciicircum{}\#"


def test_several_strategies_and_runs_are_told_apart() -> None:
    rows = [*ROWS, row("trade", "vote", "TSLA", 0.2, 0.2, 0.3, 1.0, 0.04, strategy="pyramid_exit", run="s-e1")]
    head = as_csv(table1(rows)).splitlines()[0]
    assert head.startswith("run,strategy,agent,model,")


@pytest.mark.parametrize(
    ("played", "shown"),
    [
        (("baseline", "buy_hold", "pyramid_exit"), ("baseline",)),
        (("baseline_lo", "buy_hold"), ("baseline_lo",)),
        (("buy_hold", "flip_on_reversal", "pyramid_exit"), ("flip_on_reversal", "pyramid_exit")),
    ],
)
def test_baseline_stands_alone_where_it_was_played(played: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert one_strategy(played) == shown


def test_a_row_of_the_paper_by_import(
    arena: Callable[..., Any], shared_market: Path, tmp_path: Path
) -> None:
    """DeepFundAgent with GPT-4.1 on BTC: SELL on 1 August, then flat; beside it Buy & Hold."""
    days = [f"2025-08-{d:02}" for d in range(1, 32)] + [f"2025-09-{d:02}" for d in range(1, 31)]
    file, store = tmp_path / "a.csv", tmp_path / "a.duckdb"
    file.write_text("date,action\n" + "".join(f"{d},{'HOLD' if i else 'SELL'}\n" for i, d in enumerate(days)))
    done = arena(
        "import", "--store", store, "--data", f"files:{shared_market}", "--actions", file,
        "--agent", "DeepFundAgent", "--model", "GPT-4.1", "--asset", "BTC", "--fill", "close",
        "--fee-bps", "5", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    words = ("leaderboard", "--store", store, "--layout", "table1", "--metrics", "ama")
    found = list(csv.DictReader(io.StringIO(arena(*words, "--format", "csv").out)))
    # Printed in the paper: 0.44 2.68 1.08 2.45 0.00, on another venue's closes; these are Binance.com's.
    own = [found[1][f"BTC {m}{'' if m == 'SR' else ' %'}"] for m in METRICS]
    assert (found[0]["agent"], found[1]["agent"]) == ("Buy & Hold", "DeepFundAgent")
    assert own == ["0.61", "3.72", "1.50", "2.45", "0.00"]
    latex = arena(*words, "--format", "latex").out
    assert r"DeepFundAgent & GPT-4.1 & 0.61 & 3.72 & 1.50 & 2.45 & 0.00 \\" in latex
    (hold, one) = arena(*words, "--format", "json").json
    assert (hold["group"], one["group"]) == ("benchmark", "import")
    assert one["assets"]["BTC"]["SR"] == pytest.approx(2.45, abs=0.005)
    # Without --metrics the figures are the house's: the entry fee counts.
    plain = arena("leaderboard", "--store", store, "--layout", "table1", "--format", "json").json
    assert plain[1]["assets"]["BTC"]["CR"] < one["assets"]["BTC"]["CR"]

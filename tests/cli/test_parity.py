"""The paper's own rows, by the command line, on real prices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WINDOW = ("--start", "2025-08-01", "--end", "2025-09-30")
COLUMNS = ("CR", "AR", "AV", "SR", "MDD")


def shown(row: dict[str, Any]) -> list[float]:
    """CR, AR, AV, SR, MDD as the paper prints them: percent, the Sharpe as it is."""
    values = [row["metrics"][m]["value"] for m in COLUMNS]
    return [round(v * (1 if m == "SR" else 100), 2) for m, v in zip(COLUMNS, values, strict=True)]


def test_buy_and_hold_of_table_one(
    arena: Callable[..., Any], shared_market: Path, tmp_path: Path
) -> None:
    store = tmp_path / "a.duckdb"
    done = arena(
        "replay", "--data", f"files:{shared_market}", "--brief", "none", "--store", store,
        "--assets", "TSLA,BMRN,BTC,ETH", "--agents", "vanilla",
        "--models", "offline/trend,offline/contrarian",
        "--strategies", "baseline,flip_on_reversal,pyramid_exit", *WINDOW,
        "--fill", "close", "--fee-bps", "5", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    # (42 + 42 + 61 + 61) slots x 2 models.
    assert done.json["n_decisions"] == 412
    board = arena(
        "leaderboard", "--store", store, "--by", "account", "--metrics", "ama", "--format", "json"
    ).json
    rows = {r["asset"]: shown(r) for r in board if r["agent"] == "buy_hold"}
    # TSLA and BMRN are the paper's printed rows; the coins are Binance.com closes.
    expected = {
        "TSLA": [46.88, 962.13, 40.89, 6.00, 6.34],
        "BMRN": [-6.89, -35.53, 29.03, -1.37, 15.03],
        "BTC": [0.61, 3.72, 30.19, 0.27, 12.21],
        "ETH": [18.77, 179.97, 72.35, 1.77, 19.82],
    }
    assert set(rows) == set(expected)
    for asset, values in expected.items():
        assert rows[asset] == pytest.approx(values, abs=0.0101), asset
    assert len(board) == 4 * 3 * 3 + 4
    assert arena("check", "--store", store).code == 0


@pytest.mark.parametrize(
    ("first", "expected"),
    [("SELL", [0.61, 3.72, 1.50, 2.45, 0.00]), ("BUY", [-0.71, -4.19, 1.74, -2.45, 0.71])],
)
def test_one_day_in_the_market(
    arena: Callable[..., Any], shared_market: Path, tmp_path: Path, first: str, expected: list[float]
) -> None:
    days = [f"2025-08-{d:02}" for d in range(1, 32)] + [f"2025-09-{d:02}" for d in range(1, 31)]
    words = [first] + ["HOLD"] * 60
    file = tmp_path / "actions.csv"
    rows = "".join(f"{d},{w}\n" for d, w in zip(days, words, strict=True))
    file.write_text("date,action\n" + rows)
    store = tmp_path / "a.duckdb"
    done = arena(
        "import", "--store", store, "--data", f"files:{shared_market}", "--actions", file,
        "--agent", "DeepFundAgent", "--model", "gpt-4.1", "--asset", "BTC",
        "--strategies", "baseline", "--fill", "close", "--fee-bps", "5", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    board = arena(
        "leaderboard", "--store", store, "--by", "account", "--metrics", "ama", "--format", "json"
    ).json
    (row,) = [r for r in board if r["strategy"] == "baseline"]
    assert shown(row) == pytest.approx(expected, abs=0.0101)

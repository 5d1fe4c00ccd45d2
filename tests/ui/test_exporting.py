"""Exported files: plain numbers, honest gaps, and no cell that a spreadsheet runs."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from arena.runner.luck_board import row_key
from arena.store.store import open_store
from arena.ui import exporting, queries
from tests.ui.made_board_store import REPLAY_RUN, build

ALL: queries.Axis = ()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    path = build(tmp_path_factory.mktemp("export") / "a.duckdb")
    with open_store(path, read=True) as store:
        here = (queries.version(store), store, REPLAY_RUN, "entry", ALL, ALL, ALL, ("baseline",))
        rows, luck = queries.rows(*here), queries.luck(*here)  # type: ignore[arg-type]
    first, *others = rows
    luck_of = [None, *(luck[row_key(r)] for r in others)]
    return exporting.export_frame([first, *others], luck_of, [None, *(0.25 for _ in others)])


def test_numbers_are_fractions_with_units_in_names(table: pd.DataFrame) -> None:
    row = table.set_index("entry").loc["trade@m-mid"]
    # 0.25 % a session for 40 sessions with noise: some percent, as a fraction.
    assert 0.0 < row["CR"] < 0.5
    assert row["return_low_95"] < row["CR"] < row["return_high_95"]
    assert 0.0 <= row["decision_score_low_frac"] <= row["decision_score_share_frac"]
    assert row["cost_per_decision_usd"] == 0.25
    assert row["rank"] == 2
    assert row["rank_within_noise"] == "2="


def test_what_is_not_known_is_empty(table: pd.DataFrame) -> None:
    assert pd.isna(table["rank_within_noise"].iloc[0])
    assert pd.isna(table["cost_per_decision_usd"].iloc[0])
    assert "account" not in table


def test_no_cell_is_a_formula_and_negative_numbers_stay_numbers() -> None:
    hostile = pd.DataFrame(
        {"entry": ["=cmd|' /C calc'!A0", "+1@m", "-x@m", "@sum", "\tx", "fine"], "CR": [-0.5] * 6}
    )
    back = pd.read_csv(io.StringIO(exporting.as_csv(hostile)))
    assert [e[0] for e in back["entry"][:5]] == ["'"] * 5
    assert back["entry"].iloc[5] == "fine"
    assert back["CR"].tolist() == [-0.5] * 6


def test_parquet_comes_back_equal(table: pd.DataFrame) -> None:
    back = pd.read_parquet(io.BytesIO(exporting.as_parquet(table)))
    pd.testing.assert_frame_equal(back, table, check_dtype=False)

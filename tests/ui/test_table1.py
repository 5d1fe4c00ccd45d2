"""The paper's Table 1 beside a run: rows are joined by agent and model, and what differs is said."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

from arena.analytics.table1 import Line, Table1
from arena.core.season import RunSpec, Season
from arena.ui.table1 import beside, differences


def line(agent: str, model: str, cr: float | None, group: str = "model") -> Line:
    cells = {"TSLA": {"CR": cr, "AR": 0.5, "AV": 0.2, "SR": 1.5, "MDD": 0.04}}
    return Line("r-e1", agent, model, "baseline", group, False, cells)


OURS = Table1(
    ("TSLA",),
    (
        line("buy_hold", "-", 0.4374, "benchmark"),
        line("trade", "gpt-4o", None),
        line("trade", "offline/trend", 0.119, "stand_in"),
        line("trade", "vote", 0.02, "vote"),
        line("mine", "gpt-4o", 0.01),
    ),
)


def test_equal_names_stand_on_one_line() -> None:
    rows = beside(OURS, "TSLA").set_index(["agent", "model"])
    hold = rows.loc[("◆ Buy & Hold", "")]
    assert (hold["CR paper"], hold["CR here"]) == (46.88, pytest.approx(43.74))
    # Undefined here, printed there.
    own = rows.loc[("trade", "gpt-4o")]
    assert own["CR paper"] == pytest.approx(-4.25)
    assert pd.isna(own["CR here"])
    assert (own["SR paper"], own["SR here"]) == (-3.38, 1.5)
    assert rows.loc[("trade", "vote"), "CR here"] == pytest.approx(2.0)
    assert pd.isna(rows.loc[("trade", "offline/trend"), "CR paper"])
    assert pd.isna(rows.loc[("hedge", "gpt-4o"), "CR here"])
    # 25 of the paper, one model and one agent of ours.
    assert len(rows) == 25 + 2
    trade = [m for a, m in rows.index if a == "trade"]
    assert (trade[0], trade[-2:]) == ("gpt-4o", ["offline/trend", "vote"])


def test_an_asset_that_was_not_played_shows_the_paper_alone() -> None:
    rows = beside(OURS, "ETH")
    assert len(rows) == 25
    assert rows[[c for c in rows if c.endswith("here")]].isna().all().all()


def spec(**season: object) -> RunSpec:
    return RunSpec(
        kind="replay", season=Season(**season), source="files", assets=("TSLA",), agents=("trade",),
        models=("gpt-4o",), start=date(2025, 8, 1), end=date(2025, 9, 30),
    )  # fmt: skip


def test_what_differs_from_the_paper_is_said() -> None:
    fees = {"stock": 5.0, "etf": 5.0, "crypto": 5.0}
    assert differences(spec(fill="close", fee_bps=fees), OURS) == []
    assert differences(spec(), OURS) == [
        "Fills at the next price, the paper at the close",
        "Other costs than 5 bp",
    ]
    other = spec(fill="close", fee_bps=fees, hold="keep", shorting=False)
    assert differences(other.model_copy(update={"end": date(2025, 9, 1)}), OURS) == [
        "Another window than the paper's",
        "HOLD keeps the position, the paper goes flat",
        "Long only, the paper also shorts",
    ]
    assert differences(spec(fill="close", fee_bps=fees), Table1(("AAA",), ())) == [
        "None of the paper's assets in this run"
    ]

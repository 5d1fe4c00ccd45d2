"""The Overview's numbers against the balances of `made_store`, worked out by hand there."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.made_store import RULES_RUN


def board_of(app: AppTest) -> pd.DataFrame:
    return app.dataframe[0].value.set_index("name")


def tiles_of(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


def heads(app: AppTest) -> list[str]:
    return [h.value for h in app.header]


def test_board_ranks_models_and_marks_buy_and_hold(page) -> None:
    app = page()
    assert app.title[0].value == "Overview"
    table = board_of(app)
    # Net return: +20 %, 0 %, -10 %; Buy & Hold (110,000 + 90,000) / 2 = 0 % stands among them.
    assert table.loc["trade@m-one", "net"] == pytest.approx(20.0)
    assert table.loc["hedge@m-one", "net"] == pytest.approx(-10.0)
    assert table.loc["trade@m-one", "excess"] == pytest.approx(20.0)
    assert table.loc["trade@m-one", "rank"] == "1"
    assert table.loc["hedge@m-one", "rank"] == "3"
    assert table.loc["◆ Buy & Hold", "rank"] == "–"
    assert list(table.index).index("◆ Buy & Hold") in (1, 2)


def test_stand_ins_are_in_no_statement_about_models(page) -> None:
    app = page()
    assert "Rule-based stand-ins (no LLM), unranked" in heads(app)
    assert "trade@offline/trend" not in board_of(app).index
    tiles = tiles_of(app)
    # The stand-in's +50 pp would be the best and a second one ahead, were it counted.
    assert tiles["Best vs B&H"] == "+20.0 pp"
    assert tiles["Ahead of B&H"] == "1 of 3"
    # hedge@m-one: (80,000 + 100,000) / 2 is 10 % below its start and peak.
    assert tiles["Worst drawdown"] == "−10.0%"
    rules = app.dataframe[2].value.set_index("name")
    assert rules.loc["trade@offline/trend", "net"] == pytest.approx(50.0)
    assert "rank" not in rules.columns


def test_alone_the_stand_ins_are_the_board(page) -> None:
    app = page(run=RULES_RUN)
    assert "Rule-based stand-ins by entry" in heads(app)
    assert board_of(app).loc["trade@offline/trend", "rank"] == "1"
    assert any("no LLM" in b.value for b in app.markdown)


def test_filters_come_from_the_url(page) -> None:
    app = page(assets="AAA")
    table = board_of(app)
    assert table.loc["trade@m-one", "net"] == pytest.approx(30.0)
    assert table.loc["trade@m-one", "excess"] == pytest.approx(20.0)
    assert table.loc["◆ Buy & Hold", "net"] == pytest.approx(10.0)
    app = page(strategy="Flip on Reversal")
    assert board_of(app).loc["trade@m-one", "net"] == pytest.approx(19.0)


def test_unknown_url_values_are_ignored(page) -> None:
    app = page(assets="NOPE", run="replay-ffffffffff-e1", strategy="x'; DROP TABLE runs")
    assert board_of(app).loc["trade@m-one", "net"] == pytest.approx(20.0)


def test_reset_brings_everything_back(page) -> None:
    app = page(assets="AAA", models="m-two")
    assert "trade@m-one" not in board_of(app).index
    next(b for b in app.button if b.label == "Reset").click().run()
    assert board_of(app).loc["trade@m-one", "net"] == pytest.approx(20.0)


def test_accounts_of_the_first_entry_are_unfolded(page) -> None:
    accounts = page().dataframe[1].value.set_index("name")
    assert accounts["net"].to_dict() == pytest.approx({"AAA": 30.0, "BBB": 10.0})
    assert accounts["bh"].to_dict() == pytest.approx({"AAA": 10.0, "BBB": -10.0})
    assert accounts.loc["AAA", "balance"] == 130_000


def test_nothing_matching_says_so(page) -> None:
    app = page(agents="hedge", models="m-two")
    assert any("No entry matches" in m.value for m in app.markdown)
    assert [b for b in app.button if b.label == "Reset"]


def test_provenance_and_disclaimer_are_there(page) -> None:
    said = " ".join(m.value for m in page().markdown)
    assert "Synthetic" in said
    assert "Simulated paper trading, not investment advice" in said

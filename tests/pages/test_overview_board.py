"""The Overview on a store with votes, late starters, costs and a live season."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_board_store import LIVE_RUN, REPLAY_RUN, VOID_RUN, WORKBENCH_RUN, build


@pytest.fixture(scope="module")
def board_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("board") / "board.duckdb")


@pytest.fixture
def page(serve: Callable[[Path], None], board_store: Path) -> Callable[..., AppTest]:
    serve(board_store)

    def visit(**params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        for name, value in params.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return visit


def words(app: AppTest) -> str:
    return " ".join(m.value for m in app.markdown)


def names(app: AppTest) -> list[str]:
    return list(app.dataframe[0].value["name"])


def opened(app: AppTest) -> str:
    return str(app.expander[-1].label)


def test_a_live_season_is_first_and_says_when_it_decides_next(page) -> None:
    app = page()
    said = words(app)
    assert re.search(r"Next decision \*\*\w{3} \d+ \w{3}, 00:05 UTC\*\* · \w{3} \d\d:05 New York · in \d+ (h|min)", said)
    options = app.selectbox[0].options
    assert options[0] == f"Live season · since 1 Aug 2025 · fill next · {LIVE_RUN}"
    assert options[-1] == f"Workbench · 1 Aug to 9 Sep 2025 · fill next · {WORKBENCH_RUN}"
    assert "2100" not in said + str({m.label: m for m in app.metric})


def test_a_finished_run_invents_no_next_decision(page) -> None:
    said = words(page(run=REPLAY_RUN))
    assert "Next decision" not in said
    assert "Run finished 11 Sep 2025, 00:00 UTC" in said


def test_votes_stand_marked_without_a_rank_and_out_of_the_tiles(page) -> None:
    app = page(run=REPLAY_RUN)
    table = app.dataframe[0].value.set_index("name")
    assert table.loc["◇ trade@vote", "rank"] == "–"
    tiles = {m.label: (m.value, m.delta) for m in app.metric}
    # trade@m-good, trade@m-mid, hedge@m-good, hedge@m-mid; no vote, no stand-in.
    assert tiles["Ahead of B&H"][0].endswith(" of 4")
    assert "beyond luck" in tiles["Ahead of B&H"][1]


def test_column_sets_are_in_the_url(page) -> None:
    cost = page(run=REPLAY_RUN, ov_columns="Cost").dataframe[0].value.set_index("name")
    assert cost.loc["trade@m-good", "cost"] == pytest.approx(0.25)
    assert cost["cost"].isna()["trade@m-mid"]
    # One failed decision on each of two assets; late ones stand among the flags.
    assert cost.loc["trade@m-mid", "failed"] == 2
    assert "4 late" in cost.loc["hedge@m-good", "flags"]
    luck = page(run=REPLAY_RUN, ov_columns="Luck").dataframe[0].value.set_index("name")
    assert luck.loc["trade@m-good", "verdict"] == "above"
    risk = page(run=REPLAY_RUN, ov_columns="Risk").dataframe[0].value
    assert {"alpha", "beta", "sharpe_ci"} <= set(risk.columns)


def test_by_account_and_before_fees(page) -> None:
    app = page(run=REPLAY_RUN, ov_by="Account", ov_fees="Gross")
    table = app.dataframe[0].value
    assert "Board by account" in [h.value for h in app.header]
    assert sorted(table.loc[table["name"] == "trade@m-good", "asset"]) == ["AAA", "BBB"]
    net = page(run=REPLAY_RUN, ov_by="Account").dataframe[0].value
    key = ["name", "asset"]
    both = table.set_index(key)["net"].add(100) / net.set_index(key)["net"].add(100)
    assert both.tolist() == pytest.approx([1.01] * len(both))


def test_what_the_address_opens_is_open_and_what_it_names_wrongly_is_said(page) -> None:
    app = page(run=REPLAY_RUN, open="hedge@m-mid")
    assert "hedge@m-mid" in opened(app)
    assert "Covers 11 Aug to 9 Sep 2025" in words(app)
    app = page(run=REPLAY_RUN, open="<b>nobody</b>")
    assert "trade@m-good" in opened(app)
    assert "is not among these rows" in words(app)
    app = page(run=REPLAY_RUN, open="hedge@m-mid:BBB", ov_by="Account")
    assert "hedge@m-mid · BBB" in opened(app)


def test_the_selection_follows_the_opened_row(page) -> None:
    app = page(run=REPLAY_RUN, open="hedge@m-good")
    at = app.session_state["board"]["selection"]["rows"][0]
    assert names(app)[at] == "hedge@m-good"
    app.button(key="reset").click().run()
    assert "hedge@m-good" in opened(app)


def test_a_voided_run_is_struck_unranked_and_in_no_tile(page) -> None:
    app = page(run=VOID_RUN)
    assert "Prices of BBB were wrong" in words(app)
    assert set(app.dataframe[0].value["rank"]) == {"–"}
    assert "~~" in opened(app)
    assert {m.label: m.value for m in app.metric}["Ahead of B&H"] == "0 of 0"


def test_after_the_cut_off_leaves_who_cannot_know(page) -> None:
    # Nobody states a cut-off of m-good and m-mid: the stand-in alone is left.
    app = page(run=REPLAY_RUN, ov_after="true")
    assert names(app) == ["trade@offline/trend", "◆ Buy & Hold"]
    app = page(run=REPLAY_RUN, ov_after="true", models="m-good")
    assert "No entry matches. Remove a filter." in words(app)
    app.button(key="show_all").click().run()
    assert "trade@m-mid" in names(app)


def test_since_a_moment_and_since_never(page) -> None:
    assert "New on 9 Sep 2025" in words(page(run=REPLAY_RUN))
    said = words(page(run=REPLAY_RUN, seen="20250908T000600Z"))
    assert "Since 8 Sep 2025, 00:06 UTC" in said
    assert "24 decisions" in said
    app = page(run=REPLAY_RUN, seen="20251201T000000Z")
    assert "No new decision" in words(app)
    app.button(key="ov_seen").click().run()
    assert "No new decision" in words(app)
    marked = app.query_params["seen"]
    assert re.fullmatch(r"\d{8}T\d{6}Z", marked if isinstance(marked, str) else marked[0])
    assert marked != "20251201T000000Z"


def test_search_keeps_buy_and_hold_and_says_what_it_found(page) -> None:
    app = page(run=REPLAY_RUN, ov_q="mid")
    assert names(app) == ["trade@m-mid", "◆ Buy & Hold", "hedge@m-mid"]
    app = page(run=REPLAY_RUN, ov_q="nothing has this name")
    assert names(app) == ["◆ Buy & Hold"]

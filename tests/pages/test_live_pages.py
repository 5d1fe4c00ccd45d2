"""A live season on the pages: what is late or missing says so, and nothing unsettled is mixed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.store import reader
from arena.store.store import open_store
from arena.ui import marks
from tests.live.made_arena import NOW, clock_of, small
from tests.pages.conftest import SHELL, TIMEOUT_S

Visit = Callable[..., AppTest]
LATE = "20 late decisions: no live evidence"
RULE = "offline/contrarian"
RESULTS = ("overview", "equity", "decisions", "architecture", "market")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("live") / "live.duckdb")


@pytest.fixture(scope="module")
def runs(live: Path) -> dict[str, str]:
    with open_store(live, read=True) as store:
        return dict(reader.runs(store).set_index("kind")["run"])


@pytest.fixture
def visit(serve: Callable[[Path], None], live: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    st.cache_data.clear()
    monkeypatch.setenv("ARENA_CLOCK_FILE", str(clock_of(live)))
    monkeypatch.setenv("ARENA_RUNNER", "off")
    serve(live)

    def opened(file: str, **params: str) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        for name, value in params.items():
            app.query_params[name] = value
        app.switch_page(str(SHELL.parents[2] / f"pages/{file}.py"))
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return opened


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in (*app.markdown, *app.warning, *app.error, *app.text))


def table(app: AppTest, column: str):
    return next(d.value for d in app.dataframe if column in d.value)


@pytest.mark.parametrize("name", RESULTS)
def test_every_page_of_results_says_that_late_rows_are_no_live_evidence(visit: Visit, name: str) -> None:
    assert LATE in said(visit(f"results/{name}"))


def test_a_run_without_late_rows_says_nothing_of_them(visit: Visit, runs: dict[str, str]) -> None:
    words = said(visit("results/overview", run=runs["replay"]))
    assert "no live evidence" not in words
    assert "quotes" not in words


def test_the_unrealised_change_stands_beside_the_settled_return(visit: Visit) -> None:
    app = visit("results/overview", open=f"vanilla@{RULE}")
    shown = table(app, "mark").set_index("name")
    assert list(shown.columns[:3]) == ["rank", "net", "mark"]
    # Bought at the close for a fee of 0.1 %, now 1.5 % lower: 0.999 x 0.985 = 0.984015. The other is flat.
    assert shown["mark"].dropna().to_dict() == {
        f"vanilla@{RULE}": pytest.approx(-1.5985), "vanilla@scripted/shaky": pytest.approx(0.0),
    }  # fmt: skip
    # A balance of 102,115.78 at that close, and no other number, is what the return is of.
    assert shown.loc[f"vanilla@{RULE}", ["net", "balance"]].tolist() == pytest.approx([2.115782, 102115.78])
    words = said(app)
    assert "quotes 3 min old" in words
    assert "Unrealised since the last close: **\u22121.6%** at quotes of 20 Mar 2026, 15:27 UTC" in words


def test_other_columns_and_an_ended_season_show_nothing_unrealised(
    visit: Visit, runs: dict[str, str]
) -> None:
    risk = visit("results/overview", ov_columns="Risk", run=runs["live"])
    assert not [d for d in risk.dataframe if "mark" in d.value]
    replay = visit("results/overview", run=runs["replay"])
    assert not [d for d in replay.dataframe if "mark" in d.value]
    assert "Unrealised" not in said(replay)


def test_a_gap_shows_no_market_that_nobody_saw(visit: Visit) -> None:
    place = {"entry": f"vanilla@{RULE}", "asset": "XXX"}
    gap = said(visit("results/decisions", slot="2026-03-05", **place))
    assert "nobody was there at this slot, nor soon after it. The position was kept." in gap
    assert "bars, " not in gap
    assert "Memory used" not in gap
    assert "10 decided late" in gap
    late = said(visit("results/decisions", slot="2026-03-10", **place))
    assert "260 bars, 60 shown" in late
    assert "late: no live evidence" in late


def test_health_names_the_season_its_slots_and_the_quotes(visit: Visit, runs: dict[str, str]) -> None:
    app = visit("about/health")
    (season,) = table(app, "came").to_dict("records")
    assert season["run"] == runs["live"]
    assert season["next"] == "21 Mar 2026, 00:05 UTC · XXX"
    assert season["came"] == "2 decisions, 1 failed, 15 h ago"
    (quote,) = table(app, "age").to_dict("records")
    assert (quote["asset"], quote["age"]) == ("XXX", "3 min")
    every = table(app, "window").set_index("run")["window"]
    assert every[runs["live"]] == "since 2 Mar 2026"
    assert "1 of 2 decisions of the newest round failed" in said(app)


def test_a_new_quote_is_noticed_and_another_asset_s_is_not(live: Path) -> None:
    with open_store(live, read=True) as store:
        assert marks.newest_utc(store, {"AAA"}) is None
        assert marks.newest_utc(store, {"AAA", "XXX"}) == NOW - timedelta(minutes=3)

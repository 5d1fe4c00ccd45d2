"""The page on architecture and model, on a store with chosen numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.core.hashing import sha256_text
from arena.core.ids import TrackId
from arena.core.rows import CallRow, WriteUnit
from arena.store.store import open_store
from arena.ui.tokens import NAMED_AGENTS
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_store import HOSTILE_RUN, MODELS_RUN, RULES_RUN, SESSIONS, build

PAGE = "pages/results/architecture.py"


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in app.markdown)


def figures(app: AppTest) -> list[dict]:
    return [json.loads(c.proto.spec) for c in app.get("plotly_chart")]


def table(app: AppTest, column: str):
    return next(d.value for d in app.dataframe if column in d.value)


def test_headline_is_the_split_of_the_accounts(page) -> None:
    app = page(PAGE)
    assert app.title[0].value == "Architecture or model?"
    # Six accounts (model m-one, m-two; agent hedge only with m-one), returns in percent:
    #   trade@m-one AAA 30, BBB 10; trade@m-two AAA 5, BBB -5; hedge@m-one AAA -20, BBB 0. Mean 10/3.
    #   total: 30^2+10^2+5^2+5^2+20^2 - 6 (10/3)^2 = 1450 - 66.67 = 1383.33
    #   asset: means 5 and 5/3: 3 (25 + 25/9) - 66.67 = 16.67 -> 1 %
    #   model: m-one mean 5 (4 accounts), m-two 0 (2): 4*25 - 66.67 = 33.33 -> 2 %
    #   agent: trade@m-one 20, hedge -10 (2 each), m-one mean 5: 2 (15^2 + 15^2) = 900 -> 65 %
    words = said(app)
    assert "the asset explains 1% of the spread in return, the model 2%, the agent 65%" in words
    # Of few accounts, every arrangement is likely.
    assert "Neither model nor agent explains more than chance would" in words


def test_stand_ins_beside_models_are_left_out(page) -> None:
    app = page(PAGE)
    assert "Left out: 1 stand-in" in said(app)
    styles = table(app, "style")
    assert set(styles["name"]) == {"trade@m-one", "trade@m-two", "hedge@m-one"}


def test_only_stand_ins_are_shown_and_called_so(page) -> None:
    app = page(PAGE, run=RULES_RUN)
    assert "Stand-ins only" in said(app)
    assert set(table(app, "style")["name"]) == {"trade@offline/trend"}
    assert "the asset explains" not in said(app)  # both accounts earned 50 %: no spread


def test_bands_and_medians(page) -> None:
    bands, heat, *_ = figures(page(PAGE))
    titles = " ".join(a["text"] for a in bands["layout"]["annotations"])
    assert "trade +10.0%</b> (0 … +20)" in titles
    assert "hedge −10.0%" in titles
    printed = {cell for row in heat["data"][0]["text"] for cell in row}
    # Medians: trade (20, 0) 10; m-one (20, -10) 5.
    assert {"+20.0%", "0.0%", "−10.0%", "+10.0%", "+5.0%", ""} == printed


def test_models_over_agents(page) -> None:
    app = page(PAGE, ar_bands="Models over agents")
    titles = " ".join(a["text"] for a in figures(app)[0]["layout"]["annotations"])
    assert "m-one +5.0%" in titles


def test_failures_are_no_holds(page) -> None:
    app = page(PAGE)
    # hedge's last answer on each of two assets timed out.
    assert "2 failures and gaps left out" in said(app)


@pytest.mark.parametrize(
    "params",
    [
        {"assets": "AAA", "ar_asset": "BBB"},
        {"ar_first": "nobody@nothing", "ar_second": "<script>", "ar_asset": "ZZZ", "ar_bands": "?"},
        {"strategy": "flip_on_reversal", "ar_after": "true"},
        {"strategy": "no_such", "assets": "ZZZ"},
        {"run": HOSTILE_RUN},
    ],
)
def test_odd_addresses_leave_the_page_usable(page, params: dict[str, str]) -> None:
    app = page(PAGE, **params)
    assert app.title[0].value == "Architecture or model?"
    assert "Simulated paper trading" in said(app)


def test_after_the_cut_off_says_when_nothing_is_left(page) -> None:
    # Nobody states a cut-off of m-one and m-two.
    app = page(PAGE, ar_after="true", run=MODELS_RUN)
    assert "Left out: 1 stand-in, 3 without a stated cut-off" in said(app)
    assert "No entry is left" in said(app)
    assert not figures(app)


def test_profit_gap_of_two_accounts(page) -> None:
    app = page(PAGE, ar_asset="AAA", ar_first="trade@m-one", ar_second="hedge@m-one")
    bars = next(t for t in figures(app)[-1]["data"] if t["type"] == "bar")
    assert len(bars["x"]) == len(SESSIONS)
    assert set(bars["customdata"]) == {"trade m-one"}
    # The colour of a name, the same on every page.
    assert set(bars["marker"]["color"]) == {NAMED_AGENTS["trade"]["light"]}
    # +30 % against -20 % at the end.
    assert "+50.0 pp at the end" in said(app)


def signal(run: str, model: str, day: int, role: str, parsed: str, seq: int) -> CallRow:
    decision = TrackId(run, "trade", model, "AAA").decision(SESSIONS[day].isoformat())
    return CallRow(
        decision, seq, "model", role, model, "ok", 1, sha256_text("p"), sha256_text("a"), parsed, None,
        "{}", None, None, None, 1.0,
    )  # fmt: skip


def test_role_league(serve: Callable[[Path], None], tmp_path: Path) -> None:
    path = build(tmp_path / "roles.duckdb")
    with open_store(path) as store:
        rows = [
            signal(MODELS_RUN, "m-one", day, role, parsed, seq)
            for day in range(3)
            for seq, (role, parsed) in enumerate(
                [
                    ("market_analyst", '{"lean":0.5,"confidence":0.7}'),
                    ("news_analyst", '{"lean":-0.5,"confidence":0.7}'),
                    ("portfolio_manager", '{"rating":"Buy"}'),
                ]
            )
        ]
        store.write([WriteUnit(tuple(rows))])
    serve(path)
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    app.switch_page(str(SHELL.parents[2] / PAGE))
    app.run()
    assert not app.exception, app.exception[0].stack_trace
    league = table(app, "overruled").set_index("role")
    # The price rises by 1 each session; the decisions are BUY, HOLD, SELL.
    assert league.loc["Market analyst", ["right", "n", "overruled"]].tolist() == [100, 3, 2]
    assert league.loc["Market analyst", "followed"] == pytest.approx(100 / 3)
    assert league.loc["News analyst", ["right", "n", "overruled"]].tolist() == [0, 3, 0]
    # The manager's side is that of the decision: one BUY right, one SELL wrong, HOLD not scored.
    assert league.loc["◆ Portfolio manager", ["right", "n", "neutral"]].tolist() == [50, 2, 1]

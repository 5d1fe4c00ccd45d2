"""The Equity page: what is drawn, and the same in numbers."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

EQUITY = "pages/results/equity.py"


def figures(app: AppTest) -> list[dict]:
    return [json.loads(c.proto.spec) for c in app.get("plotly_chart")]


def labels(figure: dict) -> list[str]:
    return [a["text"] for a in figure["layout"]["annotations"]]


def numbers(app: AppTest):
    """The table of the drawn lines by name: the one whose columns tell a return."""
    (table,) = [t.value for t in app.dataframe if "net" in t.value]
    return table.set_index("name")


def test_entry_curves_over_all_assets(page) -> None:
    app = page(EQUITY)
    assert app.title[0].value == "Equity"
    words = " ".join(labels(figures(app)[0]))
    for end in ("+20.0%", "−10.0%", "0.0%"):
        assert end in words
    table = numbers(app)
    assert table.loc["trade@m-one", "net"] == pytest.approx(20.0)
    assert table.loc["trade@m-one", "excess"] == pytest.approx(20.0)
    assert "◆ Buy & Hold" in table.index


def test_one_asset_has_its_decisions(page) -> None:
    app = page(EQUITY, eq_asset="AAA", models="m-one")
    curves, tape = figures(app)
    assert "+30.0%" in " ".join(labels(curves))
    assert "−20.0%" in " ".join(labels(curves))
    assert app.header[0].value == "What each agent did"
    marks = {t["name"]: t["marker"]["symbol"] for t in tape["data"] if "customdata" in t}
    # hedge's last answer timed out: a hollow cross, not its HOLD.
    assert {"BUY", "HOLD", "SELL"} <= set(marks)
    assert marks["failed, acts as HOLD"] == "x-open"


def test_all_assets_ask_for_the_asset_of_the_tape(page) -> None:
    app = page(EQUITY, eq_tape="BBB")
    *_, tape = figures(app)
    ids = {d[0] for t in tape["data"] for d in t.get("customdata", [])}
    assert ids
    assert all(":BBB:" in i for i in ids)


def test_buy_and_hold_is_dotted(page) -> None:
    (curves, *_) = figures(page(EQUITY))
    dashes = {t["name"]: t["line"]["dash"] for t in curves["data"]}
    assert dashes["Buy & Hold"] == "dot"
    assert [n for n, d in dashes.items() if d == "dot"] == ["Buy & Hold"]


@pytest.mark.parametrize("params", [{"eq_range": "1M"}, {"eq_log": "true"}, {"eq_fees": "Gross"}])
def test_controls_keep_the_page_whole(page, params: dict[str, str]) -> None:
    app = page(EQUITY, **params)
    assert figures(app)
    assert numbers(app).shape[0] == 5


def test_entries_by_name_are_the_only_ones(page) -> None:
    app = page(EQUITY, eq_entries=["hedge@m-one", "trade@m-two"])
    assert set(numbers(app).index) == {"hedge@m-one", "trade@m-two", "◆ Buy & Hold"}


def test_accounts_of_two_strategies_side_by_side(page) -> None:
    chosen = ["trade@m-one · AAA · baseline", "trade@m-one · AAA · flip_on_reversal"]
    app = page(EQUITY, eq_by="Accounts", eq_accounts=chosen)
    table = numbers(app)
    # made_store: 130,000 and 1,000 less; Buy & Hold of AAA alone has 110,000.
    assert table["balance"].to_dict() == {chosen[0]: 130_000, chosen[1]: 129_000, "◆ Buy & Hold": 110_000}
    assert table.loc[chosen[1], "excess"] == pytest.approx(19.0)
    assert labels(figures(app)[0]) == [
        "trade baseline <b>+30.0%</b>", "trade flip on reversal <b>+29.0%</b>",
        "B&H <b>+10.0%</b>",
    ]  # fmt: skip


def test_filters_that_leave_nothing_offer_a_way_back(page) -> None:
    app = page(EQUITY, agents="hedge", models="m-two")
    assert not app.get("plotly_chart")
    assert "No line matches" in " ".join(m.value for m in app.markdown)
    app.button(key="eq_reset").click().run()
    assert not app.exception
    assert numbers(app).shape[0] == 5


def test_names_of_nothing_are_said_and_left_out(page) -> None:
    app = page(EQUITY, eq_entries=["hedge@m-one", "ghost@m"], eq_asset="NOPE")
    assert set(numbers(app).index) == {"hedge@m-one", "◆ Buy & Hold"}
    words = " ".join(m.value for m in app.markdown)
    assert "Not in this run, and left out: NOPE, ghost@m." in words


def test_nothing_is_computed_before_it_is_asked_for(page) -> None:
    assert len(figures(page(EQUITY))) == 2
    app = page(EQUITY, eq_more=["Rolling Sharpe", "Return distribution", "Correlation"])
    # Four returns are too few for a rolling Sharpe of 60: said, not drawn.
    assert len(figures(app)) == 4
    assert "Not 60 returns" in " ".join(m.value for m in app.markdown)
    *_, heat = figures(app)
    assert heat["data"][0]["type"] == "heatmap"


def test_tables_behind_the_charts_are_made_once_opened(page) -> None:
    app = page(EQUITY, eq_asset="AAA", models="m-one")
    assert [list(t.value.columns) for t in app.dataframe if "link" in t.value] == []
    for key in ("eq_tape_table", "eq_data"):
        app.session_state[key] = True
    app.run()
    assert not app.exception
    (tape,) = [t.value for t in app.dataframe if "link" in t.value]
    # Two entries with five decisions; the newest first, each with an address of its own.
    assert len(tape) == len(set(tape["link"])) == 10
    assert tape["link"].iloc[0].startswith("/decisions?run=")
    (curves,) = [t.value for t in app.dataframe if "trade@m-one" in t.value]
    # made_store: trade@m-one ends at 130,000 of 100,000 on AAA.
    assert curves["trade@m-one"].iloc[-1] == pytest.approx(30.0)

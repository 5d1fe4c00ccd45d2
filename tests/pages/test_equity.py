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


def test_entry_curves_over_all_assets(page) -> None:
    app = page(EQUITY)
    assert app.title[0].value == "Equity"
    words = " ".join(labels(figures(app)[0]))
    for end in ("+20.0%", "−10.0%", "0.0%"):
        assert end in words
    numbers = app.dataframe[0].value.set_index("name")
    assert numbers.loc["trade@m-one", "net"] == pytest.approx(20.0)
    assert "◆ Buy & Hold" in numbers.index


def test_one_asset_has_its_decisions(page) -> None:
    app = page(EQUITY, eq_asset="AAA", models="m-one")
    curves, tape = figures(app)
    assert "+30.0%" in " ".join(labels(curves))
    assert "−20.0%" in " ".join(labels(curves))
    assert app.header[0].value == "What each agent did"
    marks = {t["name"] for t in tape["data"]}
    # hedge's last answer timed out: drawn as a cross, not as its HOLD.
    assert {"BUY", "HOLD", "SELL"} <= marks
    assert any("failed" in m for m in marks)


def test_buy_and_hold_is_dotted(page) -> None:
    (curves, *_) = figures(page(EQUITY))
    dashes = {t["name"]: t["line"]["dash"] for t in curves["data"]}
    assert dashes["Buy & Hold"] == "dot"
    assert [n for n, d in dashes.items() if d == "dot"] == ["Buy & Hold"]


@pytest.mark.parametrize("params", [{"eq_range": "1M"}, {"eq_log": "true"}, {"eq_fees": "Gross"}])
def test_controls_keep_the_page_whole(page, params: dict[str, str]) -> None:
    app = page(EQUITY, **params)
    assert figures(app)
    assert app.dataframe[0].value.shape[0] == 5

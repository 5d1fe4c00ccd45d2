"""Methods: every metric with its own words, and every part reachable by its address."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from arena.analytics.registry import pick
from arena.analytics.series import ALL_METRICS
from arena.runner.presets import load_presets
from arena.ui import methods

METHODS = "pages/about/methods.py"


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in app.markdown)


def test_every_metric_has_formula_unit_edge_cases_and_an_address(page: Callable[..., AppTest]) -> None:
    app = page(METHODS, part="Metrics")
    heads = {h.value: h.anchor for h in app.subheader}
    assert set(heads) == set(ALL_METRICS)
    assert len(set(heads.values())) == len(heads)
    assert heads["Sortino"] == "metric-sortino"
    formulas = [c.value for c in app.code]
    assert len(formulas) == len(ALL_METRICS)
    assert "SR = (m - rf) / s sqrt(B)" in formulas
    # One formula of two metrics keeps both names.
    assert formulas.count("conc_avg, conc_max = mean and maximum of the largest single exposure / V") == 2
    words = said(app)
    assert "zero_variance" in words
    assert "Where the paper" in "\n".join(h.value for h in app.header)
    for name, metric in zip(ALL_METRICS, pick(ALL_METRICS), strict=True):
        assert methods.docstring(metric).split(".")[0].replace("$", "") in words
        assert f"needs {methods.explained()[name].needs}" in words


def test_presets_are_those_of_the_file(page: Callable[..., AppTest]) -> None:
    table = page(METHODS).dataframe[0].value.set_index("rule")
    assert list(table.columns) == list(load_presets())
    assert table.loc["Fill", "ama-2025"] == "close"
    assert table.loc["Fill", "default"] == "next"
    assert table.loc["Fees, bp", "ama-2025"] == "stock 5, etf 5, crypto 5"
    assert table.loc["Epochs", "investorbench"] == "5"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("News", "date accuracy"), ("Agents", "Model calls of one decision"),
        ("Limits", "A model may know the past"), ("Nonsense", "An **entry** is an agent with a model"),
    ],
)  # fmt: skip
def test_parts_by_address(page: Callable[..., AppTest], part: str, words: str) -> None:
    app = page(METHODS, part=part)
    assert app.title[0].value == "Methods"
    assert words in said(app)


def test_agents_are_those_that_can_be_asked_for(page: Callable[..., AppTest]) -> None:
    table = page(METHODS, part="Agents").dataframe[0].value.set_index("id")
    assert {"vanilla", "investor", "trade", "hedge", "deepfund"} <= set(table.index)
    assert table.loc["trade", "memory"] == "yes"
    assert all(table["what"].str.len() > 20)


def test_links_between_docs_become_names() -> None:
    text = methods.section("protocol", "## News")
    assert "`docs/briefs.md`" in text
    assert "](" not in text
    with pytest.raises(KeyError, match="no heading"):
        methods.section("protocol", "## Nothing")

"""Figures from chosen curves; no streamlit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ui import charts
from arena.ui.charts import MIN_GAP_FRAC, Line, spread
from arena.ui.equity import MOST_LINES, with_faint

DAYS = pd.date_range("2025-08-01", periods=4)


def line(name: str, growth: list[float], **more: object) -> Line:
    values = np.array(growth)
    return Line(name, name, DAYS, values, 1000 * values, "#112233", "solid", **more)  # type: ignore[arg-type]


def test_drawdown_counts_the_start_as_a_peak() -> None:
    # 0.9 is 10 % below the start; then a new peak 1.2; 0.6 is half of it.
    got = line("a", [0.9, 1.2, 0.6, 1.2]).drawdown
    assert got == pytest.approx([-0.1, 0.0, -0.5, 0.0])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_labels_keep_order_and_distance(values: list[float]) -> None:
    placed = spread(values, -1.0, 1.0)
    order = np.argsort(values, kind="stable")
    gaps = np.diff([placed[i] for i in order])
    assert (gaps >= 2 * MIN_GAP_FRAC - 1e-9).all()
    assert max(placed) <= 1.0 + 1e-9


def test_labels_name_the_value_and_escape_the_name() -> None:
    figure = charts.equity_figure(
        [line("<b>x</b>", [1.0, 1.1, 1.2, 0.9])], "light", log=False, net=True
    )
    (label,) = [a.text for a in figure.layout.annotations]
    assert label == "&lt;b>x&lt;/b> <b>−10.0%</b>"
    assert all("<" not in t.name for t in figure.data)


def test_log_draws_growth_of_100() -> None:
    figure = charts.equity_figure([line("a", [1, 2, 1, 4])], "dark", log=True, net=False)
    assert list(figure.data[0].y) == [100, 200, 100, 400]
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis.title.text == "Growth of 100, before fees"


def test_an_empty_chart_is_still_a_figure() -> None:
    assert len(charts.equity_figure([], "light", log=False, net=True).data) == 0


def test_beyond_six_lines_the_rest_is_grey_and_unlabelled() -> None:
    lines = [line(f"e{i}", [1, 1, 1, 1 + i / 10]) for i in range(MOST_LINES + 2)]
    hold = replace(lines[0], name="Buy & Hold", short="B&H", benchmark=True)
    drawn = with_faint([*lines, hold])
    # e0 and e1 end lowest.
    assert {x.name for x in drawn if x.faint} == {"e0", "e1"}
    figure = charts.equity_figure(drawn, "light", log=False, net=True)
    assert len(figure.layout.annotations) == MOST_LINES + 1


def test_tape_tells_failures_and_gaps_from_opinions() -> None:
    prices = pd.DataFrame({"session": DAYS, "close": [1.0, 2, 3, 4]})
    made = pd.DataFrame(
        {
            "entry": "e", "session": DAYS, "action": ["BUY", "HOLD", "HOLD", "HOLD"],
            "status": ["ok", "repaired", "timeout", "missed"],
        }
    )  # fmt: skip
    figure = charts.tape_figure(prices, made, ["e"], "light")
    marks = {t.marker.symbol: len(t.x) for t in figure.data if t.mode == "markers"}
    assert marks == {"triangle-up": 1, "square": 1, "x": 1, "square-open": 1}


def test_range_prints_the_median() -> None:
    points = pd.DataFrame(
        {
            "group": ["a", "a", "a"], "member": ["x", "y", "z"], "value": [0.1, -0.2, 0.3],
            "color": ["#111111"] * 3, "symbol": ["circle", "square", "cross"],
        }
    )  # fmt: skip
    texts = [a.text for a in charts.range_figure(points, 0.05, "light").layout.annotations]
    assert texts == ["+10.0%", "B&H +5.0%"]

"""What all charts share, and the figure of ranges; no streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ui import charts
from arena.ui.charts import MIN_GAP_FRAC, spread, stacked


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_labels_keep_order_and_distance(values: list[float]) -> None:
    placed = spread(values, -1.0, 1.0)
    order = np.argsort(values, kind="stable")
    gaps = np.diff([placed[i] for i in order])
    assert (gaps >= 2 * MIN_GAP_FRAC - 1e-9).all()
    assert max(placed) <= 1.0 + 1e-9


def test_panels_share_their_days_and_fill_the_height() -> None:
    # 300 + 100 px with a gap of 20 px: the upper one ends 120 px above the foot of 420 px.
    made = stacked("light", (300, 100), {"l": 1, "r": 2, "t": 30, "b": 50}, 20)
    assert made["height"] == 420 + 30 + 50
    assert made["yaxis"]["domain"] == pytest.approx([120 / 420, 1.0])
    assert made["yaxis2"]["domain"] == pytest.approx([0.0, 100 / 420])
    assert made["xaxis"]["matches"] == "x2"
    assert made["xaxis"]["showticklabels"] is False


def test_range_prints_the_median() -> None:
    points = pd.DataFrame(
        {
            "group": ["a", "a", "a"], "member": ["x", "y", "z"], "value": [0.1, -0.2, 0.3],
            "color": ["#111111"] * 3, "symbol": ["circle", "square", "cross"],
        }
    )  # fmt: skip
    texts = [a.text for a in charts.range_figure(points, 0.05, "light").layout.annotations]
    assert texts == ["+10.0%", "B&H +5.0%"]


def test_a_short_axis_has_a_tick_a_day_and_whole_outer_marks() -> None:
    first = pd.Timestamp("2025-08-01")
    week = charts.of_days(first, first + pd.Timedelta(days=7))
    assert week["range"] == [pd.Timestamp("2025-07-31 12:00"), pd.Timestamp("2025-08-08 12:00")]
    assert week["dtick"] == 24 * 60 * 60 * 1000
    assert "dtick" not in charts.of_days(first, first + pd.Timedelta(days=8))


def test_names_stand_below_the_axis_of_a_phone() -> None:
    points = pd.DataFrame(
        {"group": "a", "member": list("xyz"), "value": 0.1, "color": "#111111", "symbol": "circle"}
    )
    wide = charts.range_figure(points, None, "light").layout
    phone = charts.range_figure(points, None, "light", phone=True).layout
    # 22 px for each of three names
    assert (wide.height, phone.height) == (130 + 46, 130 + 46 + 3 * 22)
    assert phone.margin.b == 40 + 3 * 22

"""What the figures on architecture and model draw, without a browser."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena.analytics.bands import Band
from arena.analytics.entry_curve import Curve
from arena.analytics.variance import Term
from arena.ui import architecture_charts as charts
from arena.ui.tokens import TOKENS

DAYS = pd.date_range("2025-08-01", periods=3)


def band(name: str) -> Band:
    return Band(
        name,
        DAYS,
        np.array([0.0, 0.1, 0.055]),
        np.array([0.0, 0.0, -0.02]),
        np.array([0.0, 0.2, 0.14]),
        2,
    )


@pytest.mark.parametrize(("n", "phone", "rows"), [(2, False, 1), (7, False, 2), (3, True, 3)])
def test_bands_have_a_panel_each_and_say_where_they_end(n: int, phone: bool, rows: int) -> None:
    made = [band(f"agent{i}") for i in range(n)]
    held = np.array([1.0, 1.0, 1.05, 1.1])
    hold = Curve(DAYS, held, held, 365)
    figure = charts.band_figure(made, {b.name: "#3A84EC" for b in made}, hold, "light", phone=phone)
    assert [a.text for a in figure.layout.annotations] == [
        f"<b>agent{i} +5.5%</b> (−2 … +14)" for i in range(n)
    ]
    assert len(figure.data) == 4 * n
    tops = {a.y for a in figure.layout.annotations}
    assert len(tops) == rows
    # One scale for all panels, also for those below each other.
    followed = [a.matches for a in figure.select_yaxes()]
    assert followed.count(None) == 1
    assert len(set(followed)) == 2
    fills = [t for t in figure.data if t.fill == "tonexty"]
    assert {t.fillcolor for t in fills} == {"rgba(58,132,236,0.2)"}
    for dots in [t for t in figure.data if t.name == "Buy & Hold"]:
        assert dots.line.dash == "dot"
        assert list(dots.y) == pytest.approx([0.0, 0.05, 0.1])


def test_heatmap_is_centred_on_nought_and_leaves_gaps_empty() -> None:
    grid = pd.DataFrame({"x/m1": [0.1, -0.2], "m2": [np.nan, 0.4]}, index=["a", "b"])
    heat = charts.heat_figure(grid, "light").data[0]
    assert list(heat.x) == ["m1", "m2", "median"]
    assert [list(row) for row in heat.text] == [
        ["+10.0%", "", "+10.0%"],
        ["−20.0%", "+40.0%", "+10.0%"],
        ["−5.0%", "+40.0%", ""],
    ]
    assert (heat.zmid, heat.zmin, heat.zmax) == (0, pytest.approx(-0.54), pytest.approx(0.54))


def test_shares_within_noise_are_grey_and_say_so() -> None:
    t = TOKENS["dark"]
    terms = [Term("asset", 0.5, 3, None), Term("model", 0.3, 2, 0.01), Term("agent", 0.1, 2, 0.4),
             Term("agent × model", 0.0, 0, None), Term("rest", 0.1, 8, None)]  # fmt: skip
    bar = charts.share_figure(terms, "dark").data[0]
    assert list(bar.y) == ["asset", "model", "agent", "rest"]
    assert list(bar.text) == ["50%", "30%", "10% within noise", "10%"]
    assert list(bar.marker.color) == [t.buy, t.buy, t.hold, t.hold]


def test_foreign_names_are_no_markup() -> None:
    points = pd.DataFrame(
        [{"name": "x", "agent": "<a href='x'>", "model": "%{y}", "volatility": 0.1, "value": 0.2,
          "color": "#000000", "symbol": "circle", "style": "bold"}]
    )  # fmt: skip
    figure = charts.style_figure(points, (0.3, 0.1), "light")
    words = " ".join(f"{t.name} {t.text}" for t in figure.data)
    assert "<a" not in words
    assert "%{y}" not in words
    assert "% {y}" in words


def test_agreement_leaves_the_diagonal_out() -> None:
    share, n = np.array([[1.0, 0.25], [0.25, 1.0]]), np.array([[4, 4], [4, 4]])
    heat = charts.agreement_figure(share, n, ["a", "b"], "light").data[0]
    assert [list(r) for r in heat.text] == [["", "25"], ["25", ""]]
    assert share[0, 0] == 1.0


def test_pair_marks_failures_apart_and_colours_who_is_ahead() -> None:
    closes = pd.Series([10.0, 11.0, 12.0], index=DAYS)
    gap = pd.Series([1.0, -2.0, 0.0], index=DAYS)
    acts = pd.DataFrame(
        {
            "entry": "a",
            "session": DAYS,
            "action": ["BUY", "HOLD", "SELL"],
            "status": ["ok", "timeout", "ok"],
            "late": False,
        }
    )
    figure = charts.pair_figure(
        closes, gap, pd.Series(dtype=float), acts, ("a", "b"), ("#111111", "#222222"), [], "light"
    )
    bars = next(t for t in figure.data if t.type == "bar")
    assert list(bars.marker.color) == ["#111111", "#222222", "#111111"]
    assert list(bars.customdata) == ["a", "b", "a"]
    names = [t.name for t in figure.data if t.type == "scatter" and t.mode == "markers"]
    assert names == ["BUY", "SELL", "no answer of the model"]
    assert len([t for t in figure.data if t.type == "bar"]) == 1  # no brief: no panel of news
    odd = acts.assign(status=["ok", "missed", "ok"], late=[True, False, False])
    figure = charts.pair_figure(
        closes, gap, pd.Series(dtype=float), odd, ("a", "b"), ("#111111", "#222222"), [], "light"
    )
    marks = {t.name: t.marker.symbol for t in figure.data if t.type == "scatter" and t.mode == "markers"}
    assert list(marks) == ["BUY, late", "SELL", "no decision, position kept"]
    assert marks["BUY, late"].endswith("-open")

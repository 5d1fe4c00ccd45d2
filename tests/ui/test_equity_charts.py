"""Figures of the Equity page from chosen lines; no streamlit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.ui.equity_charts import (
    correlations,
    equity_figure,
    margins_of,
    returns_figure,
    rolling_sharpe,
    session_returns,
    sharpe_figure,
)
from arena.ui.equity_lines import MOST_LINES, Line, with_faint

DAYS = pd.date_range("2025-08-01", periods=4)


def line(name: str, growth: list[float], **more: object) -> Line:
    values = np.array(growth, dtype=float)
    fields: dict[str, object] = {"words": "baseline"} | more
    days = pd.date_range("2025-08-01", periods=len(growth))
    return Line(name, name, days, values, 1000 * values, "#112233", "solid", **fields)  # type: ignore[arg-type]


def figure(lines: list[Line], **more: object):
    return equity_figure(lines, "light", **({"log": False, "net": True} | more))  # type: ignore[arg-type]


def labels(lines: list[Line], **more: object) -> list[str]:
    return [a.text for a in figure(lines, **more).layout.annotations]


def test_labels_name_the_value_and_escape_the_name() -> None:
    made = figure([line("<b>x</b>", [1.0, 1.1, 1.2, 0.9])])
    assert [a.text for a in made.layout.annotations] == ["&lt;b>x&lt;/b> <b>−10.0%</b>"]
    assert all("<" not in t.name for t in made.data)


def test_the_tooltip_has_return_balance_and_strategy() -> None:
    curve, fall = figure([line("a", [1.0, 1.25, 0.5, 1.0])]).data
    assert curve.customdata.tolist()[1] == "+25.0%  $1,250 · Baseline"
    # From the peak 1.25 to 0.5.
    assert fall.customdata.tolist()[2] == "−60.0%"


def test_a_tiny_loss_prints_as_zero() -> None:
    curve, fall = figure([line("a", [1.0, 1.0, 1.0, 0.9999])]).data
    assert curve.customdata.tolist()[3].startswith("0.0%")
    assert fall.customdata.tolist()[3] == "0.0%"
    assert labels([line("a", [1.0, 1.0, 1.0, 0.9999])]) == ["a <b>0.0%</b>"]


def test_log_draws_growth_of_100() -> None:
    made = figure([line("a", [1, 2, 1, 4])], log=True, net=False)
    assert list(made.data[0].y) == [100, 200, 100, 400]
    assert made.layout.yaxis.type == "log"
    assert made.layout.yaxis.title.text == "Growth of 100, before fees"
    # The axis is in logarithms, from 100 to 400 and a little more.
    low, high = made.layout.yaxis.range
    assert low < 2.0 < math.log10(400) < high


def test_a_bankrupt_line_ends_on_the_log_scale_and_stays_on_the_other() -> None:
    broke = line("a", [1.0, 0.5, 0.0, 0.0], bankrupt=True)
    assert np.isnan(figure([broke], log=True).data[0].y[2:]).all()
    assert labels([broke], log=True) == []
    assert labels([broke]) == ["a <b>−100.0%</b> bankrupt"]
    assert margins_of([broke], phone=False)["r"] > margins_of([line("a", [1, 1])], phone=False)["r"]


def test_a_gap_is_not_joined() -> None:
    made = figure([line("a", [1.0, float("nan"), 1.2, 1.3])])
    for trace in made.data:
        assert trace.connectgaps is False
        assert np.isnan(trace.y[1])
    assert labels([line("a", [1.0, 1.2, 1.3, float("nan")])]) == ["a <b>+30.0%</b>"]


def test_one_session_is_a_mark() -> None:
    made = figure([line("a", [1.1])])
    assert made.data[0].mode == "lines+markers"
    assert made.layout.xaxis.dtick == 86_400_000  # a day, in ms
    assert labels([line("a", [1.1])]) == ["a <b>+10.0%</b>"]


def test_an_empty_chart_is_still_a_figure() -> None:
    assert len(figure([]).data) == 0


def many() -> list[Line]:
    lines = [line(f"e{i}", [1, 1, 1, 1 + i / 10]) for i in range(MOST_LINES + 3)]
    return with_faint([*lines, line("h", [1, 1, 1, 1.5], benchmark=True)])


def test_grey_lines_are_one_trace_with_breaks_and_no_label() -> None:
    made = figure(many())
    (field,) = [t for t in made.data if t.name == "others"]
    # e0, e1, e2 with 4 sessions and a break each.
    assert len(field.x) == 15
    assert np.isnan(np.array(field.y)[[4, 9, 14]]).all()
    assert len(made.layout.annotations) == MOST_LINES + 1


def test_the_band_is_median_and_range_of_all_accounts() -> None:
    made = figure(many(), band=True)
    (middle,) = [t for t in made.data if t.name == "median"]
    low, high = [t for t in made.data if t.name == "range"]
    # Ends 1.0, 1.1 ... 1.8 without Buy & Hold: the median is 1.4.
    assert middle.y[-1] == pytest.approx(0.4)
    assert (low.y[-1], high.y[-1]) == pytest.approx((0.0, 0.8))
    assert high.fill == "tonexty"
    assert not [t for t in made.data if t.name == "others"]


def test_epochs_are_a_shade_behind_their_line() -> None:
    own = replace(line("a", [1, 1, 1, 1]), low=np.full(4, 0.9), high=np.full(4, 1.2))
    low, high, curve, _ = figure([own]).data
    assert (low.y[0], high.y[0]) == pytest.approx((-0.1, 0.2))
    assert curve.name == "a"


def test_both_panels_share_the_asked_span() -> None:
    span = (pd.Timestamp("2025-07-01"), pd.Timestamp("2025-09-01"))
    made = figure([line("a", [1, 1, 1, 1])], span=span)
    for axis in (made.layout.xaxis, made.layout.xaxis2):
        assert pd.Timestamp(axis.range[0]) == pd.Timestamp("2025-06-30 12:00")


def test_the_drawdown_hangs_from_zero_also_where_nothing_fell() -> None:
    low, high = figure([line("a", [1.0, 1.1, 1.2, 1.3])]).layout.yaxis2.range
    assert low < -0.009
    assert 0 < high < -low
    # A fall to half of the peak is inside the axis.
    assert figure([line("a", [1.0, 1.0, 0.5, 1.0])]).layout.yaxis2.range[0] < -0.5


def test_returns_are_between_neighbours_only() -> None:
    # 1 -> 1.1, then a gap of one day: neither side of it is a return of one session.
    got = session_returns(line("a", [1.0, 1.1, float("nan"), 1.21, 1.331]))
    assert got.to_numpy() == pytest.approx([0.1, 0.1])
    assert list(got.index) == [pd.Timestamp("2025-08-02"), pd.Timestamp("2025-08-05")]
    assert session_returns(line("a", [1.0, 0.0, 0.0])).tolist() == [-1.0]


def test_rolling_sharpe_by_hand() -> None:
    # Returns +10 %, -10 %, +10 %; windows of two: mean 0, deviation 0.1 x root 2.
    moves = [0.1, -0.1, 0.1]
    got = rolling_sharpe(line("a", [1.0, *np.cumprod([1 + m for m in moves])]), 365, sessions=2)
    assert got.to_numpy() == pytest.approx([0.0, 0.0], abs=1e-9)
    up = rolling_sharpe(line("a", [1.0, 1.1, 1.1 * 1.3]), 4, sessions=2)
    # Mean 0.2, sample deviation 0.1 x root 2; times root 4.
    assert up.to_numpy() == pytest.approx([0.2 / (0.1 * math.sqrt(2)) * 2])


def test_rolling_sharpe_of_too_few_or_of_equal_returns_does_not_exist() -> None:
    assert rolling_sharpe(line("a", [1.0, 1.1]), 365, sessions=2).empty
    assert rolling_sharpe(line("a", [1.0, 1.0, 1.0]), 365, sessions=2).empty


def test_rolling_sharpe_is_labelled_and_leaves_out_who_has_none() -> None:
    a, b = line("a", [1, 1, 1, 1]), line("b", [1, 1, 1, 1])
    ratio = pd.Series([0.5, -1.25], index=DAYS[2:])
    made = sharpe_figure([a, b], [ratio, ratio.iloc[:0]], "light")
    assert [t.name for t in made.data] == ["a"]
    assert [x.text for x in made.layout.annotations] == ["a <b>−1.25</b>"]


def test_returns_have_a_box_a_line() -> None:
    made = returns_figure([line("a", [1.0, 1.1]), line("b", [1.0, 0.9])], "light")
    assert [list(t.x) for t in made.data] == [pytest.approx([0.1]), pytest.approx([-0.1])]
    assert list(made.layout.yaxis.ticktext) == ["a", "b"]


def test_correlation_is_of_shared_sessions() -> None:
    up = line("a", [1.0, 1.1, 1.1, 1.21, 1.21])
    against = line("b", [1.0, 0.9, 0.9, 0.81, 0.81])
    still = line("c", [1.0, 1.0, 1.0, 1.0, 1.0])
    got = correlations([up, against, still]).to_numpy()
    assert got[0, 1] == pytest.approx(-1.0)
    assert got[0, 0] == pytest.approx(1.0)
    # Who never moves is like nobody.
    assert np.isnan(got[2]).all()
    short = correlations([up, line("d", [1.0, 1.2])]).to_numpy()
    assert np.isnan(short[0, 1])

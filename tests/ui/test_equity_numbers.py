"""The table of the drawn lines."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd

from arena.analytics.entry_curve import Curve
from arena.ui.equity_lines import LineData, Pick
from arena.ui.equity_numbers import flags, frame, shown, styled

DAYS = pd.date_range("2025-08-01", periods=3)
START = DAYS[0]


def data(values: list[float], days: pd.DatetimeIndex = DAYS, **more: object) -> LineData:
    net = np.array([1.0, *values])
    return LineData(Curve(days, net, net, 365), **more)  # type: ignore[arg-type]


def pick(name: str, group: str = "model") -> Pick:
    return Pick(name, "a", "m", "AAA", "baseline", group, ("x",), 1.0)


def row(balance: float, **values: float | None) -> dict[str, object]:
    names = ("CR", "CR_gross", "excess_bh", "AV", "SR", "MDD", "win_rate_trades", "time_in_market")
    metrics = {n: {"value": values.get(n), "n": 4} for n in names}
    return {"balance": balance, "n_sessions": 3, "n_failed": 2, "metrics": metrics}


def test_the_whole_run_comes_from_the_board_the_best_first() -> None:
    picks = [pick("x"), pick("y"), pick("h", "benchmark")]
    rows = {
        "x": row(90.0, CR=-0.1, MDD=0.25, win_rate_trades=0.5),
        "y": row(120.0, CR=0.2), "h": row(100.0, CR=0.0, excess_bh=0.0),
    }  # fmt: skip
    table = frame(picks, rows, {}, {n: data([1, 1, 1]) for n in rows}, 100.0, cut=False, start=START)
    assert table["name"].tolist() == ["y", "◆ Buy & Hold", "x"]
    last = table.iloc[2]
    assert (last["net"], last["drawdown"], last["win"], last["trades"]) == (-10.0, -25.0, 50.0, 4)
    assert table["failed"].tolist()[0] == 2
    # Against itself there is nothing to say, and it makes no decisions.
    assert pd.isna(table["excess"].iloc[1])
    assert pd.isna(table["failed"].iloc[1])


def test_a_window_shows_what_its_curve_tells() -> None:
    inside = {"x": {"balance": 1.5, "days": 2.0, "CR": -0.25, "MDD": 0.5, "SR": None}}
    table = frame([pick("x")], {}, inside, {"x": data([1, 1, 1])}, 100.0, cut=True, start=START)
    assert table["balance"].tolist() == [150.0]
    assert table["net"].tolist() == [-25.0]
    assert "trades" not in table
    assert bool(table["short"].iloc[0])


def test_flags_say_what_the_numbers_do_not() -> None:
    assert flags(data([1.1, 1.2, 1.3]), START) == ""
    assert flags(data([1.1, 0.0, 0.0]), START) == "bankrupt"
    late = data([1.0, 1.1, 1.1], pd.date_range("2025-09-01", periods=3), missing=(date(2025, 9, 2),))
    assert flags(late, START) == "from 1 Sep 2025, 1 gap"
    assert flags(data([1.0], DAYS[:1]), START) == "one session"


def test_no_minus_before_a_zero() -> None:
    rows = {"x": row(100.0, CR=-0.0004, excess_bh=-0.0001, SR=-0.001, MDD=0.0)}
    table = frame([pick("x")], rows, {}, {"x": data([1, 1, 1])}, 100.0, cut=False, start=START)
    html = styled(shown(table), "light").to_html()
    assert "−0.0" not in html
    assert "-0.0" not in html
    assert "0.0%" in html


def test_an_undefined_number_is_a_dash() -> None:
    rows = {"x": row(100.0, CR=0.1)}
    table = frame([pick("x")], rows, {}, {"x": data([1, 1, 1])}, 100.0, cut=False, start=START)
    assert table["sharpe"].isna().all()
    assert "–" in styled(shown(table), "light").to_html()

"""Which lines are drawn and what they are worth in a window; values by hand."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest

from arena.analytics.entry_curve import Curve
from arena.ui.equity_lines import (
    HOLD_NAME,
    MOST_LINES,
    Line,
    LineData,
    Pick,
    is_late,
    lines_of,
    most,
    picks,
    window_row,
    with_faint,
)

DAYS = pd.date_range("2025-08-01", periods=4)
WHOLE = (DAYS[0], DAYS[-1])
LAST_TWO = (DAYS[2], DAYS[3])


def curve(values: list[float], days: pd.DatetimeIndex = DAYS, gross: list[float] | None = None) -> Curve:
    net = np.array([1.0, *values])
    return Curve(days, net, net if gross is None else np.array([1.0, *gross]), 365)


def pick(name: str, **more: object) -> Pick:
    fields = {
        "agent": name, "model": "m", "asset": "AAA", "strategy": "baseline", "group": "model",
        "accounts": (f"r:{name}@m:AAA:baseline",), "balance": 1.0,
    }  # fmt: skip
    return Pick(name, **(fields | more))  # type: ignore[arg-type]


def drawn(made: dict[str, LineData], window: tuple[pd.Timestamp, pd.Timestamp] = WHOLE, **more: object) -> list[Line]:
    options = {"capital": 1000.0, "net": True, "rebase": True, "theme": "light"} | more
    return lines_of([pick(n) for n in made], made, window, **options)  # type: ignore[arg-type]


def summaries() -> pd.DataFrame:
    """Two agents with two models on two assets under two strategies, and Buy & Hold."""
    rows = []
    for agent, model, asset, strategy, balance in (
        ("a", "m", "AAA", "baseline", 130.0), ("a", "m", "BBB", "baseline", 110.0),
        ("a", "m", "AAA", "pyramid", 150.0), ("b", "m", "AAA", "baseline", 90.0),
        ("b", "n", "AAA", "baseline", 100.0),
    ):  # fmt: skip
        rows.append((f"r:{agent}@{model}:{asset}:{strategy}", agent, model, asset, strategy, "model", balance))
    for asset in ("AAA", "BBB"):
        rows.append((f"r:buy_hold@-:{asset}:buy_hold", "buy_hold", "-", asset, "buy_hold", "benchmark", 105.0))
    columns = ["account", "agent", "model", "asset", "strategy", "grp", "balance"]
    return pd.DataFrame(rows, columns=columns)


def names(found: list[Pick]) -> list[str]:
    return [p.name for p in found]


def test_entries_are_means_over_their_assets_the_best_first() -> None:
    found = picks(summaries(), by_account=False, strategy="baseline")
    # a@m: (130 + 110) / 2 = 120; Buy & Hold of both assets comes last.
    assert names(found) == ["a@m", "b@n", "b@m", HOLD_NAME]
    assert found[0].balance == 120.0
    assert found[0].asset is None
    assert len(found[-1].accounts) == 2


def test_buy_and_hold_is_of_the_drawn_assets_only() -> None:
    found = picks(summaries(), by_account=False, strategy="baseline", asset="AAA")
    assert found[0].balance == 130.0
    assert found[-1].accounts == ("r:buy_hold@-:AAA:buy_hold",)


def test_filters_count_where_nothing_is_chosen_by_name() -> None:
    table = summaries()
    by = {"by_account": False, "strategy": "baseline"}
    assert names(picks(table, models=("n",), **by)) == ["b@n", HOLD_NAME]
    assert names(picks(table, agents=("b",), models=("m",), **by)) == ["b@m", HOLD_NAME]
    assert names(picks(table, models=("n",), chosen=["a@m"], **by)) == ["a@m", HOLD_NAME]
    assert picks(table, models=("none",), **by) == []


def test_accounts_by_name_ignore_the_asset_and_the_strategy() -> None:
    chosen = ["a@m · AAA · pyramid", "a@m · BBB · baseline"]
    found = picks(summaries(), by_account=True, chosen=chosen, asset="AAA", strategy="baseline")
    assert names(found) == [*chosen, HOLD_NAME]


def test_too_many_lines_leave_the_worst_out_and_never_buy_and_hold() -> None:
    found = picks(summaries(), by_account=True, strategy="baseline")
    assert len(found) == 5
    assert names(most(found, 2)) == [*names(found)[:2], HOLD_NAME]


def test_a_window_starts_at_the_close_before_it() -> None:
    made = {"x": LineData(curve([1.0, 2.0, 3.0, 1.0]))}
    (whole,) = drawn(made)
    assert whole.growth.tolist() == [1.0, 2.0, 3.0, 1.0]
    (cut,) = drawn(made, LAST_TWO)
    # 2.0 before the window: 3 / 2 and 1 / 2; the balances stay what they are.
    assert cut.growth.tolist() == [1.5, 0.5]
    assert cut.balance.tolist() == [3000.0, 1000.0]
    (plain,) = drawn(made, LAST_TWO, rebase=False)
    assert plain.growth.tolist() == [3.0, 1.0]
    # The peak before the window counts where the line is not rebased: 3, then 1 - 1/3 below it.
    assert plain.drawdown == pytest.approx([0.0, 1 / 3 - 1])


def test_gross_is_its_own_curve() -> None:
    made = {"x": LineData(curve([1.0, 1.0, 1.0, 1.1], gross=[1.0, 1.0, 1.0, 1.2]))}
    assert drawn(made, net=False)[0].end == 1.2
    assert drawn(made)[0].end == 1.1


def test_a_missing_day_is_a_gap() -> None:
    # The account has no row on the 2nd; in the mean of an entry it would be carried.
    own = curve([1.0, 1.2, 1.3], DAYS[[0, 2, 3]])
    (line,) = drawn({"x": LineData(own, (date(2025, 8, 2),))})
    assert line.sessions.equals(DAYS)
    assert np.isnan(line.growth[1])
    assert np.isnan(line.drawdown[1])
    carried = curve([1.0, 1.0, 1.2, 1.3])
    (mean,) = drawn({"x": LineData(carried, (date(2025, 8, 2),))})
    assert np.isnan(mean.growth).tolist() == [False, True, False, False]


def test_a_gap_at_the_end_keeps_the_last_known_value() -> None:
    (line,) = drawn({"x": LineData(curve([1.0, 1.2, 1.4, 1.4]), (date(2025, 8, 4),))})
    assert line.end == 1.4
    assert not line.bankrupt


def test_a_line_outside_the_window_is_left_out() -> None:
    late = curve([1.0, 1.1], DAYS[2:])
    assert drawn({"x": LineData(late)}, (DAYS[0], DAYS[1])) == []


def test_drawdown_counts_the_start_as_a_peak() -> None:
    # 0.9 is 10 % below the start; then a new peak 1.2; 0.6 is half of it.
    (line,) = drawn({"x": LineData(curve([0.9, 1.2, 0.6, 1.2]))})
    assert line.drawdown == pytest.approx([-0.1, 0.0, -0.5, 0.0])


def test_bankrupt_before_the_window_is_not_divided_by_zero() -> None:
    (line,) = drawn({"x": LineData(curve([1.0, 0.0, 0.0, 0.0]))}, LAST_TWO)
    assert line.bankrupt
    assert line.growth.tolist() == [0.0, 0.0]
    assert line.drawdown.tolist() == [-1.0, -1.0]


def test_epochs_give_the_range_of_each_day() -> None:
    one, two = curve([1.0, 1.1, 1.2, 1.3]), curve([1.0, 0.9, 1.4], DAYS[:3])
    (line,) = drawn({"x": LineData(one, (), (one, two))})
    assert line.low is not None
    assert line.high is not None
    # The second epoch ended on the third day: it counts no longer.
    assert line.low.tolist() == [1.0, 0.9, 1.2, 1.3]
    assert line.high.tolist() == [1.0, 1.1, 1.4, 1.3]


def test_beyond_six_lines_the_best_or_the_marked_are_highlighted() -> None:
    made = {f"e{i}": LineData(curve([1, 1, 1, 1 + i / 10])) for i in range(MOST_LINES + 2)}
    lines = drawn(made)
    # e0 and e1 end lowest; drawn first, under the others, which go from the best down.
    assert [x.name for x in lines if x.faint] == ["e1", "e0"]
    assert [x.name for x in lines if not x.faint] == ["e7", "e6", "e5", "e4", "e3", "e2"]
    marked = drawn(made, marked=("e0", "gone"))
    assert [x.name for x in marked if not x.faint] == ["e0"]


def test_the_benchmark_is_never_faint() -> None:
    made = {f"e{i}": LineData(curve([1, 1, 1, 2])) for i in range(MOST_LINES + 1)}
    lines = drawn(made)
    hold = Line("h", "B&H", DAYS, np.ones(4), np.ones(4), "#111111", "dot", benchmark=True)
    assert not with_faint([*lines, hold])[-1].faint


def test_names_say_what_differs() -> None:
    def shorts(*found: Pick) -> list[str]:
        data = {p.name: LineData(curve([1, 1, 1, 1])) for p in found}
        options = {"capital": 1.0, "net": True, "rebase": True, "theme": "light"}
        lines = lines_of(found, data, WHOLE, **options)  # type: ignore[arg-type]
        return sorted(x.short for x in lines)

    assert shorts(pick("1", agent="a"), pick("2", agent="b")) == ["a", "b"]
    assert shorts(pick("1", agent="a"), pick("2", agent="a", model="lab/n")) == ["m", "n"]
    assert shorts(pick("1", agent="a"), pick("2", agent="b", model="n")) == ["a m", "b n"]
    assert shorts(pick("1", agent="a"), pick("2", agent="a", asset="BBB")) == ["a AAA", "a BBB"]
    assert shorts(pick("1", agent="a"), pick("2", agent="a", strategy="pyramid_exit")) == [
        "a baseline", "a pyramid exit",
    ]  # fmt: skip


def test_a_late_start_is_more_than_a_long_weekend() -> None:
    start = pd.Timestamp("2025-08-01")
    assert not is_late(LineData(curve([1, 1], pd.date_range("2025-08-06", periods=2))), start)
    assert is_late(LineData(curve([1, 1], pd.date_range("2025-08-07", periods=2))), start)


def test_window_metrics_by_hand() -> None:
    own = curve([1.0, 2.0, 3.0, 1.5], gross=[1.0, 2.0, 3.0, 2.0])
    hold = curve([1.0, 1.0, 1.1, 1.2])
    row = window_row(own, hold, LAST_TWO)
    # From 2.0: 3.0, then 1.5. Net 1.5/2 - 1, gross 2/2 - 1, Buy & Hold 1.2/1 - 1; fall from 3 to 1.5.
    assert row["CR"] == pytest.approx(-0.25)
    assert row["CR_gross"] == pytest.approx(0.0)
    assert row["excess_bh"] == pytest.approx(-0.45)
    assert row["MDD"] == pytest.approx(0.5)
    assert (row["balance"], row["days"]) == (1.5, 2.0)
    # Returns +0.5 and -0.5: mean 0, so a ratio of 0.
    assert row["SR"] == pytest.approx(0.0)


def test_window_metrics_do_not_exist_after_bankruptcy_or_on_other_days() -> None:
    broke = window_row(curve([1.0, 0.0, 0.0, 0.0]), None, LAST_TWO)
    assert broke["balance"] == 0.0
    assert broke["CR"] is None
    other_days = curve([1.0, 1.1, 1.2], DAYS[:3])
    assert window_row(curve([1, 1, 1, 1]), other_days, WHOLE)["excess_bh"] is None
    empty = window_row(curve([1.0, 1.1], DAYS[:2]), None, LAST_TWO)
    assert (empty["days"], empty["CR"]) == (0.0, None)

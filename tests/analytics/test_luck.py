"""Equal ranks and words of caution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

from arena.analytics.bootstrap import Interval, NoInterval
from arena.analytics.degenerate import FlagName
from arena.analytics.entry_curve import Curve
from arena.analytics.luck import (
    curve_difference,
    daily_returns,
    paired_returns,
    same_rank,
    verdict,
)
from arena.analytics.market_model import NoModel
from arena.analytics.random_floor import NoFloor
from arena.cli.luck_text import luck_columns

NOISE, APART = Interval(-0.1, 0.1, None, 60), Interval(-0.3, -0.1, None, 60)
SHORT = Interval(None, None, "too_few_observations", 5)


def row(rank: int | None, name: str, start: str = "2025-08-01") -> dict[str, Any]:
    return {"rank": rank, "name": name, "start": start, "end": "2025-09-30"}


def curve(values: list[float], first: str = "2025-08-01") -> Curve:
    days = pd.date_range(first, periods=len(values) - 1)
    return Curve(days, np.array(values), np.array(values), 365)


def test_within_noise_of_the_leader() -> None:
    """b is within noise of a; c is not and leads on; d is compared with c, not with a."""
    asked = []

    def difference(one: dict[str, Any], leader: dict[str, Any]) -> Interval:
        asked.append(one["name"] + leader["name"])
        return APART if one["name"] == "c" else NOISE

    rows = [row(1, "a"), row(None, "hold"), row(2, "b"), row(3, "c"), row(4, "d")]
    assert same_rank(rows, difference) == ["1=", None, "1=", "3=", "3="]
    assert asked == ["ba", "ca", "dc"]


def test_alone_and_too_short() -> None:
    rows = [row(1, "a"), row(2, "b")]
    assert same_rank(rows, lambda *_: APART) == ["1", "2"]
    assert same_rank(rows, lambda *_: SHORT) == ["1", "2"]
    assert same_rank([], lambda *_: NOISE) == []


def test_windows_are_ranked_apart() -> None:
    rows = [row(1, "a"), row(1, "b", "2025-09-01"), row(2, "c"), row(2, "d", "2025-09-01")]
    labels = same_rank(rows, lambda one, _: NOISE if one["start"] == "2025-08-01" else APART)
    assert labels == ["1=", "1", "1=", "2"]


def test_verdicts() -> None:
    assert verdict(NOISE) == "not distinguishable from Buy & Hold"
    assert verdict(APART) == "below Buy & Hold"
    assert verdict(Interval(0.01, 0.2, None, 60)) == "above Buy & Hold"
    assert verdict(Interval(0.0, 0.2, None, 60)) == "not distinguishable from Buy & Hold"
    assert verdict(SHORT) == "too short to tell"
    assert verdict(None) is None


def test_returns_end_with_a_wipe_out() -> None:
    assert daily_returns(np.array([1.0, 1.1, 0.0, 0.0])) == pytest.approx([0.1, -1.0])
    assert daily_returns(np.array([1.0, 1.1, 0.55])) == pytest.approx([0.1, -0.5])


def test_pairs_share_their_days() -> None:
    """Own marks on days 1-4, the other's on 2-5: between days 2, 3, 4 there are two returns each,
    110 -> 121 -> 121 and 100 -> 50 -> 100."""
    own, other = paired_returns(
        curve([1.0, 1.0, 1.1, 1.21, 1.21]), curve([1.0, 1.0, 0.5, 1.0, 3.0], "2025-08-02")
    )
    assert own == pytest.approx([0.1, 0.0])
    assert other == pytest.approx([-0.5, 1.0])


def test_curves_that_begin_together_include_their_capital() -> None:
    own, other = paired_returns(curve([1.0, 1.1, 1.1]), curve([1.0, 0.9, 0.9]))
    assert (own[0], other[0]) == (pytest.approx(0.1), pytest.approx(-0.1))


def test_a_missing_day_is_bridged_on_both_sides() -> None:
    """Stock marks skip two days: the coin's return over them is one, 1.1 x 1.1 x 1.1 - 1."""
    coin = curve([1.0, 1.0, 1.1, 1.21, 1.331])
    stock = Curve(coin.sessions[[0, 3]], np.array([1.0, 1.0, 2.0]), np.ones(3), 252)
    own, other = paired_returns(coin, stock)
    assert own == pytest.approx([0.0, 0.331])
    assert other == pytest.approx([0.0, 1.0])


def test_no_common_day_has_no_interval() -> None:
    got = curve_difference(curve([1.0, 1.1]), curve([1.0, 1.1], "2026-01-01"), "x")
    assert (got.reason, got.n) == ("too_few_observations", 0)


def test_a_steady_edge_is_told_apart() -> None:
    steps = np.random.default_rng(4).normal(0, 0.02, 60)
    market = np.concatenate([[1.0], np.cumprod(1 + steps)]).tolist()
    ahead = np.concatenate([[1.0], np.cumprod(1 + steps + 0.005)]).tolist()
    assert verdict(curve_difference(curve(ahead), curve(market), "e")) == "above Buy & Hold"
    assert verdict(curve_difference(curve(market), curve(ahead), "e")) == "below Buy & Hold"
    assert curve_difference(curve(market), curve(market), "e").holds_zero


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", sorted({n for kind in (FlagName, NoInterval, NoFloor, NoModel) for n in get_args(kind)})
)
def test_every_flag_and_reason_is_explained(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_the_documented_object_has_the_shape_of_a_row() -> None:
    """The example in the docs goes through the CSV's columns, which name every part."""
    text = PAGE.split("## Luck")[1].split("```json")[1].split("```")[0]
    columns = luck_columns(json.loads(text))
    assert columns["luck_flags"] == ["single_trade:ETH"]
    assert (columns["rank_label"], columns["decision_score_n"], columns["beta"]) == ("2=", 136, 0.73)

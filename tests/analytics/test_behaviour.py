"""Bands, flips, style words, agreement: small tables worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.bands import bands
from arena.analytics.behaviour import action_shares, agreement, flips, holding, style_word
from arena.analytics.entry_curve import Curve

DAYS = pd.date_range("2025-08-01", periods=3)


def curve(days: pd.DatetimeIndex, *values: float) -> Curve:
    grown = np.array([1.0, *values])
    return Curve(days, grown, grown, 365)


def test_band_is_mean_lowest_and_highest() -> None:
    x, y = curve(DAYS, 1.0, 1.1, 1.2), curve(DAYS, 1.0, 0.9, 1.4)
    (band,) = bands({"a": [x, y]})
    assert band.mean == pytest.approx([0.0, 0.0, 0.3])
    assert band.low == pytest.approx([0.0, -0.1, 0.2])
    assert band.high == pytest.approx([0.0, 0.1, 0.4])
    assert (band.n, band.sessions.tolist()) == (2, DAYS.tolist())
    assert [b.name for b in bands({"y": [y], "x": [x]})] == ["x", "y"]


def test_a_missing_day_carries_the_last_value_and_a_late_start_is_nought() -> None:
    (band,) = bands({"a": [curve(DAYS, 1.1, 1.1, 1.1), curve(DAYS[1:2], 1.3)]})
    # The second: 0 before its first mark, +30 % on day 2, carried to day 3.
    assert band.mean == pytest.approx([0.05, 0.2, 0.2])
    # A day that only the later one has stands in its place: mean of 10 % and 0, of 10 % and 30 %.
    (band,) = bands({"a": [curve(DAYS[1:2], 1.3), curve(DAYS[:2], 1.1, 1.1)]})
    assert band.mean == pytest.approx([0.05, 0.2])


@pytest.mark.parametrize(
    ("sides", "n"),
    [([], 0), ([1, 1], 0), ([1, 0, 1], 0), ([1, 0, -1], 1), ([1, -1, 0, 0, 1], 2), ([0, -1], 0)],
)
def test_flips(sides: list[int], n: int) -> None:
    assert flips(sides) == n


def slow_flips(sides: Sequence[int]) -> int:
    last, count = 0, 0
    for side in sides:
        if side == 0:
            continue
        if last == -side:
            count += 1
        last = side
    return count


@given(st.lists(st.sampled_from([-1, 0, 1])))
def test_flips_agree_with_a_plain_loop(sides: list[int]) -> None:
    assert flips(sides) == slow_flips(sides)


@pytest.mark.parametrize(
    ("invested", "flipped", "volatility", "word"),
    [
        (0.9, 0.10, 0.1, "churning"),
        (0.39, 0.0, 0.9, "cautious"),
        (0.40, 0.09, 0.161, "bold"),  # 80 % of 0.2 is 0.16
        (0.40, 0.09, 0.159, "selective"),
        (0.40, 0.0, None, "selective"),
    ],
)
def test_style_words(invested: float, flipped: float, volatility: float | None, word: str) -> None:
    assert style_word(invested, flipped, volatility, 0.2) == word


def test_holding_pools_accounts() -> None:
    equity = pd.DataFrame(
        {
            "agent": "a",
            "model": "x",
            "account": ["one"] * 4 + ["two"] * 2,
            "session": [*pd.date_range("2025-08-01", periods=4), *DAYS[:2]],
            "side": [1, -1, 1, 0, 0, -1],
        }
    )
    (row,) = holding(equity).to_dict("records")
    # 4 of 6 sessions invested; two flips, both in account one: its last side is no flip against two's.
    assert row["invested_frac"] == pytest.approx(4 / 6)
    assert (row["n_flips"], row["n_sessions"]) == (2, 6)


def said(entry: str, words: str, statuses: str = "") -> pd.DataFrame:
    names = {"B": "BUY", "H": "HOLD", "S": "SELL"}
    states = {"o": "ok", "r": "repaired", "t": "timeout"}
    agent, model = entry.split("@")
    return pd.DataFrame(
        {
            "entry": entry, "agent": agent, "model": model, "asset": "AAA",
            "session": pd.date_range("2025-08-01", periods=len(words)),
            "action": [names[w] for w in words],
            "status": [states[s] for s in statuses or "o" * len(words)],
        }
    )  # fmt: skip


def test_shares_leave_failures_out() -> None:
    (row,) = action_shares(said("a@x", "BBHSH", "orott")).to_dict("records")
    # Three answers: BUY, BUY, HOLD.
    assert (row["BUY"], row["HOLD"], row["SELL"], row["n"]) == pytest.approx((2 / 3, 1 / 3, 0, 3))


def test_agreement_counts_slots_that_both_answered() -> None:
    table = pd.concat([said("a@x", "BBHS"), said("b@x", "BSHS", "ooto"), said("c@x", "H", "t")])
    share, n = agreement(table, ["a@x", "b@x", "c@x"])
    # a and b: slots 1, 2 and 4 count; the same in 1 and 4.
    assert share[0, 1] == pytest.approx(2 / 3)
    assert n[0, 1] == 3
    assert share[1, 0] == share[0, 1]
    assert share[0, 0] == 1.0
    assert np.isnan(share[0, 2])

"""Shares of variance: a table worked by hand, and least squares on explicit dummies as a second opinion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.variance import TERMS, split

CELLS = list(itertools.product("AB", "xy", "pq"))
"""asset, model, agent of a full 2 x 2 x 2 table."""


def columns(cells: list[tuple[str, str, str]]) -> tuple[list[str], list[str], list[str]]:
    assets, models, agents = (list(c) for c in zip(*cells, strict=True))
    return assets, models, agents


def test_two_by_two_by_two_by_hand() -> None:
    # y = 10 + 4*(asset B) + 2*(model y) + 0*(agent) + 1 more for (y, q) and 1 less for (y, p),
    # and +-1 for (B, y, q) and (B, y, p): eight values below.
    #   Axp 10  Axq 10  Ayp 11  Ayq 13     Bxp 14  Bxq 14  Byp 14  Byq 18     mean 13
    # Effects as half differences, SS = 8 * effect^2:
    #   asset: (60 - 44)/8 = 2        -> 32
    #   model: (56 - 48)/8 = 1        -> 8
    #   agent: (55 - 49)/8 = 0.75     -> 4.5
    #   agent x model: ((10+14+13+18) - (10+14+11+14))/8 = (55 - 49)/8 = 0.75 -> 4.5
    # total: 9+9+4+0+1+1+1+25 = 50, so rest = 50 - 49 = 1.
    y = [10, 10, 11, 13, 14, 14, 14, 18]
    found = split(y, *columns(CELLS))
    shares = {t.name: t.share_frac for t in found.terms}
    assert shares == pytest.approx(
        {"asset": 0.64, "model": 0.16, "agent": 0.09, "agent × model": 0.09, "rest": 0.02}
    )
    assert [t.df for t in found.terms] == [1, 1, 1, 1, 3]
    assert found.n == 8


def by_dummies(y: np.ndarray, cells: list[tuple[str, str, str]]) -> list[float]:
    """RSS falls of nested least squares, every level of every term as a 0/1 column."""
    groups = [
        [c[0] for c in cells],
        [c[1] for c in cells],
        [c[2] for c in cells],
        [c[1:] for c in cells],
    ]
    design = np.ones((len(y), 1))
    total = before = float(np.sum((y - y.mean()) ** 2))
    shares = []
    for labels in groups:
        dummies = [[float(x == level) for x in labels] for level in sorted(set(labels))]
        design = np.column_stack([design, *map(np.array, dummies)])
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        rss = float(np.sum((y - fitted) ** 2))
        shares.append((before - rss) / total)
        before = rss
    return [*shares, before / total]


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.sampled_from("xyz"), st.sampled_from("pq")),
        min_size=4,
        max_size=24,
    ),
    st.integers(0, 10_000),
)
def test_unbalanced_tables_agree_with_least_squares_on_dummies(cells, seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=len(cells))
    found = split(y.tolist(), *columns(cells))
    if found.reason:
        assert found.reason == "one_of_each"
        assert len(set(cells)) == 1
        return
    assert [t.share_frac for t in found.terms] == pytest.approx(by_dummies(y, cells), abs=1e-9)
    assert sum(t.share_frac for t in found.terms) == pytest.approx(1.0)


def test_what_cannot_be_split_says_why() -> None:
    assert split([1.0, 2.0], ["A", "A"], ["x", "y"], ["p", "p"]).reason == "too_few_accounts"
    assert split([1.0] * 3, ["A", "B", "C"], ["x"] * 3, ["p"] * 3).reason == "no_spread"
    assert split([1.0, 2.0, 4.0], ["A"] * 3, ["x"] * 3, ["p"] * 3).reason == "one_of_each"


def test_a_planted_model_effect_stands_out_and_noise_does_not() -> None:
    cells = list(itertools.product("ABCD", "vwxyz", "pqrs"))
    noise = np.random.default_rng(3).normal(size=len(cells))
    quiet = split(noise.tolist(), *columns(cells))
    planted = split(
        [v + 3 * (c[1] == "z") for v, c in zip(noise, cells, strict=True)], *columns(cells)
    )
    # 1 + 0 of 999 shuffles reach it.
    assert planted["model"].p == pytest.approx(0.001)
    assert planted.gap_p is not None
    assert planted.gap_p < 0.05
    assert quiet.gap_p is not None
    assert quiet.gap_p > 0.05
    assert planted["asset"].p is None


def test_shuffles_are_the_same_each_time() -> None:
    y = [0.1, 0.2, 0.05, 0.4, 0.0, -0.1, 0.3, 0.2]
    assert split(y, *columns(CELLS)) == split(y, *columns(CELLS))


def test_p_of_a_small_table_is_that_of_all_arrangements() -> None:
    # One asset, two models, two accounts each: y = 0 0 1 1 is the most extreme of the 6 ways to deal
    # two ones to four places, together with its mirror image: 2/6 of all.
    found = split([0.0, 0.0, 1.0, 1.0], ["A"] * 4, list("xxyy"), ["p"] * 4)
    assert found["model"].share_frac == pytest.approx(1.0)
    assert found["model"].p == pytest.approx(2 / 6, abs=0.05)
    assert found["agent"].df == 0
    assert TERMS[0] == "asset"

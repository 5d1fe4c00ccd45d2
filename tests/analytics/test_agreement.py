"""Agreement of two reviewers against values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.agreement import Kappa, cohen_kappa, disagreements, percent_agreement

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def test_twenty_briefs() -> None:
    """Counts of (a, b): 10 of (2, 2), 2 of (2, 1), 1 of (1, 2), 4 of (1, 1), 1 of (0, 1), 2 of (0, 0).

    p_o = (10 + 4 + 2) / 20 = 0.8.
    a gave 2 twelve times, 1 five times, 0 three times; b gave 2 eleven, 1 seven, 0 two times.
    p_e = (12 * 11 + 5 * 7 + 3 * 2) / 400 = 173 / 400 = 0.4325.
    kappa = (0.8 - 0.4325) / 0.5675 = 0.3675 / 0.5675 = 147 / 227.
    """
    pairs = [(2, 2)] * 10 + [(2, 1)] * 2 + [(1, 2)] + [(1, 1)] * 4 + [(0, 1)] + [(0, 0)] * 2
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assert len(pairs) == 20
    assert percent_agreement(a, b) == pytest.approx(80.0)
    got = cohen_kappa(a, b)
    assert got.value == pytest.approx(147 / 227)
    assert (got.reason, got.n) == (None, 20)
    assert got.observed_frac == pytest.approx(0.8)
    assert got.expected_frac == pytest.approx(0.4325)


def test_the_textbook_two_by_two() -> None:
    """50 items, yes/no: both yes 20, a only 5, b only 10, both no 15.

    p_o = 35 / 50 = 0.7; p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa = 0.2 / 0.5 = 0.4.
    """
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa([x for x, _ in pairs], [y for _, y in pairs]).value == pytest.approx(0.4)


def test_opposed_reviewers_are_below_chance() -> None:
    # p_o = 0, p_e = (1 * 1 + 1 * 1) / 4 = 0.5, kappa = -0.5 / 0.5 = -1.
    assert cohen_kappa([0, 2], [2, 0]).value == pytest.approx(-1.0)
    assert percent_agreement([0, 2], [2, 0]) == 0.0


def test_one_constant_reviewer_agrees_no_more_than_by_chance() -> None:
    # p_o = 3/4; b is always 2, so p_e = p_a(2) * 1 = 3/4 as well: kappa = 0, and it is defined.
    got = cohen_kappa([2, 2, 2, 1], [2, 2, 2, 2])
    assert got.value == pytest.approx(0.0)
    assert got.reason is None


def test_both_constant_at_different_scores() -> None:
    # p_o = 0, p_e = p_a(2) * p_b(2) = 1 * 0 = 0: kappa = 0 / 1 = 0.
    assert cohen_kappa([2, 2], [1, 1]).value == pytest.approx(0.0)


def test_no_kappa_without_a_second_category() -> None:
    """The paper's bias awareness: 100 % agreement, all twos. Kappa would be 0 / 0."""
    assert cohen_kappa([2] * 20, [2] * 20) == Kappa(None, "one_category", 20, 1.0, 1.0)
    assert percent_agreement([2] * 20, [2] * 20) == 100.0


def test_nothing_in_common() -> None:
    assert cohen_kappa([], []) == Kappa(None, "no_observations", 0, None, None)
    assert percent_agreement([], []) is None
    assert disagreements([], [], []) == []


def test_lengths_must_agree() -> None:
    for function in (percent_agreement, cohen_kappa):
        with pytest.raises(ValueError, match=r"shorter|longer"):
            function([1, 2], [1])


def test_disagreements_begin_with_the_furthest_apart() -> None:
    got = disagreements(["p", "q", "r", "s"], [2, 0, 1, 1], [1, 2, 1, 0])
    assert got == [("q", 0, 2), ("p", 2, 1), ("s", 1, 0)]


@given(PAIRS)
def test_kappa_is_symmetric_and_bounded(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    one, other = cohen_kappa(a, b), cohen_kappa(b, a)
    assert one == other
    if one.value is not None:
        assert -1.0 - 1e-12 <= one.value <= 1.0 + 1e-12


@given(PAIRS)
def test_full_agreement_is_one_or_undefined(pairs: list[tuple[int, int]]) -> None:
    a = [x for x, _ in pairs]
    got = cohen_kappa(a, a)
    if len(set(a)) == 1:
        assert got.reason == "one_category"
    else:
        assert got.value == pytest.approx(1.0)

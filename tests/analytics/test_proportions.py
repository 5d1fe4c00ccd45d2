"""Wilson interval: Newcombe's table, the equation it solves, and the ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.proportions import Z_95, wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_newcombe_table_1(successes: int, n: int, low: float, high: float) -> None:
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3, to its four decimals."""
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_solve_the_score_equation(case: tuple[int, int]) -> None:
    """The second way: at both ends p of the interval, (share - p)^2 = z^2 p (1 - p) / n."""
    successes, n = case
    ends = wilson_interval(successes, n)
    assert ends is not None
    for p in ends:
        assert (successes / n - p) ** 2 == pytest.approx(Z_95**2 * p * (1 - p) / n, abs=1e-12)
    assert 0.0 <= ends[0] <= successes / n <= ends[1] <= 1.0


def test_certainty_needs_numbers() -> None:
    """All of three agreed, and still 44 % is possible: 3 / (3 + z^2) = 3 / 6.841 = 0.4385."""
    low, high = wilson_interval(3, 3) or (0.0, 0.0)
    assert (low, high) == (pytest.approx(0.4385, abs=5e-5), 1.0)


def test_no_share_of_nothing() -> None:
    assert wilson_interval(0, 0) is None
    with pytest.raises(ValueError, match="no share"):
        wilson_interval(3, 2)

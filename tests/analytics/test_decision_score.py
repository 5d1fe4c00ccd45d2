"""Score of calls: what agrees, what does not, what is not scored."""

from __future__ import annotations

import pytest

from arena.analytics.decision_score import DecisionScore, decision_score


def test_by_hand() -> None:
    """Seven calls: BUY up agrees, BUY down not, SELL down agrees, SELL up not, BUY on a move of 0 not;
    HOLD is not scored and the newest call has no next session. 2 of 5 = 40 %."""
    calls = [
        ("BUY", 0.01), ("BUY", -0.01), ("SELL", -0.02), ("SELL", 0.03), ("BUY", 0.0),
        ("HOLD", 0.05), ("SELL", None),
    ]  # fmt: skip
    got = decision_score(calls)
    assert (got.n, got.n_agreed, got.share_frac, got.reason) == (5, 2, 0.4, None)
    # Wilson with z^2 / 5 = 0.76829: the middle is 0.78415 / 1.76829 = 0.44345, the reach is the root
    # of 0.24 x 0.76829 + 0.76829^2 / 4 over 1.76829, 0.57618 / 1.76829 = 0.32584.
    assert (got.low_frac, got.high_frac) == pytest.approx((0.1176, 0.7693), abs=5e-5)


def test_a_zero_move_agrees_with_neither() -> None:
    assert decision_score([("BUY", 0.0), ("SELL", 0.0), ("SELL", -0.0)]).share_frac == 0.0


def test_holds_alone_have_no_score() -> None:
    expected = DecisionScore(None, None, None, 0, 0, "no_observations")
    assert decision_score([("HOLD", 0.1)] * 9) == expected
    assert decision_score([]) == expected


def test_turning_every_call_turns_the_score() -> None:
    calls = [("BUY", m) for m in (0.1, 0.2, -0.1, 0.4, -0.3)]
    turned = [("SELL", m) for _, m in calls]
    a, b = decision_score(calls), decision_score(turned)
    assert a.share_frac == pytest.approx(0.6)
    assert b.share_frac == pytest.approx(0.4)
    assert (a.low_frac, a.high_frac) == pytest.approx((1 - b.high_frac, 1 - b.low_frac))

"""Flags: each on the smallest run that deserves it, and silence beside it."""

from __future__ import annotations

import pytest

from arena.analytics.degenerate import Call, account_flags, mismatches, track_flags

DAYS = [f"2025-08-{d:02}" for d in range(1, 9)]
INTENT = {"BUY": "long", "SELL": "short", "HOLD": "hold"}


def calls(*words: str, status: str = "ok") -> list[Call]:
    return [Call(d, INTENT[w], w, status) for d, w in zip(DAYS, words, strict=False)]


def names(flags: list) -> list[str]:
    return [f.flag for f in flags]


def test_constant_action() -> None:
    flags = track_flags(calls(*["BUY"] * 5), {})
    assert [(f.flag, f.reason) for f in flags] == [("constant_action", "All 5 decisions are BUY.")]
    assert track_flags(calls("BUY", "BUY", "BUY", "BUY", "SELL"), {}) == []
    assert track_flags(calls(*["BUY"] * 4), {}) == []


def test_failed_decisions_do_not_make_a_constant() -> None:
    failed = calls(*["HOLD"] * 6, status="timeout")
    assert names(track_flags(failed, {})) == ["all_failed"]
    assert track_flags([*calls("BUY", "SELL"), *failed[2:]], {}) == []
    assert names(track_flags(calls(*["HOLD"] * 6, status="missed"), {})) == ["all_failed"]
    assert track_flags([], {}) == []


def test_identical_across_models() -> None:
    own = calls("BUY", "SELL", "HOLD", "BUY", "BUY")
    others = {"m2": own, "m1": list(own), "m3": calls("BUY", "SELL", "HOLD", "BUY", "SELL")}
    flags = track_flags(own, others)
    assert [(f.flag, f.reason) for f in flags] == [
        ("identical_across_models", "The same 5 actions as with m1, m2.")
    ]
    assert track_flags(own, {"m3": others["m3"]}) == []


def test_the_same_words_on_other_days_are_not_identical() -> None:
    later = [Call(f"2025-09-0{i + 1}", c.intent, c.action, c.status) for i, c in enumerate(calls(*["BUY", "SELL", "BUY", "SELL", "BUY"]))]  # fmt: skip
    assert track_flags(calls("BUY", "SELL", "BUY", "SELL", "BUY"), {"m": later}) == []


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ([0, 0, 0, 0], ["no_trade"]),
        ([0, 1, 1, 1], ["single_trade"]),
        ([0, 1, 1, 0], ["single_trade"]),
        ([0, 1, 0, 1], []),
        ([0, 1, -1, -1], []),
    ],
)
def test_trades(sides: list[int], expected: list[str]) -> None:
    words = {1: "BUY", -1: "SELL", 0: "HOLD"}
    made = calls(*(words[s] for s in sides))
    assert names(account_flags(made, DAYS[:4], sides, "baseline", "close")) == expected


def test_actions_move_the_position_the_session_after() -> None:
    made = calls("BUY", "HOLD", "SELL", "BUY")
    assert mismatches(made, DAYS[:4], [0, 1, 0, -1], "baseline", "next") == []
    assert mismatches(made, DAYS[:4], [1, 0, -1, 1], "baseline", "close") == []
    # HOLD keeps under flip on reversal; baseline's 0 is then wrong in the third session.
    assert mismatches(made, DAYS[:4], [0, 1, 0, -1], "flip_on_reversal", "next") == [DAYS[2]]


def test_a_turned_sign_is_named() -> None:
    made = calls("BUY", "HOLD", "SELL", "BUY")
    flags = account_flags(made, DAYS[:4], [0, -1, 0, 1], "baseline", "next")
    assert [(f.flag, f.reason) for f in flags] == [
        (
            "sign_mismatch",
            f"In 2 sessions, first on {DAYS[1]}, the position is not the one that the actions ask for.",
        )
    ]


def test_a_pyramid_sheds_before_it_turns() -> None:
    """Pyramid exit: BUY enters three tranches, each SELL sheds one: long, long, flat; the next is short."""
    made = calls("BUY", "SELL", "SELL", "SELL", "SELL")
    assert mismatches(made, DAYS[:5], [1, 1, 1, 0, -1], "pyramid_exit", "close") == []


def test_an_order_lost_in_a_gap_is_no_mismatch() -> None:
    made = calls("BUY", "SELL", "SELL", "SELL")
    sides = [0, 1, 1, -1]
    assert mismatches(made, DAYS[:4], sides, "baseline", "next", frozenset({DAYS[2]})) == []
    assert mismatches(made, DAYS[:4], sides, "baseline", "next") == [DAYS[2]]

"""The transition table, read against the rules written out in words."""

from __future__ import annotations

import pytest

from arena.core.actions import INTENT_CODE, Intent
from arena.core.errors import UnknownNameError
from arena.portfolio.strategies import PAPER_STRATEGIES, POSITIONS, STRATEGIES, get_strategy

BUY, SELL, HOLD, FLAT, KEEP = (
    INTENT_CODE[i] for i in (Intent.LONG, Intent.SHORT, Intent.HOLD, Intent.FLAT, Intent.KEEP)
)

# Position after BUY from flat, long, short; SELL from flat, long, short; HOLD from long, short.
# All-in positions are +-3 of 3 tranches.
ALL_IN = {
    "baseline": (3, 3, 3, -3, -3, -3, 0, 0),
    "buy_hold": (3, 3, 3, -3, -3, -3, 0, 0),
    "flip_on_reversal": (3, 3, 3, -3, -3, -3, 3, -3),
    "testbed_normal": (3, 3, 3, -3, 0, -3, 3, -3),
    "close_on_reversal": (3, 3, 0, -3, 0, -3, 3, -3),
    "baseline_lo": (3, 3, 3, 0, 0, 0, 0, 0),
    "flip_on_reversal_lo": (3, 3, 3, 0, 0, 0, 3, 0),
    "testbed_normal_lo": (3, 3, 3, 0, 0, 0, 3, 0),
    "close_on_reversal_lo": (3, 3, 0, 0, 0, 0, 3, 0),
}


@pytest.mark.parametrize("strategy_id", ALL_IN)
def test_all_in_transitions(strategy_id: str) -> None:
    step = get_strategy(strategy_id).next_position
    got = (
        *(step(p, BUY) for p in (0, 3, -3)),
        *(step(p, SELL) for p in (0, 3, -3)),
        *(step(p, HOLD) for p in (3, -3)),
    )
    assert got == ALL_IN[strategy_id]


def test_pyramid_exit_sheds_one_tranche_for_each_opposite_signal() -> None:
    step = get_strategy("pyramid_exit").next_position
    assert [step(p, BUY) for p in POSITIONS] == [-2, -1, 0, 3, 1, 2, 3]
    assert [step(p, SELL) for p in POSITIONS] == [-3, -2, -1, -3, 0, 1, 2]
    assert [step(p, HOLD) for p in POSITIONS] == list(POSITIONS)


def test_pyramid_entry_adds_one_tranche_and_closes_at_once() -> None:
    step = get_strategy("pyramid_entry").next_position
    assert [step(p, BUY) for p in POSITIONS] == [0, 0, 0, 1, 2, 3, 3]
    assert [step(p, SELL) for p in POSITIONS] == [-3, -3, -2, -1, 0, 0, 0]
    assert [step(p, HOLD) for p in POSITIONS] == list(POSITIONS)


@pytest.mark.parametrize("strategy_id", ["pyramid_exit_lo", "pyramid_entry_lo"])
def test_long_only_pyramids_stay_flat_on_sell(strategy_id: str) -> None:
    assert get_strategy(strategy_id).next_position(0, SELL) == 0


@pytest.mark.parametrize("strategy_id", STRATEGIES)
def test_flat_and_keep_mean_just_that_everywhere(strategy_id: str) -> None:
    strategy = get_strategy(strategy_id)
    held = [p for p in POSITIONS if p >= 0 or not strategy_id.endswith("_lo")]
    assert [strategy.next_position(p, FLAT) for p in held] == [0] * len(held)
    assert [strategy.next_position(p, KEEP) for p in held] == held


@pytest.mark.parametrize("strategy_id", [s for s in STRATEGIES if s.endswith("_lo")])
def test_long_only_never_reaches_a_short(strategy_id: str) -> None:
    table = get_strategy(strategy_id).table
    assert min(min(row) for row in table[3:]) == 0


def test_names() -> None:
    assert len(STRATEGIES) == 13  # seven rules, six of them also long only
    assert [STRATEGIES[s].label for s in PAPER_STRATEGIES] == [
        "Baseline",
        "Flip on Reversal",
        "Pyramid Exit",
    ]
    assert STRATEGIES["baseline_lo"].label == "Baseline, long only"
    assert all(s.id == key for key, s in STRATEGIES.items())


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean `baseline`"):
        get_strategy("base_line")

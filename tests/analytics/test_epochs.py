"""The median rule over epochs, worked by hand (definitions 6)."""

from __future__ import annotations

from typing import Any

import pytest

from arena.analytics.epochs import one_of_many


def row(epoch: int, group: str = "model", **values: float | None) -> dict[str, Any]:
    known = {"CR": 0.0, "SR": 0.0, "AV": 0.0, "MDD": 0.0} | values
    return {
        "run": f"replay-abc-e{epoch}", "epoch": epoch, "entry": "trade@m", "strategy": "baseline",
        "group": group, "metrics": {k: {"value": v} for k, v in known.items()},
    }  # fmt: skip


def shown(*rows: dict[str, Any]) -> tuple[int, str]:
    (folded,) = one_of_many(rows)
    return folded["epoch"], folded["epochs"]["rule"]


def test_one_epoch_at_all_four_medians_is_shown() -> None:
    rows = [
        row(1, CR=0.1, SR=1.0, AV=0.2, MDD=0.05),
        row(2, CR=0.3, SR=3.0, AV=0.6, MDD=0.15),
        row(3, CR=0.2, SR=2.0, AV=0.4, MDD=0.10),
    ]
    assert shown(*rows) == (3, "median of CR, SR, AV and MDD")


def test_else_the_median_sharpe_decides() -> None:
    # Sorted SR: 1 (epoch 2), 2 (epoch 3), 3 (epoch 1). CR has its median in epoch 1.
    rows = [row(1, CR=0.2, SR=3.0), row(2, CR=0.3, SR=1.0), row(3, CR=0.1, SR=2.0)]
    assert shown(*rows) == (3, "median SR")


def test_of_an_even_number_the_lower_median() -> None:
    # SR 1, 2, 3, 4: the lower median is 2, epoch 4.
    rows = [row(1, SR=3.0, CR=1), row(2, SR=1.0, CR=2), row(3, SR=4.0, CR=3), row(4, SR=2.0, CR=4)]
    assert shown(*rows) == (4, "median SR")


def test_undefined_sharpes_are_left_out_and_ties_go_to_the_earlier_epoch() -> None:
    # Defined SR: 1 (epoch 3), 2 (epoch 2), 2 (epoch 4): the median is 2, first held by epoch 2.
    rows = [row(1, SR=None, CR=9), row(2, SR=2.0, CR=1), row(3, SR=1.0, CR=2), row(4, SR=2.0, CR=3)]
    assert shown(*rows) == (2, "median SR")


def test_without_any_sharpe_the_median_return_decides_and_says_so() -> None:
    rows = [row(1, SR=None, CR=0.3), row(2, SR=None, CR=0.1), row(3, SR=None, CR=0.2)]
    assert shown(*rows) == (3, "median CR: no SR is defined")


def test_the_spread_and_what_was_left_to_chance() -> None:
    (folded,) = one_of_many([row(1, CR=0.3), row(2, CR=-0.1), row(3, CR=0.2)])
    assert folded["epochs"]["min_max"]["CR"] == [-0.1, 0.3]
    assert folded["epochs"]["deterministic"] is False
    (rule,) = one_of_many([row(1, "stand_in", CR=0.3), row(2, "stand_in", CR=0.3)])
    assert rule["epochs"]["deterministic"] is True


@pytest.mark.parametrize("other", [{"entry": "vanilla@m"}, {"strategy": "flip"}, {"run": "replay-x-e2"}])
def test_only_epochs_of_the_same_run_entry_and_strategy_are_folded(other: dict[str, str]) -> None:
    rows = [row(1), row(2) | other]
    assert [r["epochs"] for r in one_of_many(rows)] == [None, None]


def test_voided_and_cut_off_epochs_stand_for_nobody() -> None:
    # SR 1, 2, 3: the median would be epoch 2, which is voided; epoch 4 ended two weeks early.
    rows = [
        row(1, SR=1.0, CR=1) | {"end": "2025-08-15", "voided": False},
        row(2, SR=2.0, CR=2) | {"end": "2025-08-15", "voided": True},
        row(3, SR=3.0, CR=0) | {"end": "2025-08-15", "voided": False},
        row(4, SR=0.0, CR=9) | {"end": "2025-08-01", "voided": False},
    ]
    (folded,) = one_of_many(rows)
    assert (folded["epoch"], folded["epochs"]["n"]) == (1, 2)
    assert folded["epochs"]["min_max"]["CR"] == [0, 1]
    (folded,) = one_of_many(rows[1:2] + rows[3:])
    assert (folded["epoch"], folded["epochs"]) == (4, None)
    (folded,) = one_of_many([r | {"voided": True} for r in rows[:2]])
    assert folded["voided"] is True

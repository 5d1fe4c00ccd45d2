"""Several epochs of one run: which of them stands for all (InvestorBench's median rule, made precise)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

MEDIANS = ("CR", "SR", "AV", "MDD")
"""Metrics whose medians the rule looks at."""


def one_of_many(rows: Sequence[Row]) -> list[Row]:
    """Board rows with the epochs of one run folded into the row of one whole trajectory.

    Never four numbers from four epochs: if one epoch is at the median of all four metrics it is
    shown, else the one with the median SR (the lower one of an even number, undefined ones left
    out), else, where no SR is defined, the one with the median CR. Ties go to the earlier epoch.

    Voided epochs and those cut off before the others are left out.

    The row gets `epochs`: how many, the `rule` that chose, `min_max` of each metric over all, and
    `deterministic` where nothing was left to chance. A run of one epoch has None there.
    """
    families: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        who = row.get("account") or row["entry"]
        key = (stem(row["run"]), str(who).replace(row["run"], ""), row["strategy"])
        families.setdefault(key, []).append(row)
    return [_fold(family) for family in families.values()]


def stem(run: str) -> str:
    """Name of a run without its epoch."""
    head, _, tail = run.rpartition("-e")
    return head if tail.isdigit() else run


def _standing(family: Sequence[Row]) -> list[Row]:
    """Epochs that may stand for all: not voided, and of the longest window (one that was cut off
    is another period). Where all are voided, the family is."""
    valid = [row for row in family if not row.get("voided")] or family
    last = max(str(row.get("end", "")) for row in valid)
    return [row for row in valid if str(row.get("end", "")) == last]


def _fold(family: Sequence[Row]) -> Row:
    family = _standing(family)
    if len(family) == 1:
        return {**family[0], "epochs": None}
    chosen, rule = median_row(family)
    return {
        **chosen,
        "epochs": {
            "n": len(family),
            "rule": rule,
            "min_max": {name: _span(family, name) for name in MEDIANS},
            "deterministic": all(row["group"] in ("stand_in", "benchmark") for row in family),
        },
    }


def median_row(family: Sequence[Row]) -> tuple[Row, str]:
    """The row that stands for all, and the words of the rule that chose it."""
    at_median = [_at_median(family, name) for name in MEDIANS]
    common = set.intersection(*map(set, at_median))
    for epochs, rule in (
        (sorted(common), "median of CR, SR, AV and MDD"),
        (_at_median(family, "SR"), "median SR"),
        (_at_median(family, "CR"), "median CR: no SR is defined"),
    ):
        if epochs:
            return next(r for r in family if r["epoch"] == epochs[0]), rule
    first = min(family, key=lambda r: int(r["epoch"]))
    return first, "first epoch: no CR is defined"


def _at_median(family: Sequence[Row], name: str) -> list[int]:
    """Epochs whose value is the (lower) median of those defined, the earliest first."""
    known = sorted((v, r["epoch"]) for r in family if (v := _value(r, name)) is not None)
    if not known:
        return []
    middle = known[(len(known) - 1) // 2][0]
    return sorted(epoch for value, epoch in known if value == middle)


def _span(family: Sequence[Row], name: str) -> list[float] | None:
    known = [v for r in family if (v := _value(r, name)) is not None]
    return [min(known), max(known)] if known else None


def _value(row: Row, name: str) -> float | None:
    value: float | None = row["metrics"][name]["value"]
    return value

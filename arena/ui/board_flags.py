"""What in a row of the board is not what it may look like: short words, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.ui import format as fmt

Row = dict[str, Any]
Windows = Mapping[str, tuple[str, str]]
"""First and last session by asset, ISO days."""

DEGENERATE = {
    "all_failed": "all failed", "constant_action": "constant", "identical_across_models": "same actions",
    "no_trade": "no trade", "single_trade": "one trade", "sign_mismatch": "sign mismatch",
}  # fmt: skip


def windows_of(accounts: Iterable[Row]) -> Windows:
    """First and last session of Buy & Hold by asset, which every account of the asset could have."""
    return {r["asset"]: (r["start"], r["end"]) for r in accounts if r["group"] == "benchmark"}


def flags_of(row: Row, luck: Row | None, windows: Windows) -> dict[str, str]:
    """Sentence by word, the gravest first.

    Args:
        luck: the row's answers of `runner.luck_board`, if they were worked out.
        windows: `windows_of` the board's assets.
    """
    if row["group"] == "benchmark":
        return {}
    found = {}
    if row["voided"]:
        found["void"] = "The run was voided: it takes no rank."
    if row["bankrupt"]:
        found["bankrupt"] = "An account fell to nothing and was closed."
    if why := partial(row, windows):
        found["partial"] = why
    if row["may_know"]:
        found["may know"] = "The model's knowledge reaches into this period: it may know what came."
    for flag in (luck or {}).get("flags", ()):
        word = DEGENERATE[flag["flag"]]
        found[word] = f"{found[word]} {_on_asset(flag)}" if word in found else _on_asset(flag)
    if row["n_late"]:
        found[f"{row['n_late']} late"] = "Decided after the slot's time: no live evidence."
    if row["n_gaps"]:
        found[fmt.counted(row["n_gaps"], "gap")] = "Slots without a decision keep the position."
    return found


def partial(row: Row, windows: Windows) -> str | None:
    """Why a row covers less than the board: fewer assets, a later start, an earlier end."""
    own = set(row["position"])
    if "entry" in row and len(own) < len(windows):
        return f"Plays {len(own)} of {len(windows)} assets."
    full = [windows[a] for a in own if a in windows]
    if not full or row["bankrupt"]:
        return None
    first, last = min(w[0] for w in full), max(w[1] for w in full)
    if row["start"] > first or row["end"] < last or "partial_window" in row["metrics"]["CR"]["flags"]:
        return f"Covers {fmt.span(row['start'], row['end'])} of {fmt.span(first, last)}."
    return None


def _on_asset(flag: Row) -> str:
    return f"{flag['asset']}: {flag['reason']}"


def in_short(flags: dict[str, str]) -> str | None:
    """The gravest word and how many more there are: `partial +2`."""
    if not flags:
        return None
    first, *more = flags
    return f"{first} +{len(more)}" if more else first

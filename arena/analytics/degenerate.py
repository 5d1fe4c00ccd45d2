"""Runs that are no contest: flags for accounts whose numbers say little about skill, with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arena.core.actions import FAILED, GAPS, INTENT_CODE, Intent
from arena.core.season import Fill
from arena.portfolio import get_strategy

FlagName = Literal[
    "all_failed", "constant_action", "identical_across_models", "no_trade", "single_trade",
    "sign_mismatch",
]  # fmt: skip
FEWEST = 5
"""Decisions below which a constant or equal sequence is no finding."""


@dataclass(frozen=True, slots=True)
class Call:
    """One live decision: the slot's `session` (ISO day), what was meant, the word, what became of it."""

    session: str
    intent: str
    action: str
    status: str

    @property
    def stands(self) -> bool:
        """Whether a decision was really made."""
        return self.status not in FAILED and self.status not in GAPS


@dataclass(frozen=True, slots=True)
class Flag:
    """A name from a closed list, and a sentence for a person."""

    flag: FlagName
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"flag": self.flag, "reason": self.reason}


def track_flags(calls: Sequence[Call], others: Mapping[str, Sequence[Call]]) -> list[Flag]:
    """Flags of one stream of decisions, whatever the strategy.

    Args:
        calls: its live decisions in order.
        others: those of the same agent on the same asset with other models, by model.
    """
    flags = []
    made = [c for c in calls if c.stands]
    if calls and not made:
        flags.append(Flag("all_failed", f"None of {len(calls)} decisions could be made."))
    words = {c.action for c in made}
    if len(made) >= FEWEST and len(words) == 1:
        flags.append(
            Flag("constant_action", f"All {len(made)} decisions are {words.pop()}.")
        )
    own = [(c.session, c.action) for c in made]
    twins = sorted(
        model for model, theirs in others.items()
        if own == [(c.session, c.action) for c in theirs if c.stands]
    )  # fmt: skip
    if len(own) >= FEWEST and twins:
        flags.append(
            Flag("identical_across_models", f"The same {len(own)} actions as with {', '.join(twins)}.")
        )
    return flags


def account_flags(
    calls: Sequence[Call],
    sessions: Sequence[str],
    sides: Sequence[int],
    strategy: str,
    fill: Fill,
    dropped: frozenset[str] = frozenset(),
) -> list[Flag]:
    """Flags of one account.

    Args:
        calls: the live decisions of its track.
        sessions: ISO days of its equity rows, in order.
        sides: its side at each of them, before a forced close.
        dropped: sessions without a price to fill at, where orders are lost.
    """
    flags = []
    if sessions and not any(sides):
        flags.append(Flag("no_trade", f"No position in {len(sessions)} sessions."))
    entries = sum(b not in (0, a) for a, b in zip([0, *sides[:-1]], sides, strict=True))
    if entries == 1:
        flags.append(Flag("single_trade", "One position in the whole window: a single trade."))
    wrong = mismatches(calls, sessions, sides, strategy, fill, dropped)
    if wrong:
        flags.append(
            Flag(
                "sign_mismatch",
                f"In {len(wrong)} sessions, first on {wrong[0]}, the position is not the one that "
                "the actions ask for.",
            )
        )
    return flags


def mismatches(
    calls: Sequence[Call],
    sessions: Sequence[str],
    sides: Sequence[int],
    strategy: str,
    fill: Fill,
    dropped: frozenset[str] = frozenset(),
) -> list[str]:
    """Sessions at which the stored side is not what the strategy makes of the actions so far."""
    rule = get_strategy(strategy)
    codes = {c.session: INTENT_CODE[Intent(c.intent)] for c in calls}
    keep = INTENT_CODE[Intent.KEEP]
    orders = [codes.get(s, keep) for s in sessions]
    if fill == "next":
        orders = [keep, *orders[:-1]]
    position, wrong = 0, []
    for session, order, side in zip(sessions, orders, sides, strict=True):
        if session not in dropped:
            position = rule.next_position(position, order)
        if int(np.sign(position)) != side:
            wrong.append(session)
    return wrong

"""Strategies: how a track's actions become a position. Pure rules, no model call.

A position is a number of tranches in -3..3 (negative = short). Every strategy is one row of
`_RULES`, from which one transition table (position x action -> next position) is built; the engine
knows nothing else about it. Sources: `baseline` is the rule of the Agent Market Arena paper's
prompt and formula, `testbed_normal` the other mode of its testbed; the paper only names *Flip on
Reversal* and *Pyramid Exit*, so their rules, like `close_on_reversal` and `pyramid_entry`, are our
definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arena.core.actions import INTENT_CODE, Intent
from arena.core.errors import UnknownNameError

N_TRANCHES = 3
POSITIONS = range(-N_TRANCHES, N_TRANCHES + 1)
CODES = range(min(INTENT_CODE.values()), max(INTENT_CODE.values()) + 1)
PAPER_STRATEGIES = ("baseline", "flip_on_reversal", "pyramid_exit")

Kind = Literal["all_in", "pyramid"]

# BUY and SELL each name three moves: from flat, on the same side, on the opposite side. `enter`
# opens the first tranches, `turn` closes and enters the other side at once.
_RULES: dict[str, tuple[str, Kind, int, str, str, str]] = {
    # id: label, kind, tranches of an entry, HOLD, BUY, SELL
    "baseline": ("Baseline", "all_in", 3, "flat", "enter keep turn", "enter keep turn"),
    "flip_on_reversal": (
        "Flip on Reversal", "all_in", 3, "keep", "enter keep turn", "enter keep turn"),
    "pyramid_exit": ("Pyramid Exit", "pyramid", 3, "keep", "enter keep less", "enter keep less"),
    "pyramid_entry": ("Pyramid Entry", "pyramid", 1, "keep", "enter more flat", "enter more flat"),
    "testbed_normal": ("Testbed Normal", "all_in", 3, "keep", "enter keep turn", "enter keep flat"),
    "close_on_reversal": (
        "Close on Reversal", "all_in", 3, "keep", "enter keep flat", "enter keep flat"),
    "buy_hold": ("Buy & Hold", "all_in", 3, "flat", "enter keep turn", "enter keep turn"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strategy:
    """One rule from actions to positions.

    `kind` decides size and fee: `all_in` trades the whole equity and pays on marked equity,
    `pyramid` trades fixed tranches and pays on traded notional. `enter_tranches` is the position
    after a first entry. `table[p + 3][code + 1]` is the position after action `code` at `p`.
    """

    id: str
    label: str
    kind: Kind
    enter_tranches: int
    table: tuple[tuple[int, ...], ...]

    def next_position(self, position: int, code: int) -> int:
        """Tranches after action `code` (`INTENT_CODE`) at `position` tranches."""
        return self.table[position + N_TRANCHES][code - CODES.start]


def _moved(move: str, position: int, sign: int, enter: int) -> int:
    match move:
        case "keep":
            return position
        case "flat":
            return 0
        case "enter" | "turn":
            return sign * enter
        case "more":
            return sign * min(abs(position) + 1, N_TRANCHES)
        case "less":
            return position + sign
    raise AssertionError(f"`{move}` is no move")


def _build(strategy_id: str, long_only: bool) -> Strategy:
    label, kind, enter, hold, buy, sell = _RULES[strategy_id]

    def move(position: int, code: int) -> str:
        if code not in (INTENT_CODE[Intent.LONG], INTENT_CODE[Intent.SHORT]):
            return {INTENT_CODE[Intent.KEEP]: "keep", INTENT_CODE[Intent.FLAT]: "flat"}.get(
                code, hold
            )
        relation = 0 if position == 0 else 1 if position * code > 0 else 2
        return (buy if code > 0 else sell).split()[relation]

    def next_position(position: int, code: int) -> int:
        after = _moved(move(position, code), position, code, enter)
        return max(after, 0) if long_only else after

    table = tuple(tuple(next_position(p, code) for code in CODES) for p in POSITIONS)
    if long_only:
        return Strategy(f"{strategy_id}_lo", f"{label}, long only", kind, enter, table)
    return Strategy(strategy_id, label, kind, enter, table)


STRATEGIES: dict[str, Strategy] = {
    s.id: s
    for s in (
        *(_build(name, long_only=False) for name in _RULES),
        *(_build(name, long_only=True) for name in _RULES if name != "buy_hold"),
    )
}
"""Every strategy by id; `_lo` behind an id means long only."""


def get_strategy(strategy_id: str) -> Strategy:
    """The strategy of that id.

    Raises:
        UnknownNameError: no such strategy; names the nearest one.
    """
    try:
        return STRATEGIES[strategy_id]
    except KeyError:
        raise UnknownNameError("strategy", strategy_id, STRATEGIES) from None

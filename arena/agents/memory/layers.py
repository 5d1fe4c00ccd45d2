"""The constants of a layered memory: how long what is remembered lasts, and when it changes layer.

Layers after FinMem (arXiv 2311.13743) and InvestorBench (arXiv 2412.18174, section 3.2 and its
repository's configuration).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Layer = Literal["short", "mid", "long", "reflection"]

TOP_K = 5
"""Items recalled of each layer."""

HORIZON_SESSIONS = 3
"""Sessions after which a decision is judged by what its side earned."""

REWARD = 18.0
"""Importance that an item gains or loses by a decision that cited it."""

MIN_IMPORTANCE, MIN_RECENCY = 5.0, 0.05
"""Below either, an item is forgotten."""

SAME_COSINE = 0.95
"""A reflection this near to an earlier one says nothing new."""

MOVE_PASSES = 2
"""How often the ladder is gone through in one upkeep, so that an item may climb twice."""


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One layer.

    `birth` is the importance (points, 100 counts fully) of a new item, `decay` what is left of it
    after each session, `recency_sessions` the Q of recency = exp(-age / Q). An item moves one layer
    up at importance >= `promote_at` and down at < `demote_below`; None means that it never does.
    """

    name: Layer
    birth: float
    decay: float
    recency_sessions: float
    promote_at: float | None = None
    demote_below: float | None = None


@dataclass(frozen=True, slots=True)
class LayerTable:
    """All layers: the `ladder` from the shortest-lived up, and the agent's own reflections beside it.

    Going up makes an item as recent as new; going down does so only if `demotion_renews`.
    """

    name: str
    ladder: tuple[LayerSpec, ...]
    reflection: LayerSpec
    demotion_renews: bool

    @property
    def specs(self) -> tuple[LayerSpec, ...]:
        return (*self.ladder, self.reflection)


_REFLECTION = LayerSpec("reflection", birth=80, decay=0.98, recency_sessions=365)

OURS = LayerTable(
    "ours",
    (
        LayerSpec("short", birth=50, decay=0.92, recency_sessions=3, promote_at=60),
        LayerSpec("mid", birth=60, decay=0.96, recency_sessions=90, promote_at=85, demote_below=35),
        LayerSpec("long", birth=90, decay=0.96, recency_sessions=365, demote_below=60),
    ),
    _REFLECTION,
    demotion_renews=True,
)
"""A gap of 25 points between up and down, so that a layer keeps what was promoted into it."""

REFERENCE = LayerTable(
    "reference",
    (
        LayerSpec("short", birth=50, decay=0.92, recency_sessions=3, promote_at=55),
        LayerSpec("mid", birth=60, decay=0.96, recency_sessions=90, promote_at=85, demote_below=55),
        LayerSpec("long", birth=90, decay=0.96, recency_sessions=365, demote_below=85),
    ),
    _REFLECTION,
    demotion_renews=False,
)
"""InvestorBench's constants. Without a gap a promoted item soon falls back, and its kept age kills it."""

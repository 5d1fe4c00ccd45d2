"""Who is right inside a committee: every role's direction scored as if it had been free to trade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.analytics.proportions import wilson_interval
from arena.core.actions import ActionSpec, Intent, Status, target_side

ADVOCATES = {"bull": 1, "bear": -1}
"""Roles whose side is given. They count with it if their strength says that the case is a good one."""

FAIR_STRENGTH = 0.5

DECIDED = {Intent.LONG.value: 1, Intent.SHORT.value: -1}

KEYS = ["agent", "role", "kind", "model", "asset"]
COUNTS = ("n", "n_right", "n_judged", "n_followed", "n_overruled", "n_neutral")

_UP = {"BUY", "OVERWEIGHT", "BULLISH", "LONG"}
_DOWN = {"SELL", "UNDERWEIGHT", "BEARISH", "SHORT"}


def side_of(lean: str | None, role: str = "", confidence: float | None = None) -> int:
    """1, 0 or -1 for a recorded direction: a word of the arena's scales, or a number from -1 to 1.

    Without a lean, a bull is 1 and a bear -1 if its strength is above 0.5, else 0. A word that is on
    no scale (hold, neutral, keep ...) is 0.
    """
    if lean is None:
        strong = confidence is not None and confidence > FAIR_STRENGTH
        return ADVOCATES.get(role, 0) if strong else 0
    word = lean.strip().upper()
    if word in _UP or word in _DOWN:
        return 1 if word in _UP else -1
    try:
        number = float(word)
    except ValueError:
        return 0
    return (number > 0) - (number < 0)


@dataclass(frozen=True, slots=True)
class RoleScore:
    """How a role's signals fared. All counts are of signals with a side whose next move is known.

    `n_followed` of `n_judged` were followed (a decision that failed is not judged), `n_overruled`
    were right while the position asked for stood on no or the other side. `n_neutral` took no side
    and are in no other count. `decides`: the role's own answer is the decision.
    """

    agent: str
    role: str
    kind: str
    decides: bool
    n: int
    n_right: int
    n_judged: int
    n_followed: int
    n_overruled: int
    n_neutral: int

    @property
    def right_frac(self) -> float | None:
        return self.n_right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of `right_frac`."""
        return wilson_interval(self.n_right, self.n)

    @property
    def followed_frac(self) -> float | None:
        return self.n_followed / self.n_judged if self.n_judged else None


def role_league(
    signals: pd.DataFrame, next_return: pd.DataFrame, spec: ActionSpec
) -> list[RoleScore]:
    """Scores of every agent's roles: `role_scores` of `role_counts`, whose arguments it takes."""
    return role_scores(role_counts(signals, next_return, spec))


def role_counts(signals: pd.DataFrame, next_return: pd.DataFrame, spec: ActionSpec) -> pd.DataFrame:
    """Counts of every role by agent, role, kind, model and asset: any selection of them can be added up.

    A signal is right if the sign of its side is the sign of next close / close - 1 of its asset; a move
    of exactly 0 is on no side, and a session without a next close is in no count. It was followed if the position
    that the decision asks for (`core.actions.target_side`) is on its side; without shorting a
    downward signal is followed by being out.

    Args:
        signals: from `store.signals.signals`. next_return: asset, session, move (a fraction).

    Returns:
        The five keys, the counts of `RoleScore`, and decides (whether the role's answer is the decision).
    """
    rows = signals.merge(next_return, on=["asset", "session"])
    side = _sides(rows)
    asked = _asked(rows, spec)
    right = side * np.sign(rows["move"].to_numpy(float)) > 0
    followed = asked == (side if spec.shorting else np.maximum(side, 0))
    judged = rows["status"].isin([Status.OK, Status.REPAIRED]).to_numpy() & (side != 0)
    counted = rows[KEYS].assign(
        n=side != 0, n_right=right, n_judged=judged, n_followed=judged & followed,
        n_overruled=judged & right & ~followed, n_neutral=side == 0,
    )  # fmt: skip
    counts = counted.groupby(KEYS)[list(COUNTS)].sum().astype(int)
    deciding = rows["decides"].fillna(False).astype(bool)
    counts["decides"] = deciding.groupby([rows[k] for k in KEYS]).any()
    return counts.reset_index()


def role_scores(counts: pd.DataFrame) -> list[RoleScore]:
    """Roles over the rows of `role_counts` at hand, the highest lower end of the interval first (four
    right signals of five are no proof), roles without a score last."""
    own = counts.groupby(["agent", "role", "kind"]).agg(
        {"decides": "any"} | dict.fromkeys(COUNTS, "sum")
    )
    scores = []
    for key, row in zip(own.index, own.to_dict("records"), strict=True):
        agent, role, kind = (str(part) for part in key)
        scores.append(
            RoleScore(agent, role, kind, bool(row["decides"]), *(int(row[c]) for c in COUNTS))
        )
    return sorted(scores, key=lambda s: (-(s.interval or (-1.0,))[0], -s.n, s.agent, s.role))


def _sides(rows: pd.DataFrame) -> NDArray[np.int8]:
    """Side of every signal; of a role that decides, that of the decision, whose words may be its own."""
    strong = rows["confidence"].fillna(0.0) > FAIR_STRENGTH
    seen: dict[Any, int] = {}
    out = np.empty(len(rows), dtype=np.int8)
    given = zip(rows["decides"], rows["intent"], rows["lean"], rows["role"], strong, strict=True)
    for i, (decides, intent, lean, role, sure) in enumerate(given):
        lean = None if pd.isna(lean) else lean
        final = decides is True
        key = intent if final else (lean, role, sure)
        if key not in seen:
            seen[key] = (
                DECIDED.get(intent, 0) if final else side_of(lean, role, 1.0 if sure else 0.0)
            )
        out[i] = seen[key]
    return out


def _asked(rows: pd.DataFrame, spec: ActionSpec) -> NDArray[np.int8]:
    table = {
        (intent.value, side): target_side(intent, side, spec)
        for intent in Intent
        for side in (-1, 0, 1)
    }
    pairs = zip(rows["intent"], rows["position_before"], strict=True)
    return np.array([table[p] for p in pairs], dtype=np.int8)

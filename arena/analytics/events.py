"""Days that a chart should point at: the largest moves of a price, and turns of the news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

TRAILING_RETURNS = 60
"""A move is measured against this many returns before it; with fewer it is not judged."""

MIN_DEVIATIONS = 2.0
MOST_MOVES = 3
MIN_SENTIMENT_JUMP = 1.0
"""Half of the way from -1 to 1."""

MOST_JUMPS = 3


@dataclass(frozen=True, slots=True)
class Event:
    """Something to pin on a session of a chart; `label` is a few words."""

    session: date
    kind: Literal["move", "sentiment", "note"]
    label: str


def largest_moves(
    sessions: Sequence[date],
    closes: Sequence[float],
    since: date | None = None,
    *,
    most: int = MOST_MOVES,
) -> list[Event]:
    """The `most` largest moves from close to close that stand out of the 60 before, oldest first.

    `sessions` and `closes` (> 0) are of one length, oldest first. A move stands out if its size is at
    least two sample deviations of the 60 returns before it. Only sessions from `since` on are pinned;
    earlier ones are what they are measured against.
    """
    price = np.asarray(closes, dtype=float)
    returns = price[1:] / price[:-1] - 1.0
    found: list[tuple[float, Event]] = []
    for i in range(TRAILING_RETURNS, len(returns)):
        session = sessions[i + 1]
        if since is not None and session < since:
            continue
        size = abs(float(returns[i]))
        usual = float(np.std(returns[i - TRAILING_RETURNS : i], ddof=1))
        if size > 0 and size >= MIN_DEVIATIONS * usual:
            times = f", {size / usual:.1f} deviations" if usual > 0 else ""
            label = f"{100 * returns[i]:+.1f}%{times}".replace("-", "\u2212")
            found.append((size, Event(session, "move", label)))
    return _largest(found, most)


def sentiment_jumps(
    sessions: Sequence[date],
    scores: Sequence[float | None],
    since: date | None = None,
    *,
    most: int = MOST_JUMPS,
) -> list[Event]:
    """The `most` largest turns of the news, oldest first: briefs whose score in [-1, 1] is at least 1
    away from that of the brief before.

    Sessions without a brief (None) are passed over: the last brief before counts, also one from
    before `since`.
    """
    found: list[tuple[float, Event]] = []
    before: float | None = None
    for session, score in zip(sessions, scores, strict=True):
        if score is not None and before is not None and (since is None or session >= since):
            # Scores are decimals: 0.6 against -0.4 is a jump of 1, though their difference is 0.99...
            size = round(abs(score - before), 9)
            if size >= MIN_SENTIMENT_JUMP:
                label = f"news {_signed(before)} to {_signed(score)}"
                found.append((size, Event(session, "sentiment", label)))
        before = before if score is None else score
    return _largest(found, most)


def _largest(found: Sequence[tuple[float, Event]], most: int) -> list[Event]:
    # Of equal ones the older, whatever order a sort leaves.
    chosen = sorted(found, key=lambda pair: (-pair[0], pair[1].session))[:most]
    return sorted((event for _, event in chosen), key=lambda e: e.session)


def _signed(score: float) -> str:
    text = f"{score:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "\u2212")

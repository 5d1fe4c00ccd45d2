"""Vote: what the models of one agent say together. It asks nobody; it counts (definitions 3.6)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.core.actions import Intent, Status
from arena.core.types import Decision, Slot
from arena.runner.track import Logged, Track

VOTE = {"model": "vote", "stand_in": "offline/vote"}
"""Model id of the vote by the kind of its voters: real models and stand-ins never vote together."""

GROUP = {"model": "vote", "stand_in": "stand_in"}

COUNTED = frozenset({Status.OK, Status.REPAIRED})


@dataclass(frozen=True)
class Poll:
    """The track of a vote, and the tracks whose decisions are counted."""

    track: Track
    voters: tuple[Track, ...]

    def ready(self, slot: Slot) -> bool:
        """Every voter has decided at `slot`, and the vote has not been taken."""
        return not self.track.decided(slot) and all(v.decided(slot) for v in self.voters)

    def decide(self, slot: Slot) -> Decision:
        votes = {
            v.id.model: next(r for r in reversed(v.log) if r.session == slot.session)
            for v in self.voters
        }
        evidence = [v.id.decision(slot.key) for v in self.voters]
        return tally(votes, evidence)


def tally(votes: Mapping[str, Logged], evidence: Sequence[str] = ()) -> Decision:
    """The word with strictly the most votes; a tie for the first place is HOLD.

    Failed models abstain. Fewer than half of them voting is `no_quorum`, which keeps the position.
    Votes that print the same word but mean different things (flat, keep, hold) make a plain HOLD.
    """
    counted = {model: v for model, v in votes.items() if v.status in COUNTED}
    words = Counter(v.action for v in counted.values())
    said = ", ".join(f"{n} {word}" for word, n in sorted(words.items())) or "nobody"
    reason = f"{len(counted)} of {len(votes)} models voted: {said}."
    if len(counted) < math.ceil(len(votes) / 2) or not counted:
        return Decision(Intent.KEEP, Status.NO_QUORUM, reason, evidence=tuple(evidence))
    (top, most), *rest = words.most_common()
    share = most / len(counted)
    if rest and rest[0][1] == most:
        return Decision(Intent.HOLD, Status.OK, f"{reason} A tie is HOLD.", share, tuple(evidence))
    meant = {v.intent for v in counted.values() if v.action == top}
    intent = meant.pop() if len(meant) == 1 else Intent.HOLD
    return Decision(intent, Status.OK, reason, share, tuple(evidence))

"""A short log of decisions, each with what the price did next and what came of it so far."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any

from arena.agents.memory.base import Dump, opened

KIND, VERSION = "decision_log", 1
KEPT = 7
"""Length of the decision memory in the paper (table 2)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. Exposures are signed parts of equity; `next_return_frac` is close to next close.

    `given` entries come from a warm-up that knows the move: they teach, and earn nothing.
    `result_frac` is what the agent's own decisions came to after this one, had each exposure been
    held from close to close without costs; None until the outcome is known.
    """

    session: date
    action: str
    exposure_after_frac: float
    price: float
    target_frac: float | None = None
    given: bool = False
    next_return_frac: float | None = None
    result_frac: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Which analysts to hear, and the session that was decided on."""

    session: date
    analysts: tuple[str, ...]


@dataclass
class DecisionLog:
    """The last 7 entries of one track, oldest first, at most one a session."""

    entries: list[Entry] = field(default_factory=list)
    growth: float = 1.0
    plan: Plan | None = None

    def add(self, entry: Entry) -> list[date]:
        """Append `entry` (a second one of its session replaces the first); sessions let go for it."""
        kept = [*(e for e in self.entries if e.session != entry.session), entry]
        self.entries = kept[-KEPT:]
        return [e.session for e in kept[:-KEPT]]

    def resolve(self, session: date, next_return_frac: float) -> Entry | None:
        """Write down what followed the decision of `session`; None if it has no open entry."""
        for i, entry in enumerate(self.entries):
            if entry.session == session and entry.next_return_frac is None:
                if not entry.given:
                    self.growth *= 1.0 + entry.exposure_after_frac * next_return_frac
                self.entries[i] = replace(
                    entry, next_return_frac=next_return_frac, result_frac=self.growth - 1.0
                )
                return self.entries[i]
        return None

    def dump(self) -> dict[str, Any]:
        rows = [{**asdict(e), "session": e.session.isoformat()} for e in self.entries]
        plan = self.plan and {
            "session": self.plan.session.isoformat(), "analysts": list(self.plan.analysts)
        }  # fmt: skip
        return {
            "kind": KIND, "version": VERSION, "entries": rows, "growth": self.growth, "plan": plan
        }  # fmt: skip

    @classmethod
    def load(cls, dump: Dump) -> DecisionLog:
        """The log that gave this dump.

        Raises:
            ConfigError: the dump is of another kind or of a newer version.
        """
        held = opened(dump, KIND, VERSION)
        entries = [
            Entry(**{**row, "session": date.fromisoformat(row["session"])})
            for row in held["entries"]
        ]
        plan = held["plan"] and Plan(
            date.fromisoformat(held["plan"]["session"]), tuple(held["plan"]["analysts"])
        )
        return cls(entries, held["growth"], plan)

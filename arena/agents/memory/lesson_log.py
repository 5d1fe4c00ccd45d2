"""A log of decisions, what followed each, and the lesson drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any

from arena.agents.memory.base import Dump, opened
from arena.core.text import clean_foreign

KIND, VERSION = "lesson_log", 1
KEPT = 60
THESIS_CHARS = 300
LESSON_CHARS = 300
PRACTICE = "practice"
"""In place of a rating: the move was given in a warm-up, nobody was asked."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. `outcome_1d_frac`: close to next close; None until it is known.

    `rating` is the portfolio manager's word, or `practice`; `action` an intent's value; `lesson` is
    None where the move was too small to teach anything, or where nobody found words for it.
    """

    session: date
    rating: str
    action: str
    thesis: str
    outcome_1d_frac: float | None = None
    lesson: str | None = None


@dataclass
class LessonLog:
    """The last 60 entries of one track, oldest first, at most one a session."""

    entries: list[Entry] = field(default_factory=list)

    def add(self, entry: Entry) -> list[date]:
        """Append `entry` (a second one of its session replaces the first); sessions let go for it."""
        kept = [e for e in self.entries if e.session != entry.session]
        kept.append(replace(entry, thesis=clean_foreign(entry.thesis, THESIS_CHARS)))
        self.entries = kept[-KEPT:]
        return [e.session for e in kept[:-KEPT]]

    def open_entry(self, session: date) -> Entry | None:
        """The entry of `session`, if it has no outcome yet."""
        unresolved = (e for e in self.entries if e.outcome_1d_frac is None)
        return next((e for e in unresolved if e.session == session), None)

    def resolve(self, session: date, outcome_1d_frac: float) -> None:
        """Write down what the price did after the decision of `session`."""
        self._change(session, lambda e: replace(e, outcome_1d_frac=outcome_1d_frac))

    def teach(self, session: date, lesson: str) -> None:
        """Write down what the decision of `session` taught."""
        self._change(session, lambda e: replace(e, lesson=clean_foreign(lesson, LESSON_CHARS)))

    def resolved(self, n: int) -> list[Entry]:
        """The last `n` entries whose outcome is known, oldest first."""
        return [e for e in self.entries if e.outcome_1d_frac is not None][-n:]

    def dump(self) -> dict[str, Any]:
        rows = [{**asdict(e), "session": e.session.isoformat()} for e in self.entries]
        return {"kind": KIND, "version": VERSION, "entries": rows}

    @classmethod
    def load(cls, dump: Dump) -> LessonLog:
        """The log that gave `dump`.

        Raises:
            ConfigError: a dump of another kind or of a newer version.
        """
        rows = opened(dump, KIND, VERSION)["entries"]
        return cls(
            [Entry(**{**row, "session": date.fromisoformat(row["session"])}) for row in rows]
        )

    def _change(self, session: date, change: Callable[[Entry], Entry]) -> None:
        self.entries = [change(e) if e.session == session else e for e in self.entries]

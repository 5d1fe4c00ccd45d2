"""How long a source that refused is left alone. Nothing here sleeps: who asks too soon is told until when.

A limit (429) is waited out, longer each time and with jitter, never beyond an hour unless the source
itself names a longer time. A refusal (451, 403) is a matter of where we are: it holds until the next
UTC day, and asking again sooner only confirms it.
"""

from __future__ import annotations

import random
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError

FIRST_WAIT_S, LONGEST_WAIT_S = 60.0, 3600.0
JITTER_FRAC = 0.25

Trouble = Literal["limited", "refused", "failed"]

LIMITED = re.compile(
    r"\b429\b|too many requests|rate ?limit|ratelimit|limitederror|ddosprotection", re.IGNORECASE
)
REFUSED = re.compile(r"\b(451|403)\b|restricted location|forbidden", re.IGNORECASE)


class PatienceError(SourceError):
    """A source is left alone: asked too soon, it would only refuse again."""

    def __init__(
        self, message: str, trouble: Trouble, until_utc: datetime, retry_after_s: float
    ) -> None:
        super().__init__(message)
        self.trouble, self.until_utc, self.retry_after_s = trouble, until_utc, retry_after_s


def trouble_of(error: Exception) -> Trouble:
    """What an error of a client library means, by its class and words: each library has its own."""
    text = f"{type(error).__name__}: {error}"
    if LIMITED.search(text):
        return "limited"
    return "refused" if REFUSED.search(text) else "failed"


@dataclass
class _Rest:
    trouble: Trouble
    until_utc: datetime
    in_a_row: int
    why: str


@dataclass
class Patience:
    """Rests of sources by name, shared by all that ask them. Thread-safe."""

    clock: Clock = utc_now
    rng: random.Random = field(default_factory=random.Random)
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def check(self, name: str) -> None:
        """Whether `name` may be asked.

        Raises:
            PatienceError: it is left alone; the message says until when and why.
        """
        with self._lock:
            rest, now = self._rests.get(name), self.clock()
            if rest is None or now >= rest.until_utc:
                return
            left_s = (rest.until_utc - now).total_seconds()
        raise PatienceError(
            f"{name}: {rest.why}; left alone until {rest.until_utc:%Y-%m-%d %H:%M} UTC.",
            rest.trouble, rest.until_utc, left_s,
        )  # fmt: skip

    def ok(self, name: str) -> None:
        """It answered: the next limit begins with the shortest wait again."""
        with self._lock:
            self._rests.pop(name, None)

    def note(self, name: str, error: Exception, retry_after_s: float | None = None) -> Trouble:
        """Remember that `name` failed, and leave it alone where that helps; says what it was."""
        trouble, now = trouble_of(error), self.clock()
        if trouble == "failed":
            return trouble
        with self._lock:
            last = self._rests.get(name)
            n = last.in_a_row + 1 if last is not None and last.trouble == trouble else 1
            if trouble == "refused":
                tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
                until = datetime.combine(tomorrow, time(), UTC)
            else:
                wait_s = min(FIRST_WAIT_S * 2.0 ** min(n - 1, 16), LONGEST_WAIT_S)
                wait_s *= 1.0 + JITTER_FRAC * (2.0 * self.rng.random() - 1.0)
                until = now + timedelta(seconds=max(wait_s, retry_after_s or 0.0))
            self._rests[name] = _Rest(trouble, until, n, f"{type(error).__name__}: {error}"[:200])
        return trouble


SHARED = Patience()
"""Of this process: prices and quotes of one venue share its limits."""

"""The one clock. Code that needs "now" takes it from here, so that tests and fake time can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from arena.core.settings import clock_file

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, aware, in UTC; that of `ARENA_CLOCK_FILE` where one is named."""
    shared = clock_file()
    if shared is None:
        return datetime.now(UTC)
    return datetime.fromisoformat(shared.read_text("utf-8").strip()).astimezone(UTC)

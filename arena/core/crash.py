"""Points at which a trial may kill the process, as a power cut would: no cleanup, no goodbye."""

from __future__ import annotations

import os
import signal

from arena.core.settings import crash_at


def crash_point(name: str) -> None:
    """Die here (SIGKILL) where `ARENA_CRASH_AT` is `name`; a host never sets it."""
    if crash_at() == name:
        os.kill(os.getpid(), signal.SIGKILL)

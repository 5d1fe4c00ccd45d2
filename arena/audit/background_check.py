"""The invariants of `check_store`, run beside a page: at most one at a time, the result kept."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from datetime import datetime

from arena.audit.check import Report, check_store
from arena.core.clock import utc_now
from arena.store import reader
from arena.store.store import Store

log = logging.getLogger("arena.check")


@dataclass(frozen=True)
class LastCheck:
    """What the newest check found, of which state of the store, and when. `error` where it broke off."""

    store_id: str
    data_version: int
    at_utc: datetime
    took_s: float
    report: Report | None
    error: str | None = None


class BackgroundCheck:
    """One check of one store in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last: dict[str, LastCheck] = {}

    def start(self, store: Store) -> bool:
        """Begin, unless one is under way already; returns whether it began."""
        with self._lock:
            if self.running():
                return False
            self._thread = threading.Thread(
                target=self._work, args=(store,), name="arena-check", daemon=True
            )
            self._thread.start()
            return True

    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wait(self, timeout_s: float) -> None:
        if self._thread is not None:
            self._thread.join(timeout_s)

    def last(self, store: Store) -> LastCheck | None:
        """The newest finished check of this store, or None."""
        return self._last.get(store.store_id)

    def _work(self, store: Store) -> None:
        began, began_s = utc_now(), time.monotonic()
        # Read before the check: what is written meanwhile makes the result one of an older state.
        version = reader.data_version(store)
        report, error = None, None
        try:
            report = check_store(store)
        except Exception as problem:
            log.exception("the check broke off")
            error = f"{type(problem).__name__}: {problem}"
        took_s = time.monotonic() - began_s
        self._last[store.store_id] = LastCheck(
            store.store_id, version, began, took_s, report, error
        )


CHECKS = BackgroundCheck()
"""The process's one; a second visitor sees the check that the first began."""

"""What the owner of a store does again and again: quotes, rounds that are due, copies.

The clock that fires a tick knows UTC only; what is due is asked of the calendars, each time anew.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.core.clock import utc_now
from arena.core.errors import ArenaError, StoreError
from arena.core.settings import tick_s
from arena.runner import audit_log
from arena.runner.follow import Follower
from arena.runner.keeper import Keeper
from arena.runner.live import Live
from arena.runner.quotes import QuotePoller
from arena.store.store import Store

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

log = logging.getLogger("arena.live")


@dataclass
class Ticker:
    """All that goes on by the clock in the process that owns a store. `live` is None where the data are
    a sample or files: nothing new ever becomes due there."""

    store: Store
    keeper: Keeper
    follower: Follower
    live: Live | None
    quotes: QuotePoller | None
    stop: threading.Event
    failures: int = 0
    """Ticks in which something failed that nobody foresaw."""
    busy: threading.Lock = field(default_factory=threading.Lock)
    """Held while a tick goes on."""

    @classmethod
    def of(cls, store: Store, choice: str, keeper: Keeper, stop: threading.Event) -> Ticker:
        live = Live(store, choice, stop=stop) if choice == "live" else None
        quotes = QuotePoller(store, live.assets()) if live else None
        return cls(store, keeper, Follower(store), live, quotes, stop)

    @property
    def paused(self) -> str | None:
        """Why nothing is decided at present, for a person; None while all is well."""
        if self.keeper.trouble is not None:
            return str(self.keeper.trouble)
        return self.live.paused if self.live else None

    def tick(self) -> None:
        """One look around. Every duty is tried, whatever became of the one before it."""
        with self.busy:
            if not self.stop.is_set():
                self._look()

    def _look(self) -> None:
        self._try("keeper", lambda: self.keeper.tick(utc_now()))
        if self.keeper.trouble is not None or self.stop.is_set():
            return
        if self.quotes is not None:
            quotes = self.quotes
            self._try("quotes", lambda: quotes.tick(utc_now()))
        if self.live is not None:
            self._try("rounds", self._rounds)

    def _rounds(self) -> None:
        assert self.live is not None
        reports = self.live.reconcile()
        for report in reports:
            self.follower.after_round(report.run, report.decision_ids)
        for run, said in self.live.troubles.items():
            self.follower.round_failed(run, said)
        if reports:
            if self.live.unshown:
                note(self.store, "snapshot failed", self.live.unshown)
            self.keeper.after_round(utc_now())

    def _try(self, what: str, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as error:
            self.failures += 1
            log.exception("%s failed", what)
            said = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
            note(self.store, f"{what} failed", said)

    def end(self, timeout_s: float) -> bool:
        """Let a tick under way end, and what leaves this machine; whether it did in time."""
        ends_at = time.monotonic() + timeout_s
        ended = self.busy.acquire(timeout=timeout_s)
        if ended:
            self.busy.release()
        for stop in (self.follower.stop, self.keeper.stop):
            stop(min(0.5, max(0.0, ends_at - time.monotonic())))
        return ended


def note(store: Store, action: str, detail: str) -> None:
    """What the runner had to do, or could not, among the audit rows; in the log alone if those cannot
    be written."""
    try:
        audit_log.record(store, "host", action, {"what": detail})
    except StoreError as error:
        log.warning("%s could not be written down: %s", action, error)


def start_clock(store: Store, tick: Callable[[], None]) -> BackgroundScheduler:
    """Call `tick` now and every `tick_s()` from now on, one at a time; ticks that were missed become one.

    Its triggers are intervals in UTC: those that follow a zone skip and repeat days around a change
    of the clocks (apscheduler #606, #1021).
    """
    from apscheduler.events import EVENT_JOB_ERROR
    from apscheduler.schedulers.background import BackgroundScheduler

    # A tick that takes longer than its interval is no fault, and not worth a warning each. A logger of
    # ours, as litellm sets the level of apscheduler's own.
    quiet = logging.getLogger("arena.scheduler")
    quiet.setLevel(logging.ERROR)
    scheduler = BackgroundScheduler(
        timezone=UTC, logger=quiet,
        job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
    )  # fmt: skip
    scheduler.add_listener(lambda event: note(store, "tick failed", str(event.exception)), EVENT_JOB_ERROR)
    scheduler.add_job(tick, "interval", seconds=tick_s(), next_run_time=datetime.now(UTC))
    scheduler.start()
    return scheduler


def by_name(ticker: Ticker) -> Callable[[], None]:
    """A tick whose code is looked up when it fires, so that reloaded code is the code that runs."""

    def tick() -> None:
        import_module("arena.runner.ticking").Ticker.tick(ticker)

    return tick

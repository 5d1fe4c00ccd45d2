"""Keeps the store: watches disk and writer, makes the daily backup, sends copies away.

`trouble` is what keeps the runner waiting; while there is one, nothing is copied either, because a
store that has lost something must not take the place of a good copy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from arena.core import settings
from arena.core.errors import ArenaError, StoreError
from arena.llm.redact import protect_environment, redact
from arena.runner import audit_log
from arena.runner.uploader import Uploader
from arena.store.backup import backups, make_backup, n_decisions, rotate
from arena.store.damage import (
    LEAST_FREE_BYTES,
    StoreTrouble,
    damaged,
    disk_trouble,
    examine_store,
)
from arena.store.store import Store

log = logging.getLogger("arena.keeper")

MOST_BREAKS = 3
"""Times that DuckDB may give the store up, with room on the disk, before a person is asked."""

AFTER_FAILURE = timedelta(hours=1)

RENEW_EVERY = timedelta(days=7)
"""How often the file is closed and opened, by which DuckDB gives back what it holds. That takes as long
as writing all indexes, half a second with half a year of decisions."""


class Keeper:
    """One per owner of a store. `found` is what was wrong when it was opened (`open_guarded`)."""

    def __init__(
        self,
        store: Store,
        found: StoreTrouble | None = None,
        *,
        least_free_bytes: int = LEAST_FREE_BYTES,
    ) -> None:
        protect_environment()
        self.store = store
        self.trouble = self._lasting = found
        self._least_free_bytes = least_free_bytes
        self._n_breaks = 0
        self._backup_failed_utc = datetime.min.replace(tzinfo=UTC)
        self._opened_utc: datetime | None = None
        self._said: dict[str, str] = {}
        url = settings.upload_url()
        self._uploader = (
            None if url is None else Uploader(store, url, settings.upload_every_s(), self._record)
        )

    def tick(self, now_utc: datetime) -> None:
        """Look after everything that is due; never raises for what the disk or a service does."""
        self._try("watch", self._watch)
        if self.trouble is None:
            self._try("backup", lambda: self._backup(now_utc))
            self._try("renewal", lambda: self._renew(now_utc))
            self._try("upload", lambda: self._offer(now_utc))

    def after_round(self, now_utc: datetime) -> None:
        """Send the new round away, unless an upload was made a moment ago."""
        if self.trouble is None:
            self._try("upload", lambda: self._offer(now_utc))

    def flush(self, now_utc: datetime, timeout_s: float = 600.0) -> str | None:
        """Upload now, whatever the interval, and wait; what went wrong, or None."""
        if self._uploader is None:
            return None
        if self.trouble is not None:
            return str(self.trouble)
        self._uploader.wait(timeout_s)
        self._uploader.offer(now_utc, at_once=True)
        if not self._uploader.wait(timeout_s):
            return f"The upload did not end within {timeout_s:.0f} s."
        return self._uploader.state.error

    def stop(self, timeout_s: float = 1.0) -> None:
        """Wait a moment for an upload; one that is cut off is made again at the next start."""
        if self._uploader is not None:
            self._uploader.wait(timeout_s)

    def _watch(self) -> None:
        room = disk_trouble(self.store.path, self._least_free_bytes)
        if self.store.writable:
            self.trouble = self._lasting or room
            return
        why = self.store.broken
        if why is not None:
            self._n_breaks += room is None
            if self._n_breaks >= MOST_BREAKS:
                self._lasting = damaged(self.store.path, why)
        elif self._lasting or room:
            self.trouble = self._lasting or room
            return
        self._reopen(why, room)

    def _reopen(self, why: str | None, room: StoreTrouble | None) -> None:
        """Bring the store back: for writing where nothing stands against it, else for pages to read."""
        writing = room is None and self._lasting is None
        try:
            self.store.reopen(writing=writing)
        except StoreError as error:
            self.trouble = room or StoreTrouble("damaged", str(error), "It is tried again by itself.")
            return
        if writing and (hurt := examine_store(self.store)) is not None:
            self._lasting = hurt
            self.store.reopen(writing=False)
        self.trouble = self._lasting or room
        if self.trouble is None:
            self._record("store opened again", why or "What stood against it is over.")

    def _backup(self, now_utc: datetime) -> None:
        daily, weekly = settings.backups_kept()
        # Moments to come are those of a clock that was wrong, and keep nothing from being done.
        if not daily + weekly or timedelta(0) <= now_utc - self._backup_failed_utc < AFTER_FAILURE:
            return
        if any(b.day == now_utc.date() for b in backups(self.store.path)):
            return
        if not n_decisions(self.store):
            return
        self._backup_failed_utc = now_utc
        made = make_backup(self.store, now_utc)
        gone = rotate(self.store.path, daily, weekly, now_utc.date())
        self._backup_failed_utc = datetime.min.replace(tzinfo=UTC)
        self._said.pop("backup", None)
        self._n_breaks = 0
        self._record("backup", f"{made.path.name} made, {len(gone)} rotated out")

    def _renew(self, now_utc: datetime) -> None:
        """Where somebody reads at that moment, the next tick tries again."""
        self._opened_utc = self._opened_utc or now_utc
        if abs(now_utc - self._opened_utc) >= RENEW_EVERY and self.store.renew():
            self._opened_utc = now_utc

    def _offer(self, now_utc: datetime) -> None:
        if self._uploader is not None:
            self._uploader.offer(now_utc)

    def _try(self, what: str, work: Callable[[], None]) -> None:
        """Run a duty; a failure is written down once, until it becomes another or a copy is made."""
        try:
            work()
        except (ArenaError, OSError) as error:
            said = redact(str(error))
        except Exception as error:
            log.exception("the keeper's %s failed", what)
            said = redact(f"{type(error).__name__}: {error}")
        else:
            return
        if self._said.get(what) != said:
            self._said[what] = said
            log.warning("%s: %s", what, said)
            self._record(f"{what} failed", said)

    def _record(self, action: str, detail: str) -> None:
        """An audit row; only a line in the log while the store cannot be written."""
        log.info("%s: %s", action, detail)
        if not self.store.writable:
            return
        try:
            audit_log.record(self.store, "host", action, {"what": detail})
        except StoreError as error:
            log.warning("%s could not be written down: %s", action, error)

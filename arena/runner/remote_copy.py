"""A host without a runner that shows the copies another host uploads (`ARENA_FOLLOW_URL`)."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from arena.core.errors import ArenaError, ConfigError, StoreError
from arena.llm.redact import redact
from arena.store.backup import describe, sha256_file
from arena.store.offsite import Offsite, public_url
from arena.store.snapshot import beside, snapshot_path

EVERY = timedelta(minutes=10)


class RemoteCopy:
    """Brings the newest copy of a target to where the snapshot of `store` is looked for. `problem` says
    why that did not work last time, None while it does."""

    def __init__(self, url: str, store: Path) -> None:
        self.url, self.store = url, store
        self.problem: str | None = None
        self._next_utc: datetime | None = None
        self._have: str | None = None

    def tick(self, now_utc: datetime) -> None:
        """Look for a newer copy, at most every ten minutes; never raises."""
        if self._next_utc is not None and now_utc < self._next_utc:
            return
        self._next_utc = now_utc + EVERY
        try:
            self._fetch()
        except (ArenaError, OSError) as error:
            self.problem = redact(str(error))
        else:
            self.problem = None

    def _fetch(self) -> None:
        if self.store.exists():
            raise ConfigError(
                f"ARENA_FOLLOW_URL is set, but `{self.store.name}` is a store of this host. Unset it, or "
                "give ARENA_STORE another name."
            )
        shown = snapshot_path(self.store)
        if self._have is None and shown.exists():
            self._have = sha256_file(shown)
        target = Offsite(self.url)
        note = target.latest()
        if note is None or note.sha256 == self._have:
            return
        part = beside(self.store, ".fetching.duckdb")
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.unlink(missing_ok=True)
            target.fetch(note, part)
            if not part.exists() or sha256_file(part) != note.sha256:
                raise StoreError(f"`{note.file}` at `{public_url(self.url)}` is not the copy that was noted.")
            describe(part, note.at_utc, note.file)
            at_s = note.at_utc.timestamp()
            os.utime(part, (at_s, at_s))
            part.replace(shown)
        finally:
            part.unlink(missing_ok=True)
        self._have = note.sha256

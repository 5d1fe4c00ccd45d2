"""A process that only shows a store which another one owns, or which cannot be opened.

DuckDB shares one instance a path and process, so the snapshot that replaced another would go on
showing the old data. Each is therefore opened under a name of its own: a hard link, which costs
nothing and keeps the file while it is read.
"""

from __future__ import annotations

import logging
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from arena.core.errors import StoreError
from arena.runner.remote_copy import RemoteCopy
from arena.store.backup import copies
from arena.store.lock import alive, owner_pid
from arena.store.snapshot import beside
from arena.store.store import Store, open_copy, open_here

log = logging.getLogger("arena.viewer")

GRACE = timedelta(seconds=60)
"""How long pages that began with an old snapshot may go on reading it."""

FREE_TICKS = 2
"""Looks in a row that must find the store without an owner; a restart of one is no departure."""

Stamp = tuple[int, int, int]


class Viewer:
    """Shows the newest snapshot of the store at `path` (its newest backup where there is none).

    `store` is what pages read, None until there is a copy that can be read; `problem` says why the
    newest could not be shown. With `follow_url` newer ones come from that upload target. It is not
    thread-safe: one thread ticks, any may read `store`.
    """

    def __init__(
        self,
        path: Path,
        now_utc: datetime,
        waits_for: Literal["owner", "repair", "nobody"] = "owner",
        follow_url: str | None = None,
    ) -> None:
        self.path = path.expanduser().resolve()
        self.store: Store | None = None
        self.problem: str | None = None
        self._waits_for = waits_for
        self._remote = None if follow_url is None else RemoteCopy(follow_url, self.path)
        self._found = _stamp(self.path)
        self._shown: Stamp | None = None
        self._retired: list[tuple[Store, Path, datetime]] = []
        self._link: Path | None = None
        self._n, self._n_free = 0, 0
        _sweep(self.path)
        self.tick(now_utc)

    @property
    def may_start(self) -> bool:
        """Whether an owner may be started in this process: nobody has had the store open for some
        ticks, and where a damaged file was found, another is in its place. DuckDB's lock decides a
        race; a process that is merely frozen holds it."""
        if self._waits_for == "nobody" or self._n_free < FREE_TICKS:
            return False
        return self._waits_for == "owner" or _stamp(self.path) != self._found

    def tick(self, now_utc: datetime) -> bool:
        """Show a newer copy where there is one; whether `store` is another one now. Never raises for
        what other processes and the disk do."""
        changed, problem = False, None
        if self._remote is not None:
            self._remote.tick(now_utc)
            problem = self._remote.problem
        try:
            free = not open_here(self.path) and owner_pid(self.path) is None
            self._n_free = self._n_free + 1 if free else 0
            changed = self._follow(now_utc)
        except (StoreError, OSError) as error:
            problem = str(error)
        if problem is not None and problem != self.problem:
            log.warning("the newest copy of %s cannot be shown: %s", self.path.name, problem)
        self.problem = problem
        self._let_go(now_utc - GRACE)
        return changed

    def close(self) -> None:
        """Let go of every copy at once."""
        if self.store is not None and self._link is not None:
            self._retired.append((self.store, self._link, datetime.min.replace(tzinfo=UTC)))
            self.store, self._link = None, None
        self._let_go(None)

    def _follow(self, now_utc: datetime) -> bool:
        candidates = copies(self.path)
        if self.store is not None:
            # What is shown is better than an older backup.
            candidates = candidates[:1]
        first_error: StoreError | None = None
        for copy in candidates:
            stamp = _stamp(copy)
            if stamp == self._shown:
                return False
            try:
                self._show(copy, now_utc)
            except StoreError as error:
                first_error = first_error or error
            else:
                self._shown = stamp
                return True
        if first_error is not None:
            raise first_error
        return False

    def _show(self, copy: Path, now_utc: datetime) -> None:
        self._n += 1
        link = beside(self.path, f".view-{os.getpid()}-{self._n}.duckdb")
        _link(copy, link)
        try:
            fresh = open_copy(link, self.path)
        except StoreError:
            link.unlink(missing_ok=True)
            raise
        if self.store is not None and self._link is not None:
            self._retired.append((self.store, self._link, now_utc))
        self.store, self._link = fresh, link

    def _let_go(self, retired_before: datetime | None) -> None:
        """Close what was replaced long enough ago (None: whatever was)."""
        staying = []
        for store, link, since in self._retired:
            if retired_before is None or since <= retired_before:
                store.close()
                link.unlink(missing_ok=True)
            else:
                staying.append((store, link, since))
        self._retired = staying


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file is replaced; None without a file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _link(copy: Path, link: Path) -> None:
    """Another name for the file as it is now; a copy where the file system knows no hard links."""
    link.unlink(missing_ok=True)
    try:
        link.hardlink_to(copy)
    except OSError:
        shutil.copy2(copy, link)


def _sweep(path: Path) -> None:
    """Remove names that viewers left which were killed."""
    stem = beside(path, ".view-").name
    for left in path.parent.glob("*.duckdb"):
        pid, _, _ = left.name.removeprefix(stem).partition("-")
        if left.name.startswith(stem) and pid.isdecimal() and not alive(int(pid)):
            left.unlink(missing_ok=True)

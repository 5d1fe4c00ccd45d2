"""Takes the store's snapshot to the upload target, in a thread of its own, now and then.

What came of it stands in `<store>.upload.json`, so that every process can tell how far the data are
safe, and a restart does not begin with an upload.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.core.errors import ArenaError
from arena.llm.redact import redact
from arena.store import reader
from arena.store.backup import describe, write_text
from arena.store.offsite import Offsite, copy_name
from arena.store.snapshot import beside
from arena.store.store import Store

log = logging.getLogger("arena.upload")

DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class UploadState:
    """The newest copy that arrived (`at_utc` and the following) and what came of the last try."""

    at_utc: str | None = None
    data_version: int | None = None
    n_decisions: int | None = None
    size_bytes: int | None = None
    tried_at_utc: str | None = None
    error: str | None = None


def upload_state(store: Path) -> UploadState:
    """What is written beside the store at this path; empty where nothing is, or nothing readable."""
    try:
        raw: dict[str, Any] = json.loads(_state_path(store).read_text("utf-8"))
        return UploadState(**raw)
    except (OSError, ValueError, TypeError):
        return UploadState()


def _state_path(store: Path) -> Path:
    return beside(store, ".upload.json")


class Uploader:
    """At most one upload at a time. `told` hears when it begins to fail and when it works again."""

    def __init__(
        self, store: Store, url: str, every_s: float, told: Callable[[str, str], None]
    ) -> None:
        self.store, self.url, self.every_s = store, url, every_s
        self.state = upload_state(store.path)
        self._told = told
        self._thread: threading.Thread | None = None
        self._began_s = 0.0

    def offer(self, now_utc: datetime, *, at_once: bool = False) -> None:
        """Begin an upload where one is due: something new, and the last try long enough ago."""
        if self._thread is not None and self._thread.is_alive():
            took_s = time.monotonic() - self._began_s
            if took_s > DEADLINE_S and self.state.error is None:
                self._failed(now_utc, f"The upload has not ended for {took_s:.0f} s.")
            return
        if not at_once and not self._waited(now_utc):
            return
        if reader.data_version(self.store) == self.state.data_version and self.state.error is None:
            return
        self._began_s = time.monotonic()
        self._thread = threading.Thread(
            target=self._run, args=(now_utc,), name="arena-upload", daemon=True
        )
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Whether no upload is under way any more."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _waited(self, now_utc: datetime) -> bool:
        if self.state.tried_at_utc is None:
            return True
        passed_s = (now_utc - datetime.fromisoformat(self.state.tried_at_utc)).total_seconds()
        # A clock that was set back must not stop uploads until it has caught up.
        return passed_s >= self.every_s or passed_s < 0

    def _run(self, now_utc: datetime) -> None:
        frozen = beside(self.store.path, ".uploading.duckdb")
        try:
            self._upload(now_utc, frozen)
        except (ArenaError, OSError) as error:
            self._failed(now_utc, str(error))
        except Exception as error:
            log.exception("the upload failed")
            self._failed(now_utc, f"{type(error).__name__}: {error}")
        finally:
            frozen.unlink(missing_ok=True)

    def _upload(self, now_utc: datetime, frozen: Path) -> None:
        target = Offsite(self.url)
        snapshot = self.store.snapshot()
        frozen.unlink(missing_ok=True)
        try:
            frozen.hardlink_to(snapshot)
        except OSError:
            shutil.copyfile(snapshot, frozen)
        note = describe(frozen, now_utc, "")
        if not note.n_decisions:
            return
        note = replace(note, file=copy_name(note))
        target.put(frozen, note)
        failed_before = self.state.error is not None
        at = now_utc.isoformat()
        self._keep(
            UploadState(at, note.data_version, note.n_decisions, note.size_bytes, tried_at_utc=at)
        )
        if failed_before:
            self._told("upload works again", "")
        target.prune(note.store_id)

    def _failed(self, now_utc: datetime, why: str) -> None:
        said, before = redact(why), self.state.error
        log.warning("%s", said)
        self._keep(replace(self.state, tried_at_utc=now_utc.isoformat(), error=said))
        if before is None:
            self._told("upload failed", said)

    def _keep(self, state: UploadState) -> None:
        self.state = state
        try:
            write_text(_state_path(self.store.path), json.dumps(asdict(state)))
        except OSError as error:
            log.warning("how far uploads came could not be written down: %s", error)

"""How far the data are safe: the newest copy on this disk, and the newest away from it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from arena.core import settings
from arena.core.clock import utc_now
from arena.runner.uploader import upload_state
from arena.store.backup import backups, n_decisions
from arena.store.store import Store


def safety(store: Store) -> dict[str, Any]:
    """What would survive the loss of the store's file, and of the whole disk; JSON-able, without paths.

    `safe_until_utc`, `data_version` and `n_decisions` are those of the newest copy, `where` it is
    ("upload" or "backup", None without a copy). `n_since` counts decisions that no copy has. `backup`
    and `upload` tell of each kind; `upload` is None where no target is set.
    """
    backup = _backup(store)
    upload = _upload(store)
    copies = [(part["at_utc"], where, part) for where, part in (("backup", backup), ("upload", upload))
              if part is not None and part["at_utc"] is not None]  # fmt: skip
    # Of two of the same moment the upload counts: it outlives the disk.
    at, where, newest = max(copies, key=lambda c: c[:2], default=(None, None, {}))
    held = newest.get("n_decisions")
    return {
        "safe_until_utc": at,
        "data_version": newest.get("data_version"),
        "n_decisions": held,
        "where": where,
        "n_since": max(0, n_decisions(store) - (held or 0)),
        "backup": backup,
        "upload": upload,
    }


def _backup(store: Store) -> dict[str, Any] | None:
    # One of a day to come was made while the clock was wrong.
    every = [b for b in backups(store.path) if b.day <= utc_now().date()]
    if not every:
        return None
    note = every[0].note
    return {
        "at_utc": f"{every[0].day}T00:00:00+00:00" if note is None else note.at_utc.isoformat(),
        "data_version": None if note is None else note.data_version,
        "n_decisions": None if note is None else note.n_decisions,
        "n_kept": len(every),
    }


def _upload(store: Store) -> dict[str, Any] | None:
    url = settings.upload_url()
    if url is None:
        return None
    state = upload_state(store.path)
    return {
        "kind": urlsplit(url).scheme,
        "at_utc": state.at_utc,
        "data_version": state.data_version,
        "n_decisions": state.n_decisions,
        "size_bytes": state.size_bytes,
        "error": state.error,
    }

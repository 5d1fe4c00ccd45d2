"""Who did what, kept in the store: launches, refusals, wrong tokens, deletions.

`origin` is a keyed hash of an address or a session. Its key lies in a file beside the store, apart
from snapshots and backups: with it, four billion addresses could simply be tried.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.core.clock import utc_now
from arena.core.errors import StoreError
from arena.core.hashing import canonical_json
from arena.core.rows_host import AuditRow
from arena.llm.redact import redacted
from arena.store.host_writer import add_audit
from arena.store.snapshot import beside
from arena.store.store import Store

log = logging.getLogger("arena.audit")

KEY_BYTES = 32
ORIGIN_CHARS = 16
MOST_REFUSALS, WINDOW_S = 30, 60.0
"""Refusals written down in a window; without a bound a visitor could fill the disk with them."""

_LOCK = threading.Lock()
_refused_at_s: deque[float] = deque(maxlen=MOST_REFUSALS)


def record(
    store: Store, who: str, action: str, detail: Mapping[str, Any], origin: str = ""
) -> None:
    """Write one row down; returns when it is durable.

    `who` is `visitor`, `admin` or `host`, `action` a word or two ("launch", "wrong token").

    Raises:
        StoreError: the store is open for reading only, or refused the write.
    """
    text, now = canonical_json(redacted(dict(detail))), utc_now()
    add_audit(store, lambda seq: AuditRow(seq, now, who, action, origin, text))


def refusal(store: Store, who: str, action: str, detail: Mapping[str, Any], origin: str = "") -> None:
    """`record` for what anybody can cause as often as they like: at most 30 a minute are kept.

    A store that cannot be written gets a line in the log instead; the refusal itself stands.
    """
    now_s = time.monotonic()
    with _LOCK:
        if len(_refused_at_s) == MOST_REFUSALS and now_s < _refused_at_s[0] + WINDOW_S:
            return
        _refused_at_s.append(now_s)
    if store.read_only:
        log.warning("%s of a %s: %s", action, who, redacted(dict(detail)))
        return
    try:
        record(store, who, action, detail, origin)
    except StoreError as error:
        log.warning("%s of a %s could not be written down: %s", action, who, error)


def origin_of(store: Store, what: str) -> str:
    """The keyed hash that stands for an address or a session: 16 hex digits, equal for equal `what`."""
    return hmac.new(_key(store.path), what.encode(), hashlib.sha256).hexdigest()[:ORIGIN_CHARS]


def key_path(store: Path) -> Path:
    """`live.duckdb` -> `live.origin.key`."""
    return beside(store, ".origin.key")


_keys: dict[Path, bytes] = {}


def _key(store: Path) -> bytes:
    """The store's key; made where there is none yet, for this process only where it cannot be kept."""
    with _LOCK:
        if store not in _keys:
            path = key_path(store)
            try:
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            except FileExistsError:
                _keys[store] = held = path.read_bytes()
                if len(held) != KEY_BYTES:  # cut off while it was made
                    _keys[store] = made = secrets.token_bytes(KEY_BYTES)
                    path.write_bytes(made)
            except OSError as error:
                log.warning("No key for origins could be kept in `%s`: %s", path, error)
                _keys[store] = secrets.token_bytes(KEY_BYTES)
            else:
                _keys[store] = made = secrets.token_bytes(KEY_BYTES)
                with os.fdopen(descriptor, "wb") as out:
                    out.write(made)
        return _keys[store]

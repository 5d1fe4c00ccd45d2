"""Canonical bytes and their SHA-256: the one way content is addressed in the arena."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from typing import Any


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"`{type(value).__name__}` has no canonical form")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, shortest round-trip floats; NaN and infinity are refused."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=_plain,
    )


def sha256_text(text: str) -> str:
    """Hex SHA-256 of `text` in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_json(value: Any) -> str:
    """Hex SHA-256 of the canonical JSON of `value`."""
    return sha256_text(canonical_json(value))


def account_key(account_id: str) -> int:
    """A 63-bit integer key for an account id, equal in every store and process."""
    return int.from_bytes(hashlib.sha256(account_id.encode()).digest()[:8], "big") >> 1

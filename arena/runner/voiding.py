"""Striking a run through: it stays visible with the reason, unranked, and is never deleted."""

from __future__ import annotations

from arena.core.errors import ConfigError
from arena.core.text import clean_foreign
from arena.store import reader
from arena.store.store import Store

MAX_REASON_CHARS = 300


def void_run(store: Store, run: str, reason: str) -> str:
    """Void `run`; returns the reason as stored. A later reason takes the place of the earlier one.

    Raises:
        UnknownNameError: no such run.
        ConfigError: the reason is empty or longer than `MAX_REASON_CHARS`.
        StoreError: the store is open for reading only.
    """
    reader.run(store, run)
    text = clean_foreign(reason, len(reason) + 1)
    if not text:
        raise ConfigError("A run is voided with a reason; say in a sentence what is wrong with it.")
    if len(text) > MAX_REASON_CHARS:
        raise ConfigError(
            f"The reason has {len(text)} characters; the rule is at most {MAX_REASON_CHARS}."
        )
    store.update_run(run, voided_reason=text)
    return text

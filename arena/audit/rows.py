"""Rows of the store as their frozen classes, exactly as they were written (None stays None)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

from arena.store.store import Store

R = TypeVar("R")


def load(store: Store, kind: type[R], tail: str, params: Sequence[Any] = ()) -> list[R]:
    """All rows of a table; `tail` is a constant WHERE or ORDER BY clause of ours, never user text."""
    columns = ", ".join(f'"{f.name}"' for f in fields(kind))  # type: ignore[arg-type]
    table = kind.TABLE  # type: ignore[attr-defined]
    with store.cursor() as cur:
        cur.execute(f"SELECT {columns} FROM {table} {tail}", list(params))
        return [kind(*values) for values in cur.fetchall()]


def stored_hashes(store: Store) -> set[str | None]:
    """Hashes of all stored texts, without the texts."""
    with store.cursor() as cur:
        cur.execute("SELECT sha256 FROM blobs")
        return {sha256 for (sha256,) in cur.fetchall()}

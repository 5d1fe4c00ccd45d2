"""The store: one DuckDB file, one process, one writer thread."""

from arena.store.store import Store, open_store

__all__ = ["Store", "open_store"]

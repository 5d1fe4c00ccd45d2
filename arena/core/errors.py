"""Errors, named for who must act. Every message says what, where and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ArenaError(Exception):
    """Base of every error the arena raises on purpose; its text is fit for a person."""


class ConfigError(ArenaError):
    """The operator gave something unusable (command line exit code 2)."""


class UnknownNameError(ConfigError):
    """A name that is not in a closed list of names.

    Builds the sentence in one place, so that every call site agrees.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1, cutoff=0.5) or [
            n for n in names if n.lower() == name.lower()
        ]
        hint = f" Did you mean `{close[0]}`?" if close else ""
        super().__init__(f"Unknown {kind} `{name}`.{hint} Known: {', '.join(names) or 'none'}.")


class DataError(ConfigError):
    """Price or news data that may not enter: it names the file, the row and the rule."""


class SourceError(ArenaError):
    """An outside source failed; try again later or use another one."""


class StoreError(ArenaError):
    """The store cannot be used as asked: locked, newer, damaged (command line exit code 2)."""


class StoreLockedError(StoreError):
    """Another process owns the store. `pid` is that process, where DuckDB names it."""

    def __init__(self, path: str, pid: int | None) -> None:
        self.path, self.pid = path, pid
        owner = f"process {pid}" if pid else "another process"
        super().__init__(
            f"The store `{path}` is owned by {owner}. Stop it, or use a reading command: "
            "those answer from the snapshot."
        )


class TooLongError(StoreError):
    """A reader's query was broken off after its time; asking for less may do."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"A query took longer than {seconds:g} s and was broken off. Ask for less: fewer rows, or a "
            "shorter time."
        )


class TooLargeError(TooLongError):
    """A reader's query did not fit into the memory of the database."""

    def __init__(self) -> None:
        StoreError.__init__(
            self, "A query needs more memory than the database has beside other visitors. Try again in a "
            "moment, or ask for less."
        )  # fmt: skip


class InvariantError(ArenaError):
    """A rule that our own code must keep is broken: a bug, or a store that was altered."""

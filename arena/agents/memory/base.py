"""What every memory can do: become plain values, and come back from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from arena.core.errors import ConfigError

Dump = Mapping[str, Any]


class Memory(Protocol):
    """A track's memory. The runner keeps its dump, in one transaction with the decision it belongs to.

    `dump` gives JSON-able values with the keys `kind` and `version`; equal memories give equal dumps.
    """

    def dump(self) -> dict[str, Any]: ...


def opened(dump: Dump, kind: str, version: int) -> Dump:
    """`dump`, if it is of this kind and not newer than `version`.

    Raises:
        ConfigError: another kind, or a newer version than this arena can read.
    """
    if dump.get("kind") != kind:
        raise ConfigError(
            f"A stored memory is of kind `{dump.get('kind')}`, the agent keeps `{kind}`. Use --new to "
            "start a run with a fresh memory."
        )
    if int(dump.get("version", 0)) > version:
        raise ConfigError(
            f"A stored memory `{kind}` is of version {dump['version']}; this arena reads up to "
            f"{version}. Update the arena, or use --new to start with a fresh memory."
        )
    return dump

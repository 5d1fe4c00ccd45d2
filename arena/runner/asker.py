"""Who asks for work: proof objects that are checked again where something is done, not where it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from arena.core.errors import ConfigError


class RefusedError(ConfigError):
    """What was asked for is not for this asker; the message says what is."""


@dataclass(frozen=True)
class Visitor:
    """Anybody. `origin` is a keyed hash (`audit_log.origin_of`), by which limits are counted."""

    who: ClassVar[str] = "visitor"
    origin: str

    def check(self) -> None:
        """A visitor proves nothing."""


@dataclass(frozen=True)
class Admin:
    """Somebody who showed that they may spend. `still` looks again whether that holds now."""

    who: ClassVar[str] = "admin"
    origin: str
    still: Callable[[], bool] = field(repr=False)

    def check(self) -> None:
        """
        Raises:
            RefusedError: the proof no longer holds (signed out, another token was set).
        """
        if not self.still():
            raise RefusedError("You are no longer signed in as the admin. Sign in again.")


@dataclass(frozen=True)
class Host:
    """The process itself, or a command on its machine: going on with what was allowed before."""

    who: ClassVar[str] = "host"
    origin: str = ""

    def check(self) -> None:
        """Whoever can start a process here owns the store's file."""


Asker = Visitor | Admin | Host

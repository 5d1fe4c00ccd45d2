"""What an agent is."""

from __future__ import annotations

from typing import Protocol

from arena.agents.desk import Desk
from arena.core.types import Decision


class Agent(Protocol):
    """A way of deciding. Agents keep no state of their own: what they know comes over the desk.

    `id` goes into ids and JSON, `label` is for people; `learns` says whether a warm-up is of use.
    """

    @property
    def id(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def learns(self) -> bool: ...

    async def decide(self, desk: Desk) -> Decision:
        """One decision for the desk's slot. A model that fails gives a Decision that says so."""
        ...

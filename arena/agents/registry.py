"""Agents by id or label."""

from __future__ import annotations

from typing import Protocol, TypeVar

from arena.agents.desk import Desk
from arena.core.errors import UnknownNameError
from arena.core.types import Decision


class Agent(Protocol):
    """`id` stands in keys and JSON, `label` on pages; `learns` asks for a warm-up."""

    id: str
    label: str
    learns: bool

    async def decide(self, desk: Desk) -> Decision:
        """One decision; failures of the model are a status, never an exception."""
        ...


_AGENTS: dict[str, Agent] = {}

A = TypeVar("A", bound=type)


def register(kind: A) -> A:
    """Class decorator: one instance under its id; a name clash is an error."""
    agent: Agent = kind()
    if agent.id in _AGENTS or agent.label in {a.label for a in _AGENTS.values()}:
        raise ValueError(f"agent `{agent.id}` is registered twice")
    _AGENTS[agent.id] = agent
    return kind


def get_agent(name: str) -> Agent:
    """The agent of that id or label.

    Raises:
        UnknownNameError: there is none, with the nearest that is.
    """
    _load_built_ins()
    for agent in _AGENTS.values():
        if name in (agent.id, agent.label):
            return agent
    raise UnknownNameError("agent", name, [n for a in _AGENTS.values() for n in (a.id, a.label)])


def known_agents() -> tuple[Agent, ...]:
    """All agents, in the order they were registered."""
    _load_built_ins()
    return tuple(_AGENTS.values())


def _load_built_ins() -> None:
    from arena.agents import vanilla  # noqa: F401 - importing registers it

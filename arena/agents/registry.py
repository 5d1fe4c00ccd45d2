"""Which agents exist. A module of this package that registers an agent is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from arena import agents
from arena.agents.base import Agent
from arena.core.errors import InvariantError, UnknownNameError

_AGENTS: dict[str, Agent] = {}

_WRAPPERS: dict[str, Callable[[Agent], Agent]] = {}

A = TypeVar("A", bound=Agent)


def register_agent(kind: type[A]) -> type[A]:
    """Class decorator: make the agent known under its id and its label."""
    agent = kind()
    taken = {name for a in _AGENTS.values() for name in (a.id, a.label)}
    if taken & {agent.id, agent.label}:
        raise InvariantError(f"two agents are called `{agent.id}` or `{agent.label}`; rename one")
    _AGENTS[agent.id] = agent
    return kind


def register_wrapper(prefix: str) -> Callable[[Callable[[Agent], Agent]], Callable[[Agent], Agent]]:
    """Make a function of an agent available as `prefix+<agent>`; wrappers may stand in a row."""

    def register(wrap: Callable[[Agent], Agent]) -> Callable[[Agent], Agent]:
        if prefix in _WRAPPERS:
            raise InvariantError(f"two wrappers are called `{prefix}`; rename one")
        _WRAPPERS[prefix] = wrap
        return wrap

    return register


@cache
def _load_modules() -> None:
    for module in pkgutil.iter_modules(agents.__path__, agents.__name__ + "."):
        importlib.import_module(module.name)


def known_agents() -> dict[str, Agent]:
    """All agents by id."""
    _load_modules()
    return dict(_AGENTS)


def get_agent(id_or_label: str) -> Agent:
    """The agent of that id or label, with wrappers before it: `masked+inverted+trade`.

    Raises:
        UnknownNameError: no such agent or wrapper; the message lists those that exist.
    """
    known = known_agents()
    prefix, plus, rest = id_or_label.partition("+")
    if plus:
        if prefix not in _WRAPPERS:
            raise UnknownNameError("wrapper of an agent", prefix, _WRAPPERS)
        return _WRAPPERS[prefix](get_agent(rest))
    by_label = {agent.label: agent for agent in known.values()}
    agent = known.get(id_or_label) or by_label.get(id_or_label)
    if agent is None:
        raise UnknownNameError("agent", id_or_label, known)
    return agent

"""Which agents exist: modules of this package, and those from outside (`arena.agents.external`).

A module of this package that registers an agent is found by itself, and one that cannot be loaded
is an error at once. An agent from outside that cannot be loaded says why when it is asked for; all
others go on.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from arena import agents
from arena.agents import external
from arena.agents.base import Agent
from arena.core.errors import ConfigError, InvariantError, UnknownNameError
from arena.core.settings import agents_file

_AGENTS: dict[str, Agent] = {}

_WRAPPERS: dict[str, Callable[[Agent], Agent]] = {}

_PREFIX_RULE = re.compile(r"[a-z0-9][a-z0-9_-]*")

BUILT_IN = "built in"

A = TypeVar("A", bound=Agent)


def register_agent(kind: type[A]) -> type[A]:
    """Class decorator: make the agent known under its id and its label.

    In an agent file it does nothing: there the entry of `data/agents.toml` makes the agent known.

    Raises:
        InvariantError: the class is no usable agent, or one of its two names is taken.
    """
    if external.is_agent_file(kind.__module__):
        return kind
    try:
        agent = external.made(kind)
    except ConfigError as error:
        raise InvariantError(f"{kind.__module__}: {error}") from error
    if {agent.id, agent.label} & _names(_AGENTS):
        raise InvariantError(f"two agents are called `{agent.id}` or `{agent.label}`; rename one")
    _AGENTS[agent.id] = agent
    return kind


def register_wrapper(prefix: str) -> Callable[[Callable[[Agent], Agent]], Callable[[Agent], Agent]]:
    """Make a function of an agent available as `prefix+<agent>`; wrappers may stand in a row."""

    def register(wrap: Callable[[Agent], Agent]) -> Callable[[Agent], Agent]:
        if prefix in _WRAPPERS:
            raise InvariantError(f"two wrappers are called `{prefix}`; rename one")
        if not _PREFIX_RULE.fullmatch(prefix):
            raise InvariantError(f"`{prefix}` is no prefix; use small letters, digits, `_` and `-`")
        _WRAPPERS[prefix] = wrap
        return wrap

    return register


@cache
def _load_modules() -> None:
    for module in pkgutil.iter_modules(agents.__path__, agents.__name__ + "."):
        importlib.import_module(module.name)


def known_agents() -> dict[str, Agent]:
    """All agents that can be asked for, by id: built in first, then those from outside."""
    return {**_built_in(), **_outside().agents}


def broken_agents() -> dict[str, str]:
    """Agents from outside that could not be loaded, by id, each with what is wrong and the fix.

    A list of agents that cannot be read at all stands here under its file name.
    """
    return dict(_outside().broken)


def agent_origin(agent_id: str) -> str:
    """Where an agent comes from: `built in`, its file with a hash, its package, or its URL."""
    return _outside().origins.get(agent_id, BUILT_IN)


def get_agent(id_or_label: str) -> Agent:
    """The agent of that id or label, with wrappers before it: `masked+inverted+trade`.

    Raises:
        UnknownNameError: no such agent or wrapper; the message lists those that exist.
        ConfigError: it comes from outside and could not be loaded; the message says why.
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
        raise _missing(id_or_label, known)
    return agent


def _missing(name: str, known: dict[str, Agent]) -> ConfigError:
    broken = broken_agents()
    if name in broken:
        return ConfigError(f"Agent `{name}` could not be loaded: {broken[name]}")
    unknown = UnknownNameError("agent", name, known)
    unread = broken.get(agents_file().name)
    return ConfigError(f"{unknown} {unread}") if unread else unknown


def _built_in() -> dict[str, Agent]:
    _load_modules()
    return _AGENTS


def _outside() -> external.Outside:
    return external.load_outside(agents_file(), frozenset(_names(_built_in())))


def _names(known: dict[str, Agent]) -> set[str]:
    return {name for agent in known.values() for name in (agent.id, agent.label)}

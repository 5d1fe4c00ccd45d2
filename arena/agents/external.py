"""Agents from outside the package: files and URLs listed in `data/agents.toml`, installed packages.

Each entry is loaded by itself. One that cannot be loaded is kept with a message that names the
place and the fix, so that a slip in one agent never takes the others along.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import metadata, util
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.agents.base import Agent
from arena.agents.remote.agent import RemoteAgent
from arena.agents.remote.entry import RemoteEntry
from arena.core.errors import ConfigError
from arena.core.hashing import sha256_text

ENTRY_POINTS = "agent_market_arena.agents"
"""Group under which an installed package offers agents: `id = "package.module:Class"`."""

ID_RULE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LABEL_CHARS = 60
RESERVED = frozenset({"buy_hold"})
RESERVED_LABELS = frozenset({"buy_hold", "buy & hold", "buy and hold", "vote"})
"""A guest must not be taken for the benchmark or for a vote."""

_FILE_MODULE = "arena_agent_file_"


class FileEntry(BaseModel):
    """An `[[agent]]` with a `path`; a relative one starts at the folder of the list."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str = Field(pattern=f"^{ID_RULE.pattern}$")
    path: Path


Load = Callable[[], tuple[Agent, str]]
"""Makes one agent and says where it comes from; a `ConfigError` of it concerns this agent alone."""


@dataclass(frozen=True)
class Outside:
    """Agents by id; what could not be loaded, with its message; and where each comes from."""

    agents: dict[str, Agent] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def load_outside(listed: Path, taken: frozenset[str]) -> Outside:
    """Agents of the list `listed` and of installed packages; read again when the list changes.

    `taken` are the ids and labels that exist already: an agent from outside never replaces one.
    """
    try:
        changed_ns = listed.stat().st_mtime_ns
    except OSError:
        changed_ns = 0
    return _load_outside(listed, changed_ns, taken)


@lru_cache(maxsize=8)
def _load_outside(listed: Path, changed_ns: int, taken: frozenset[str]) -> Outside:  # noqa: ARG001
    found = Outside()
    names = set(taken)
    for key, load in (*_listed(listed), *_packaged()):
        try:
            agent, origin = load()
        except ConfigError as error:
            found.broken.setdefault(key, str(error))
            continue
        if clash := sorted({agent.id, agent.label} & names):
            found.broken.setdefault(key, f"the name `{clash[0]}` is taken; choose another.")
            continue
        names |= {agent.id, agent.label}
        found.agents[agent.id], found.origins[agent.id] = agent, origin
    return found


def _listed(listed: Path) -> Iterator[tuple[str, Load]]:
    try:
        document = tomllib.loads(listed.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield listed.name, partial(_unreadable, f"{listed.name} cannot be read: {error}.")
        return
    rows = document.pop("agent", [])
    if document or not isinstance(rows, list):
        wrong = next(iter(document), "agent")
        yield listed.name, partial(_unreadable, f"{listed.name}: `{wrong}` is no [[agent]] entry.")
        return
    for n, row in enumerate(rows, 1):
        key = str(row.get("id", "")) if isinstance(row, dict) else ""
        yield key or f"{listed.name} entry {n}", partial(_from_row, listed, row)


def _packaged() -> Iterator[tuple[str, Load]]:
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda p: p.name):
        yield point.name, partial(_from_package, point)


def _unreadable(problem: str) -> tuple[Agent, str]:
    raise ConfigError(f"{problem} Correct or remove it.")


def _from_row(listed: Path, row: Any) -> tuple[Agent, str]:
    if not isinstance(row, dict) or ("path" in row) == ("url" in row):
        raise ConfigError(f"{listed.name}: an [[agent]] has either `path` (a file) or `url`.")
    try:
        entry = (FileEntry if "path" in row else RemoteEntry).model_validate(row)
    except ValidationError as error:
        raise ConfigError(f"{listed.name}: {_complaints(error)}. Correct the entry.") from error
    if isinstance(entry, RemoteEntry):
        remote = RemoteAgent(entry)
        check_names(remote)
        return remote, f"{entry.public_url} ({entry.protocol})"
    path = listed.parent / entry.path
    agent = load_file(path)
    if agent.id != entry.id:
        raise ConfigError(
            f"{path.name} calls its agent `{agent.id}`, the entry in {listed.name} `{entry.id}`; "
            "make them equal."
        )
    return agent, f"{path.name} sha256 {sha256_text(path.read_text(encoding='utf-8'))}"


def _from_package(point: metadata.EntryPoint) -> tuple[Agent, str]:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    try:
        kind = point.load()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"package {package}, `{point.value}`: {_said(error)}. Repair or uninstall it."
        ) from error
    agent = made(kind)
    if agent.id != point.name:
        raise ConfigError(
            f"package {package} calls its agent `{agent.id}` and its entry point `{point.name}`; "
            "make them equal."
        )
    return agent, f"package {package}"


def is_agent_file(module: str) -> bool:
    """Whether a module of that name was loaded by `load_file`."""
    return module.startswith(_FILE_MODULE)


def load_file(path: Path) -> Agent:
    """The agent that a Python file defines: exactly one class derived from `Agent`.

    The file is run once; later edits count after a restart.

    Raises:
        ConfigError: it cannot be read or run, or holds no usable agent; with file, line and fix.
    """
    path = path.resolve()
    if not path.is_file():
        raise ConfigError(f"there is no file `{path}`; correct the path.")
    name = _FILE_MODULE + sha256_text(str(path))[:16]
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"`{path.name}` is no Python file; its name must end in .py.")
    module = util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks annotations up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ConfigError(f"{blame(error, path)}. Correct that line and start again.") from error
    kinds = [
        v for v in vars(module).values()
        if isinstance(v, type) and issubclass(v, Agent) and v.__module__ == name
    ]  # fmt: skip
    if len(kinds) != 1:
        held = ", ".join(k.__name__ for k in kinds) or "none"
        raise ConfigError(f"{path.name} must define one class derived from Agent; it has {held}.")
    try:
        return made(kinds[0])
    except ConfigError as error:
        raise ConfigError(f"{path.name}: {error}") from error


def made(kind: Any) -> Agent:
    """An instance of an agent's class, checked for what would fail only later, in a run.

    Raises:
        ConfigError: what is missing or wrong.
    """
    if not (isinstance(kind, type) and issubclass(kind, Agent)):
        raise ConfigError(f"`{kind!r}` is no class derived from arena.agents.base.Agent.")
    try:
        agent = kind()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{kind.__name__}() failed: {_said(error)}. An agent is made without arguments."
        ) from error
    if not inspect.iscoroutinefunction(agent.decide) or kind.decide is Agent.decide:
        raise ConfigError(f"{kind.__name__} needs `async def decide(self, desk)`.")
    if agent.learns and kind.memory is Agent.memory:
        raise ConfigError(f"{kind.__name__} learns, so it needs `memory(self, dump=None)`.")
    check_names(agent)
    return agent


def check_names(agent: Agent) -> None:
    """Check id and label.

    Raises:
        ConfigError: one of them is missing or breaks its rule.
    """
    agent_id, label = getattr(agent, "id", None), getattr(agent, "label", None)
    if not isinstance(agent_id, str) or not ID_RULE.fullmatch(agent_id) or agent_id in RESERVED:
        raise ConfigError(
            f"`{agent_id}` cannot be an agent's id; use up to 40 small letters, digits, `_` and `-`, "
            f"starting with a letter or digit, and not {', '.join(sorted(RESERVED))}."
        )
    if not isinstance(label, str) or not label.strip() or len(label) > LABEL_CHARS or "+" in label \
            or not label.isprintable() or label.strip().casefold() in RESERVED_LABELS:  # fmt: skip
        raise ConfigError(
            f"`{label}` cannot be the label of `{agent_id}`; use 1 to {LABEL_CHARS} printable "
            "characters without `+`, and no name of the benchmark or the vote."
        )


def blame(error: BaseException, path: Path) -> str:
    """What went wrong and in which line of an agent's file."""
    return f"{path.name} line {_line(error, path.resolve())}: {_said(error)}"


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return str(error.lineno)
    frames = traceback.extract_tb(error.__traceback__)
    return next((str(f.lineno) for f in reversed(frames) if f.filename == str(path)), "unknown")


def _said(error: BaseException) -> str:
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _complaints(error: ValidationError) -> str:
    return "; ".join(f"`{'.'.join(map(str, e['loc'])) or 'entry'}`: {e['msg']}" for e in error.errors())

"""What a host looks at first: what is wrong, with what to do about it. Nothing here writes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import pandas as pd

from arena.agents.registry import agent_origin, broken_agents, known_agents
from arena.audit.background_check import LastCheck
from arena.audit.doctor import FREE_BYTES, PACKAGES
from arena.core import settings
from arena.core.actions import FAILED
from arena.core.clock import utc_now
from arena.core.errors import ConfigError, StoreError
from arena.llm.gateway import trouble
from arena.llm.registry import known_models
from arena.llm.roster import ModelInfo
from arena.runner.safety import safety
from arena.runner.service import ServiceState
from arena.runner.version import code_version
from arena.store import news_reader, reader
from arena.store.head import read_head
from arena.store.held_prices import held_prices
from arena.store.store import Store

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """`what` is wrong and `fix` is what to do; an error stops something, a warning does not."""

    level: Level
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class AgentFact:
    id: str
    label: str
    learns: bool
    origin: str
    what: str


@dataclass(frozen=True, slots=True)
class ModelFact:
    """`key` is the name of a variable, never its value. `problem` is empty where it could answer."""

    id: str
    kind: str
    key: str | None
    key_set: bool | None
    cutoff: str | None
    problem: str


def troubles(state: ServiceState, store: Store, last: LastCheck | None) -> list[Trouble]:
    """Everything that is known to be wrong, errors first."""
    found = [
        *_service(state, store), *_disk(store), *_head(store), *_check(last, reader.data_version(store)),
        *_runs(reader.runs(store), state.progress() is not None), *_round(store),
        *_sources(news_reader.source_health(store)), *_prices(held_prices(store)),
        *_agents(), *_copies(store),
    ]  # fmt: skip
    return sorted(found, key=lambda t: t.level != "error")


def _service(state: ServiceState, store: Store) -> list[Trouble]:
    found = []
    if state.ticker is not None and (live := state.ticker.live) is not None:
        if live.paused:
            found.append(Trouble("error", live.paused, "The pages go on reading meanwhile."))
        if live.unshown:
            found.append(Trouble("warning", live.unshown, "Viewers and other processes see an older copy."))
        found += [
            Trouble("error", f"Season {run} waits: {why}", "It is tried again with every tick.")
            for run, why in live.troubles.items()
        ]
    if state.keeper is not None and (held := state.keeper.trouble) is not None:
        found.append(Trouble("error", f"The runner waits. {held.what}", held.fix))
    if state.message and state.level in ("error", "warning"):
        level: Level = "error" if state.level == "error" else "warning"
        found.append(Trouble(level, state.message, "The log of the process says more."))
    elif store.read_only and settings.runner_enabled():
        found.append(
            Trouble("warning", "The store is open for reading only.", "Start the app again to write.")
        )
    return found


def _disk(store: Store) -> list[Trouble]:
    free = shutil.disk_usage(store.path.parent).free
    if free >= FREE_BYTES:
        return []
    return [
        Trouble("error", f"{free / 1e9:.1f} GB are free beside the store.", "Make room before it is full.")
    ]


def _head(store: Store) -> list[Trouble]:
    try:
        if store.age_s is not None or read_head(store.path) is not None or reader.runs(store).empty:
            return []
    except StoreError as error:
        return [Trouble("error", str(error), "Until then a lost tail would not be noticed.")]
    return [
        Trouble(
            "warning", "There is no head file beside the store: a lost tail would not be noticed.",
            "The next write makes one. If the store was copied, copy `.head.json` with it.",
        )
    ]  # fmt: skip


def _copies(store: Store) -> list[Trouble]:
    known = safety(store)
    upload = known["upload"]
    if upload is None or upload["error"] is None:
        return []
    since = "at all" if upload["at_utc"] is None else f"since {upload['at_utc'][:16].replace('T', ' ')} UTC"
    return [
        Trouble(
            "warning", f"No copy has left this disk {since}: {upload['error']}",
            "It is tried again by itself; the target is that of ARENA_UPLOAD_URL.",
        )
    ]  # fmt: skip


def _check(last: LastCheck | None, now: int) -> list[Trouble]:
    if last is None:
        return []
    if last.error:
        return [Trouble("error", f"The check of invariants broke off: {last.error}", "Run it again.")]
    assert last.report is not None
    n = last.report.n_breaches
    if not n:
        return []
    first = next(f for f in last.report.findings if f.level == "breach")
    old = "" if last.data_version == now else " (of an older state)"
    return [
        Trouble(
            "error", f"{n} {'breach' if n == 1 else 'breaches'} of invariants{old}, the first: {first.rule}: {first.text}",
            "Keep the file as it is, look at Invariants below, and go back to a backup if data are lost.",
        )
    ]  # fmt: skip


def _runs(runs: pd.DataFrame, working: bool) -> list[Trouble]:
    open_runs = runs[runs["voided_reason"].isna()]
    found = []
    for status, fix in (
        ("failed", "The run's note says why; the same command resumes it."),
        ("stopped", "The same command resumes it, with a larger budget where that was the reason."),
        ("running", "The same command resumes it."),
    ):
        own = open_runs[open_runs["status"] == status]
        if status == "running":  # a live season always is, and jobs tell of their own runs
            own = own[(own["kind"] != "live") & ~own["workbench"]]
        elif status == "stopped":  # whoever stopped a run of their own meant it
            own = own[~own["workbench"]]
        names = list(own["run"])
        if names and not (status == "running" and working):
            many = f"{len(names)} runs are" if len(names) > 1 else "A run is"
            words = "left unfinished" if status == "running" else status
            level: Level = "error" if status == "failed" else "warning"
            found.append(Trouble(level, f"{many} {words}: {', '.join(names[:3])}.", fix))
    return found


def newest_round(store: Store) -> dict[str, Any] | None:
    """The newest round of the live seasons that go on, with its `run`; without one, of the newest
    official run. As `reader.last_round`, None without any."""
    runs = reader.runs(store)
    runs = runs[runs["voided_reason"].isna() & ~runs["workbench"]]
    live = runs[(runs["kind"] == "live") & (runs["status"] == "running")]
    found = [(str(run), reader.last_round(store, str(run))) for run in (live if len(live) else runs[:1])["run"]]
    known = [{"run": run, **last} for run, last in found if last is not None]
    return max(known, key=lambda last: last["as_of_utc"], default=None)


def _round(store: Store) -> list[Trouble]:
    last = newest_round(store)
    if last is None:
        return []
    failed = sum(last["statuses"].get(s, 0) for s in FAILED)
    if not failed:
        return []
    return [
        Trouble(
            "warning",
            f"{failed} of {last['n_decisions']} decisions of the newest round failed "
            f"({last['as_of_utc']:%d %b %Y %H:%M} UTC).",
            "Open one under Decisions: its status and its calls say what the model did.",
        )
    ]


def _sources(rows: Sequence[Mapping[str, Any]]) -> list[Trouble]:
    bad = [r for r in rows if r["status"] != "ok"]
    if not bad:
        return []
    level: Level = "error" if len(bad) == len(rows) else "warning"
    names = ", ".join(f"{r['source']} ({r['status']})" for r in bad)
    return [
        Trouble(
            level, f"{len(bad)} of {len(rows)} sources did not answer last time: {names}.",
            "They are asked again by themselves; a key that is missing is named under Sources.",
        )
    ]  # fmt: skip


def _prices(checks: pd.DataFrame) -> list[Trouble]:
    kept = checks[checks["kind"] == "quarantine"]
    if kept.empty:
        return []
    return [
        Trouble(
            "warning", f"{len(kept)} days of prices are in quarantine: {', '.join(sorted(set(kept['asset'])))}.",
            "A split, a second source that agrees or five sessions at the new level lift it; nothing is "
            "decided on such a day until then.",
        )
    ]  # fmt: skip


def _agents() -> list[Trouble]:
    return [
        Trouble("warning", f"Agent {name} could not be loaded: {why}", "The other agents go on.")
        for name, why in broken_agents().items()
    ]


def agent_facts() -> list[AgentFact]:
    """Every agent that can be asked for, with what its module says of it; a further agent of the same
    module with what its own class says."""
    found, told = [], set[str]()
    for agent in known_agents().values():
        kind = type(agent)
        own = kind.__doc__ if kind.__module__ in told else sys.modules[kind.__module__].__doc__
        told.add(kind.__module__)
        first = " ".join((own or "").strip().split("\n\n")[0].split())
        what = first.removeprefix(f"{agent.label}: ")
        found.append(AgentFact(agent.id, agent.label, agent.learns, agent_origin(agent.id), what))
    return found


def model_facts() -> list[ModelFact]:
    """Every model of the roster, and whether it could answer as far as can be told without asking."""
    return [
        ModelFact(
            info.id,
            "rule" if info.kind == "stand_in" else info.kind,
            info.key_env,
            None if info.key_env is None else settings.secret(info.key_env) is not None,
            None if info.knowledge_cutoff is None else str(info.knowledge_cutoff),
            _short(info),
        )
        for info in known_models().values()
    ]


def _short(info: ModelInfo) -> str:
    """Why a model could not answer, in a few words; empty where nothing is known to be wrong."""
    if not trouble(info):
        return ""
    return f"retired on {info.retired}" if info.retired_on(utc_now().date()) else "its key is not set"


def versions() -> dict[str, str]:
    """Code, Python and packages; a package is looked up, not imported."""
    found = {"arena": code_version(), "python": ".".join(map(str, sys.version_info[:3]))}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def switches() -> dict[str, str]:
    """The settings of this process in words; of a secret only whether it is set."""
    try:
        data = settings.data_choice()
    except ConfigError as error:
        data = str(error)
    return {
        "ARENA_DATA": data.split(":")[0] if data.startswith("files:") else data,
        "ARENA_RUNNER": "on" if settings.runner_enabled() else "off: no rounds, no writing",
        "ARENA_NETWORK": "on" if settings.network_allowed() else "off: no source, no remote model",
        "ARENA_ADMIN_TOKEN": "set" if settings.admin_token() else "not set: pages only show",
    }

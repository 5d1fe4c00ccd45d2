"""Ad-hoc runs: what marks them, and when they go. Official runs are never deleted, only voided."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from arena.core.errors import ConfigError
from arena.core.settings import visitor_limits
from arena.runner.asker import Asker, Visitor
from arena.runner.audit_log import record
from arena.store import jobs_reader, reader
from arena.store.deleting import delete_runs
from arena.store.store import Store


def columns(by: str, now_utc: datetime) -> dict[str, Any]:
    """Columns of the rows of runs that a job makes; a visitor's expire."""
    expires = now_utc + timedelta(days=visitor_limits().keep_days) if by == Visitor.who else None
    return {"workbench": True, "expires_at_utc": expires}


def sweep(store: Store, now_utc: datetime) -> list[str]:
    """Delete runs whose time is over, but for those that a job is at; returns their ids."""
    runs = reader.runs(store)
    over = runs["workbench"] & (runs["expires_at_utc"] <= now_utc)
    busy = {base_of(str(j["run"])) for j in jobs_reader.open_jobs(store) if j["run"]}
    gone = [str(r) for r in runs.loc[over, "run"] if base_of(str(r)) not in busy]
    if gone:
        delete_runs(store, gone)
        record(store, "host", "delete", {"runs": gone, "why": "expired"})
    return gone


def delete(store: Store, run: str, by: Asker) -> list[str]:
    """Delete an ad-hoc run, all its epochs, for an admin; returns their ids.

    Raises:
        ConfigError: not an admin, an official run, one that a job is at, or no such run.
    """
    by.check()
    if isinstance(by, Visitor):
        raise ConfigError("Deleting a run needs the admin.")
    chosen = epochs_of(reader.runs(store)["run"], run)
    rows = [reader.run(store, r) for r in chosen or [run]]
    if official := [r["run"] for r in rows if not r["workbench"]]:
        raise ConfigError(
            f"{official[0]} is no ad-hoc run; it can be voided on Health, and stays."
        )
    if any(j["run"] and base_of(str(j["run"])) == base_of(run) for j in jobs_reader.open_jobs(store)):
        raise ConfigError(f"A job is at {run}; stop it first.")
    delete_runs(store, chosen)
    record(store, by.who, "delete", {"runs": chosen}, by.origin)
    return chosen


def keep(store: Store, run: str) -> None:
    """An ad-hoc run that somebody asks for who may keep it no longer expires."""
    runs = reader.runs(store)
    for found in epochs_of(runs.loc[runs["expires_at_utc"].notna(), "run"], run):
        store.update_run(found, expires_at_utc=None)


def base_of(run: str) -> str:
    """A run's name without its epoch."""
    return run.rsplit("-e", 1)[0]


def epochs_of(runs: Iterable[str], run: str) -> list[str]:
    """All epochs among `runs` of what `run` is one epoch of."""
    return sorted(r for r in runs if base_of(r) == base_of(run))

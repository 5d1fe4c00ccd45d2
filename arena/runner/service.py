"""The embedded runner: one per process, started before the first visitor, stopped on SIGTERM.

`ensure_started` is called by the app's lifespan and by every page run; only the first call does
anything. It never raises and never blocks on the network: slow work happens in one daemon thread,
and what went wrong is a message for the page.
"""

from __future__ import annotations

import logging
import sys
import threading
import types
from dataclasses import dataclass, field
from typing import Literal

from arena.core.errors import ArenaError, StoreLockedError
from arena.core.settings import (
    RUNTIME,
    data_choice,
    network_allowed,
    recorded_runs,
    runner_enabled,
    store_path,
)
from arena.store import reader
from arena.store.load import load_export
from arena.store.store import Store, open_store

log = logging.getLogger("arena.service")



@dataclass
class ServiceState:
    """What pages need to know. `store` is None until it is open, or when it cannot be opened."""

    store: Store | None = None
    data_choice: str = "auto"
    message: str | None = None
    level: Literal["ok", "info", "warning", "error"] = "ok"
    stop_event: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    work: tuple[float, str] | None = None

    def progress(self) -> tuple[float, str] | None:
        """(share done, words) of work going on in the background, or None."""
        return self.work

    def say(self, level: Literal["ok", "info", "warning", "error"], message: str | None) -> None:
        self.level, self.message = level, message


class _Process(types.ModuleType):
    """Process-wide state on a module without a file: code reloads cannot evict or double it."""

    def __init__(self) -> None:
        super().__init__("_arena_process_state")
        self.lock = threading.RLock()
        self.state: ServiceState | None = None


def _process() -> _Process:
    return sys.modules.setdefault("_arena_process_state", _Process())  # type: ignore[return-value]


def ensure_started() -> ServiceState:
    """The process's one service; starts it on the first call."""
    process = _process()
    with process.lock:
        if process.state is None:
            process.state = state = ServiceState()
            state.thread = threading.Thread(
                target=_guarded, args=(state,), name="arena-service", daemon=True
            )
            state.thread.start()
        return process.state


def stop(timeout_s: float = 2.0) -> None:
    """Ask the worker to end, wait a moment, close the store; what was running resumes next time."""
    process = _process()
    with process.lock:
        state, process.state = process.state, None
    if state is None:
        return
    state.stop_event.set()
    if state.thread is not None:
        state.thread.join(timeout_s)
        if state.thread.is_alive():
            # A commit may be under way; the store survives the exit, an early close would not help.
            return
    if state.store is not None:
        state.store.close()


def _guarded(state: ServiceState) -> None:
    try:
        _start(state)
    except ArenaError as error:
        log.warning("%s", error)
        state.say("error", str(error))
    except Exception as error:
        log.exception("the background worker failed")
        state.say("error", f"The background worker failed: {type(error).__name__}: {error}")
    finally:
        state.work = None


def _start(state: ServiceState) -> None:
    state.work = (0.0, "Opening the store")
    state.data_choice = choice = resolve_choice(data_choice())
    path = store_path(choice)
    if not runner_enabled():
        state.store = open_store(path, read=True, snapshot_ok=True)
        _say_age(state)
        return
    try:
        state.store = store = open_store(path)
    except StoreLockedError as error:
        state.store = open_store(path, read=True, snapshot_ok=True)
        state.say("warning", f"{error} This page shows its snapshot.")
        return
    _first_run(state, store, choice)


def _say_age(state: ServiceState) -> None:
    if state.store is not None and state.store.age_s is not None:
        state.say("warning", "Another process owns the store; this page shows its snapshot.")


def resolve_choice(choice: str) -> str:
    """`auto` is live once a live store exists or a price source answers within 10 s, else sample."""
    if choice != "auto":
        return choice
    if (RUNTIME / "live.duckdb").exists():
        return "live"
    if not network_allowed():
        return "sample"
    from arena.market.sources.live import reachable

    return "live" if reachable(timeout_s=10) else "sample"


def _first_run(state: ServiceState, store: Store, choice: str) -> None:
    """Fill an empty store, finish a replay that was cut off, and add the sample's recorded runs."""
    runs = reader.runs(store)
    recorded = [f for f in recorded_runs() if f.name not in set(runs["run"])]
    own = runs[~runs["run"].isin([folder.name for folder in recorded_runs()])]
    cut_off = (own["kind"] == "replay") & (own["status"] != "done") & own["voided_reason"].isna()
    unfinished = own.loc[cut_off, ["spec_json", "epoch"]].itertuples(index=False)
    if own.empty or cut_off.any():
        from arena.runner.first_run import fill_store, goes_on_free
        from arena.runner.replay import Tick

        def show(tick: Tick) -> None:
            share = tick.done / max(tick.planned, 1)
            state.work = (share, f"Replaying {tick.where}: {tick.done} of {tick.planned} decisions")

        found = [(str(text), int(epoch)) for text, epoch in unfinished if goes_on_free(str(text))]
        if own.empty:
            fill_store(store, choice, None, show, state.stop_event)
        for text, epoch in found[:1]:
            fill_store(store, choice, text, show, state.stop_event, epochs=epoch)
    # Last, so that a page that was opened meanwhile shows the run that is being made.
    if choice == "sample" and not state.stop_event.is_set():
        for folder in recorded:
            load_export(store, folder)

"""The embedded runner: one per process, started before the first visitor, stopped on SIGTERM.

`ensure_started` is called by the app's lifespan and by every page run; only the first call does
anything. It never raises and never blocks on the network: slow work happens in one daemon thread,
and what went wrong is a message for the page.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arena.core.clock import utc_now
from arena.core.errors import ArenaError, SourceError, StoreLockedError
from arena.core.memory import give_back
from arena.core.settings import (
    RUNTIME,
    data_choice,
    follow_url,
    network_allowed,
    recorded_runs,
    runner_enabled,
    store_path,
    tick_s,
    upload_url,
)
from arena.store import reader
from arena.store.load import load_export
from arena.store.store import Store, open_store

if TYPE_CHECKING:
    from arena.runner.jobs import Jobs
    from arena.runner.keeper import Keeper
    from arena.runner.ticking import Ticker
    from arena.runner.viewer import Viewer

log = logging.getLogger("arena.service")

ASK_AGAIN_S = 60.0


@dataclass
class ServiceState:
    """What pages need to know. `store` is None until it is open, or when it cannot be opened.

    `jobs` and `ticker` are None in a viewer, and until the store is open.
    """

    store: Store | None = None
    folder: Path | None = None
    data_choice: str = "auto"
    message: str | None = None
    level: Literal["ok", "info", "warning", "error"] = "ok"
    stop_event: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    work: tuple[float, str] | None = None
    jobs: Jobs | None = None
    ticker: Ticker | None = None
    viewer: Viewer | None = None
    locked: str | None = None
    """Who owns the store, where that is another process."""
    clock: Any = None

    @property
    def paused(self) -> str | None:
        """Why the runner waits, and what to do; None while it does not."""
        return self._public(self.ticker.paused) if self.ticker is not None else None

    @property
    def keeper(self) -> Keeper | None:
        return self.ticker.keeper if self.ticker is not None else None

    @property
    def deciding(self) -> bool:
        """Whether live rounds are being carried out."""
        live = self.ticker.live if self.ticker is not None else None
        return live is not None and live.deciding

    def before_a_round_shows(self, work: Callable[[Store], None]) -> None:
        """Do `work` at the end of each round, while pages still show the state before it."""
        if self.ticker is not None and self.ticker.live is not None:
            self.ticker.live.prepare = work

    def progress(self) -> tuple[float, str] | None:
        """(share done, words) of work going on in the background, or None."""
        return self.work

    def say(self, level: Literal["ok", "info", "warning", "error"], message: str | None) -> None:
        self.level, self.message = level, self._public(message)

    def _public(self, text: str | None) -> str | None:
        """Without the store's folder: visitors read it as well."""
        return text if text is None or self.folder is None else text.replace(f"{self.folder}/", "…/")


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
            give_back()
            process.state = state = ServiceState()
            state.thread = threading.Thread(
                target=_guarded, args=(state,), name="arena-service", daemon=True
            )
            state.thread.start()
        return process.state


def stop(timeout_s: float = 1.5) -> None:
    """Ask the worker to end, wait a moment, close the store; what was running resumes next time."""
    process = _process()
    with process.lock:
        state, process.state = process.state, None
    if state is None:
        return
    state.stop_event.set()
    ends_at = time.monotonic() + timeout_s
    if state.clock is not None:
        state.clock.shutdown(wait=False)
    if state.jobs is not None:
        state.jobs.stop(timeout_s / 2)
    if state.thread is not None:
        state.thread.join(max(0.0, ends_at - time.monotonic()))
        if state.thread.is_alive():
            # A commit may be under way; the store survives the exit, an early close would not help.
            return
    if state.ticker is not None and not state.ticker.end(max(0.1, ends_at - time.monotonic())):
        return
    if state.viewer is not None:
        state.viewer.close()
    elif state.store is not None:
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
    state.folder = path.parent
    if not runner_enabled():
        _show(state, path, choice)
        return
    while not state.stop_event.is_set():
        try:
            if _own(state, path, choice):
                return
        except StoreLockedError as error:
            state.locked = str(error)
            state.say("warning", f"{error} This page shows its snapshot and follows it.")
            _view(state, path, "owner")
            state.locked = None
        state.say("ok", None)


def _own(state: ServiceState, path: Path, choice: str) -> bool:
    """Be the owner: jobs, the first run of an empty store, then the clock. False where the store was
    damaged, and something else was put in its place meanwhile.

    Raises:
        StoreLockedError: another process is.
    """
    from arena.runner.jobs import Jobs
    from arena.runner.keeper import Keeper
    from arena.runner.ticking import Ticker, by_name, note, start_clock
    from arena.store.damage import open_guarded
    from arena.store.restore import restore_missing

    restored = None
    if (target := upload_url()) is not None and not path.exists():
        state.work = (0.0, "Looking for a copy of the store at the upload target")
        try:
            restored = restore_missing(target, path, utc_now())
        except SourceError as error:
            # A new store in its place would soon be uploaded over the lost one.
            state.say("error", f"{error} It is asked again every minute; nothing begins anew meanwhile.")
            state.stop_event.wait(ASK_AGAIN_S)
            return False
    store, trouble = open_guarded(path)
    if store is None:
        state.say("error", str(trouble))
        # A disk that was full is tried again, a damaged file waits for another.
        _view(state, path, "owner" if trouble is not None and trouble.kind == "full" else "repair")
        return False
    state.store = store
    if restored is not None:
        note(store, "restored", "from the upload target, as there was no store here")
        store.snapshot()
    state.ticker = Ticker.of(store, choice, Keeper(store, trouble), state.stop_event)
    if trouble is None:
        state.jobs = Jobs(store, choice)
        state.jobs.start()
        try:
            _first_run(state, store, choice)
        except Exception as error:
            # The seasons go on without it, and ask again by themselves; so does the keeper.
            if not isinstance(error, ArenaError):
                log.exception("the first run")
            said = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
            note(store, "first run failed", said)
            state.say("warning", f"The pages could not be filled with a replay. {said}")
        state.work = None
    if not state.stop_event.is_set():
        state.clock = start_clock(store, by_name(state.ticker))
    return True


def _show(state: ServiceState, path: Path, choice: str) -> None:
    """Without a runner. A live store is shown by its snapshots: whoever decides on it, or will, must find
    it free."""
    if follow_url() is None and choice != "live":
        try:
            state.store = open_store(path, read=True)
        except StoreLockedError:
            state.say("warning", "Another process owns the store; this page shows its snapshot.")
        else:
            return
    _view(state, path, "nobody")


def _view(state: ServiceState, path: Path, waits_for: Literal["owner", "repair", "nobody"]) -> None:
    """Show the newest copy until the process ends, or until an owner may be started here."""
    from arena.runner.viewer import Viewer

    state.viewer = viewer = Viewer(path, utc_now(), waits_for, follow_url=follow_url())
    state.work = None
    before = (state.level, state.message)
    while True:
        state.store = viewer.store
        if viewer.store is not None:
            state.say(*before)
        elif before[0] != "error":
            state.say("error", viewer.problem or f"There is no snapshot of `{path.name}` to show yet.")
        if state.stop_event.wait(tick_s() / 2):
            return
        viewer.tick(utc_now())
        if viewer.may_start:
            state.viewer, state.store = None, None
            viewer.close()
            return


def resolve_choice(choice: str) -> str:
    """`auto` is live once a live store exists, where one is uploaded, or where a price source answers
    within 10 s; else sample."""
    if choice != "auto":
        return choice
    if (RUNTIME / "live.duckdb").exists():
        return "live"
    if not network_allowed():
        return "sample"
    if upload_url() is not None:
        # On an empty disk the sample would otherwise be mixed into the arena that comes back from there.
        return "live"
    from arena.market.sources.live import reachable

    return "live" if reachable(timeout_s=10) else "sample"


def _first_run(state: ServiceState, store: Store, choice: str) -> None:
    """Fill an empty store, finish a replay that was cut off, and add the sample's recorded runs."""
    runs = reader.runs(store)
    recorded = [f for f in recorded_runs() if f.name not in set(runs["run"])]
    listed = [folder.name for folder in recorded_runs()]
    # Ad-hoc runs are the queue's, and no reason to think that the store was filled.
    own = runs[~runs["run"].isin(listed) & ~runs["workbench"]]
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

"""The thread that works off the queue of jobs, one at a time, the oldest first."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from arena.core.clock import Clock
from arena.core.errors import ArenaError, StoreError
from arena.llm.gateway import forget_key
from arena.llm.redact import keeping_out, redact
from arena.runner import workbench
from arena.runner.admitting import goes_on_by_itself
from arena.runner.asker import Host, Visitor
from arena.runner.audit_log import record
from arena.runner.job_request import request_of, to_spec
from arena.runner.job_run import Standing, carry_out
from arena.runner.replay import RunResult
from arena.store import jobs_reader, reader
from arena.store.host_writer import set_job
from arena.store.jobs_reader import Job
from arena.store.store import Store

log = logging.getLogger("arena.jobs")

IDLE_S = 5.0
SWEEP_EVERY_S = 3600.0
MOST_TRIES = 2
CUT_OFF = "The process ended while this ran."
IN_MEMORY = "was kept in memory only, and is gone"


class Worker:
    """Takes waiting jobs and writes down how they go. Keys of askers live here, until their job ends."""

    def __init__(self, store: Store, choice: Callable[[], str], clock: Clock) -> None:
        self.store, self._choice, self._clock = store, choice, clock
        self._lock = threading.Lock()
        self._woken, self._ending = threading.Event(), threading.Event()
        self._stops: dict[str, threading.Event] = {}
        self._own_keys: dict[str, Mapping[str, str]] = {}
        self._thread: threading.Thread | None = None
        self._swept_s = -SWEEP_EVERY_S

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="arena-jobs", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        self._ending.set()
        with self._lock:
            for event in self._stops.values():
                event.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self) -> None:
        self._woken.set()

    def keep(self, job_id: str, own_keys: Mapping[str, str]) -> None:
        """Hold the keys of a job that is about to be queued."""
        with self._lock:
            self._own_keys[job_id] = dict(own_keys)

    def forget_keys(self, job_id: str) -> None:
        """Let go of the keys of a job that is over, or never was queued."""
        with self._lock:
            own_keys = self._own_keys.pop(job_id, {})
            still = {key for held in self._own_keys.values() for key in held.values()}
        for key in set(own_keys.values()) - still:
            forget_key(key)

    def halt(self, job_id: str) -> bool:
        """Stop a job that is under way after its current slot; False where it is not."""
        with self._lock:
            event = self._stops.get(job_id)
        if event is not None:
            event.set()
        return event is not None

    def recover(self) -> None:
        """Jobs that were running when the last process ended."""
        cut = [j for j in jobs_reader.jobs(self.store, most=1000) if j["status"] in ("running", "interrupted")]
        for job in cut:
            own_keys: tuple[str, ...] = ()
            try:
                request = request_of(job)
                own_keys = request.own_keys
                free = goes_on_by_itself(request, to_spec(request, self._choice(), self._clock().date()))
            except ArenaError:  # whoever retries it is told
                free = False
            if free and not job["stop_asked"] and self._worth_another_try(job):
                self._update(job["job"], status="queued", step="goes on after a restart", error=None,
                             finished_at_utc=None)  # fmt: skip
            elif job["status"] == "running":
                why = f" The key that it ran on {IN_MEMORY}." if own_keys else ""
                self.end(job["job"], "interrupted", f"{CUT_OFF}{why}")

    def _worth_another_try(self, job: Job) -> bool:
        """False from the third time on that the process ended at the same decision: it may be the job
        itself (too large for this machine) that ends it, and nobody could start the arena again."""
        if job["status"] == "interrupted":  # ended in good order
            return True
        at = {"job": job["job"], "n_done": job["n_done"]}
        tried = jobs_reader.n_audited(self.store, "goes on", at)
        if tried < MOST_TRIES:
            record(self.store, Host.who, "goes on", at)
        return tried < MOST_TRIES

    def _work(self) -> None:
        while not self._ending.is_set():
            try:
                job = self._take()
                if job is not None:
                    with keeping_out(self._own_keys.get(job["job"], {}).values()):
                        self._run(job)
                    continue
                self._sweep()
            except StoreError as error:
                log.warning("The queue cannot be worked off: %s", error)
            except Exception:
                # The thread must outlive a slip, or every later job would wait for ever.
                log.exception("The queue cannot be worked off")
            self._woken.wait(IDLE_S)
            self._woken.clear()

    def _take(self) -> Job | None:
        """The oldest waiting job, marked as running."""
        waiting = [j for j in jobs_reader.open_jobs(self.store) if j["status"] == "queued"]
        if not waiting:
            return None
        job = waiting[0]
        with self._lock:
            self._stops[job["job"]] = threading.Event()
        self._update(job["job"], status="running", step="starting", started_at_utc=self._clock())
        return job

    def _run(self, job: Job) -> None:
        job_id = job["job"]
        stop, own_keys = self._stops[job_id], self._own_keys.get(job_id, {})
        try:
            if jobs_reader.job(self.store, job_id)["stop_asked"]:
                self.end(job_id, "stopped", "stopped before it began")
                return
            request = request_of(job)
            if missing := set(request.own_keys) - set(own_keys):
                self.end(job_id, "interrupted", f"The key for {min(missing)} {IN_MEMORY}.")
                return
            if job["requested_by"] != Visitor.who:
                workbench.keep(self.store, str(job["run"]))
            result, standing = carry_out(
                request, self._choice(), self.store, own_keys=own_keys, stop=stop,
                columns=workbench.columns(job["requested_by"], self._clock()),
                tell=lambda s: self._tell(job_id, s), n_planned=job["n_planned"],
                today=job["created_at_utc"].date(), now_utc=self._clock(),
            )  # fmt: skip
            self._tell(job_id, standing)
            self.end(job_id, *self._outcome(result))
        except ArenaError as error:
            self._fail(job_id, str(error))
        except Exception as error:
            log.exception("%s failed", job_id)
            self._fail(job_id, f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._stops.pop(job_id, None)
            self.forget_keys(job_id)

    def _outcome(self, result: RunResult) -> tuple[str, str | None]:
        if result.budget_stop:
            return "stopped", result.budget_stop
        if not result.stopped:
            return "done", None
        return ("interrupted", CUT_OFF) if self._ending.is_set() else ("stopped", "stopped as asked")

    def _fail(self, job_id: str, why: str) -> None:
        self.end(job_id, "failed", redact(why))
        first = jobs_reader.job(self.store, job_id)["run"]
        runs = reader.runs(self.store)
        for run in workbench.epochs_of(runs.loc[runs["status"] == "running", "run"], str(first)):
            self.store.update_run(run, status="failed", finished_at_utc=self._clock())

    def _tell(self, job_id: str, now: Standing) -> None:
        self._update(
            job_id, n_done=now.n_done, spent_usd=now.spent_usd, eta_s=now.eta_s, step=redact(now.step)
        )

    def end(self, job_id: str, status: str, error: str | None) -> None:
        self._update(job_id, status=status, error=error, eta_s=None, finished_at_utc=self._clock())

    def _sweep(self) -> None:
        if time.monotonic() - self._swept_s >= SWEEP_EVERY_S:
            self._swept_s = time.monotonic()
            workbench.sweep(self.store, self._clock())

    def _update(self, job_id: str, **fields: Any) -> None:
        set_job(self.store, job_id, fields)

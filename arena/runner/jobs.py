"""Jobs: what somebody asked for, one at a time, the oldest first.

The table is the truth: a job outlives its tab and its process. One thread of this process works;
what it was at when the process ended goes on by itself where nobody is paid for it, and else waits
for an admin.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena.core.clock import Clock, utc_now
from arena.core.errors import ArenaError, ConfigError, StoreError
from arena.core.hashing import canonical_json
from arena.core.rows import WriteUnit
from arena.core.rows_host import JobRow
from arena.core.settings import visitor_limits
from arena.market.sources import open_source
from arena.runner import workbench
from arena.runner.admitting import admit, may_touch, queue_allows, room_for, usable
from arena.runner.asker import Asker, RefusedError
from arena.runner.audit_log import record, refusal
from arena.runner.estimate import estimate
from arena.runner.job_request import (
    JobRequest,
    Problems,
    find_problems,
    read_request,
    request_of,
    to_spec,
)
from arena.runner.job_run import enrol
from arena.runner.job_worker import Worker
from arena.runner.replay import fresh_spec
from arena.store import jobs_reader
from arena.store.host_writer import add_job, set_job
from arena.store.jobs_reader import Job
from arena.store.store import Store

OVER = ("done", "failed", "stopped", "interrupted")


class Refusal(RefusedError):
    """A request that cannot be begun; `problems` says what stands in the way, by field."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


class Jobs:
    """The queue of one store, and the thread that works it off.

    Args:
        choice: which data the store is for; None asks the service of the process.
    """

    def __init__(self, store: Store, choice: str | None = None, clock: Clock = utc_now) -> None:
        self.store, self._choice, self._clock = store, choice, clock
        self._worker = Worker(store, lambda: self.choice, clock)

    @property
    def choice(self) -> str:
        if self._choice is None:
            from arena.runner.service import ensure_started

            return ensure_started().data_choice
        return self._choice

    def start(self) -> None:
        """Take up what was cut off, then work in the background."""
        self._worker.recover()
        self._worker.start()

    def stop(self, timeout_s: float) -> None:
        """End at the next slot, or leave it to the next start after `timeout_s`."""
        self._worker.stop(timeout_s)

    def wake(self) -> None:
        """Look at the queue now."""
        self._worker.wake()

    def submit(
        self, request: JobRequest, by: Asker, own_keys: Mapping[str, str] = {}, *, new: bool = False
    ) -> str:
        """Queue a request; its job's id. `new` makes another run even where this one exists.

        `own_keys` (variable: key) are the asker's; they stay in memory and end with the job.

        Raises:
            Refusal: what is wrong, by field.
            RefusedError, ConfigError: not for this asker, or nobody could carry it out.
        """
        try:
            return self._submit(request, by, usable(own_keys), new=new)
        except RefusedError as error:
            detail = {"why": str(error), "title": request.title, "kind": request.kind}
            refusal(self.store, by.who, "refused", detail, by.origin)
            raise

    def _submit(
        self, request: JobRequest, by: Asker, own_keys: Mapping[str, str], *, new: bool
    ) -> str:
        now, choice = self._clock(), self.choice
        source = open_source(choice)
        if problems := find_problems(request, source, now.date()):
            raise Refusal(problems)
        spec = to_spec(request, choice, now.date())
        if new and request.kind == "replay":
            spec = fresh_spec(self.store, spec)
        request = request.model_copy(
            update={"ordinal": spec.ordinal, "brief": spec.brief, "own_keys": tuple(sorted(own_keys))}
        )
        admit(request, spec, by, own_keys, self.store)
        row = JobRow(
            job=f"job-{secrets.token_hex(5)}", kind=request.kind, title=request.title,
            request_json=canonical_json(request.model_dump(mode="json")),
            requested_by=by.who, origin=by.origin, status="queued", step="waiting",
            n_done=0, n_planned=0, spent_usd=0.0, budget_usd=request.budget_usd, eta_s=None,
            run=spec.run_id(), error=None, stop_asked=False,
            created_at_utc=now, started_at_utc=None, finished_at_utc=None,
        )  # fmt: skip
        if request.kind == "season":
            return self._enrol(row, request, choice, by)
        # How much there is to do is known once for all; a resumed job counts what is done already.
        size = estimate(spec, source.assets(), epochs=request.epochs)
        row = replace(row, n_planned=size.n_decisions + size.n_warmup)
        room_for(row.n_planned, by, self.store)
        self._queue(row, by, own_keys)
        record(self.store, by.who, "launch", {"job": row.job, "run": row.run, "title": row.title,
               "budget_usd": row.budget_usd, "own_keys": list(request.own_keys)}, by.origin)  # fmt: skip
        self.wake()
        return row.job

    def _enrol(self, row: JobRow, request: JobRequest, choice: str, by: Asker) -> str:
        now = self._clock()
        run = enrol(request, choice, self.store, by.who, now)
        over = replace(row, run=run, status="done", step="enrolled", started_at_utc=now, finished_at_utc=now)
        self.store.write([WriteUnit(rows=(over,))])
        record(self.store, by.who, "enrol", {"job": row.job, "run": run, "title": row.title,
               "budget_day_usd": request.budget_day_usd, "budget_usd": request.budget_usd}, by.origin)  # fmt: skip
        return row.job

    def _queue(self, row: JobRow, by: Asker, own_keys: Mapping[str, str]) -> None:
        limits = visitor_limits()
        self._worker.keep(row.job, own_keys)
        try:
            add_job(self.store, row, lambda waiting: queue_allows(waiting, by, limits))
        except ArenaError:
            self._worker.forget_keys(row.job)
            raise

    def ask_stop(self, job_id: str, by: Asker) -> None:
        """Stop a job: a waiting one at once, a running one after the current slot, with what it did.

        Raises:
            RefusedError: somebody else's job. ConfigError: it is over, or unknown.
        """
        job = self._mine(job_id, by, "stop")
        if job["status"] in OVER:
            raise ConfigError(f"{job_id} is {job['status']} already.")
        set_job(self.store, job_id, {"stop_asked": True})
        if not self._worker.halt(job_id):
            self._worker.end(job_id, "stopped", "stopped before it began")
            self._worker.forget_keys(job_id)
        record(self.store, by.who, "stop", {"job": job_id}, by.origin)

    def again(
        self, job_id: str, by: Asker, *, budget_usd: float | None = None,
        own_keys: Mapping[str, str] = {},
    ) -> None:  # fmt: skip
        """Retry a failed job or resume a stopped one: its run goes on, nothing is asked twice.

        Raises:
            RefusedError, ConfigError: somebody else's, under way or done, or not payable.
        """
        own_keys = usable(own_keys)
        job = self._mine(job_id, by, "retry")
        if job["status"] not in OVER[1:]:
            raise ConfigError(f"{job_id} is {job['status']}; only what did not end well is taken up again.")
        change: dict[str, Any] = {"own_keys": tuple(sorted(own_keys))}
        if budget_usd is not None:
            change["budget_usd"] = budget_usd
        request, problems = read_request(request_of(job).model_dump() | change)
        if request is None:
            raise Refusal(problems)
        try:
            self._take_up(job, request, by, own_keys)
        except RefusedError as error:
            refusal(self.store, by.who, "refused", {"why": str(error), "job": job_id}, by.origin)
            raise
        record(self.store, by.who, "retry", {"job": job_id, "budget_usd": request.budget_usd}, by.origin)
        self.wake()

    def _take_up(
        self, job: Job, request: JobRequest, by: Asker, own_keys: Mapping[str, str]
    ) -> None:
        job_id, limits = job["job"], visitor_limits()
        admit(request, to_spec(request, self.choice, self._clock().date()), by, own_keys, self.store)
        fields = {
            "status": "queued", "step": "waiting", "stop_asked": False, "error": None,
            "finished_at_utc": None, "budget_usd": request.budget_usd, "eta_s": None,
            "request_json": canonical_json(request.model_dump(mode="json")),
        }  # fmt: skip

        def allow(waiting: Sequence[Job]) -> None:
            if any(j["job"] == job_id for j in waiting):
                raise ConfigError(f"{job_id} is taken up again already.")
            queue_allows(waiting, by, limits)
            # Here, so that a second click neither replaces nor takes away the keys of the first.
            self._worker.keep(job_id, own_keys)

        try:
            set_job(self.store, job_id, fields, allow)
        except StoreError:
            self._worker.forget_keys(job_id)
            raise

    def delete(self, run: str, by: Asker) -> list[str]:
        """Delete an ad-hoc run; see `workbench.delete`."""
        return workbench.delete(self.store, run, by)

    def _mine(self, job_id: str, by: Asker, what: str) -> Job:
        job = jobs_reader.job(self.store, job_id)
        try:
            may_touch(job, by)
        except RefusedError as error:
            refusal(self.store, by.who, "refused", {"why": str(error), "job": job_id, "what": what}, by.origin)
            raise
        return job

"""One job from its request to its runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json
from arena.core.rows import WriteUnit
from arena.core.rows_host import LiveSeasonRow
from arena.core.season import RunSpec
from arena.market.sources import open_source
from arena.runner.intelligence import gather
from arena.runner.job_request import JobRequest, to_spec
from arena.runner.journal import Spending
from arena.runner.replay import RunResult, Tick, prepare, run_replay
from arena.store import jobs_reader
from arena.store.store import Store

TOLD_EVERY_S = 1.0


@dataclass(frozen=True)
class Standing:
    """How far a job is: decisions over all its epochs, money, seconds to go, and where it is."""

    n_done: int
    spent_usd: float
    eta_s: float | None
    step: str


@dataclass
class Told:
    """Turns the ticks of a run into a job's standing, once a second at most, and tells it on."""

    store: Store
    runs: tuple[str, ...]
    n_planned: int
    tell: Callable[[Standing], None]
    last: Tick | None = None
    _told_s: float = -TOLD_EVERY_S
    _before: dict[str, int] = field(default_factory=dict)

    def __call__(self, tick: Tick) -> None:
        self._before[tick.run] = tick.done
        self.last = tick
        now_s = time.monotonic()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            self.tell(self.standing())

    def standing(self) -> Standing:
        """As of the last tick."""
        tick, done = self.last, sum(self._before.values())
        to_go = None if tick is None or tick.per_s <= 0 else (self.n_planned - done) / tick.per_s
        epoch = ""
        if tick is not None and len(self.runs) > 1:
            epoch = f"epoch {self.runs.index(tick.run) + 1} of {len(self.runs)}, "
        where = "" if tick is None else f"{epoch}{tick.where}"
        return Standing(done, jobs_reader.spent_usd(self.store, self.runs), to_go, where)


def spending_of(request: JobRequest, own_keys: Mapping[str, str]) -> Spending:
    """What a request may spend; models without a known price only within its cap on tokens."""
    return Spending(
        request.budget_usd, request.token_cap, request.token_cap is not None, dict(own_keys)
    )


def carry_out(
    request: JobRequest, choice: str, store: Store, *, own_keys: Mapping[str, str],
    columns: Mapping[str, Any], tell: Callable[[Standing], None], n_planned: int,
    stop: threading.Event, today: date, now_utc: datetime,
) -> tuple[RunResult, Standing]:  # fmt: skip
    """Run or resume the replay of `request`; what is stored is not asked again.

    Raises:
        ArenaError: as `prepare`, `gather` and `run_replay`.
    """
    source = open_source(choice)
    spec = to_spec(request, choice, today)
    strategies = request.stored_strategies
    told = Told(store, run_ids(spec, request.epochs), n_planned, tell)
    tell(Standing(0, jobs_reader.spent_usd(store, told.runs), None, "reading prices"))
    histories = prepare(spec, strategies, source)
    read = gather(spec, choice, source.assets(), store, now_utc)
    result = run_replay(
        spec, strategies, source, store,
        epochs=request.epochs, progress=told, stop=stop, histories=histories,
        spending=spending_of(request, own_keys), intelligence=read, head=columns,
    )  # fmt: skip
    return result, told.standing()


def run_ids(spec: RunSpec, epochs: int) -> tuple[str, ...]:
    return tuple(spec.run_id(e) for e in range(1, epochs + 1))


def enrol(request: JobRequest, choice: str, store: Store, by: str, now_utc: datetime) -> str:
    """Write a live season down, for the runner to take up at its next look; its run id.

    Raises:
        ConfigError: the season is enrolled already.
    """
    spec = to_spec(request, choice, now_utc.date())
    known = {s["run"]: s["ended_at_utc"] for s in jobs_reader.seasons(store)}
    while spec.run_id() in known:
        if known[spec.run_id()] is None:
            raise ConfigError(f"{spec.run_id()} is enrolled already.")
        # Ended today and wanted again: another season.
        spec = spec.model_copy(update={"ordinal": spec.ordinal + 1})
    row = LiveSeasonRow(
        run=spec.run_id(),
        label=request.title,
        spec_json=canonical_json(spec.model_dump(mode="json")),
        strategies_json=canonical_json(list(request.stored_strategies)),
        budget_day_usd=request.budget_day_usd,
        budget_usd=request.budget_usd,
        enrolled_by=by,
        enrolled_at_utc=now_utc,
        ended_at_utc=None,
    )
    store.write([WriteUnit(rows=(row,))])
    return row.run

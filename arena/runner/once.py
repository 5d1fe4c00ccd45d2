"""What is due now, decided once and kept safe: for a scheduler that starts a process each time."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from arena.core.clock import Clock, utc_now
from arena.core.errors import ConfigError, StoreError
from arena.core.settings import data_choice, store_path, upload_url
from arena.runner.follow import Follower
from arena.runner.keeper import Keeper
from arena.runner.live import Live
from arena.runner.live_run import RoundReport
from arena.runner.service import resolve_choice
from arena.store import rounds
from arena.store.damage import open_guarded
from arena.store.restore import restore_missing
from arena.store.snapshot import snapshot_path

LIVE = "live"


def not_live(choice: str) -> str:
    """Why nothing can be decided on a choice of data, for a person."""
    return (
        f"The data choice is `{choice.partition(':')[0]}`, where nothing new ever becomes due. "
        "Give --data live; `auto` is that where a price source answers."
    )


@dataclass
class Done:
    """`rounds` that were decided, `n_warmup` ones besides that only warmed up, and `problems`, each a
    sentence; models may have failed without being one."""

    store: str
    rounds: list[RoundReport] = field(default_factory=list)
    n_warmup: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether somebody should look: a season that could not go on, a budget, a model without answer."""
        return bool(self.problems) or any(r.n_failed or r.stopped for r in self.rounds)


def decide_once(
    path: Path | None, data: str | None, stop: threading.Event, messages_s: float,
    clock: Clock = utc_now,
) -> Done:  # fmt: skip
    """Open the store (restored from the upload target where it is missing), decide, snapshot, upload,
    and give messages `messages_s` to leave.

    Raises:
        ConfigError: an unusable choice of data. StoreError: the store is damaged, or another process
            owns it. SourceError: the upload target that should hold the store cannot be read.
    """
    choice = resolve_choice(data or data_choice())
    if choice != LIVE:
        raise ConfigError(not_live(choice))
    path = path or store_path(choice)
    target = upload_url()
    if target is not None:
        restore_missing(target, path, clock())
    store, trouble = open_guarded(path)
    if store is None or trouble is not None:
        if store is not None:
            store.close()
        raise StoreError(str(trouble))
    with store:
        done = Done(path.name)
        follower, keeper = Follower(store), Keeper(store)
        live = Live(store, choice, clock, stop=stop)
        for report in live.reconcile():
            if rounds.decisions_of(store, report.decision_ids):
                done.rounds.append(report)
                follower.after_round(report.run, report.decision_ids)
            else:
                done.n_warmup += 1
        done.problems = [f"{run}: {said}" for run, said in sorted(live.troubles.items())]
        done.problems += [said for said in (live.paused, live.unshown) if said]
        if not snapshot_path(store.path).exists():
            store.snapshot()
        keeper.tick(clock())
        if said := keeper.flush(clock()):
            done.problems.append(f"The upload failed: {said}")
        if not follower.drain(messages_s):
            done.problems.append(f"Not every message of the webhook left within {messages_s:g} s.")
        follower.stop()
        keeper.stop()
    return done

"""The recorded run that comes with the sample: `python -m arena.runner.record_sample`.

All five agents on the small local model over two sessions of a fictional stock and a fictional coin,
so that a first visitor can read words that a model really wrote. Takes some ten minutes of CPU; its
prices and news are the same everywhere, its words only on the same kind of processor.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from datetime import date
from pathlib import Path

from arena.core.clock import utc_now
from arena.core.season import RunSpec, Season
from arena.core.settings import RECORDED
from arena.market.sources import open_source
from arena.portfolio.strategies import PAPER_STRATEGIES
from arena.runner.first_run import FIRST_RUN_AGENTS
from arena.runner.intelligence import gather
from arena.runner.replay import Tick, run_replay
from arena.store.export import HOST_FILES, export
from arena.store.store import open_store

log = logging.getLogger(__name__)

SPEC = RunSpec(
    kind="replay",
    season=Season(),
    source="sample",
    assets=("QUBIXCOIN", "ZORVANE"),
    agents=FIRST_RUN_AGENTS,
    models=("local/smollm2-135m",),
    start=date(2025, 8, 5),
    end=date(2025, 8, 6),
    warmup=0,
    brief="digest",  # the model itself fails at most days, and would leave little to read
)


def record(out: Path = RECORDED) -> Path:
    """Carry out the run and put its export in place of what is there; returns its folder."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "r.duckdb") as store:
        source = open_source("sample")
        read = gather(SPEC, "sample", source.assets(), store, utc_now())
        run_replay(
            SPEC, PAPER_STRATEGIES, source, store, workers=1, progress=_tell, intelligence=read
        )
        if out.exists():
            shutil.rmtree(out)
        target = out / SPEC.run_id()
        export(store, target, with_timing=True)
    for name in HOST_FILES:
        (target / f"{name}.parquet").unlink()
    return target


def _tell(tick: Tick) -> None:
    log.info("%d of %d decisions: %s", tick.done, tick.planned, tick.where)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    log.info("recorded in %s", record())

"""A live year on a fake clock: 4 assets, 20 tracks of keyless agents, and how memory grows over it.

Memory is looked at between two rounds, as a host finds it: here they follow each other so fast that
what a copy of the store took has not yet left the process when the next one begins.
`ARENA_BENCH_LIVE_DAYS` shortens the year; the target is scaled with it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as moment
from pathlib import Path
from unittest.mock import patch

from arena.audit.check import check_store
from arena.core.memory import give_back
from arena.runner.keeper import Keeper
from arena.runner.live import Live
from arena.runner.live_seasons import Section, live_seasons
from arena.store import reader
from arena.store.store import open_store
from tests.live.world import ASSETS, Hands, World

YEAR_S, ROUND_S, GROWTH_MB = 300.0, 2.0, 30.0
START = date(2024, 12, 20)
REST_S = 5.0
"""The allocator gives back what is free once nothing has used it for some seconds."""
LOOKS = (moment(0, 6), moment(13, 1), moment(14, 1))
"""Soon after the slots of coins, and of stocks in summer and in winter."""

SEASON = Section(
    label="Bench", assets=tuple(ASSETS), agents=("vanilla", "investor", "trade", "hedge", "deepfund"),
    models=("offline/trend",), brief="none", warmup=0,
)  # fmt: skip


def run() -> list[dict[str, object]]:
    give_back()  # as the service does at its start
    days = int(os.environ.get("ARENA_BENCH_LIVE_DAYS", "365"))
    # The keeper's copies are not what is measured here; benchmarks that follow do make them.
    no_backups = patch.dict(os.environ, ARENA_BACKUPS_KEPT="0,0")
    with no_backups, tempfile.TemporaryDirectory() as folder:
        return _year(Path(folder) / "live.duckdb", days)


def _year(path: Path, days: int) -> list[dict[str, object]]:
    clock = Hands(datetime.combine(START, moment(0, 1), UTC))
    took: list[float] = []
    with open_store(path) as store:
        live = Live(
            store, "live", clock, source=World(),
            seasons=lambda s, now: live_seasons(s, "live", now.date(), {"bench": SEASON}),
        )  # fmt: skip
        keeper = Keeper(store)
        began, early_mb = time.monotonic(), 0.0
        for day in range(days):
            for look in LOOKS:
                clock.now_utc = datetime.combine(START + timedelta(day), look, UTC)
                keeper.tick(clock.now_utc)
                since = time.monotonic()
                if live.reconcile():
                    took.append(time.monotonic() - since)
            if day == min(30, days // 3):
                early_mb = _resting_mb()
        total = time.monotonic() - began
        late_mb = _resting_mb()
        (run,) = live.runs
        n_late = int(reader.decisions(store, run)["late"].sum())
        breaches = [f for f in check_store(store).findings if f.level == "breach"]
    year_s = YEAR_S * days / 365
    # A round of both classes is one of ten tracks; two of them make the twenty of the target.
    round_s = 2 * statistics.quantiles(took, n=20)[-1]
    return [
        _row(f"{days} live days, 20 tracks", total, "s", year_s),
        _row("a live round of 20 tracks, p95", round_s, "s", ROUND_S),
        _row("memory gained after the first month", late_mb - early_mb, "MB", GROWTH_MB),
        _row("decisions that came late", n_late, "", 0),
        _row("breaches that `check` finds", len(breaches), "", 0),
    ]


def _resting_mb() -> float:
    time.sleep(REST_S)
    text = Path("/proc/self/status").read_text("utf-8")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def _row(name: str, value: float, unit: str, target: float) -> dict[str, object]:
    return {
        "name": name, "value": round(value, 2), "unit": unit, "target": f"<= {target:g}",
        "ok": value <= target,
    }  # fmt: skip

"""kill -9 while briefs are written and decided on: none is paid for twice, and no byte differs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import forked
from tests.cli.test_kill import digest, n_decisions
from tests.runner.news_writer import register_logging_writer

RUN = ("replay", "--data", "sample", "--assets", "ZORVANE,QUBIXCOIN", "--start", "2025-08-01",
       "--end", "2025-08-29", "--models", "scripted/cycle", "--brief", "scripted/writer")  # fmt: skip
KILLS = 4


def test_killed_between_brief_and_decision(
    arena: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    env = {**os.environ, "ARENA_CALL_LOG": str(log), "ARENA_SCRIPTED_DELAY_MS": "20"}

    def start(store: Path) -> forked.Command:
        return forked.start(*RUN, "--store", store, env=env, before=register_logging_writer)

    def written() -> Counter[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        return Counter(line for line in lines if line.startswith("brief "))

    calm, torn = tmp_path / "calm.duckdb", tmp_path / "torn.duckdb"
    assert start(calm).wait(120) == 0
    total, briefs = n_decisions(calm), len(written())
    # 29 days of the coin and 20 sessions of the stock (1 August is a Friday, no holiday).
    assert total == 29 + 21
    assert briefs > 20
    log.unlink()

    progress = []
    for kill in range(KILLS):
        # Right after a brief was written: before it is stored, with it, or with a decision on it.
        goal = (kill + 1) * briefs // (KILLS + 1)
        child = start(torn)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None and len(written()) < goal:
            time.sleep(0.002)
        time.sleep(0.008 * kill)
        child.kill()
        child.wait()
        progress.append(n_decisions(torn))
    assert progress == sorted(progress), "a decision was lost"
    assert len({n for n in progress if 0 < n < total}) >= 3, progress

    assert start(torn).wait(120) == 0
    asked = written()
    # Only briefs under way at a kill are written again: at most one an asset.
    assert len(asked) == briefs
    assert sum(n - 1 for n in asked.values()) <= 2 * KILLS
    assert start(torn).wait(120) == 0
    assert written() == asked
    assert digest(arena, calm, tmp_path / "1") == digest(arena, torn, tmp_path / "2")
    assert arena("check", "--store", torn).code == 0

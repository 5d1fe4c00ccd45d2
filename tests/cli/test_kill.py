"""kill -9 at ten instants: the run resumes, asks nothing twice, and ends byte for byte the same."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from tests import forked

RUN = ("replay", "--data", "sample", "--assets", "ZORVANE,QUBIXCOIN", "--start", "2025-08-01",
       "--end", "2025-08-29", "--models", "scripted/cycle", "--workers", "2",
       "--brief", "none")  # fmt: skip
KILLS = 10


def n_decisions(path: Path) -> int:
    if not path.exists():
        return 0
    with duckdb.connect(str(path)) as con:
        tables = {t for (t,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if "decisions" not in tables:
            return 0
        return int(con.execute("SELECT count(*) FROM decisions").fetchall()[0][0])


def digest(arena: Callable[..., Any], store: Path, out: Path) -> dict[str, str]:
    assert arena("export", "--store", store, "--out", out, "--format", "csv").code == 0
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(out.iterdir())}


def test_killed_ten_times(arena: Callable[..., Any], tmp_path: Path) -> None:
    calm, torn, log = tmp_path / "calm.duckdb", tmp_path / "torn.duckdb", tmp_path / "calls.log"
    assert arena(*RUN, "--store", calm).code == 0
    total = n_decisions(calm)
    # 29 days of the coin and 21 sessions of the stock.
    assert total == 29 + 21

    env = {**os.environ, "ARENA_SCRIPTED_DELAY_MS": "20", "ARENA_CALL_LOG": str(log)}
    progress: list[int] = []
    for kill in range(KILLS):
        # Aim at one tenth further each time: wait until the call log says that much was asked.
        goal = (kill + 1) * total // (KILLS + 2)
        child = forked.start(*RUN, "--store", torn, env=env)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None:
            asked = len(log.read_text().splitlines()) if log.exists() else 0
            if asked >= goal:
                break
            time.sleep(0.003)
        time.sleep(0.004 * kill)
        child.kill()
        child.wait()
        progress.append(n_decisions(torn))
    inside = [n for n in progress if 0 < n < total]
    assert len(inside) >= 6, progress
    assert progress == sorted(progress), "a decision was lost"

    before = progress[-1]
    last = arena(*RUN, "--store", torn, "--json", ARENA_CALL_LOG=str(log))
    assert last.code == 0, last.err
    assert last.json["n_resumed"] == before
    assert last.json["n_decisions"] == total
    # Only calls in flight at a kill may be asked again: at most one a worker and kill.
    asked = Counter(log.read_text().splitlines())
    assert len(asked) == total
    assert sum(n - 1 for n in asked.values()) <= 2 * KILLS
    again = arena(*RUN, "--store", torn, "--json", ARENA_CALL_LOG=str(log))
    assert again.json["n_resumed"] == total
    assert Counter(log.read_text().splitlines()) == asked

    assert digest(arena, calm, tmp_path / "1") == digest(arena, torn, tmp_path / "2")
    assert arena("check", "--store", torn).code == 0

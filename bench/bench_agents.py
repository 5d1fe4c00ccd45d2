"""Agents at work: traced calls on their way to the disk, a run from its own record, five agents at once."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.bench_replay import ROOT, WINDOW, quiet_env, sample_assets

N_CALLS, CALLS_A_DECISION, CALL_CHARS, TARGET_CALLS_S = 20_000, 20, 5_000, 2.0
RECORDED_COPIES, TARGET_PER_S = 12, 200.0
FIVE, THREE = "vanilla,investor,trade,hedge,deepfund", "offline/trend,offline/contrarian,offline/news"
TARGET_FIVE_S = 180.0


def run() -> list[dict[str, Any]]:
    """Three lines; the last is the whole command, imports included."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        calls_s = traced_calls(Path(folder) / "calls.duckdb")
        per_s, n = from_the_record(Path(folder))
        five_s, decisions = five_agents(Path(folder) / "five.duckdb")
    return [
        {"name": f"{N_CALLS:,} traced calls of {CALL_CHARS:,} characters, to the last commit",
         "value": round(calls_s, 2), "unit": "s", "target": f"<= {TARGET_CALLS_S:g}",
         "ok": calls_s <= TARGET_CALLS_S},
        {"name": f"InvestorAgent from the record, trace written ({n} decisions)",
         "value": round(per_s, 1), "unit": "decisions/s", "target": f">= {TARGET_PER_S:g}",
         "ok": per_s >= TARGET_PER_S},
        {"name": f"five agents x 3 stand-ins x 4 assets, 61 days after 60 of warm-up ({decisions} decisions)",
         "value": round(five_s, 1), "unit": "s", "target": f"<= {TARGET_FIVE_S:g}",
         "ok": five_s <= TARGET_FIVE_S},
    ]  # fmt: skip


def traced_calls(path: Path) -> float:
    """Decisions with 20 calls each, every prompt and answer of its own; seconds from their rows until
    all are durable."""
    from arena.core.actions import Intent, Status
    from arena.core.ids import TrackId
    from arena.core.rows import WriteUnit
    from arena.core.season import Season
    from arena.core.types import ActionSpec, Asset, Call, Decision, Slot, TrackView
    from arena.runner.track import Track, decision_rows
    from arena.store.store import open_store

    asset, first = Asset("QUBIXCOIN", "Qubixcoin", "crypto"), date(2025, 1, 1)
    track = Track(TrackId("bench-0-e1", "trade", "m", asset.id), asset, Season(), ("baseline",),
                  "model", first_live=first, live_price=1.0)  # fmt: skip
    decisions = []
    for d in range(N_CALLS // CALLS_A_DECISION):
        calls = tuple(
            Call(seq=i, kind="model", role=f"role {i}", model="m", status="ok", attempt=1,
                 prompt=f"{d} {i} ".ljust(4 * CALL_CHARS // 5, "p"),
                 answer=f"{d} {i} ".ljust(CALL_CHARS // 5, "a"), parsed={"action": "HOLD"},
                 error=None, params={"temperature": 0.5}, tokens_in=1000, tokens_out=200,
                 cost_usd=0.001, latency_ms=1.0)
            for i in range(CALLS_A_DECISION)
        )  # fmt: skip
        decisions.append(Decision(Intent.HOLD, Status.OK, "bench", calls=calls))
    view, units = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec()), []
    for d, decision in enumerate(decisions):
        slot = Slot(asset.id, first + timedelta(days=d), datetime(2025, 1, 2, tzinfo=UTC))
        row, rows, _ = decision_rows(track, slot, 1.0, "", view, decision, late=False,
                                     decided_at_utc=slot.as_of_utc)  # fmt: skip
        units.append(WriteUnit(rows=tuple(rows), key=row.decision))
    with open_store(path) as store:
        began = time.perf_counter()
        for future in [store.submit(unit) for unit in units]:
            future.result()
        return time.perf_counter() - began


def from_the_record(folder: Path) -> tuple[float, int]:
    """Decisions a second of a run whose models answer from a stored one."""
    from arena.core.season import RunSpec, Season
    from arena.llm.scripted import register_scripted
    from arena.market.sources import open_source
    from arena.runner.recorded import recorded_models
    from arena.runner.replay import prepare, run_replay
    from arena.store.store import open_store

    source = open_source("sample")
    values: dict[str, Any] = {
        "kind": "replay", "season": Season(), "source": "sample", "assets": tuple(sample_assets()),
        "agents": ("investor",), "models": ("offline/trend",), "start": date(2025, 8, 1),
        "end": date(2025, 8, 31), "warmup": 0,
    }  # fmt: skip
    spec = RunSpec.model_validate(values)
    with open_store(folder / "first.duckdb") as store:
        run_replay(spec, ("baseline",), source, store)
        model = recorded_models(store, spec.run_id())["offline/trend"]
    copies = tuple(register_scripted(f"copy-{i:02d}", model) for i in range(RECORDED_COPIES))
    again = spec.model_copy(update={"models": copies})
    histories = prepare(again, ("baseline",), source)
    with open_store(folder / "again.duckdb") as store:
        began = time.perf_counter()
        result = run_replay(
            again, ("baseline",), source, store, workers=64, histories=histories
        )
        return result.n_decisions / (time.perf_counter() - began), result.n_decisions


def five_agents(path: Path) -> tuple[float, int]:
    """Wall time of the command, and how many decisions it asked for."""
    command = [
        sys.executable, "-m", "arena", "replay", "--data", "sample", "--store", str(path),
        "--assets", ",".join(sample_assets()), "--agents", FIVE, "--models", THREE, *WINDOW,
        "--warmup", "60", "--json",
    ]  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=quiet_env(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"replay ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.perf_counter() - began, json.loads(done.stdout)["n_decisions"]


if __name__ == "__main__":
    for line in run():
        print(line)

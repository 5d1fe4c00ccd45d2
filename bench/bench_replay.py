"""A whole replay, from the command line to the last commit, on the sample prices."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET_S = 10.0
REPEATS = 3
WINDOW = ("--start", "2025-08-01", "--end", "2025-09-30")


def sample_assets() -> list[str]:
    """Ids of the sample's assets, two stocks and two coins."""
    from arena.market.sources import open_source

    return sorted(open_source("sample").assets())


def quiet_env(**extra: str) -> dict[str, str]:
    """This environment, with no way off the machine and no settings of the person's own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ARENA_", "STREAMLIT_"))}
    return {**env, "ARENA_NETWORK": "off", "ARENA_DATA": "sample", **extra}


def replay(store: Path) -> dict[str, Any]:
    """Four assets, two stand-ins, the paper's three strategies, 61 days; the JSON it prints.

    Raises:
        RuntimeError: the command failed; its standard error is the message.
    """
    command = [
        sys.executable, "-m", "arena", "replay", "--data", "sample", "--store", str(store),
        "--assets", ",".join(sample_assets()), "--agents", "vanilla",
        "--models", "offline/trend,offline/contrarian",
        "--strategies", "baseline,flip_on_reversal,pyramid_exit", *WINDOW, "--json",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=quiet_env(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"replay ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def run() -> list[dict[str, Any]]:
    """Wall time of the whole command, imports included."""
    took, decisions = [], 0
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        for i in range(REPEATS):
            start = time.perf_counter()
            decisions = replay(Path(folder) / f"{i}.duckdb")["n_decisions"]
            took.append(time.perf_counter() - start)
    median = statistics.median(took)
    name = f"replay, 4 assets x 2 models x 61 days x 3 strategies ({decisions} decisions)"
    return [
        {"name": name, "value": round(median, 2), "unit": "s", "target": f"<= {TARGET_S:g}",
         "ok": median <= TARGET_S},
    ]  # fmt: skip


if __name__ == "__main__":
    for line in run():
        print(line)

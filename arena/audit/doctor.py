"""What this machine has, in plain lines; no network is touched."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arena.agents.registry import broken_agents
from arena.core.errors import ArenaError, ConfigError
from arena.core.settings import SAMPLE, data_choice, network_allowed
from arena.llm.gateway import trouble
from arena.llm.local_process import weights
from arena.llm.registry import known_models
from arena.runner.version import code_version
from arena.store import reader
from arena.store.store import open_store

PACKAGES = (
    "streamlit", "plotly", "duckdb", "pandas", "numpy", "pyarrow", "pydantic", "TA-Lib",
    "exchange_calendars", "yfinance", "ccxt", "litellm", "apscheduler",
)  # fmt: skip

FREE_BYTES = 500_000_000


@dataclass
class Line:
    """`needed`: the arena cannot run without it."""

    name: str
    ok: bool
    text: str
    needed: bool = True


def examine(store: Path) -> list[Line]:
    """Python, packages, sample data, disk, data choice and the store at `store`."""
    python = sys.version_info
    lines = [
        Line("arena", True, code_version()),
        Line("python", (3, 11) <= python[:2] < (3, 14), f"{python[0]}.{python[1]}.{python[2]}"),
    ]
    for name in PACKAGES:
        try:
            lines.append(Line(name, True, version(name)))
        except PackageNotFoundError:
            lines.append(Line(name, False, "not installed: pip install -r requirements.txt"))
    sample = sorted(SAMPLE.glob("*.parquet"))
    lines.append(Line("sample data", bool(sample), f"{len(sample)} files in {SAMPLE}"))
    folder = next(p for p in (store.parent, *store.parent.parents) if p.exists())
    free = shutil.disk_usage(folder).free
    lines.append(Line("disk", free > FREE_BYTES, f"{free / 1e9:.1f} GB free at {folder}"))
    lines.append(Line("data choice", True, f"{data_choice()}, network {'on' if network_allowed() else 'off'}"))
    lines.append(_models_line())
    lines.append(_local_line())
    lines += [Line(f"agent {name}", False, said, needed=False) for name, said in broken_agents().items()]
    lines.append(_store_line(store))
    return lines


def _models_line() -> Line:
    """How many models outside this machine could answer; keys are looked for, never shown."""
    away = [info for info in known_models().values() if not info.runs_here]
    ready = [info.id for info in away if not trouble(info)]
    text = f"{len(ready)} of {len(away)} models have what they need"
    return Line("models", True, f"{text}: {', '.join(ready)}" if ready else text, needed=False)


def _local_line() -> Line:
    try:
        weights()
    except ConfigError as error:
        return Line("local model", False, str(error), needed=False)
    return Line("local model", True, "installed", needed=False)


def _store_line(path: Path) -> Line:
    if not path.exists():
        return Line("store", True, f"{path}: none yet, the first run makes it", needed=False)
    try:
        with open_store(path, read=True) as store:
            return Line("store", True, f"{path}: {len(reader.runs(store))} runs")
    except ArenaError as error:
        return Line("store", False, str(error), needed=False)

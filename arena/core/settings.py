"""Where things are and which switches are set; the only reader of `ARENA_*` environment variables."""

from __future__ import annotations

import os
from pathlib import Path

from arena.core.errors import ConfigError
from arena.core.hashing import sha256_text

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
RUNTIME = DATA / "runtime"
SAMPLE = DATA / "sample"
RECORDED = SAMPLE / "recorded"


def data_choice() -> str:
    """`ARENA_DATA`: auto (default), live, sample or files:DIR.

    Raises:
        ConfigError: any other value.
    """
    value = os.environ.get("ARENA_DATA", "auto")
    check_data_choice(value, "ARENA_DATA")
    return value


def check_data_choice(value: str, where: str = "--data") -> None:
    if value in ("auto", "live", "sample") or value.startswith("files:"):
        return
    raise ConfigError(f"{where} is `{value}`; it must be auto, live, sample or files:DIR.")


def source_label(choice: str) -> str:
    """Name of a source kind in run specs: sample, live or files. Paths stay out of run ids."""
    return "files" if choice.startswith("files:") else choice


def store_path(choice: str) -> Path:
    """The store of a data choice, or `ARENA_STORE` where set. The app never turns one into another."""
    if override := os.environ.get("ARENA_STORE"):
        return Path(override).resolve()
    if choice.startswith("files:"):
        folder = str(Path(choice.removeprefix("files:")).resolve())
        return RUNTIME / f"files-{sha256_text(folder)[:10]}.duckdb"
    return RUNTIME / f"{choice}.duckdb"


def recorded_runs() -> list[Path]:
    """Runs that come with the sample: exports in folders called by the run's id."""
    return sorted(p for p in RECORDED.iterdir() if p.is_dir()) if RECORDED.is_dir() else []


def runner_enabled() -> bool:
    """`ARENA_RUNNER=off` keeps the embedded runner from starting (tests, viewers)."""
    return os.environ.get("ARENA_RUNNER", "on") != "off"


def network_allowed() -> bool:
    """`ARENA_NETWORK=off` forbids every source and model that leaves the machine."""
    return os.environ.get("ARENA_NETWORK", "on") != "off"


def models_file() -> Path:
    """`ARENA_MODELS`: another roster than data/models.toml."""
    value = os.environ.get("ARENA_MODELS")
    return Path(value).resolve() if value else DATA / "models.toml"


def agents_file() -> Path:
    """`ARENA_AGENTS`: another list of agents from outside than data/agents.toml."""
    value = os.environ.get("ARENA_AGENTS")
    return Path(value).resolve() if value else DATA / "agents.toml"


def secret(name: str) -> str | None:
    """A key from the environment (`FINNHUB_API_KEY`), or None where it is not set."""
    return os.environ.get(name, "").strip() or None


def admin_token() -> str | None:
    """`ARENA_ADMIN_TOKEN`: who has it may write (reviews, notes); without one pages only show."""
    return secret("ARENA_ADMIN_TOKEN")


def scripted_delay_s() -> float:
    """`ARENA_SCRIPTED_DELAY_MS`: how long the scripted model of trials thinks; in seconds here."""
    return float(os.environ.get("ARENA_SCRIPTED_DELAY_MS", "0")) / 1e3


def call_log() -> Path | None:
    """`ARENA_CALL_LOG`: file to which the scripted model of trials adds a line per answer."""
    value = os.environ.get("ARENA_CALL_LOG")
    return Path(value) if value else None


def clock_file() -> Path | None:
    """`ARENA_CLOCK_FILE`: a file whose ISO time is "now" in every process that reads it (trials)."""
    value = os.environ.get("ARENA_CLOCK_FILE")
    return Path(value) if value else None


def tick_s() -> float:
    """`ARENA_TICK_S`: seconds between two looks at what is due (60; trials of fake time use less)."""
    return float(os.environ.get("ARENA_TICK_S", "60"))

"""Where things are and which switches are set; the only reader of `ARENA_*` environment variables."""

from __future__ import annotations

import os
from dataclasses import dataclass
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


def seasons_file() -> Path:
    """`ARENA_SEASONS`: other presets and live seasons than those of data/seasons.toml."""
    value = os.environ.get("ARENA_SEASONS")
    return Path(value).resolve() if value else DATA / "seasons.toml"


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


def _positive(name: str, default: str) -> float:
    text = os.environ.get(name, default)
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ConfigError(f"{name} is `{text}`; it must be a number above 0.")
    return number


def refresh_s() -> float:
    """`ARENA_REFRESH_S`: seconds between two looks of an open page for new data (30).

    Raises:
        ConfigError: no positive number.
    """
    return _positive("ARENA_REFRESH_S", "30")


def public_url() -> str | None:
    """`ARENA_PUBLIC_URL`: where people reach this host, without a last slash; None where nobody said.

    Raises:
        ConfigError: no http(s) address.
    """
    value = os.environ.get("ARENA_PUBLIC_URL", "").strip().rstrip("/")
    if value and not value.startswith(("http://", "https://")):
        raise ConfigError(f"ARENA_PUBLIC_URL is `{value}`; it must begin with https:// or http://.")
    return value or None


def webhook_url() -> str | None:
    """`ARENA_WEBHOOK_URL`: where news of the arena are posted. As secret as a key: who has it may post."""
    return secret("ARENA_WEBHOOK_URL")


def webhook_secret() -> str | None:
    """`ARENA_WEBHOOK_SECRET`: signs what is posted, so that the receiver knows who sent it."""
    return secret("ARENA_WEBHOOK_SECRET")


def log_format() -> str:
    """`ARENA_LOG`: `json` for a document a line, anything else for lines to read."""
    return "json" if os.environ.get("ARENA_LOG", "").strip().lower() == "json" else "short"


def use_store(path: Path) -> None:
    """Let `--store` of a verb that starts the service count as `ARENA_STORE`, here and in its children."""
    os.environ["ARENA_STORE"] = str(path)


def use_data(choice: str) -> None:
    """Let `--data` of a verb that starts the service count as `ARENA_DATA`.

    Raises:
        ConfigError: no data choice.
    """
    check_data_choice(choice)
    os.environ["ARENA_DATA"] = choice


@dataclass(frozen=True, slots=True)
class VisitorLimits:
    """What anybody may launch: replays of the rules, which cost nothing, within these bounds.

    `queue` counts waiting and running jobs of all visitors; one visitor has one at a time. 0 closes it.
    `decisions` bounds what all their runs hold together until they are deleted; one takes about 10 KB.
    """

    queue: int = 3
    days: int = 120
    epochs: int = 2
    agents: int = 5
    assets: int = 8
    keep_days: int = 7
    decisions: int = 40_000


def visitor_limits() -> VisitorLimits:
    """`ARENA_VISITOR_QUEUE`, `_DAYS`, `_EPOCHS`, `_AGENTS`, `_ASSETS`, `_KEEP_DAYS`, `_DECISIONS`; see
    `VisitorLimits`.

    Raises:
        ConfigError: one of them is no whole number from 0 on.
    """
    found = {}
    for name in VisitorLimits.__dataclass_fields__:
        if (text := os.environ.get(f"ARENA_VISITOR_{name.upper()}", "").strip()) == "":
            continue
        if not text.isdecimal():
            raise ConfigError(
                f"ARENA_VISITOR_{name.upper()} is `{text}`; it must be a whole number, 0 or more."
            )
        found[name] = int(text)
    return VisitorLimits(**found)


def crash_at() -> str | None:
    """`ARENA_CRASH_AT`: the name of a crash point at which a trial kills this process."""
    return os.environ.get("ARENA_CRASH_AT")


def yahoo_url() -> str | None:
    """`ARENA_YAHOO_URL`: where Yahoo's addresses are asked instead (a proxy, or a trial's server)."""
    return _base_url("ARENA_YAHOO_URL")


def kraken_url() -> str | None:
    """`ARENA_KRAKEN_URL`: where Kraken's public API is asked instead."""
    return _base_url("ARENA_KRAKEN_URL")


def _base_url(name: str) -> str | None:
    value = os.environ.get(name, "").strip().rstrip("/")
    if value and not value.startswith(("http://", "https://")):
        raise ConfigError(f"{name} is `{value}`; it must start with http:// or https://.")
    return value or None


def upload_url() -> str | None:
    """`ARENA_UPLOAD_URL`: where copies of the store are kept besides this disk (`hf://datasets/ME/NAME`,
    `s3://bucket/folder`, `file:///mnt/x`), without a last slash. Its credentials come from the
    environment as that service wants them."""
    value = os.environ.get("ARENA_UPLOAD_URL", "").strip().rstrip("/")
    return value or None


def upload_every_s() -> float:
    """`ARENA_UPLOAD_EVERY_MIN`: least minutes between two uploads (30); in seconds here.

    Raises:
        ConfigError: no positive number.
    """
    return _positive("ARENA_UPLOAD_EVERY_MIN", "30") * 60


def backups_kept() -> tuple[int, int]:
    """`ARENA_BACKUPS_KEPT`: how many daily and weekly backups stay beside the store (`7,4`; `0,0`: none).

    Raises:
        ConfigError: something else than two whole numbers.
    """
    text = os.environ.get("ARENA_BACKUPS_KEPT", "7,4")
    daily, _, weekly = text.partition(",")
    if not (daily.strip().isdecimal() and weekly.strip().isdecimal()):
        raise ConfigError(f"ARENA_BACKUPS_KEPT is `{text}`; write DAILY,WEEKLY, for example 7,4.")
    return int(daily), int(weekly)


def follow_url() -> str | None:
    """`ARENA_FOLLOW_URL`: an upload target, also a plain web folder, whose newest copy this host only
    shows (with `ARENA_RUNNER=off`)."""
    value = os.environ.get("ARENA_FOLLOW_URL", "").strip().rstrip("/")
    return value or None

"""The time of all processes of a trial, in a file (`ARENA_CLOCK_FILE`)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path


class FileClock:
    def __init__(self, path: Path, now_utc: datetime) -> None:
        self.path = path
        self.set(now_utc)

    def set(self, now_utc: datetime) -> None:
        part = self.path.with_suffix(".part")
        part.write_text(now_utc.isoformat(), "utf-8")
        part.replace(self.path)

    def __call__(self) -> datetime:
        return datetime.fromisoformat(self.path.read_text("utf-8"))

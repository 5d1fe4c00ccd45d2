"""Closures and early closes that no calendar library knows yet: an editable table, `data/closures.toml`.

New York closes for a day of mourning or a storm at a few days' notice. Whoever runs the arena writes
the day down; it counts from the next look on, without a restart or a release.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.core.errors import DataError
from arena.core.settings import DATA

FILE = DATA / "closures.toml"
NEW_YORK = ZoneInfo("America/New_York")


@dataclass(frozen=True)
class Closures:
    """Days without a session, and moments at which shortened ones end."""

    closed: frozenset[date] = frozenset()
    early: Mapping[date, datetime] = field(default_factory=dict)


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    day: date
    why: str


class _Early(_Closed):
    close: time
    """In New York."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    closed: tuple[_Closed, ...] = ()
    early: tuple[_Early, ...] = ()


def stamp(path: Path = FILE) -> int:
    """Changes when the table does; 0 where there is none."""
    return path.stat().st_mtime_ns if path.exists() else 0


def load_closures(path: Path = FILE) -> Closures:
    """
    Raises:
        DataError: the table cannot be read, with what is wrong in it.
    """
    if not path.exists():
        return Closures()
    try:
        found = _File(**tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{path.name}, {where}: {first['msg']}") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path.name} cannot be read: {error}") from error
    return Closures(
        frozenset(entry.day for entry in found.closed),
        {
            entry.day: datetime.combine(entry.day, entry.close, NEW_YORK).astimezone(UTC)
            for entry in found.early
        },
    )

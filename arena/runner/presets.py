"""Protocol presets of `data/seasons.toml`."""

from __future__ import annotations

import tomllib
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict

from arena.core.errors import UnknownNameError
from arena.core.season import Season
from arena.core.settings import seasons_file

LIVE = "live"
"""Section of the live seasons, which are no presets (`live_seasons`)."""


class Preset(BaseModel):
    """What a protocol fixes; everything not set here comes from the command line or its defaults."""

    model_config = ConfigDict(extra="forbid")
    label: str
    assets: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    start: date | None = None
    end: date | None = None
    warmup: int = 60
    warmup_from: date | None = None
    warmup_mode: str = "teacher"
    epochs: int = 1
    season: dict[str, Any] = {}

    def make_season(self, protocol: str, overrides: dict[str, Any]) -> Season:
        return Season(**{"protocol": protocol, **self.season, **overrides})


def load_presets() -> dict[str, Preset]:
    with seasons_file().open("rb") as file:
        tables = tomllib.load(file)
    return {name: Preset(**values) for name, values in tables.items() if name != LIVE}


def get_preset(name: str) -> Preset:
    presets = load_presets()
    if name not in presets:
        raise UnknownNameError("protocol", name, presets)
    return presets[name]

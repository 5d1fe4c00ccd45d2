"""The live seasons of an arena: those of `data/seasons.toml` and those that an admin enrolled."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.agents.registry import get_agent
from arena.core.errors import ConfigError
from arena.core.season import OPEN_END, RunSpec, Season
from arena.core.settings import seasons_file
from arena.portfolio.strategies import PAPER_STRATEGIES
from arena.runner.presets import LIVE
from arena.store import live_reader
from arena.store.store import Store


@dataclass(frozen=True)
class LiveSeason:
    """A live run that should be going on. Without budgets it may ask nothing that costs money."""

    label: str
    spec: RunSpec
    strategies: tuple[str, ...]
    budget_day_usd: float | None = None
    budget_usd: float | None = None

    @property
    def run(self) -> str:
        return self.spec.run_id()


class Section(BaseModel):
    """`[live.NAME]` of `data/seasons.toml`: what it leaves out comes from `core.season`."""

    model_config = ConfigDict(extra="forbid")
    label: str
    assets: tuple[str, ...] = Field(min_length=1)
    agents: tuple[str, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    strategies: tuple[str, ...] = PAPER_STRATEGIES
    warmup: int = 60
    warmup_mode: Literal["teacher", "paper"] = "teacher"
    brief: Literal["digest", "none"] = "digest"
    season: dict[str, Any] = {}
    budget_day_usd: float | None = Field(default=None, ge=0)
    budget_usd: float | None = Field(default=None, ge=0)

    def spec(self, name: str, source: str, start: date) -> RunSpec:
        return RunSpec(
            kind="live",
            season=Season(**{"protocol": name, **self.season}),
            source=source,
            assets=tuple(sorted(self.assets)),
            agents=tuple(sorted({get_agent(a).id for a in self.agents})),
            models=tuple(sorted(self.models)),
            start=start,
            end=OPEN_END,
            warmup=self.warmup,
            warmup_mode=self.warmup_mode,
            brief=self.brief,
        )


def load_sections(path: Path | None = None) -> dict[str, Section]:
    """Of the host's list unless another one is given.

    Raises:
        ConfigError: a section that cannot be used, with what is wrong in it.
    """
    path = path or seasons_file()
    with path.open("rb") as file:
        tables = tomllib.load(file).get(LIVE, {})
    sections = {}
    for name, values in tables.items():
        try:
            sections[name] = Section(**values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigError(f"{path.name}, [live.{name}] {where}: {first['msg']}") from error
    return sections


def live_seasons(
    store: Store, source: str, today: date, sections: dict[str, Section] | None = None
) -> list[LiveSeason]:
    """What should be going on today. A section that was begun goes on under the day it began on; one
    that was changed is another season, which begins today."""
    begun = [RunSpec.model_validate_json(t) for t in live_reader.going_on(store).values()]
    found = []
    for name, section in (load_sections() if sections is None else sections).items():
        spec = section.spec(name, source, today)
        same = [s for s in begun if s == spec.model_copy(update={"start": s.start})]
        found.append(
            LiveSeason(
                section.label, max(same, key=lambda s: s.start) if same else spec,
                section.strategies, section.budget_day_usd, section.budget_usd,
            )
        )  # fmt: skip
    return [*found, *enrolled(store)]


def enrolled(store: Store) -> list[LiveSeason]:
    """Seasons of the table that were not ended."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT label, spec_json, strategies_json, budget_day_usd, budget_usd "
            "FROM live_seasons WHERE ended_at_utc IS NULL ORDER BY enrolled_at_utc, run"
        )
        rows = cur.fetchall()
    return [
        LiveSeason(label, RunSpec.model_validate_json(spec), tuple(json.loads(chosen)), day, total)
        for label, spec, chosen, day, total in rows
    ]


def ended(store: Store, going_on: Sequence[LiveSeason]) -> list[str]:
    """Live runs of the store that are none of the seasons that should be going on."""
    return sorted(set(live_reader.going_on(store)) - {season.run for season in going_on})



"""Season and run specification: the protocol that makes accounts comparable, and one execution of it.

Validated once, here, at the edge (pydantic, extra fields forbidden); frozen afterwards.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.core.actions import ActionSpec
from arena.core.hashing import sha256_json
from arena.core.types import AssetClass

Fill = Literal["next", "close"]
RunKind = Literal["live", "replay", "import", "rescore"]

OPEN_END = date(2100, 12, 31)
"""`end` of a live run, which has none."""

DEFAULT_FEE_BPS: dict[AssetClass, float] = {"stock": 5.0, "etf": 5.0, "crypto": 10.0}


class Generation(BaseModel):
    """Generation settings, the same for every model of a season (paper, table 2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    temperature: float = 0.5
    top_p: float = 1.0
    max_tokens: int = 1024
    tries: int = Field(default=3, ge=1, le=10)


class Season(BaseModel):
    """Rules of one season. Fees, slippage and borrow are in basis points; capital in quote currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    protocol: str = "default"
    capital: float = Field(default=100_000.0, gt=0)
    fee_bps: dict[AssetClass, float] = Field(default_factory=lambda: dict(DEFAULT_FEE_BPS))
    slippage_bps: float = Field(default=0.0, ge=0, le=1000)
    borrow_bps_year: float = Field(default=0.0, ge=0, le=100_000)
    fill: Fill = "next"
    hold: Literal["flat", "keep"] = "flat"
    shorting: bool = True
    memory: int = Field(default=7, ge=0, le=100)
    metrics_mode: Literal["standard", "ama"] = "standard"
    generation: Generation = Generation()

    @model_validator(mode="after")
    def _fees_in_range(self) -> Season:
        for name, value in self.fee_bps.items():
            if not 0 <= value <= 1000:
                raise ValueError(f"fee_bps of {name} is {value}; the rule is 0 <= fee_bps <= 1000")
        return self

    @property
    def action_spec(self) -> ActionSpec:
        return ActionSpec(hold=self.hold, shorting=self.shorting)

    @property
    def reference_strategy(self) -> str:
        """Strategy of the account whose position and outcomes a track sees."""
        base = "flip_on_reversal" if self.hold == "keep" else "baseline"
        return base if self.shorting else f"{base}_lo"

    @property
    def season_id(self) -> str:
        return f"{self.protocol}-{sha256_json(self.model_dump(mode='json'))[:10]}"


class RunSpec(BaseModel):
    """Everything that decides what a run *is*; its hash is the run's name.

    Not in it: strategies, store, paths, workers, budget, output format. `ordinal` is raised by
    `--new`. `warmup` counts sessions before `start`; None with `warmup_from` set. `brief` is who
    writes the day's brief: a model's id, `digest` (a rule) or `none`: the run sees prices only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: RunKind
    season: Season
    source: str
    assets: tuple[str, ...] = Field(min_length=1)
    agents: tuple[str, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    start: date
    end: date
    warmup: int = Field(default=60, ge=0, le=2000)
    warmup_from: date | None = None
    warmup_mode: Literal["teacher", "paper"] = "teacher"
    seed: int = 0
    actions_sha256: str | None = None
    parent: str | None = None
    ordinal: int = 1
    brief: str = "none"

    @model_validator(mode="after")
    def _window(self) -> RunSpec:
        if self.start > self.end:
            raise ValueError(f"start {self.start} is after end {self.end}")
        if self.warmup_from is not None and self.warmup_from >= self.start:
            raise ValueError(f"warmup_from {self.warmup_from} must be before start {self.start}")
        return self

    @property
    def spec_hash(self) -> str:
        """Runs from before there was news keep their names: `brief` counts where it is not `none`."""
        plain = {"brief"} if self.brief == "none" else set()
        return sha256_json(self.model_dump(mode="json", exclude=plain))

    def run_id(self, epoch: int = 1) -> str:
        return f"{self.kind}-{self.spec_hash[:10]}-e{epoch}"

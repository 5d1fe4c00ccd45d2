"""What somebody asks for: a replay of a past window, or a live season from today on.

A request holds all that is needed to begin the work, and to begin it again; never a key.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.agents.registry import get_agent, known_agents
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.season import OPEN_END, Fill, RunSpec, Season
from arena.core.settings import source_label
from arena.llm.registry import model_info
from arena.market.news.brief import DIGEST, NO_BRIEF
from arena.market.sources import PriceSource
from arena.portfolio.strategies import PAPER_STRATEGIES, get_strategy
from arena.runner.intelligence import AUTO, brief_maker
from arena.runner.presets import Preset, get_preset, load_presets
from arena.runner.replay import asked_models

MOST_EPOCHS = 20
DEFAULT = "default"
Name = Annotated[str, Field(max_length=200)]
"""Bounded, since a name that does not exist is quoted to whoever gave it, and in the audit."""

Problems = dict[str, str]
"""What is wrong with a request, by the name of the field that it should stand beside."""


class JobRequest(BaseModel):
    """The fields of the launch form. None takes what the protocol says, or its default.

    `budget_day_usd` is for seasons, `start`, `end` and `epochs` for replays. `ordinal` is raised to
    run the same thing once more. `own_keys` names the variables for which the asker brought a key of
    their own along; the keys themselves never stand here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["replay", "season"] = "replay"
    protocol: Name = DEFAULT
    agents: tuple[Name, ...] = Field(min_length=1, max_length=32)
    models: tuple[Name, ...] = Field(min_length=1, max_length=32)
    assets: tuple[Name, ...] = Field(min_length=1, max_length=64)
    strategies: tuple[Name, ...] = Field(default=PAPER_STRATEGIES, min_length=1, max_length=16)
    start: date | None = None
    end: date | None = None
    warmup: int = Field(default=60, ge=0, le=2000)
    warmup_from: date | None = None
    warmup_mode: Literal["teacher", "paper"] = "teacher"
    epochs: int = Field(default=1, ge=1, le=MOST_EPOCHS)
    fill: Fill = "next"
    hold: Literal["flat", "keep"] = "flat"
    shorting: bool = True
    capital: float = Field(default=100_000.0, gt=0, le=1e12, allow_inf_nan=False)
    fee_bps: float | None = Field(default=None, ge=0, le=1000)
    budget_usd: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)
    budget_day_usd: float | None = Field(default=None, ge=0, le=1e5, allow_inf_nan=False)
    token_cap: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0, le=2**31)
    brief: Name = AUTO
    ordinal: int = Field(default=1, ge=1)
    own_keys: tuple[str, ...] = ()

    @property
    def stored_strategies(self) -> tuple[str, ...]:
        """The accounts that are kept; long only where the season is."""
        if self.shorting:
            return self.strategies
        return tuple(s if s.endswith("_lo") else f"{s}_lo" for s in self.strategies)

    @property
    def title(self) -> str:
        """What a list shows of it: `5 agents x 2 models x 4 assets`."""
        parts = ((self.agents, "agent"), (self.models, "model"), (self.assets, "asset"))
        return " x ".join(f"{len(p)} {word}{'' if len(p) == 1 else 's'}" for p, word in parts)


def read_request(values: Mapping[str, Any]) -> tuple[JobRequest | None, Problems]:
    """The request of a form's values, or what is wrong with them, by field."""
    try:
        return JobRequest.model_validate(values), {}
    except ValidationError as error:
        # Of several things wrong with a field the first: the others follow from it.
        return None, {str((e["loc"] or ("window",))[0]): e["msg"] for e in reversed(error.errors())}


def request_of(job: Mapping[str, Any]) -> JobRequest:
    """The request that a row of `jobs` was made from.

    Raises:
        ConfigError: it was written by another version, which knew other fields.
    """
    try:
        return JobRequest.model_validate_json(job["request_json"])
    except ValidationError as error:
        raise ConfigError(
            f"{job['job']} was asked for in another version of the arena; ask for it anew."
        ) from error


def to_spec(request: JobRequest, choice: str, today: date) -> RunSpec:
    """The run that a request stands for, on the data `choice`.

    Raises:
        ConfigError: a name that does not exist, a window that cannot be, a brief nobody can write.
    """
    preset = get_preset(request.protocol)
    agents = tuple(sorted({get_agent(a).id for a in request.agents}))
    live = request.kind == "season"
    start, end = (today, OPEN_END) if live else (request.start, request.end)
    if start is None or end is None:
        raise ConfigError("A window is missing: choose a first and a last day.")
    try:
        return RunSpec(
            kind="live" if live else "replay",
            season=_season(request, preset),
            source=source_label(choice),
            assets=tuple(sorted(set(request.assets))),
            agents=agents,
            models=tuple(sorted(set(request.models))),
            start=start,
            end=end,
            warmup=request.warmup,
            warmup_from=request.warmup_from,
            warmup_mode=request.warmup_mode,
            seed=request.seed,
            ordinal=request.ordinal,
            brief=brief_maker(request.brief, choice, request.models),
        )
    except ValidationError as error:
        raise ConfigError("; ".join(e["msg"] for e in error.errors())) from error


def _season(request: JobRequest, preset: Preset) -> Season:
    given: dict[str, Any] = {
        "fill": request.fill, "hold": request.hold, "shorting": request.shorting,
        "capital": request.capital,
    }  # fmt: skip
    if request.fee_bps is not None:
        given["fee_bps"] = dict.fromkeys(("stock", "etf", "crypto"), request.fee_bps)
    return preset.make_season(request.protocol, given)


def find_problems(request: JobRequest, source: PriceSource, today: date) -> Problems:
    """What can be seen without reading a price or asking anybody, each beside its field."""
    found: Problems = {}
    known: Sequence[tuple[str, Sequence[str], Any]] = (
        ("agents", request.agents, get_agent),
        ("models", request.models, model_info),
        ("strategies", request.strategies, get_strategy),
    )
    for name, values, look_up in known:
        for value in values:
            try:
                look_up(value)
            except ConfigError as error:
                found.setdefault(name, str(error))
    if missing := [a for a in request.assets if a not in source.assets()]:
        found["assets"] = str(UnknownNameError("asset", missing[0], source.assets()))
    if request.kind == "replay":
        found |= _window_problems(request, today)
    elif source.name == "sample":
        found["budget_day_usd"] = "The sample brings no new session: a live season needs ARENA_DATA=live."
    for name in ("models",) if "models" not in found else ():
        if retired := [m for m in request.models if model_info(m).retired_on(today)]:
            found[name] = f"{retired[0]} was retired by its provider. Choose another model."
    return found


def _window_problems(request: JobRequest, today: date) -> Problems:
    if request.start is None or request.end is None:
        return {"window": "Choose a first and a last day."}
    if request.start > request.end:
        return {"window": f"The first day {request.start} is after the last, {request.end}."}
    if request.end >= today:
        return {"window": f"A replay ends before today. The last day can be {today - timedelta(1)}."}
    if request.warmup_from is not None and request.warmup_from >= request.start:
        return {"warmup": f"Warm-up begins {request.warmup_from}, after the first day."}
    return {}


def paid_models(spec: RunSpec) -> tuple[str, ...]:
    """Models of a run that cost money, or whose price nobody knows."""
    return tuple(m for m in asked_models(spec) if not is_free(m))


def is_free(model: str) -> bool:
    """Whether nobody is paid for an answer of it, for certain."""
    info = model_info(model)
    return info.runs_here or info.cost_usd(1_000_000, 1_000_000) == 0


def keyless(request: JobRequest) -> bool:
    """Whether only rules and our own agents take part: free, quick, and on this machine."""
    return request.brief in (AUTO, DIGEST, NO_BRIEF) and all(model_info(m).kind == "stand_in" for m in request.models) and all(
        a.rsplit("+", 1)[-1] in known_agents() and not get_agent(a).own_models
        for a in request.agents
    )


def from_run(spec: RunSpec, strategies: Sequence[str], n_epochs: int) -> JobRequest:
    """The request that a run could have come from: for running it again, or with something changed.

    Raises:
        ConfigError: it is larger than what can be asked for.
    """
    season = spec.season
    fees = set(season.fee_bps.values())
    request, problems = read_request({
        "kind": "season" if spec.kind == "live" else "replay",
        "protocol": season.protocol if season.protocol in load_presets() else DEFAULT,
        "agents": spec.agents, "models": spec.models, "assets": spec.assets,
        "strategies": tuple(s.removesuffix("_lo") if not season.shorting else s for s in strategies)
        or PAPER_STRATEGIES,
        "start": None if spec.kind == "live" else spec.start,
        "end": None if spec.kind == "live" else spec.end,
        "warmup": spec.warmup, "warmup_from": spec.warmup_from, "warmup_mode": spec.warmup_mode,
        "epochs": min(max(n_epochs, 1), MOST_EPOCHS),
        "fill": season.fill, "hold": season.hold, "shorting": season.shorting, "capital": season.capital,
        "fee_bps": fees.pop() if len(fees) == 1 else None,
        "seed": spec.seed, "brief": spec.brief, "ordinal": spec.ordinal,
    })  # fmt: skip
    if request is None:
        raise ConfigError(f"This run does not fit the form: {' '.join(problems.values())}")
    return request


def command(request: JobRequest, choice: str) -> str:
    """The same replay as a command line; '' for a season, which only a running arena carries on."""
    if request.kind == "season":
        return ""
    words = [
        "python", "-m", "arena", "replay", "--data", choice, "--protocol", request.protocol,
        "--agents", ",".join(request.agents), "--models", ",".join(request.models),
        "--assets", ",".join(request.assets), "--strategies", ",".join(request.strategies),
        "--start", str(request.start), "--end", str(request.end), "--epochs", str(request.epochs),
        "--fill", request.fill, "--hold", request.hold, "--brief", request.brief,
        "--warmup-mode", request.warmup_mode, "--capital", f"{request.capital:g}",
    ]  # fmt: skip
    options: tuple[tuple[str, object | None], ...] = (
        ("--warmup", request.warmup), ("--warmup-from", request.warmup_from),
        ("--fee-bps", request.fee_bps), ("--budget-usd", request.budget_usd),
        ("--token-cap", request.token_cap), ("--seed", request.seed or None),
    )  # fmt: skip
    for option, value in options:
        if value is not None:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    if not request.shorting:
        words.append("--no-short")
    return shlex.join(words)

"""What the launch form offers: agents, models with their prices, assets, and a first window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from arena.agents.registry import known_agents
from arena.core.errors import ConfigError
from arena.core.season import RunSpec
from arena.core.types import Asset
from arena.llm.gateway import trouble
from arena.llm.registry import known_models
from arena.market.sources import PriceSource, open_source
from arena.runner.replay import prepare

WINDOW_DAYS = 30


@dataclass(frozen=True, slots=True)
class AgentChoice:
    id: str
    label: str
    learns: bool


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that its provider still serves. `usd_per_mtok` is its price in and out, None unknown;
    `missing_key` names the variable that would have to be set."""

    id: str
    label: str
    rule: bool
    free: bool
    usd_per_mtok: tuple[float, float] | None
    key_env: str | None
    missing_key: str | None
    problem: str


def agents() -> list[AgentChoice]:
    return [AgentChoice(a.id, a.label, a.learns) for a in known_agents().values()]


def models(today: date) -> list[ModelChoice]:
    """Rules first, then what could answer now, then what lacks a key; without retired ones."""
    found = []
    for info in known_models().values():
        if info.retired_on(today):
            continue
        problem = trouble(info)
        price_in, price_out = info.price_in_usd_per_mtok, info.price_out_usd_per_mtok
        priced = None if price_in is None or price_out is None else (price_in, price_out)
        found.append(
            ModelChoice(
                info.id, info.label, info.kind == "stand_in",
                info.runs_here or priced == (0, 0), priced, info.key_env,
                info.key_env if problem and info.key_env else None, problem,
            )
        )  # fmt: skip
    return sorted(found, key=lambda m: (not m.rule, bool(m.problem)))


def cheapest_ready(offered: list[ModelChoice]) -> str | None:
    """The cheapest model whose key is set, for a first season that costs little; None without one."""
    priced = [(sum(m.usd_per_mtok), m.id) for m in offered
              if m.usd_per_mtok and not m.free and not m.problem]  # fmt: skip
    return min(priced)[1] if priced else None


def source_of(choice: str) -> PriceSource:
    return open_source(choice)


def assets(source: PriceSource) -> dict[str, Asset]:
    return dict(source.assets())


def first_window(last: date | None, today: date) -> tuple[date, date]:
    """The newest 30 days that there are prices for."""
    end = min(last or today, today - timedelta(days=1))
    return end - timedelta(days=WINDOW_DAYS - 1), end


def window_problem(spec: RunSpec, strategies: tuple[str, ...], source: PriceSource) -> str:
    """What a look at the prices says about the window; '' if it can be run. For prices at hand only:
    a live source would be asked over the network."""
    try:
        prepare(spec, strategies, source)
    except ConfigError as error:
        return str(error)
    return ""



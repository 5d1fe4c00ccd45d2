"""What a request will take, before anything is spent: decisions, calls, tokens, money, time. Pure.

Calls of a decision are those of the agents' own tests; tokens of a call are a rule of thumb, until
enough decisions of the same agent are stored to go by what they took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from arena.agents.registry import get_agent
from arena.core.season import RunSpec
from arena.core.types import Asset
from arena.llm.registry import known_models, model_info
from arena.llm.roster import outside_roster
from arena.market.calendars import slots
from arena.market.news.brief import DIGEST, NO_BRIEF
from arena.runner.plan import convention, learners, warmup_slots

TOKENS_IN, TOKENS_OUT = 1_800, 240
"""Of one call, as a rule of thumb: a sheet of facts, and a short typed answer."""

CALL_S = {"away": 3.0, "local": 7.0, "stand_in": 0.0004}
"""Seconds of one call: over the network, a small model on this machine's processor, a rule."""
DECISION_S = 0.015
"""Seconds to seal, settle and store one decision."""

SEASON_DAYS = 30
"""A season has no end; what it takes is told of so many days from its start."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Model calls of one decision (stock and crypto; with prices alone), of what is learnt after it at
    most, and of one session of warm-up."""

    stock: float
    crypto: float
    stock_bare: float
    crypto_bare: float
    learning: float = 0.0
    warmup: float = 0.0


CALLS: dict[str, Calls] = {
    "vanilla": Calls(1, 1, 1, 1),
    "investor": Calls(1, 1, 1, 1, warmup=1),
    "investor-ref": Calls(1, 1, 1, 1, warmup=1),
    "trade": Calls(12, 11, 10, 10, learning=1, warmup=1),
    "hedge": Calls(13, 13, 1, 13),
    "deepfund": Calls(8, 6, 3, 3),
    "deepfund-planner": Calls(9, 7, 4, 4),
}
UNKNOWN_CALLS = Calls(1, 1, 1, 1)
"""Of an agent from outside: it answers by one request, or nobody can say."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes in all its epochs. `usd` is None where the price of a model is not known, and
    `unpriced` then names them; `known_usd` is that of the others. `measured` agents go by what they took.
    """

    n_decisions: int
    n_warmup: int
    n_calls: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    known_usd: float
    unpriced: tuple[str, ...]
    seconds: float
    measured: tuple[str, ...] = ()


def estimate(
    spec: RunSpec, assets: Mapping[str, Asset], *, epochs: int = 1, workers: int = 8,
    measured: Mapping[str, Mapping[str, float]] = {}, days: int | None = None,
) -> Estimate:  # fmt: skip
    """The work of `spec`. `measured` is `jobs_reader.measured`; `days` bounds an open-ended run.

    Money of a call is its tokens at the roster's price; repairs (at most two answers more) and
    prompts beyond the rule of thumb cost more, which is what a budget is for.
    """
    bare = spec.brief == NO_BRIEF
    work = _Sum()
    n_slots, n_warm = _slots(spec, [assets[a] for a in spec.assets], days)
    for agent_id in spec.agents:
        agent, plain = get_agent(agent_id), agent_id.rsplit("+", 1)[-1]
        calls, past = CALLS.get(plain, UNKNOWN_CALLS), measured.get(plain)
        learns = agent_id in learners(spec)
        for model in agent.own_models or spec.models:
            for asset in spec.assets:
                crypto = assets[asset].asset_class == "crypto"
                each = _of(calls, crypto=crypto, bare=bare) + (calls.learning if learns else 0.0)
                if past is not None:
                    each = past["calls"]
                warm = n_warm[asset] if learns else 0
                work.decisions += n_slots[asset]
                work.warmup += warm
                work.ask(model, each * n_slots[asset] + calls.warmup * warm, past)
    if spec.brief not in (NO_BRIEF, DIGEST):
        work.ask(spec.brief, float(sum(n_slots.values())), None)
    return work.times(epochs, workers, tuple(a for a in spec.agents if a in measured))


def _of(calls: Calls, *, crypto: bool, bare: bool) -> float:
    if bare:
        return calls.crypto_bare if crypto else calls.stock_bare
    return calls.crypto if crypto else calls.stock


def _slots(
    spec: RunSpec, assets: Sequence[Asset], days: int | None
) -> tuple[dict[str, int], dict[str, int]]:
    """Decisions of one track by asset, and sessions of its warm-up."""
    end = spec.end if days is None else min(spec.end, spec.start + timedelta(days=days - 1))
    due = {a.id: len(slots(a, spec.start, end, convention(spec))) for a in assets}
    warm = {a.id: len(warmup_slots(spec, a)) if learners(spec) else 0 for a in assets}
    return due, warm


class _Sum:
    """Calls and tokens by model, added up."""

    def __init__(self) -> None:
        self.decisions = self.warmup = 0
        self.calls: dict[str, float] = {}
        self.tokens: dict[str, tuple[float, float]] = {}

    def ask(self, model: str, n: float, past: Mapping[str, float] | None) -> None:
        each_in, each_out = (past["tokens_in"], past["tokens_out"]) if past else (TOKENS_IN, TOKENS_OUT)
        before = self.tokens.get(model, (0.0, 0.0))
        self.calls[model] = self.calls.get(model, 0.0) + n
        if not is_rule(model):
            self.tokens[model] = (before[0] + n * each_in, before[1] + n * each_out)

    def times(self, epochs: int, workers: int, measured: tuple[str, ...]) -> Estimate:
        """The sum over all epochs; calls of different tracks go side by side, `workers` at a time."""
        usd: dict[str, float | None] = {
            m: _usd(m, round(epochs * t_in), round(epochs * t_out))
            for m, (t_in, t_out) in self.tokens.items()
        }
        waiting = sum(n * CALL_S[_where(m)] / _abreast(m, workers) for m, n in self.calls.items())
        known = [v for v in usd.values() if v is not None]
        unpriced = tuple(m for m, v in usd.items() if v is None)
        return Estimate(
            n_decisions=epochs * self.decisions,
            n_warmup=epochs * self.warmup,
            n_calls=round(epochs * sum(self.calls.values())),
            tokens_in=round(epochs * sum(t[0] for t in self.tokens.values())),
            tokens_out=round(epochs * sum(t[1] for t in self.tokens.values())),
            usd=None if unpriced else sum(known),
            known_usd=sum(known),
            unpriced=unpriced,
            seconds=epochs * (waiting + DECISION_S * (self.decisions + self.warmup)),
            measured=measured,
        )


def is_rule(model: str) -> bool:
    """Whether a rule answers, which counts no tokens."""
    return _where(model) == "stand_in"


def _where(model: str) -> str:
    head = model.split("/", 1)[0]
    return {"offline": "stand_in", "scripted": "stand_in", "local": "local"}.get(head, "away")


def _abreast(model: str, workers: int) -> int:
    return workers if _where(model) == "away" else 1


def _usd(model: str, tokens_in: int, tokens_out: int) -> float | None:
    """None where the price is not known, as of a model that an agent elsewhere brings along."""
    if _where(model) != "away":
        return 0.0
    if model not in known_models() and outside_roster(model) is None:
        return None
    return model_info(model).cost_usd(tokens_in, tokens_out)

"""How a rule stands in for a model: facts in, an opinion out, written into any annotated schema."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arena.core.errors import InvariantError
from arena.core.hashing import canonical_json
from arena.llm.fields import Cites, Confidence, Lean, Text, marker_of
from arena.llm.types import ChatReply, ChatRequest, ModelKind

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a rule makes of the facts: `lean` in [-1, 1] (0 = no side), `confidence` in [0, 1]."""

    lean: float
    confidence: float
    text: str


Policy = Callable[[Facts], Opinion]

POLICIES: dict[str, Policy] = {}


def policy(model_id: str) -> Callable[[Policy], Policy]:
    """Register a pure function of the facts under a model id (`offline/<name>`)."""

    def register(rule: Policy) -> Policy:
        if model_id in POLICIES:
            raise InvariantError(f"two policies are called `{model_id}`; rename one")
        POLICIES[model_id] = rule
        return rule

    return register


def opinion_from_score(score: float, dead_zone: float, full: float, text: str) -> Opinion:
    """An opinion from a signed score: no side within `dead_zone`, full strength at `full`.

    Confidence is 0.5 at the edge of the dead zone and grows to 1 away from it, on both sides.
    """
    size = abs(score)
    if size < dead_zone:
        return Opinion(0.0, round(1.0 - 0.5 * size / dead_zone, 2), text)
    strength = min(1.0, (size - dead_zone) / (full - dead_zone))
    lean = max(strength, 0.01) * (1 if score > 0 else -1)
    return Opinion(round(lean, 2), round(0.5 + 0.5 * strength, 2), text)


HEARD_DEAD_ZONE = 0.1
"""Below it, what a committee thinks on average is no side."""


def in_role(facts: Facts, own: Opinion) -> Opinion:
    """The opinion a rule gives in the role it is asked in.

    A role that hears others (facts called `voices` or `*_voices`: who, lean, confidence, words)
    goes by their mean, weighted by confidence, and by its own reading with a third of the weight if
    it has one. A role that argues for one side (fact `argues`: `rise` or `fall`) keeps the lean and
    is as sure as that side deserves.
    """
    heard = [row for n, rows in facts.items() if n == "voices" or n.endswith("_voices") for row in rows]
    weight = sum(float(row[2]) for row in heard)
    if weight > 0:
        theirs = sum(float(row[1]) * float(row[2]) for row in heard) / weight
        lean = theirs if own.confidence == 0 else (2 * theirs + own.lean) / 3
        lean = 0.0 if abs(lean) < HEARD_DEAD_ZONE else round(lean, 2)
        text = f"{own.text} {len(heard)} voices average {theirs:+.2f}: {lean:+.2f} in all."
        own = Opinion(lean, round(0.5 + 0.5 * abs(lean), 2), text)
    if (side := facts.get("argues")) in ("rise", "fall"):
        sign = 1 if side == "rise" else -1
        return Opinion(float(sign), round(0.5 + 0.5 * sign * own.lean, 2), own.text)
    return own


def fill(schema: type[BaseModel], opinion: Opinion, facts: Facts) -> dict[str, Any]:
    """A valid answer of `schema`: every annotated field from the opinion, the others by default.

    Raises:
        InvariantError: a required field has no marker, so that no rule can know its meaning.
    """
    values = {n: _value(n, f, opinion, facts) for n, f in schema.model_fields.items()}
    return {name: value for name, value in values.items() if value is not _DEFAULT}


_DEFAULT = object()


def _value(name: str, info: FieldInfo, opinion: Opinion, facts: Facts) -> Any:
    match marker_of(info.metadata):
        case Lean() as lean:
            return lean.pick(info.annotation, opinion.lean)
        case Confidence():
            return opinion.confidence
        case Text(max_chars):
            return opinion.text[:max_chars]
        case Cites(max_items):
            return list(facts.get("evidence_ids", ()))[:max_items]
    if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
        return fill(info.annotation, opinion, facts)
    if not info.is_required():
        return _DEFAULT
    raise InvariantError(
        f"field `{name}` has neither a marker (Lean, Confidence, Text, Cites) nor a default; "
        "a rule cannot fill it"
    )


@dataclass(frozen=True, slots=True)
class StandIn:
    """A policy behind the `ChatModel` contract. It reads the facts, not the prose; no tokens, no cost."""

    id: str
    rule: Policy
    kind: ModelKind = "stand_in"

    async def complete(self, req: ChatRequest) -> ChatReply:
        began = time.perf_counter()
        text = canonical_json(fill(req.schema, in_role(req.facts, self.rule(req.facts)), req.facts))
        latency_ms = (time.perf_counter() - began) * 1e3
        return ChatReply(text, self.id, 0, 0, 0.0, latency_ms)

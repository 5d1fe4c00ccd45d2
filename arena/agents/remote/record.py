"""What an exchange with a remote agent leaves in the trace."""

from __future__ import annotations

import time
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.agents.remote.client import Exchange
from arena.agents.remote.entry import RemoteEntry
from arena.agents.remote.protocol import Outcome, Reply, Usage
from arena.agents.remote.wire import CallPart
from arena.agents.trace import storable
from arena.core.actions import ACTION_WORD, Status
from arena.core.hashing import canonical_json, sha256_json
from arena.core.text import clean_foreign
from arena.core.types import Call

ROLE = "remote"
MAX_TRACE = 500

OUTCOME_STATUS = {
    Outcome.OK: Status.OK,
    Outcome.TIMEOUT: Status.TIMEOUT,
    Outcome.HTTP_ERROR: Status.PROVIDER_ERROR,
    Outcome.UNREACHABLE: Status.PROVIDER_ERROR,
    Outcome.INVALID_RESPONSE: Status.INVALID_OUTPUT,
}


def calls_of(
    entry: RemoteEntry, seq: int, payload: dict[str, Any], got: Exchange, result: Outcome,
    reply: Reply | None, problem: str, began: float,
) -> list[Call]:  # fmt: skip
    """The exchange as one call of kind `tool`, then the steps that the reply reports.

    `seq` is the place of the first; `began` is by `time.perf_counter`.
    """
    steps = _reported(reply)
    bill = (reply.usage if reply else None) or Usage()
    if steps:
        # Their sum is the bill; counted here too, it would be charged twice.
        bill = Usage(tokens_in=0, tokens_out=0, cost_usd=0.0)
    exchange = Call(
        seq=seq,
        kind="tool",
        role=ROLE,
        model="-",
        status=OUTCOME_STATUS[result].value,
        attempt=got.attempts,
        prompt=canonical_json(_shortened(payload)),
        answer=storable(got.body.decode("utf-8", "replace")),
        parsed=_parsed(reply),
        error=problem or None,
        params={
            "url": entry.public_url, "protocol": entry.protocol,
            "outcome": result.value, "attempts": got.attempts,
            **({"self_reported": True} if bill != Usage() else {}),
        },
        tokens_in=bill.tokens_in,
        tokens_out=bill.tokens_out,
        cost_usd=bill.cost_usd,
        latency_ms=(time.perf_counter() - began) * 1e3,
    )  # fmt: skip
    return [exchange, *(_call(n, step) for n, step in enumerate(steps, seq + 1))]


class _Trace(BaseModel):
    model_config = ConfigDict(extra="ignore")
    trace: list[CallPart] = []


def _reported(reply: Reply | None) -> list[CallPart]:
    """The steps a reply tells of; a trace that cannot be read stays in the raw answer alone."""
    if reply is None or not isinstance(reply.raw.get("trace"), list):
        return []
    try:
        return _Trace(trace=reply.raw["trace"][:MAX_TRACE]).trace
    except ValidationError:
        return []


def _call(seq: int, step: CallPart) -> Call:
    return Call(
        seq=seq,
        kind=step.kind,
        role=clean_foreign(step.role, 100) or ROLE,
        model=clean_foreign(step.model, 200) or "-",
        status=step.status.value,
        attempt=step.attempt,
        prompt=storable(step.prompt),
        answer=storable(step.answer),
        parsed=step.parsed,
        error=None if step.error is None else storable(step.error),
        params={**step.params, "self_reported": True},
        tokens_in=step.tokens_in,
        tokens_out=step.tokens_out,
        cost_usd=step.cost_usd,
        latency_ms=0.0,
    )


def _parsed(reply: Reply | None) -> dict[str, Any] | None:
    if reply is None:
        return None
    return {"recommended_action": ACTION_WORD[reply.intent], "reasoning": reply.reasoning}


def _shortened(payload: dict[str, Any]) -> dict[str, Any]:
    """The request without what the store keeps elsewhere under its hash: context, view and memory."""
    if "arena" not in payload:
        return payload
    part = dict(payload["arena"])
    part["context"] = f"sha256 {part['market_hash']}"
    part["view"] = f"sha256 {part['view_hash']}"
    if part["memory"] is not None:
        part["memory"] = f"sha256 {sha256_json(part['memory'])}"
    return payload | {"arena": part}

"""From a step of a decision to the call that is stored of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from arena.core.actions import Status
from arena.core.types import Call
from arena.llm.parse import bounded
from arena.llm.redact import redact
from arena.llm.types import ChatReply, ChatRequest, render

if TYPE_CHECKING:
    from arena.agents.asking import Asker


def storable(text: str) -> str:
    """`text` as valid UTF-8 without secrets, cut at the size beyond which no answer is read."""
    return bounded(redact(text.encode("utf-8", "replace").decode("utf-8")))


class ModelStep:
    """One answer of a model on its way into the asker's calls."""

    def __init__(self, asker: Asker, role: str, attempt: int, request: ChatRequest) -> None:
        self.asker, self.role, self.attempt, self.request = asker, role, attempt, request
        self.began = time.perf_counter()

    def answered(self, reply: ChatReply, parsed: dict[str, Any] | None, error: str | None) -> None:
        status = Status.OK if error is None else Status.INVALID_OUTPUT
        self._add(
            status, error, reply.model, storable(reply.text), parsed, reply.params,
            reply.tokens_in, reply.tokens_out, reply.cost_usd, redact(render(reply.sent or self.request.messages)),
        )  # fmt: skip

    def failed(self, status: Status, error: str) -> None:
        """Nothing came back: what it cost is unknown."""
        self._add(
            status, error, self.asker.model.id, "", None, self.request.params, None, None, None,
            redact(render(self.request.messages)),
        )  # fmt: skip

    def _add(
        self, status: Status, error: str | None, model: str, answer: str,
        parsed: dict[str, Any] | None, params: Mapping[str, Any],
        tokens_in: int | None, tokens_out: int | None, cost_usd: float | None, prompt: str,
    ) -> None:  # fmt: skip
        self.asker.calls.append(
            Call(
                seq=len(self.asker.calls),
                kind="model",
                role=self.role,
                model=model,
                status=status.value,
                attempt=self.attempt,
                prompt=prompt,
                answer=answer,
                parsed=parsed,
                error=None if error is None else redact(error),
                params=dict(params),
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost_usd=cost_usd,
                latency_ms=(time.perf_counter() - self.began) * 1e3,
            )
        )


def code_step(
    seq: int, kind: Literal["tool", "compute", "memory"], name: str, output: dict[str, Any], began: float
) -> Call:
    """A step without a model: a computation, a tool or a memory operation. It costs nothing.

    Only its output is kept: its inputs are the sealed market, the view and the calls before it.
    """
    return Call(
        seq=seq,
        kind=kind,
        role=name,
        model="-",
        status=Status.OK.value,
        attempt=1,
        prompt="",
        answer="",
        parsed=output,
        error=None,
        params={},
        tokens_in=0,
        tokens_out=0,
        cost_usd=0.0,
        latency_ms=(time.perf_counter() - began) * 1e3,
    )

"""From a stored run to models that answer as they did then, without a call."""

from __future__ import annotations

import json

from arena.llm.recorded import Recorded, recorded
from arena.llm.registry import model_kind
from arena.llm.types import ChatReply
from arena.store import reader
from arena.store.store import Store


def recorded_models(store: Store, run: str) -> dict[str, Recorded]:
    """One for each model of the run, by its id. Calls that got no answer are not recorded."""
    answered: dict[str, list[tuple[tuple[str, str], ChatReply]]] = {}
    for row in reader.model_calls(store, run):
        reply = ChatReply(
            row["answer"], row["model"], row["tokens_in"], row["tokens_out"], row["cost_usd"],
            row["latency_ms"], json.loads(row["params_json"]),
        )  # fmt: skip
        answered.setdefault(row["asked"], []).append(((row["role"], row["prompt_sha256"]), reply))
    return {
        model: recorded(model, model_kind(model), calls) for model, calls in sorted(answered.items())
    }

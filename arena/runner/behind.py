"""All that stands behind one decision, and what came of it: for the command line and the pages."""

from __future__ import annotations

import json
from typing import Any

from arena.core.actions import Intent, target_side
from arena.core.season import RunSpec
from arena.llm.registry import known_models
from arena.runner.sealing import parse_part
from arena.store import live_reader, reader
from arena.store.actions_reader import run_bars, share_ratio
from arena.store.news_reader import failed_brief, rejected_briefs
from arena.store.store import Store

ASKED = "model"
"""Kind of the calls that asked a model; the others are computations, tools and memory."""


def behind(store: Store, decision_id: str) -> dict[str, Any] | None:
    """`reader.decision`, with what only the run's rules and later bars can tell; None if unknown.

    Added are `position_after` (side of the reference account that the decision asks for),
    `next_session` and `next_return_frac` (close to next close, None until there is one),
    `n_model_calls` and `n_repairs` (answers asked for, and sent back), `may_know` (the model's
    knowledge reaches past the session; None where its cut-off is not known), `stories`, `brief` and
    `fundamentals` as agents read them, `brief_rejected` (a reviewer has marked the brief), and
    `brief_failure` (columns of the brief that its maker failed to write; None where it did write one
    or had nothing to write about).
    """
    found = reader.decision(store, decision_id)
    if found is None:
        return None
    run = live_reader.run_as_settled(store, found["run"])
    spec = RunSpec.model_validate_json(run["spec_json"])
    after = target_side(Intent(found["intent"]), found["position_before"], spec.season.action_spec)
    bars = run_bars(store, run, found["asset"])
    later = bars[bars["session"].dt.date > found["session"]].head(1).to_dict("records")
    next_bar = later[0] if later else None
    shares = 1.0 if next_bar is None else share_ratio(store, run, found["asset"], found["session"])
    info = known_models().get(found["model"])
    cutoff = None if info is None else info.knowledge_cutoff
    return {
        **found,
        "evidence": json.loads(found.pop("evidence_json")),
        "position_after": after,
        "next_session": next_bar["session"].date() if next_bar else None,
        "next_return_frac": next_bar["close"] * shares / found["price"] - 1.0 if next_bar else None,
        "n_model_calls": sum(c["kind"] == ASKED for c in found["calls"]),
        "n_repairs": sum(
            c["kind"] == ASKED and c["status"] == "invalid_output" for c in found["calls"]
        ),
        "may_know": None if cutoff is None else found["session"] <= cutoff,
        **_read(store, found, spec.brief),
    }


def _read(store: Store, found: dict[str, Any], maker: str) -> dict[str, Any]:
    """What was read at the slot besides prices; a gap read nothing."""
    context = found["context"] or {}
    parts = {
        name: reader.blob(store, context.get(f"{name}_sha256"))
        for name in ("stories", "brief", "fundamentals")
    }
    read = {name: None if text is None else parse_part(text) for name, text in parts.items()}
    return {
        "stories": read["stories"] or [],
        "brief": read["brief"],
        "fundamentals": read["fundamentals"] or [],
        "brief_rejected": found["market_hash"] in rejected_briefs(store, found["run"]),
        "brief_failure": (
            failed_brief(store, found["asset"], found["as_of_utc"], maker)
            if read["stories"] and not read["brief"]
            else None
        ),
    }

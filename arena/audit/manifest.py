"""What a run was made of, in one document that can be cited."""

from __future__ import annotations

import json
from typing import Any

from arena.audit.rows import load
from arena.core.hashing import sha256_json
from arena.core.rows import BriefRow, CallRow, ContextRow, DecisionRow
from arena.llm.registry import known_models
from arena.store import reader
from arena.store.store import Store


def build_manifest(store: Store, run: str) -> dict[str, Any]:
    """Specification, code, prompt and data hashes, effective parameters, and an id over all of it.

    Raises:
        UnknownNameError: no such run.
    """
    row = reader.run(store, run)
    decisions = load(store, DecisionRow, "WHERE run = ? ORDER BY decision", [run])
    calls = load(
        store, CallRow,
        "WHERE decision IN (SELECT decision FROM decisions WHERE run = ?) ORDER BY decision, seq",
        [run],
    )  # fmt: skip
    hashes = {d.market_hash for d in decisions}
    contexts = [c for c in load(store, ContextRow, "ORDER BY market_hash") if c.market_hash in hashes]
    asked = [c for c in calls if c.kind == "model"]
    heads = {d.track: d.chain_hash for d in sorted(decisions, key=lambda d: d.seq)}
    document = {
        "run": run,
        "spec": json.loads(row["spec_json"]),
        "code_version": row["code_version"],
        "synthetic_data": bool(row["synthetic"]),
        "n_decisions": len(decisions),
        "n_planned": int(row["n_planned"]),
        "voided_reason": row["voided_reason"],
        "data_sha256": sha256_json(sorted(hashes)),
        "prompts_sha256": sha256_json([c.prompt_sha256 for c in calls]),
        "answers_sha256": sha256_json([c.answer_sha256 for c in calls]),
        "effective_params": sorted({c.params_json for c in asked}),
        "models": sorted({c.model for c in asked}),
        "knowledge_cutoffs": {m: cutoff(m) for m in sorted({d.model for d in decisions})},
        "n_contexts": len(contexts),
        "track_heads": heads,
    }
    if briefs := _briefs(store, run):
        document["briefs"] = briefs
    return {"id": f"arena:{run}:{sha256_json(document)[:16]}", **document}


def _briefs(store: Store, run: str) -> dict[str, Any]:
    """Who wrote what the run read, up to when a writer may know what followed, and what it was asked;
    nothing where no brief was read."""
    rows = load(
        store, BriefRow,
        "WHERE brief IN (SELECT brief FROM contexts JOIN decisions USING (market_hash) WHERE run = ?) "
        "ORDER BY brief",
        [run],
    )  # fmt: skip
    if not rows:
        return {}
    return {
        "n_briefs": len(rows),
        "knowledge_cutoffs": {m: cutoff(m) for m in sorted({b.maker for b in rows})},
        "prompts_sha256": sha256_json([b.prompt_sha256 for b in rows]),
        "answers_sha256": sha256_json([b.answer_sha256 for b in rows]),
    }


def cutoff(model: str) -> str | None:
    """Up to when a model may know what happened; None where nobody says."""
    info = known_models().get(model)
    return None if info is None or info.knowledge_cutoff is None else str(info.knowledge_cutoff)

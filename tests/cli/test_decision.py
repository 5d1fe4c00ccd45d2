"""`arena decision ID`: everything behind one decision, in the order it happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.core.hashing import canonical_json, sha256_text
from arena.store.store import open_store
from tests.runner.test_replay import play, spec


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("decision") / "d.duckdb"
    run = spec(agents=("investor", "trade"), assets=("QUBIXCOIN",), models=("offline/trend",), warmup=4)
    play(path, run)
    return path, run.run_id()


def test_json_holds_both_sides_of_the_decision(
    arena: Callable[..., Any], store: tuple[Path, str]
) -> None:
    path, run = store
    found = arena(
        "decision", "--store", path, "--json", f"{run}:trade@offline%2Ftrend:QUBIXCOIN:2025-08-08"
    ).json
    roles = [c["role"] for c in found["calls"] if c["kind"] == "model"]
    assert roles[-1] == "portfolio_manager"
    assert roles.index("bull") < roles.index("bear") < roles.index("research_manager")
    assert found["n_model_calls"] == len(roles)
    # The view is the one whose hash the decision carries, and its memory the one left before.
    assert sha256_text(canonical_json(_plain_view(path, found["view_hash"]))) == found["view_hash"]
    before = _decision(path, f"{run}:trade@offline%2Ftrend:QUBIXCOIN:2025-08-07")
    assert found["view"]["memory"] == {"sha256": before["memory_sha256"]}
    # What followed: the price of the next session against this one's.
    after = _decision(path, f"{run}:trade@offline%2Ftrend:QUBIXCOIN:2025-08-09")
    assert found["next_session"] == "2025-08-09"
    assert found["next_return_frac"] == pytest.approx(after["price"] / found["price"] - 1.0)
    assert found["position_after"] == {"BUY": 1, "SELL": -1, "HOLD": 0}[found["action"]]
    assert found["may_know"] is None  # nobody says up to when a rule knows


def test_text_tells_every_step(arena: Callable[..., Any], store: tuple[Path, str]) -> None:
    path, run = store
    key = f"{run}:investor@offline%2Ftrend:QUBIXCOIN:2025-08-08"
    said = arena("decision", "--store", path, key).out
    found = arena("decision", "--store", path, "--json", key).json
    for part in ("market_hash", "view_hash", "memory after", "chain", "position_before",
                 "position_after", "next_return", "tokens_in", "cost_usd", "latency_ms",
                 "--- prompt ---", "--- answer ---", "--- read as ---"):  # fmt: skip
        assert part in said, part
    at = -1
    for call in found["calls"]:
        heading = (
            f"\n{call['seq']}. {call['role']} asks offline/trend"
            if call["kind"] == "model"
            else f"\n{call['seq']}. {call['kind']} {call['role']}: "
        )
        assert said.index(heading) > at, heading
        at = said.index(heading)
        assert (call["prompt"] or "") in said
        assert (call["answer"] or "") in said
    memory = {c["role"] for c in found["calls"] if c["kind"] == "memory"}
    assert {"recall", "add"} <= memory


def test_a_warm_up_decision_can_be_opened_too(
    arena: Callable[..., Any], store: tuple[Path, str]
) -> None:
    path, run = store
    key = f"{run}:investor@offline%2Ftrend:QUBIXCOIN:2025-07-30"
    found = arena("decision", "--store", path, "--json", key).json
    assert found["phase"] == "warmup"
    assert (found["next_return_frac"] > 0) == (found["action"] == "BUY")
    assert any(c["role"] == "student" for c in found["calls"])


def _decision(path: Path, key: str) -> dict[str, Any]:
    from arena.runner.behind import behind

    with open_store(path, read=True) as opened:
        found = behind(opened, key)
    assert found is not None
    return found


def _plain_view(path: Path, sha: str) -> Any:
    with open_store(path, read=True) as opened, opened.cursor() as cur:
        cur.execute("SELECT text FROM blobs WHERE sha256 = ?", [sha])
        return json.loads(cur.fetchall()[0][0])

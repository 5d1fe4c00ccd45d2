"""A run from its own trace: the same decisions, no call (and nothing that was not recorded)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from arena.llm.scripted import SCRIPTED, register_scripted
from arena.llm.types import ChatRequest, Message, ProviderError
from arena.runner.recorded import recorded_models
from arena.store import reader
from arena.store.store import open_store
from tests.runner.test_replay import play, spec

AGENTS = ("deepfund", "hedge", "investor", "trade", "vanilla")
SAME = ["agent", "asset", "slot_key", "phase", "intent", "status", "conviction", "reason",
        "evidence_json", "market_hash", "view_hash", "memory_sha256", "n_calls"]  # fmt: skip


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCRIPTED, "scripted/recorded", None)


def test_replay_from_the_trace_reproduces_every_decision(tmp_path: Path) -> None:
    run = spec(models=("offline/trend",), agents=AGENTS, warmup=5)
    play(tmp_path / "first.duckdb", run)
    with open_store(tmp_path / "first.duckdb", read=True) as store:
        before = reader.decisions(store, run.run_id(), phase=None)[SAME]
        model = recorded_models(store, run.run_id())["offline/trend"]
    register_scripted("recorded", model)
    again = run.model_copy(update={"models": ("scripted/recorded",)})
    play(tmp_path / "again.duckdb", again)
    with open_store(tmp_path / "again.duckdb", read=True) as store:
        after = reader.decisions(store, again.run_id(), phase=None)[SAME]
        calls = [c["role"] for c in reader.model_calls(store, again.run_id())]
    key = ["agent", "asset", "slot_key"]
    left, right = (f.sort_values(key).reset_index(drop=True) for f in (before, after))
    assert left.equals(right)
    assert len(left) == 5 * 26 + 3 * 2 * 5  # five agents, and three that learn for five sessions more
    assert len(calls) > 600  # every word came from the record


def test_what_was_not_recorded_is_a_provider_error(tmp_path: Path) -> None:
    run = spec(models=("offline/trend",))
    play(tmp_path / "first.duckdb", run)
    with open_store(tmp_path / "first.duckdb", read=True) as store:
        model = recorded_models(store, run.run_id())["offline/trend"]
    request = ChatRequest((Message("user", "something else"),), object, {}, role="trader")  # type: ignore[arg-type]
    with pytest.raises(ProviderError, match="no recorded answer"):
        asyncio.run(model.complete(request))

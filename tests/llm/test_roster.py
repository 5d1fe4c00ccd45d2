"""data/models.toml: what it may say, and what is said of models that are not in it."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from arena.core.errors import ConfigError, UnknownNameError
from arena.llm.offline.policy import POLICIES
from arena.llm.registry import get_model, known_models, model_info, model_kind
from arena.llm.roster import ModelInfo, litellm_providers, roster
from arena.llm.worker import Worker

PAPER = ["gpt-4o", "gpt-4.1", "claude-3.5-haiku", "claude-sonnet-4", "gemini-2.0-flash"]


def test_the_papers_five_come_first() -> None:
    assert list(known_models())[:5] == PAPER


@pytest.mark.parametrize("info", roster().values(), ids=lambda i: i.id)
def test_every_row_is_usable(info: ModelInfo) -> None:
    model = get_model(info.id) if not info.id.startswith("local/") else None
    if model is not None:
        assert (model.id, model.kind, model_kind(info.id)) == (info.id, info.kind, info.kind)
    if info.runs_here:
        return
    assert info.provider in litellm_providers()
    assert "latest" not in info.litellm_id, "an alias moves, and a run's model with it"
    if info.api_base is None:
        assert info.key_env, "a provider is paid by somebody"
        assert info.cost_usd(1, 1) != 0, "unknown is left out, never 0"
    else:
        assert info.stays_here
    dates = [d for d in (info.knowledge_cutoff, info.released, info.retired) if d is not None]
    assert dates == sorted(dates), "known, released, retired: in that order"


def test_every_stand_in_has_a_policy_and_says_so() -> None:
    rules = [i for i in known_models().values() if i.kind == "stand_in"]
    assert {"offline/trend", "offline/contrarian"} <= {i.id for i in rules} <= set(POLICIES)
    assert all(i.label.endswith("(no LLM)") for i in rules)


def test_price_by_hand() -> None:
    info = model_info("gpt-4o")
    # 2.50 USD for a million in, 10 for a million out: 0.0025 + 0.005
    assert info.cost_usd(1_000, 500) == pytest.approx(0.0075)
    assert model_info("claude-3.5-haiku").cost_usd(1, 1) is None


def test_retirement_begins_on_its_day() -> None:
    info = model_info("claude-sonnet-4")
    assert not info.retired_on(date(2026, 6, 14))
    assert info.retired_on(date(2026, 6, 15))
    assert not model_info("gpt-6-luna").retired_on(date(2099, 1, 1))


@pytest.mark.parametrize("model_id", ["groq/llama-x", "openrouter/a/b", "hosted_vllm/org/m"])
def test_any_id_of_litellm_is_a_model_of_unknown_price(model_id: str) -> None:
    info = model_info(model_id)
    assert (info.id, info.kind, info.cost_usd(1, 1)) == (model_id, "model", None)
    assert get_model(model_id).id == model_id


@pytest.mark.parametrize("model_id", ["opnai/gpt", "offline/trnd", "local/x", "scripted/x", "gpt-9", "openai/"])
def test_a_misspelt_id_is_no_model(model_id: str) -> None:
    with pytest.raises(UnknownNameError, match=f"`{model_id}`"):
        model_info(model_id)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000/v1", True), ("http://localhost:1/v1", True), ("http://[::1]:1", True),
        ("http://127.0.0.1.example.com/v1", False), ("http://10.0.0.2/v1", False),
        ("http://user@evil.example/?127.0.0.1", False), (None, False),
    ],
)  # fmt: skip
def test_loopback_is_judged_by_the_host(url: str | None, here: bool) -> None:
    assert ModelInfo(id="x/m", label="m", kind="model", api_base=url).stays_here is here


@pytest.mark.parametrize(
    "fields",
    [
        {"price_in_usd_per_mtok": 1.0}, {"price_in_usd_per_mtok": -1, "price_out_usd_per_mtok": 1},
        {"refuses": ["max_tokens"]}, {"prize": 1}, {"concurrency": 0},
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_meant_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModelInfo.model_validate({"id": "x/m", "label": "m", "kind": "model", **fields})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[model]]\nid = "a"\nlabel = "A"\nkind = "model"\n' * 2, "twice"),
        ("[[model]\n", "cannot be used"),
        ("x = 1\n", "cannot be used"),
        ('[[model]]\nid = "a"\nlabel = "A"\nkind = "robot"\n', "cannot be used"),
    ],
)
def test_a_broken_file_is_named(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "models.toml"
    file.write_text(text)
    monkeypatch.setenv("ARENA_MODELS", str(file))
    with pytest.raises(ConfigError, match=f"models.toml.*{words}"):
        roster.__wrapped__()


def test_the_worker_starts_again_after_it_was_closed() -> None:
    worker, said = Worker(), []

    async def farewell() -> None:
        said.append("bye")

    async def answer() -> int:
        return 42

    worker.close()
    worker.on_close(farewell)
    for _ in range(2):
        assert worker.submit(answer()).result(5) == 42
        worker.close()
    assert said == ["bye", "bye"]


def test_closing_the_worker_cancels_what_hangs() -> None:
    worker = Worker()
    future = worker.submit(asyncio.sleep(60))
    worker.close()
    assert future.cancelled()

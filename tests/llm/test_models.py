"""The models that exist: stand-ins, scripted ones, the roster and the network switch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel

from arena.agents.vanilla import Verdict
from arena.core.errors import ConfigError, InvariantError, UnknownNameError
from arena.llm.fields import Cites, Confidence, Lean, Text
from arena.llm.offline.contrarian import contrarian
from arena.llm.offline.policy import Opinion, fill, opinion_from_score
from arena.llm.offline.trend import trend
from arena.llm.registry import get_model, known_models, model_kind
from arena.llm.scripted import Scripted, register_scripted
from arena.llm.switch import ensure_network
from arena.llm.types import ChatReply, ChatRequest, Message, ProviderError

UP = {
    "session": "2025-08-01", "asset": "X", "volatility_session_pct": 2.0,
    "return_5_pct": 6.0, "return_20_pct": 12.0, "return_60_pct": 20.0, "z_50": 2.1, "rsi_14": 72.0,
}  # fmt: skip


def request(facts: dict[str, object], schema: type[BaseModel] = Verdict) -> ChatRequest:
    return ChatRequest((Message("user", "?"),), schema, facts, seed=7, params={"temperature": 0.5})


def ask(model_id: str, facts: dict[str, object]) -> ChatReply:
    return asyncio.run(get_model(model_id).complete(request(facts)))


class Sub(BaseModel):
    view: Annotated[float, Lean()]


class Rating(BaseModel):
    rating: Annotated[Literal["Sell", "Underweight", "Hold", "Overweight", "Buy"], Lean()]
    sure: Annotated[float, Confidence()]
    why: Annotated[str, Text(12)]
    ids: Annotated[list[str], Cites(2)]
    sub: Sub
    note: str = "none"


def test_trend_score_by_hand() -> None:
    # 6/(2*2.2361)=1.3416; 12/(2*4.4721)=1.3416; 20/(2*7.7460)=1.2910
    # 0.5*1.3416 + 0.3*1.3416 + 0.2*1.2910 = 1.3315; strength (1.3315-0.35)/1.15 = 0.8535
    opinion = trend(UP)
    assert (opinion.lean, opinion.confidence) == (0.85, 0.93)
    assert "+1.33: up" in opinion.text
    assert "no model" in opinion.text


def test_trend_reweights_what_is_known() -> None:
    # only r_5 = -2: score -2/(2*2.2361) = -0.447, so down
    assert trend({"volatility_session_pct": 2.0, "return_5_pct": -2.0}).lean < 0


def test_contrarian_score_by_hand() -> None:
    # z: 2.1/1.5 = 1.4; RSI: 22/15 = 1.4667; -(mean) = -1.4333; strength (1.4333-0.5)/1 = 0.9333
    opinion = contrarian(UP)
    assert (opinion.lean, opinion.confidence) == (-0.93, 0.97)
    assert "stretched up, expect a fall" in opinion.text


@pytest.mark.parametrize("rule", [trend, contrarian])
def test_nothing_known_is_no_side_and_no_confidence(rule: object) -> None:
    opinion = rule({"session": "2025-08-01"})  # type: ignore[operator]
    assert (opinion.lean, opinion.confidence) == (0.0, 0.0)


def test_confidence_is_half_at_the_edge_of_the_dead_zone() -> None:
    assert opinion_from_score(0.0, 0.5, 1.5, "").confidence == 1.0
    # 1 - 0.5 * 0.25/0.5 = 0.75
    assert opinion_from_score(-0.25, 0.5, 1.5, "") == Opinion(0.0, 0.75, "")
    assert opinion_from_score(0.5, 0.5, 1.5, "").confidence == 0.5
    assert opinion_from_score(-9.0, 0.5, 1.5, "") == Opinion(-1.0, 1.0, "")


@pytest.mark.parametrize(
    ("lean", "word"),
    [(-1.0, "Sell"), (-0.3, "Underweight"), (0.0, "Hold"), (0.01, "Overweight"), (0.6, "Buy")],
)
def test_any_annotated_schema_is_filled(lean: float, word: str) -> None:
    facts = {"evidence_ids": ["n1", "n2", "n3"]}
    values = fill(Rating, Opinion(lean, 0.5, "a text that is too long"), facts)
    filled = Rating.model_validate(values)
    assert (filled.rating, filled.sub.view, filled.note) == (word, lean, "none")
    assert filled.ids == ["n1", "n2"]
    assert len(values["why"]) == 12


def test_a_required_field_without_marker_cannot_be_filled() -> None:
    class Bare(BaseModel):
        target: float

    with pytest.raises(InvariantError, match="`target`"):
        fill(Bare, Opinion(1.0, 1.0, "x"), {})


def test_lean_needs_a_middle() -> None:
    with pytest.raises(TypeError, match="odd number"):

        class Two(BaseModel):
            side: Annotated[Literal["down", "up"], Lean()]


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian", "scripted/cycle"])
def test_same_facts_same_answer_without_cost(model_id: str) -> None:
    first, second = ask(model_id, UP), ask(model_id, dict(reversed(UP.items())))
    assert first.text == second.text
    assert first.model == model_id
    assert (first.tokens_in, first.tokens_out, first.cost_usd) == (0, 0, 0.0)
    assert dict(first.params) == {}, "a rule has no temperature"
    Verdict.model_validate_json(first.text)


def test_unknown_model_names_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match=r"`gpt-3`.*gpt-4o.*offline/contrarian"):
        get_model("gpt-3")
    with pytest.raises(UnknownNameError, match="Did you mean `offline/trend`"):
        get_model("offline/trnd")


def test_cycle_turns_with_the_date_and_logs_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "calls.jsonl"
    monkeypatch.setenv("ARENA_CALL_LOG", str(log))
    days = ["2025-08-01", "2025-08-02", "2025-08-03", "2025-08-04"]
    words = [
        json.loads(ask("scripted/cycle", {"session": d, "asset": "BTC"}).text)["action"]
        for d in days
    ]
    # ordinal of 2025-08-01 is 739,464 = 3 * 246,488, so it starts a turn
    assert words == ["BUY", "HOLD", "SELL", "BUY"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines == [{"asset": "BTC", "seed": 7, "session": d} for d in days]


def test_cycle_is_hidden_and_wants_a_session() -> None:
    assert "scripted/cycle" not in known_models()
    assert model_kind("scripted/cycle") == "stand_in"
    with pytest.raises(ProviderError, match="session"):
        ask("scripted/cycle", {})


def test_scripted_queue_keeps_history_and_ends() -> None:
    model = Scripted(["a", lambda req: str(req.seed), ProviderError("down")])
    req = request(UP)
    assert asyncio.run(model.complete(req)).text == "a"
    reply = asyncio.run(model.complete(req))
    assert (reply.text, reply.params["seed"], reply.cost_usd) == ("7", 7, None)
    with pytest.raises(ProviderError, match="down"):
        asyncio.run(model.complete(req))
    with pytest.raises(ProviderError, match="used up after 4 calls"):
        asyncio.run(model.complete(req))
    assert model.history == [req] * 4


def test_registered_script_is_found_by_id() -> None:
    model = Scripted(["x"], id="scripted/mine")
    assert get_model(register_scripted("mine", model)) is model


def test_network_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="`remote/x` needs the network"):
        ensure_network("remote/x")
    monkeypatch.setenv("ARENA_NETWORK", "on")
    ensure_network("remote/x")

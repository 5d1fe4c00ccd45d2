"""A remote agent decides as the same agent does in process, and whatever comes back is a decision."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.external import load_file
from arena.agents.memory.base import Dump, opened
from arena.agents.registry import known_agents
from arena.agents.remote.agent import Elsewhere, RemoteAgent, RemoteMemory
from arena.agents.vanilla import Vanilla
from arena.core.actions import FAILED, ActionSpec, Intent, Status
from arena.core.errors import ConfigError
from arena.core.hashing import canonical_json
from arena.core.season import Generation, Season
from arena.core.types import Decision, Past, TrackView
from arena.llm.registry import get_model
from arena.llm.scripted import Scripted
from arena.llm.types import BudgetStop, ProviderError, ProviderTimeout
from tests.agents.remote.support import desk, market, remote, replying, served, stories
from tests.agents.remote.test_wire import FIGURE

GOOD = '{"action": "SELL", "confidence": 0.7, "reason": "down\\nand out ½"}'
OUTCOME = Past(market().session, "BUY", 100.0, 0.0125)
LONG = TrackView(1, 101_234.56, 0.9995, 98.765, (OUTCOME,), ActionSpec("keep", shorting=False))


@dataclass
class Diary:
    lines: list[str] = field(default_factory=list)

    def dump(self) -> dict[str, Any]:
        return {"kind": "diary", "version": 1, "lines": self.lines}


class Diarist(Agent):
    """Writes down every outcome and every study, asks nobody, and reasons with its whole diary."""

    id, label, learns = "diarist", "Diarist", True

    def memory(self, dump: Dump | None = None) -> Diary:
        return Diary() if dump is None else Diary(list(opened(dump, "diary", 1)["lines"]))

    async def learn(self, desk: Desk, outcome: Past) -> None:
        desk.memory.lines.append(f"{outcome.session} {outcome.action} {outcome.next_return_frac}")
        desk.noted("add", {"lines": len(desk.memory.lines)})

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        desk.memory.lines.append(f"studied {outcome.next_return_frac}")
        return await self.decide(desk)

    async def decide(self, desk: Desk) -> Decision:
        words = " | ".join(desk.memory.lines)
        return desk.decision(Intent.KEEP, Status.OK, words, 0.5, [s["id"] for s in desk.context.stories])


def decide(agent: Agent, at: Desk) -> Decision:
    return asyncio.run(agent.decide(at))


def same(there: Decision, here: Decision) -> None:
    """Equal decisions; and the steps reported are those that were made, all but their duration."""
    for name in ("intent", "status", "reason", "conviction", "evidence", "failed_roles"):
        assert getattr(there, name) == getattr(here, name), name
    first, *reported = there.calls
    assert (first.seq, first.kind, first.role, first.model) == (0, "tool", "remote", "-")
    assert [c.seq for c in reported] == list(range(1, len(here.calls) + 1))
    for told, made in zip(reported, here.calls, strict=True):
        for name in (
            "kind", "role", "model", "status", "attempt", "prompt", "answer", "parsed", "error",
            "tokens_in", "tokens_out", "cost_usd",
        ):  # fmt: skip
            assert getattr(told, name) == getattr(made, name), name
        assert told.params == {**made.params, "self_reported": True}


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
@pytest.mark.parametrize("view", [None, LONG])
def test_arena_2_decides_as_in_process(model_id: str, view: TrackView | None) -> None:
    model = get_model(model_id)
    given_view = {"view": view} if view else {}
    agent = remote(served(Vanilla(), m=model), protocol="arena/2")
    words = set()
    for growth in (0.99, 0.999, 1.0, 1.001, 1.01):
        closes = [100.0 * growth**i + (i * 7) % 3 for i in range(260)]
        context = market(closes, stories=stories())
        here = decide(Vanilla(), desk(context, model, **given_view))
        there = decide(agent, desk(context, Elsewhere("remote"), **given_view))
        same(there, here)
        words.add(there.intent)
    assert len(words) > 1, "markets that differ must not all get one answer"


@given(st.lists(st.floats(0.01, 1e5), min_size=1, max_size=80), st.integers(0, 2**32))
@settings(max_examples=30)
def test_and_so_on_any_prices(closes: list[float], seed: int) -> None:
    agent = remote(served(Vanilla()), protocol="arena/2")
    context = market(closes)
    same(decide(agent, desk(context, seed=seed)), decide(Vanilla(), desk(context, seed=seed)))


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([GOOD], Status.OK),
        (["no", GOOD], Status.REPAIRED),
        (["no", "no"], Status.INVALID_OUTPUT),
        ([ProviderError("refused")], Status.PROVIDER_ERROR),
        ([ProviderTimeout("slow")], Status.TIMEOUT),
    ],
)
def test_statuses_survive_the_wire(answers: list[Any], status: Status) -> None:
    season = Season(generation=Generation(tries=2, temperature=0.1))
    here = decide(Vanilla(), desk(model=Scripted(list(answers), id="m"), season=season))
    away = Scripted(list(answers), id="m")
    there = decide(remote(served(Vanilla(), m=away), protocol="arena/2"), desk(season=season))
    assert there.status is status
    same(there, here)
    # season and seed went along
    assert (away.history[0].params["temperature"], away.history[0].seed) == (0.1, 7)


def test_a_stopped_budget_over_there_is_a_gap_here() -> None:
    away = Scripted([BudgetStop("spent"), BudgetStop("spent")], id="m")
    got = decide(remote(served(Vanilla(), m=away), protocol="arena/2"), desk())
    assert (got.intent, got.status, got.reason) == (Intent.KEEP, Status.BUDGET_STOP, "spent")
    got = decide(remote(served(Vanilla(), m=away)), desk())
    assert (got.intent, got.status) == (Intent.HOLD, Status.PROVIDER_ERROR)
    assert "budget_stop" in got.reason


def test_models_are_named_only_where_the_entry_lists_them() -> None:
    up = Scripted([GOOD.replace("SELL", "BUY")], id="up")
    down = Scripted([GOOD], id="down")
    transport = served(Vanilla(), up=up, down=down)
    assert decide(remote(transport), desk(model=down)).intent is Intent.LONG, "the first is the default"
    named = remote(transport, models=["up", "down"])
    assert named.own_models == ("up (ama/1)", "down (ama/1)")
    assert remote(transport).own_models == ("ama/1",)
    assert decide(named, desk(model=Elsewhere("down (ama/1)"))).intent is Intent.SHORT
    other = decide(named, desk(model=Scripted([], id="other")))
    assert (other.status, len(up.history), len(down.history)) == (Status.PROVIDER_ERROR, 1, 1)
    assert "'other' is not served; up, down is" in other.reason


def test_a_learning_agent_keeps_its_memory_here() -> None:
    agent = remote(served(Diarist()), protocol="arena/2", learns=True)
    memory_here, memory_there = Diarist().memory(), agent.memory()
    for n in range(3):
        outcome = Past(OUTCOME.session, "SELL", 100.0, n / 100)
        decisions = []
        for who, memory in ((Diarist(), memory_here), (agent, memory_there)):
            at = desk(market(stories=stories()), memory=memory)
            asyncio.run(who.learn(at, outcome))
            step = who.study(at, OUTCOME) if n == 0 else who.decide(at)
            decisions.append(asyncio.run(step))
        same(decisions[1], decisions[0])
        # as the runner does between two decisions
        memory_there = agent.memory(json.loads(canonical_json(memory_there.dump())))
    assert memory_there.kept == memory_here.dump()
    assert memory_there.untold == []
    assert memory_here.lines[-1] == "2025-08-01 SELL 0.02"


def test_every_agent_of_the_house_works_elsewhere_as_it_does_here() -> None:
    """Two sessions of study and two of decision, with news, figures and memory, equal step by step."""
    told = {
        "stories": stories(), "fundamentals": (FIGURE,),
        "brief": {"summary": "busy", "themes": ["a"], "sentiment": "bullish", "score": 0.3},
    }  # fmt: skip
    for who in known_agents().values():
        agent = remote(served(who), protocol="arena/2", learns=who.learns)
        memory_here, memory_there = who.memory(), agent.memory()
        for n in range(4):
            context = market([100.0 * 1.002 ** (i + n) + (i * 7) % 5 for i in range(260)], **told)
            made = []
            for worker, memory in ((who, memory_here), (agent, memory_there)):
                at = desk(context, memory=memory, deadline_s=60.0)
                if who.learns and n:
                    asyncio.run(worker.learn(at, Past(OUTCOME.session, "BUY", 100.0, n / 100)))
                study = who.learns and n < 2
                made.append(asyncio.run(worker.study(at, OUTCOME) if study else worker.decide(at)))
            same(made[1], made[0])
            if memory_here is not None:
                memory_here = who.memory(json.loads(canonical_json(memory_here.dump())))
                memory_there = agent.memory(json.loads(canonical_json(memory_there.dump())))
                assert canonical_json(memory_there.kept) == canonical_json(memory_here.dump()), who.id


def test_outcomes_wait_while_the_agent_cannot_be_reached() -> None:
    down = remote(replying(httpx.Response(500)), protocol="arena/2", learns=True)
    up = remote(served(Diarist()), protocol="arena/2", learns=True)
    memory = RemoteMemory()
    for agent in (down, down, up):
        at = desk(memory=memory)
        asyncio.run(agent.learn(at, OUTCOME))
        last = decide(agent, at)
    assert last.reason.count("0.0125") == 3
    assert memory.untold == []
    assert len(memory.kept["lines"]) == 3


def test_a_memory_of_another_kind_is_refused() -> None:
    agent = remote(served(Diarist()), protocol="arena/2", learns=True)
    got = decide(agent, desk(memory=RemoteMemory(kept={"kind": "layers", "version": 1})))
    assert (got.status, got.intent) == (Status.PROVIDER_ERROR, Intent.HOLD)
    assert "kind" in got.reason
    with pytest.raises(ConfigError, match="kind"):
        agent.memory({"kind": "layers", "version": 1})
    with pytest.raises(ValueError, match="arena/2"):
        remote(None, learns=True)


def test_paper_payload_gives_ten_closes_and_no_more(root: Any) -> None:
    """Vanilla works within them; an agent that needs 50 says so, and that is no opinion."""
    model = Scripted([GOOD], id="m")
    got = decide(remote(served(Vanilla(), m=model)), desk(market(stories=stories())))
    assert (got.intent, got.status, got.conviction) == (Intent.SHORT, Status.OK, None)
    assert got.reason == "down\nand out ½"
    facts = model.history[0].facts
    assert len(facts["closes"]) == 10
    assert facts["position"] == "flat"
    assert (facts["return_5_pct"] is None, facts["return_20_pct"]) == (False, None)
    needs_50 = load_file(root / "docs/examples/moving_average.py")
    got = decide(remote(served(needs_50)), desk())
    assert (got.intent, got.status) == (Intent.HOLD, Status.PROVIDER_ERROR)
    assert "no_data: 11 closes; 50 are needed" in got.reason
    full = decide(remote(served(needs_50), protocol="arena/2"), desk())
    assert full.status is Status.OK
    same(full, decide(needs_50, desk()))


def test_trace_of_an_exchange() -> None:
    body = {"recommended_action": "BUY", "reasoning": "up", "usage": {"tokens_in": 3, "tokens_out": 4, "cost_usd": 0.5}}
    agent = remote(
        replying(httpx.Response(503), httpx.Response(200, json=body)),
        url="http://user:word@127.0.0.1:9/act?key=1",
    )
    (call,) = decide(agent, desk()).calls
    assert (call.kind, call.role, call.status, call.attempt) == ("tool", "remote", "ok", 2)
    assert json.loads(call.answer) == body
    assert call.parsed == {"recommended_action": "BUY", "reasoning": "up"}
    assert call.params == {
        "url": "http://127.0.0.1:9/act", "protocol": "ama/1", "outcome": "ok", "attempts": 2,
        "self_reported": True,
    }  # fmt: skip
    assert (call.tokens_in, call.tokens_out, call.cost_usd) == (3, 4, 0.5)
    assert json.loads(call.prompt) == agent.request(desk())
    assert "arena" not in json.loads(call.prompt)


def test_what_is_stored_under_a_hash_is_not_stored_again() -> None:
    agent = remote(replying(httpx.Response(200, json={"recommended_action": "HOLD"})), protocol="arena/2")
    at = desk()
    got = decide(agent, at)
    assert (got.intent, got.status) == (Intent.HOLD, Status.OK), "an endpoint that knows ama/1 alone"
    part = json.loads(got.calls[0].prompt)["arena"]
    assert part["context"] == f"sha256 {at.context.market_hash}"
    assert part["view"] == f"sha256 {at.view.view_hash}"
    assert got.calls[0].tokens_in is None
    assert got.calls[0].cost_usd is None, "what nobody told is unknown, not free"
    assert "self_reported" not in got.calls[0].params


@pytest.mark.parametrize(
    ("reply", "status", "outcome"),
    [
        (httpx.Response(500), Status.PROVIDER_ERROR, "http_error"),
        (httpx.Response(200, text="BUY"), Status.INVALID_OUTPUT, "invalid_response"),
        (httpx.Response(200, content=b'{"recommended_action": "BUY"}' + b" " * 65536), Status.INVALID_OUTPUT, "invalid_response"),
    ],
)  # fmt: skip
def test_failures_act_as_hold_and_say_what_happened(
    reply: httpx.Response, status: Status, outcome: str
) -> None:
    got = decide(remote(replying(reply)), desk())
    assert (got.intent, got.status, got.conviction) == (Intent.HOLD, status, None)
    (call,) = got.calls
    assert (call.status, call.params["outcome"]) == (status.value, outcome)
    assert outcome in got.reason
    assert call.error in got.reason
    assert call.tokens_in is None


def test_timeout_is_the_entrys_or_the_slots_whichever_is_shorter() -> None:
    async def slow(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(5)
        return httpx.Response(200)

    for entry_s, slot_s in ((0.05, 5.0), (60.0, 0.05)):
        got = decide(remote(httpx.MockTransport(slow), timeout_s=entry_s), desk(deadline_s=slot_s))
        assert (got.intent, got.status) == (Intent.HOLD, Status.TIMEOUT)
        assert "no answer within 0.05 s" in got.reason


HASH = market().market_hash
PART = {"market_hash": HASH, "intent": "flat", "status": "ok", "conviction": 0.5, "evidence": ["s1"]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"market_hash": "0" * 64}, "not that of the context"),
        ({"intent": "long"}, "contradict"),
        ({"intent": "up"}, "arena.intent"),
        ({"status": "fine"}, "arena.status"),
        ({"conviction": 1.5}, "arena.conviction"),
        ({"conviction": True}, "arena.conviction"),
        ({"evidence": ["x" * 500]}, "arena.evidence"),
    ],
)
def test_our_own_part_of_a_reply_is_checked(change: dict[str, Any], why: str) -> None:
    def reply(part: dict[str, Any]) -> Decision:
        body = {"recommended_action": "HOLD", "arena": part}
        return decide(remote(replying(httpx.Response(200, json=body)), protocol="arena/2"), desk())

    good = reply(PART)
    assert (good.intent, good.conviction, good.evidence) == (Intent.FLAT, 0.5, ("s1",))
    bad = reply(PART | change)
    assert (bad.intent, bad.status) == (Intent.HOLD, Status.INVALID_OUTPUT)
    assert why in bad.reason


def test_reported_steps_are_marked_and_their_bill_counts_once() -> None:
    step = {"kind": "model", "role": "a\u202eb", "model": "m", "tokens_in": 5, "tokens_out": 1, "cost_usd": 0.1}
    body = {"recommended_action": "BUY", "trace": [step, step], "usage": {"tokens_in": 10, "tokens_out": 2, "cost_usd": 0.2}}
    got = decide(remote(replying(httpx.Response(200, json=body))), desk())
    assert [c.cost_usd for c in got.calls] == [0.0, 0.1, 0.1]
    assert [c.tokens_in for c in got.calls] == [0, 5, 5]
    assert all(c.params["self_reported"] for c in got.calls)
    assert got.calls[1].role == "ab"
    odd = body | {"trace": [{"kind": "guess"}]}
    got = decide(remote(replying(httpx.Response(200, json=odd))), desk())
    assert [(c.kind, c.cost_usd) for c in got.calls] == [("tool", 0.2)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
words = st.sampled_from(["BUY", "hold ", "SELL", "WAIT"]) | json_values
parts = st.fixed_dictionaries(
    {}, optional={
        "market_hash": st.just(HASH) | json_values, "intent": st.sampled_from([*Intent]) | json_values,
        "status": st.sampled_from([*Status]) | json_values, "conviction": json_values,
        "evidence": json_values, "failed_roles": json_values, "memory": json_values,
    },
)  # fmt: skip
steps = st.fixed_dictionaries(
    {}, optional={n: st.sampled_from(["model", "ok", "x"]) | json_values for n in (
        "kind", "role", "model", "status", "attempt", "prompt", "answer", "parsed", "params", "cost_usd")},
)  # fmt: skip
replies = st.fixed_dictionaries(
    {"recommended_action": words},
    optional={
        "reasoning": json_values, "usage": json_values, "arena": parts | json_values,
        "trace": st.lists(steps, max_size=3) | json_values,
    },
)  # fmt: skip
bodies = st.binary(max_size=200) | (replies | json_values).map(lambda v: json.dumps(v).encode())


@given(st.integers(100, 599).filter(lambda n: n not in (502, 503, 504)) | st.just(200), bodies, st.booleans())
@settings(max_examples=300)
def test_whatever_comes_back_is_a_decision_that_can_be_stored(status: int, body: bytes, full: bool) -> None:
    more = {"protocol": "arena/2", "learns": True} if full else {}
    agent = remote(replying(httpx.Response(status, content=body)), **more)
    memory = agent.memory()
    got = decide(agent, desk(memory=memory))
    assert isinstance(got, Decision)
    assert got.status in Status
    if status != 200 or not got.calls[0].parsed:
        assert got.status in FAILED
        assert (got.intent, got.conviction) == (Intent.HOLD, None)
    stored = [got.reason, *got.evidence, *got.failed_roles]
    for call in got.calls:
        stored += [canonical_json(call.parsed), canonical_json(call.params), call.role, call.model]
        stored += [call.prompt, call.answer, call.error or ""]
    if memory is not None:
        stored.append(canonical_json(memory.dump()))
    "".join(stored).encode("utf-8")


def test_an_entry_is_an_agent_like_others() -> None:
    agent = remote(None)
    assert isinstance(agent, RemoteAgent)
    assert (agent.id, agent.label, agent.learns, agent.memory()) == ("guest", "Guest", False, None)

"""React: tools, evidence, duplicates, the reminder, and the end of the steps."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from arena.agents.asking import Answer
from arena.agents.desk import Desk, Role
from arena.agents.prompt import Sheet, market_blocks, plain
from arena.agents.tools import Tool, ToolError
from arena.core.actions import ActionSpec, Status
from arena.core.season import Season
from arena.llm.fields import Cites, Confidence, Lean, Text
from arena.llm.registry import get_model
from arena.llm.scripted import Scripted
from arena.llm.types import ChatModel, ProviderTimeout
from tests.agents.test_desk import FLAT, market


class Outlook(BaseModel):
    outlook: Annotated[float, Lean()]
    confidence: Annotated[float, Confidence()]
    words: Annotated[str, Text(200)]
    sources: Annotated[list[str], Cites()] = []


class Window(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sessions: int = Field(ge=1, le=250, description="how many, 1 to 250")


SCOUT = Role("scout", "Find out whether the price goes up.", Outlook)
ACTOR = Role("actor", "Find out whether the price goes up.", Outlook, acts=True)

LAST_3 = '{"tool": "closes", "args": {"sessions": 3}}'
LAST_2 = '{"tool": "closes", "args": {"sessions": 2}}'
ANSWER = '{"answer": {"outlook": 0.5, "confidence": 0.6, "words": "up", "sources": ["E1"]}}'
UNCITED = '{"answer": {"outlook": 0.5, "confidence": 0.6, "words": "up"}}'


def work(
    model: ChatModel, role: Role[Outlook] = SCOUT, max_steps: int = 5
) -> tuple[Answer[Outlook], Desk, list[int]]:
    """The answer, the desk, and for each time that a tool really ran the sessions it was asked for."""
    desk = Desk(market(), FLAT, model, Season())
    ran: list[int] = []

    def closes(args: Window) -> dict[str, Any]:
        ran.append(args.sessions)
        if args.sessions > 200:
            raise ToolError("only 200 sessions are kept")
        return {"closes": [b.close for b in desk.context.bars[-args.sessions :]]}

    async def ask_other(args: Window) -> dict[str, Any]:
        answer = await desk.ask(Role("other", "Say what you think.", Outlook), Sheet())
        return {} if answer.value is None else {"words": answer.value.words}

    tools = [
        Tool("closes", "Latest closes, oldest first.", Window, closes),
        Tool("other", "Asks a colleague.", Window, ask_other),
    ]
    sheet = Sheet()
    market_blocks(sheet, desk.context)
    answer = asyncio.run(desk.react(role, tools, max_steps, sheet))
    return answer, desk, ran


def test_a_tools_result_is_traced_and_stands_as_evidence_in_the_next_prompt() -> None:
    model = Scripted([LAST_3, ANSWER])
    answer, desk, ran = work(model)
    assert answer.value == Outlook(outlook=0.5, confidence=0.6, words="up", sources=["E1"])
    assert (answer.status, ran) == (Status.OK, [3])
    # closes are 100 + (7 i) % 13; i = 257, 258, 259 give 1799, 1806, 1813 and 5, 12, 6
    result = {"closes": [105.0, 112.0, 106.0]}
    asked, tool, answered = desk.calls
    assert [c.seq for c in desk.calls] == [0, 1, 2]
    assert [c.kind for c in desk.calls] == ["model", "tool", "model"]
    assert (asked.role, tool.role, answered.role) == ("scout", "closes", "scout")
    assert asked.parsed == {"tool": "closes", "args": {"sessions": 3}, "answer": None}
    assert tool.parsed == {
        "args": {"sessions": 3}, "evidence": "E1", "duplicate": False, "result": result
    }  # fmt: skip
    assert (tool.status, tool.cost_usd) == ("ok", 0.0)
    first, second = (r.messages[1].content for r in model.history)
    line = 'E1 | closes | {"sessions":3} | {"closes":[105.0,112.0,106.0]}'
    assert line not in first
    assert line in second
    assert "evidence_ids" not in model.history[0].facts
    assert model.history[1].facts["evidence_ids"] == ["E1"]
    assert all(spelt in second for spelt in plain(model.history[1].facts))


def test_the_role_is_told_its_tools_and_both_forms() -> None:
    model = Scripted([UNCITED])
    work(model, ACTOR, max_steps=4)
    system = model.history[0].messages[0].content
    assert "You have 4 steps" in system
    assert (
        '- closes: Latest closes, oldest first. Its args: { "sessions": how many, 1 to 250 }'
        in system
    )
    assert '"outlook": number from -1 (down) to 1 (up)' in system
    assert ActionSpec().glossary() in system


def test_the_same_question_is_answered_from_the_first_result() -> None:
    model = Scripted([LAST_3, LAST_2, LAST_3, ANSWER])
    _, desk, ran = work(model)
    assert ran == [3, 2]
    traced = [c.parsed for c in desk.calls if c.kind == "tool"]
    assert [(t["evidence"], t["duplicate"]) for t in traced if t] == [
        ("E1", False), ("E2", False), ("E1", True),
    ]  # fmt: skip
    assert traced[2] == {**(traced[0] or {}), "duplicate": True}
    last = model.history[-1]
    assert [row[0] for row in last.facts["findings"]] == ["E1", "E2", "E1"]
    assert "asked before" in last.facts["findings"][2][3]
    assert last.facts["evidence_ids"] == ["E1", "E2"]


def test_a_reminder_stands_in_the_last_two_steps_only() -> None:
    model = Scripted([LAST_3, LAST_2, LAST_3, UNCITED])
    work(model, max_steps=4)
    assert [r.facts.get("steps_left") for r in model.history] == [None, None, 2, 1]
    assert (
        "Steps left, of which the last must be your answer: 1"
        in model.history[3].messages[1].content
    )


@pytest.mark.parametrize(("role", "failed"), [(SCOUT, ["scout"]), (ACTOR, [])])
def test_a_looping_model_stops(role: Role[Outlook], failed: list[str]) -> None:
    model = Scripted([LAST_3] * 50)
    answer, desk, ran = work(model, role, max_steps=6)
    assert answer.value is None
    assert answer.status is Status.INVALID_OUTPUT
    assert answer.problem == "no answer within 6 steps; the last one asked for `closes`"
    # six answers; the tool is asked after each but the last, and runs for the first of them
    assert (len(model.history), ran) == (6, [3])
    assert [c.kind for c in desk.calls] == ["model", "tool"] * 5 + ["model"]
    assert desk.failed_roles == failed


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ('{"tool": "shell", "args": {}}', "`tool`: Input should be 'closes' or 'other'"),
        ('{"tool": "closes", "args": {"sessions": 0}}', "greater than or equal to 1"),
        (
            '{"tool": "closes", "args": {"days": 3}}',
            "args do not fit `closes`: sessions: Field required",
        ),
        ('{"tool": "closes", "args": [3]}', "args do not fit `closes`"),
        ('{"tool": "closes"}', "sessions: Field required"),
        ('{"tool": ["closes"], "args": {"sessions": 3}}', "`tool`"),
        ('{"outlook": 0.5, "confidence": 0.6, "words": "up"}', "either `tool` with its `args`, or"),
        (f'{{"tool": "closes", "args": {{"sessions": 3}}, {UNCITED[1:]}', "either `tool`"),
        ('{"answer": {"outlook": 3, "confidence": 0.6, "words": "up"}}', "`answer.outlook`"),
        (
            '{"answer": {"outlook": 0, "confidence": 1, "words": "x", "sources": ["E1"]}}',
            "`E1` is no id",
        ),
        ("closes(sessions=3)", "no JSON object"),
    ],
)
def test_an_unusable_step_is_sent_back_with_its_reason(bad: str, says: str) -> None:
    model = Scripted([bad, UNCITED])
    answer, desk, ran = work(model)
    assert answer.status is Status.REPAIRED
    assert (answer.value and answer.value.words, ran) == ("up", [])
    assert says in model.history[1].messages[-1].content
    assert [c.status for c in desk.calls] == ["invalid_output", "ok"]


def test_a_null_beside_the_one_that_is_meant_is_no_second_choice() -> None:
    null = LAST_3[:-1] + ', "answer": null}'
    answer, _, ran = work(Scripted([null, '{"tool": null, "args": {}, ' + ANSWER[1:]]))
    assert (answer.status, ran) == (Status.OK, [3])


@pytest.mark.parametrize(
    ("script", "status", "n_calls"),
    [
        (["?", "?", "?", ANSWER], Status.INVALID_OUTPUT, 3),
        ([LAST_3, ProviderTimeout("too slow")], Status.TIMEOUT, 3),
    ],
)
def test_a_step_that_fails_ends_the_role(
    script: list[str | Exception], status: Status, n_calls: int
) -> None:
    answer, desk, _ = work(Scripted(script))
    assert (answer.value, answer.status, len(desk.calls)) == (None, status, n_calls)
    assert desk.failed_roles == ["scout"]


def test_a_tool_with_nothing_to_give_says_why_and_is_no_evidence() -> None:
    model = Scripted(['{"tool": "closes", "args": {"sessions": 250}}', LAST_2, UNCITED])
    _, desk, _ = work(model)
    failed, good = (c for c in desk.calls if c.kind == "tool")
    assert (failed.status, failed.error) == ("no_data", "only 200 sessions are kept")
    assert (good.status, good.error) == ("ok", None)
    assert "only 200 sessions are kept" in model.history[1].messages[1].content
    assert model.history[2].facts["evidence_ids"] == ["E2"]


def test_a_tool_may_ask_another_role() -> None:
    other = json.dumps({"outlook": -1, "confidence": 1, "words": "I | doubt\nit"})
    model = Scripted(['{"tool": "other", "args": {"sessions": 1}}', other, UNCITED])
    _, desk, _ = work(model)
    assert [(c.kind, c.role) for c in desk.calls] == [
        ("model", "scout"), ("model", "other"), ("tool", "other"), ("model", "scout"),
    ]  # fmt: skip
    # the bar would break the table's columns
    (row,) = model.history[2].facts["findings"]
    assert row[3] == '{"words":"I / doubt\\nit"}'


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
def test_stand_ins_answer_at_once(model_id: str) -> None:
    answer, desk, ran = work(get_model(model_id))
    assert answer.status is Status.OK
    assert answer.value is not None
    assert answer.value.words.startswith("Rule, no model")
    assert (len(desk.calls), ran) == (1, [])


def test_the_sheet_of_the_caller_is_left_as_it_was() -> None:
    desk = Desk(market(), FLAT, Scripted([LAST_3, UNCITED]), Season())
    sheet = Sheet()
    sheet.values("Question", [("q", "Question", "up or down?", "")])
    before = sheet.text()
    tool = Tool("closes", "Latest closes.", Window, lambda args: {"n": args.sessions})
    asyncio.run(desk.react(SCOUT, [tool], 3, sheet))
    assert (sheet.text(), sheet.facts, sheet.offered) == (before, {"q": "up or down?"}, [])

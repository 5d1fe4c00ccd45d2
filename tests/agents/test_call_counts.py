"""What a decision costs in model calls, and that no prompt holds a hole where data should be."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from arena.agents.hedge.personas import PERSONAS
from arena.core.actions import Status
from arena.llm.registry import get_model
from arena.llm.types import ChatModel
from tests.agents.made_market import (
    AGENTS,
    KINDS,
    LEARNERS,
    Committee,
    Kind,
    Recorder,
    TrackByHand,
    decide,
    made_market,
    n_model_calls,
)

# A company, a share and a coin with every feed they can have; then a share and a coin with prices alone.
COUNTS: dict[str, tuple[int, int, int, int, int]] = {
    "vanilla": (1, 1, 1, 1, 1),
    "investor": (1, 1, 1, 1, 1),
    "investor-ref": (1, 1, 1, 1, 1),
    # 4 analysts (no accounts without filings, no sentiment without stories), 2 + 1 + 1 + 3 + 1
    "trade": (12, 11, 11, 10, 10),
    # 12 specialists and the manager; on a stock without filings they abstain
    "hedge": (13, 1, 13, 1, 13),
    # technical, news, macro, policy; with filings also accounts and insiders; risk control, manager
    "deepfund": (8, 6, 6, 3, 3),
    "deepfund-planner": (9, 7, 7, 4, 4),
}
CASES: tuple[tuple[Kind, bool], ...] = (
    ("company", True), ("share", True), ("coin", True), ("share", False), ("coin", False),
)  # fmt: skip
MODELS: dict[str, Callable[[], ChatModel]] = {
    "rule": lambda: get_model("offline/trend"),
    "script": lambda: Committee(default=0.5),
}


def test_every_agent_has_its_numbers() -> None:
    assert set(COUNTS) == set(AGENTS)
    assert len(PERSONAS) == 12


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("agent_id", AGENTS)
def test_model_calls_of_a_decision(agent_id: str, model: str) -> None:
    found = []
    for kind, feeds in CASES:
        decision = decide(agent_id, MODELS[model](), made_market(kind, feeds=feeds))
        assert decision.status is Status.OK
        found.append(n_model_calls(decision))
    assert tuple(found) == COUNTS[agent_id]


@pytest.mark.parametrize("agent_id", LEARNERS)
@pytest.mark.parametrize(
    ("move", "lessons"), [(0.0021, 1), (-0.0021, 1), (0.0019, 0), (-0.0019, 0), (0.0, 0)]
)
def test_an_outcome_costs_the_firm_one_lesson_and_nobody_else_a_call(
    agent_id: str, move: float, lessons: int
) -> None:
    track = TrackByHand(agent_id)
    track.decide(Committee(default=0.5))
    assert track.last is not None
    closes = [10.0] * 260 + [track.last.price * (1.0 + move)]
    model = Committee()
    track.desk(model, closes)
    assert model.roles == ["reflector"] * lessons * (agent_id == "trade")


@pytest.mark.parametrize("agent_id", LEARNERS)
def test_model_calls_of_a_warm_up_session(agent_id: str) -> None:
    """The student explains, the firm draws a lesson, DeepFund only writes its log."""
    asked = {"investor": ["student"], "investor-ref": ["student"], "trade": ["reflector"]}
    model = Committee()
    TrackByHand(agent_id).study(model, 0.03)
    assert model.roles == asked.get(agent_id, [])


def test_the_planner_is_paid_once_a_week() -> None:
    track = TrackByHand("deepfund-planner")
    found = [n_model_calls(track.decide(Committee(default=0.5))) for _ in range(8)]
    assert found == [9, 8, 8, 8, 8, 8, 8, 9]


HOLES = {
    "a value of Python": r"\b(?:None|nan|NaN|inf|NaT|True|False)\b",
    "a label without a value": r"(?m)^[^|<\n]*:[ \t]*$",
    "an empty cell": r"(?m)^\s*\||\| *\||\| *$",
    "an empty quotation": r"<<\s*>>",
    "an empty container": r"\[\]|\{\}|\(\)",
    "a sentence in place of data": r"(?i)not available|unavailable|no data|no news|no stories|"
    r"no articles|n/a|error|placeholder|todo|to be added|nothing to (?:show|report)|missing",
}


def holes(told: str) -> list[str]:
    """What is wrong with the message of facts that a role was sent."""
    found = [name for name, pattern in HOLES.items() if re.search(pattern, told)]
    for block in told.split("\n\n"):
        title, *lines = block.splitlines()
        if not title.startswith("## ") or not lines or (len(lines) == 1 and " | " in lines[0]):
            found.append(f"an empty block: {title}")
    return found


def test_the_finder_of_holes_finds() -> None:
    whole = "## Asset\nSymbol: ACME\n\n## News (text)\nid | text\nn1 | <<Acme opens. As told>>"
    assert holes(whole) == []
    for spoilt in (
        whole.replace("ACME", "None"), whole.replace("ACME", "nan"), whole.replace(" ACME", ""),
        whole.replace("\nSymbol: ACME", ""), whole.replace("n1 |", " |"),
        whole.replace("Acme opens. As told", ""), whole.replace("ACME", "[]"),
        whole.replace("Acme opens. As told", "Error processing data"),
        whole.replace("ACME", "not available"), f"{whole}\n\n## Lessons",
        whole.replace("\nn1 | <<Acme opens. As told>>", ""),
    ):  # fmt: skip
        assert holes(spoilt), spoilt


@pytest.mark.parametrize("feeds", [True, False], ids=["every feed", "prices"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("agent_id", AGENTS)
def test_no_prompt_holds_a_hole(agent_id: str, kind: Kind, feeds: bool) -> None:
    """Every role, also of the warm-up and of what is learnt, with an empty memory and a full one."""
    track = TrackByHand(agent_id, kind, feeds=feeds)
    model = Recorder(get_model("offline/trend"))
    track.decide(model)
    if track.agent.learns:
        track.study(model, 0.03)
        track.study(model, -0.02)
    track.decide(model)
    assert len(model.asked) >= 2
    for req in model.asked:
        system, told = (m.content for m in req.messages)
        assert holes(told) == [], f"{req.role}:\n{told}"
        assert not re.search(HOLES["a value of Python"], system), req.role
        assert "unknown" not in told, f"with {len(req.facts)} facts of 260 sessions all is known"

"""The calls of a decision as a conversation: who said what to whom, in stages. No streamlit here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Call = dict[str, Any]

STAGES: dict[str, tuple[tuple[str, tuple[str, ...], str], ...]] = {
    "trade": (
        ("Lesson of the decision before", ("reflector",), "memory"),
        (
            "Analysts report",
            ("market_analyst", "sentiment_analyst", "news_analyst", "fundamentals_analyst"),
            "the debate",
        ),
        ("Debate", ("bull",), "bear"),
        ("Debate", ("bear",), "bull"),
        ("Research rules on the debate", ("research_manager",), "trader"),
        ("Proposal", ("trader",), "risk desk"),
        (
            "Three risk voices answer the trader",
            ("aggressive_risk", "conservative_risk", "neutral_risk"),
            "manager",
        ),
        ("Decision", ("portfolio_manager",), ""),
    ),
    "deepfund": (
        ("Planner chooses analysts", ("planner",), "analysts"),
        (
            "Analysts signal",
            ("technical", "company_news", "fundamental", "insider", "macro", "policy"),
            "risk control and manager",
        ),
        ("Risk control sets a limit", ("risk_control",), "manager"),
        ("Decision", ("manager",), ""),
    ),
    "investor": (
        ("Explanation of a known move", ("student",), "memory"),
        ("Decision", ("investor",), ""),
    ),
}
"""By agent: stages with their roles and whom they speak to. Other agents speak to their last role."""

LAST, BEFORE_LAST, BY_CODE = "Decision", "Specialists judge", "Scores by code"
STANCE_FIELDS = ("action", "rating", "signal")
CITE_FIELDS = ("cites", "sources", "overrides")
CONFIDENCE_FIELDS = ("confidence", "strength")
SIDES = {
    "buy": 1, "overweight": 1, "bullish": 1, "long": 1,
    "hold": 0, "neutral": 0, "flat": 0, "keep": 0,
    "sell": -1, "underweight": -1, "bearish": -1, "short": -1,
}  # fmt: skip
GIVEN_SIDE = {"bull": 1, "bear": -1}
"""Roles whose side is their brief; what they answer is how good its case is."""

SIDE_WORD = {1: "bullish", 0: "neutral", -1: "bearish"}


@dataclass(frozen=True, slots=True)
class Said:
    """One role's turn. `words` are its texts with the name of their field, `more` what else it answered;
    without a usable answer `words` is empty and `problem` says why. `code`: no model was asked."""

    role: str
    to: str
    stance: str | None
    side: int | None
    confidence: float | None
    words: tuple[tuple[str, str], ...]
    evidence: tuple[str, ...]
    more: tuple[tuple[str, str], ...]
    status: str
    n_asked: int
    problem: str | None
    code: bool = False

    @property
    def label(self) -> str:
        return self.role.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class Stage:
    title: str
    said: tuple[Said, ...]


def stages(agent: str, calls: Sequence[Call]) -> list[Stage]:
    """Turns in the order in which they were taken; neighbours of one stage stand together.

    `agent` may be wrapped (`inverted+trade`). A turn is a role's answers up to the usable one.
    """
    turns = list(_turns(calls))
    known = {r: (title, to) for title, roles, to in STAGES.get(agent.rsplit("+", 1)[-1], ()) for r in roles}
    last = next((t.role for t in reversed(turns) if not t.code), "")
    out: list[Stage] = []
    for turn in turns:
        default = (LAST, "") if turn.role == last else (BEFORE_LAST, last.replace("_", " "))
        title, to = (BY_CODE, default[1]) if turn.code else known.get(turn.role, default)
        spoken = replace(turn, to=to)
        if out and out[-1].title == title:
            out[-1] = Stage(title, (*out[-1].said, spoken))
        else:
            out.append(Stage(title, (spoken,)))
    return out


def _turns(calls: Sequence[Call]) -> Iterable[Said]:
    asked: list[Call] = []
    for call in calls:
        if asked and (call["kind"] != "model" or call["role"] != asked[0]["role"] or call["attempt"] == 1):
            yield _said(asked)
            asked = []
        if call["kind"] == "model":
            asked.append(call)
        elif call["kind"] == "compute" and isinstance(_parsed(call).get("signal"), str):
            yield replace(_said([call]), code=True)
    if asked:
        yield _said(asked)


def _parsed(call: Call) -> dict[str, Any]:
    found = json.loads(call["parsed_json"]) if call["parsed_json"] else None
    return found if isinstance(found, dict) else {}


def _said(asked: Sequence[Call]) -> Said:
    call = asked[-1]
    fields = _parsed(call)
    stance, side = _stance(call["role"], fields)
    sure = next((fields[f] for f in CONFIDENCE_FIELDS if isinstance(fields.get(f), (int, float))), None)
    words = [(k, v) for k, v in fields.items() if isinstance(v, str) and v and k not in STANCE_FIELDS]
    cites = [str(v) for f in CITE_FIELDS for v in fields.get(f) or ()]
    taken = {*STANCE_FIELDS, *CITE_FIELDS, *CONFIDENCE_FIELDS, "lean", *(k for k, _ in words)}
    more = [(k, _short(v)) for k, v in fields.items() if k not in taken and v not in (None, "", [])]
    return Said(
        call["role"], "", stance, side, sure, tuple(words), tuple(cites), tuple(more),
        call["status"], len(asked), next((c["error"] for c in reversed(asked) if c["error"]), None),
    )  # fmt: skip


def _stance(role: str, fields: dict[str, Any]) -> tuple[str | None, int | None]:
    for name in STANCE_FIELDS:
        word = fields.get(name)
        if isinstance(word, str):
            return word, SIDES.get(word.lower())
    lean = fields.get("lean")
    if isinstance(lean, (int, float)):
        side = (lean > 0) - (lean < 0)
        return SIDE_WORD[side], side
    if role in GIVEN_SIDE and "strength" in fields:
        return SIDE_WORD[GIVEN_SIDE[role]], GIVEN_SIDE[role]
    return None, None


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list) and value and all(isinstance(v, list) and v for v in value):
        return "; ".join(str(v[-1]) for v in value)  # votes of code: their last item is their figure in words
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Calls as a conversation: stages, stances, repairs and what no answer leaves."""

from __future__ import annotations

from typing import Any

import pytest

from arena.core.hashing import canonical_json
from arena.ui.conversation import BEFORE_LAST, BY_CODE, LAST, stages
from tests.ui.made_talk_store import REPAIRED, TIMED_OUT, call_rows, talk


def calls(steps: list[Any]) -> list[dict[str, Any]]:
    rows = [r for r in call_rows("d", steps) if hasattr(r, "decision")]
    return [{f: getattr(r, f) for f in r.__dataclass_fields__ if f != "TABLE"} for r in rows]


def model(role: str, parsed: dict[str, Any] | None, attempt: int = 1) -> dict[str, Any]:
    return {
        "kind": "model", "role": role, "attempt": attempt, "status": "ok", "error": None,
        "parsed_json": None if parsed is None else canonical_json(parsed),
    }  # fmt: skip


def test_a_firm_speaks_in_its_stages_and_to_whom() -> None:
    found = stages("trade", calls(talk()))
    assert [(s.title, [t.role for t in s.said]) for s in found] == [
        ("Analysts report", ["market_analyst", "news_analyst"]),
        ("Debate", ["bull", "bear"]),
        ("Research rules on the debate", ["research_manager"]),
        ("Proposal", ["trader"]),
        (
            "Three risk voices answer the trader",
            ["aggressive_risk", "conservative_risk", "neutral_risk"],
        ),
        ("Decision", ["portfolio_manager"]),
    ]
    bull, bear = found[1].said
    assert (bull.to, bear.to) == ("bear", "bull")


def test_stances_of_every_form_of_answer() -> None:
    turns = {t.role: t for s in stages("trade", calls(talk())) for t in s.said}
    assert (turns["market_analyst"].stance, turns["market_analyst"].side) == ("bullish", 1)
    assert (turns["news_analyst"].stance, turns["news_analyst"].confidence) == ("bearish", 0.57)
    assert turns["news_analyst"].evidence == ("n-01", "n-04")
    # A debater's side is given; its strength stands where others are sure.
    assert (turns["bear"].side, turns["bear"].confidence) == (-1, 0.55)
    assert turns["bear"].words == (("claims", "Two days are no trend."), ("rebuts", "Flows turn."))
    assert turns["bull"].words == (("claims", "Buyers are spot."),)
    assert (turns["conservative_risk"].stance, turns["conservative_risk"].side) == ("Hold", 0)
    assert (turns["trader"].stance, turns["trader"].side) == ("BUY", 1)


def test_a_repaired_answer_is_one_turn_and_keeps_its_complaint() -> None:
    ((only,),) = [s.said for s in stages("trade", calls(REPAIRED))]
    assert (only.n_asked, only.stance, only.problem) == (2, "Sell", "no JSON object")


def test_a_role_without_answer_says_why_and_has_no_stance() -> None:
    ((only,),) = [s.said for s in stages("trade", calls(TIMED_OUT))]
    assert (only.stance, only.side, only.words) == (None, None, ())
    assert (only.status, only.problem) == ("timeout", "no answer in 60 s")


def test_unknown_agents_speak_to_their_last_role() -> None:
    said = {"signal": "bearish", "confidence": 0.3, "reason": "r"}
    found = stages("mine", [model("x_one", said), model("x_two", said), model("boss", {"action": "HOLD"})])
    assert [(s.title, [t.to for t in s.said]) for s in found] == [
        (BEFORE_LAST, ["boss", "boss"]),
        (LAST, [""]),
    ]


def test_a_wrapped_agent_keeps_its_stages() -> None:
    assert [s.title for s in stages("inverted+trade", calls(talk()))] == [
        s.title for s in stages("trade", calls(talk()))
    ]


def test_signals_of_code_are_marked_and_other_figures_left_out() -> None:
    score = {"kind": "compute", "role": "technical", "attempt": 1, "status": "ok", "error": None,
             "parsed_json": canonical_json({"signal": "bullish", "confidence": 0.25, "score": 0.25,
                                             "votes": [["trend", 0.2, "ADX 12"], ["range", 0.1, "z +1.5"]]})}  # fmt: skip
    figures = {**score, "role": "risk", "parsed_json": canonical_json({"volatility_year_pct": 57.7})}
    found = stages("hedge", [score, figures, model("portfolio_manager", {"action": "BUY", "reason": "r"})])
    assert [(s.title, [t.role for t in s.said]) for s in found] == [
        (BY_CODE, ["technical"]),
        (LAST, ["portfolio_manager"]),
    ]
    assert found[0].said[0].code
    assert found[0].said[0].more == (("score", "0.25"), ("votes", "ADX 12; z +1.5"))


@pytest.mark.parametrize("parsed", [None, {"lean": None}, {"action": 3}, {"cites": None, "confidence": "x"}])
def test_odd_answers_leave_no_stance(parsed: dict[str, Any] | None) -> None:
    ((only,),) = [s.said for s in stages("mine", [model("boss", parsed)])]
    assert (only.stance, only.side, only.confidence, only.evidence) == (None, None, None, ())

"""Reading answers: what is forgiven, what is refused, and that no word is found by searching."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.vanilla import Verdict
from arena.llm.parse import MAX_ANSWER_BYTES, AnswerError, extract_object, read_answer

GOOD = '{"action": "BUY", "confidence": 0.7, "reason": "up"}'
SELL = '{"action": "SELL", "confidence": 0.2, "reason": "down"}'


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (GOOD, "BUY"),
        (f"```json\n{GOOD}\n```", "BUY"),
        (f"I would sell {'{maybe}'}, but:\n{GOOD}\nThat is my answer.", "BUY"),
        (f"draft {SELL} final {GOOD}", "BUY"),
        (f"[{SELL}, {GOOD}]", "BUY"),
        ('{"action": "BUY", "confidence": 0.7, "reason": "up",}', "BUY"),
        ('{"action": " buy ", "confidence": 1, "reason": "up"}', "BUY"),
        ("｛“action”：“SELL”，“confidence”：0.5，“reason”：“a”｝", "SELL"),
        ("｛＂action＂：＂HOLD＂，　＂confidence＂：0，＂reason＂：＂a＂｝", "HOLD"),
        ('\ufeff{\u200b"action": "BUY",\u200b "confidence": 0.7, "reason": "up"}', "BUY"),
        ('{"action": "BUY", "confidence": 0.7, "reason": "a } and a { and a ,}"}', "BUY"),
        ('{"action": "BUY", "confidence": 0.7, "reason": "said \\"SELL\\""}', "BUY"),
        ('{"action": "BUY", "confidence": 0.7, "reason": "up", "horizon": "1 day"}', "BUY"),
    ],
)
def test_forgiven(text: str, action: str) -> None:
    assert read_answer(text, Verdict).action == action


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("I would not buy", "no JSON object"),
        ("BUY", "no JSON object"),
        ("{'action': 'BUY'}", "no JSON object"),
        ("[-2140.714, -1936.381]", "no JSON object"),
        ('{"action": "Sell-off", "confidence": 0.5, "reason": "x"}', "`action`"),
        ('{"action": "DO NOT BUY", "confidence": 0.5, "reason": "x"}', "`action`"),
        ('{"action": "Buy2024", "confidence": 0.5, "reason": "x"}', "`action`"),
        ('{"action": ["BUY"], "confidence": 0.5, "reason": "x"}', "`action`"),
        ('{"action": null, "confidence": 0.5, "reason": "x"}', "`action`"),
        ('{"action": "BUY", "confidence": NaN, "reason": "x"}', "NaN is not a number"),
        ('{"action": "BUY", "confidence": Infinity, "reason": "x"}', "Infinity"),
        ('{"action": "BUY", "confidence": 1e999, "reason": "x"}', "too large"),
        ('{"action": "BUY", "confidence": "NaN", "reason": "x"}', "`confidence`"),
        ('{"action": "BUY", "confidence": "0.8", "reason": "x"}', "`confidence`"),
        ('{"action": "BUY", "confidence": true, "reason": "x"}', "`confidence`"),
        ('{"action": "BUY", "confidence": 1.01, "reason": "x"}', "`confidence`"),
        ('{"action": "BUY", "confidence": 80, "reason": "x"}', "`confidence`"),
        ('{"action": "BUY", "confidence": 0.5, "reason": "  "}', "`reason`"),
        ('{"action": "BUY", "confidence": 0.5}', "`reason`: Field required"),
        ('{"action": "BUY", "action": "SELL", "confidence": 0.5, "reason": "x"}', "given twice"),
        ('{"action": "BUY", "confidence": 0.5, "reason": "cut he', "in the middle"),
        (f'{{"draft": {GOOD}, "action": "SE', "in the middle"),
        (f'{{"draft": {GOOD} "action": "SELL"}}', "not valid"),
        (f'{GOOD} then {{"action": "SELL" "confidence": 1}}', "not valid"),
        ('{"action": "BUY", "confidence": 0.5, "reason": "\\ud800"}', "Unicode"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested deeper"),
        ('{"n": ' + "9" * 5000 + "}", "not valid"),
    ],
)
def test_refused(text: str, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        read_answer(text, Verdict)


def test_reason_length_is_checked_at_600() -> None:
    def answer(n: int) -> str:
        return json.dumps({"action": "BUY", "confidence": 0.5, "reason": "x" * n})

    assert len(read_answer(answer(600), Verdict).reason) == 600
    with pytest.raises(AnswerError, match="at most 600"):
        read_answer(answer(601), Verdict)


def test_one_megabyte_is_refused_whatever_it_holds() -> None:
    with pytest.raises(AnswerError, match="longer than 65536 bytes"):
        extract_object(GOOD + " " * 1_000_000)


def test_size_counts_bytes_not_characters() -> None:
    # 30,000 characters of three bytes each are 90,000 bytes > 65,536
    with pytest.raises(AnswerError, match="longer"):
        extract_object("評" * 30_000 + GOOD)


def test_many_openings_stay_linear_in_the_size() -> None:
    with pytest.raises(AnswerError):
        extract_object('{"' * (MAX_ANSWER_BYTES // 2))


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    said = ""
    try:
        said = read_answer(text, Verdict).action
    except AnswerError as error:
        said = str(error)
    assert said


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=4))
def test_every_json_object_comes_back_unchanged_out_of_prose(value: dict[str, object]) -> None:
    text = f"Here it is:\n```json\n{json.dumps(value, ensure_ascii=False)}\n```\nDone."
    assert extract_object(text) == value

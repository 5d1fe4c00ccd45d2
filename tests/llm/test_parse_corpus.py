"""Answers as models really give them: made cases by kind, real recordings by file, and any text.

A case of `corpus/*.json` has a `text`, the `schema` it should fill, and either `expect` (fields of
what is read) or `refused` (a pattern of the complaint). `seen_in` names the public project, and
mostly the issue, in which such an answer was misread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from arena.agents.vanilla import Verdict
from arena.llm.fields import Confidence, Lean, Text
from arena.llm.parse import MAX_ANSWER_BYTES, AnswerError, extract_object, read_answer

CORPUS = Path(__file__).parent / "corpus"


class Rating(BaseModel):
    rating: Annotated[Literal["Sell", "Underweight", "Hold", "Overweight", "Buy"], Lean()]


class Order(BaseModel):
    symbol: str
    action: Literal["open_long", "open_short", "hold"]


class Signal(BaseModel):
    signal: Annotated[Literal["bearish", "neutral", "bullish"], Lean()]
    confidence: Annotated[float, Confidence()]


SCHEMAS: dict[str, type[BaseModel]] = {
    "verdict": Verdict, "rating": Rating, "order": Order, "signal": Signal
}  # fmt: skip
CASES: list[dict[str, Any]] = [
    case for file in sorted(CORPUS.glob("*.json")) for case in json.loads(file.read_text("utf-8"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_case(case: dict[str, Any]) -> None:
    schema = SCHEMAS[case["schema"]]
    if "refused" in case:
        with pytest.raises(AnswerError, match=case["refused"]):
            read_answer(case["text"], schema)
    else:
        read = read_answer(case["text"], schema).model_dump()
        assert {name: read[name] for name in case["expect"]} == case["expect"]


def test_every_known_misreading_has_its_cases() -> None:
    assert len(CASES) == len({c["name"] for c in CASES})
    assert {c["seen_in"] for c in CASES if "seen_in" in c} == {
        "TradingAgents#1170", "TradingAgents-astock#78", "nofx#446", "nofx#244", "nofx#474",
        "nofx#1038", "live-trade-bench", "TradingAgents#1058", "TradingAgents#1057",
        "ai-hedge-fund#78", "ai-hedge-fund#347", "ValueCell#184",
    }  # fmt: skip
    assert all(("expect" in c) != ("refused" in c) for c in CASES)


# Real recordings: what each file holds, read by the schema its models were given.


class Trade(BaseModel):
    action: str
    symbol: str
    amount: float


class Step(BaseModel):
    """A line of a ledger; `this_action` holds the arguments of the model's tool call."""

    this_action: Trade


class FundDecision(BaseModel):
    action: Annotated[Literal["Sell", "Hold", "Buy"], Lean()]
    justification: Annotated[str, Text(2_000)]


class FundSignal(BaseModel):
    signal: Annotated[Literal["Bearish", "Neutral", "Bullish"], Lean()]
    justification: Annotated[str, Text(2_000)]


LEDGERS = {
    "aitrader_crypto_daily__MiniMax-M2": (33, 33, 32),
    "aitrader_crypto_daily__claude-3.7-sonnet": (71, 71, 70),
    "aitrader_crypto_daily__deepseek-chat-v3.1": (52, 52, 51),
    "aitrader_crypto_daily__gemini-2.5-flash": (30, 30, 29),
    "aitrader_crypto_daily__gpt-5": (35, 35, 34),
    "aitrader_crypto_daily__qwen3-max": (21, 21, 20),
    "aitrader_us_hourly__MiniMax-M2": (225, 225, 224),
    "aitrader_us_hourly__claude-3.7-sonnet": (266, 266, 265),
    "aitrader_us_hourly__deepseek-chat-v3.1": (218, 218, 217),
    "aitrader_us_hourly__gemini-2.5-flash": (243, 243, 242),
    "aitrader_us_hourly__gpt-5": (192, 192, 191),
    "aitrader_us_hourly__gpt-5.raw40": (40, 40, 39),
    "aitrader_us_hourly__qwen3-max": (182, 182, 181),
    "tradetrap__ATTACK_deepseek-v3-ReverseExpectations": (400, 400, 399),
    "tradetrap__ATTACK_qwen3-max-50pct-fakenews": (145, 145, 144),
    "tradetrap__deepseek-v3-whole-month": (160, 160, 159),
    "tradetrap__gpt-5-with-news": (195, 195, 194),
}
"""Lines, objects found, and objects with a trade: all but the opening balance."""


def lines(folder: Path, name: str) -> list[str]:
    path = folder / "recorded_decisions" / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip(f"{path.name} is not among the shared data")
    return [x for x in path.read_text("utf-8").split("\n") if x.strip()]


def share(name: str, texts: list[str], schema: type[BaseModel]) -> tuple[int, int, int]:
    """How many answers there are, hold an object, and fit `schema`; printed with their share."""
    objects = fits = 0
    for text in texts:
        try:
            extract_object(text)
            objects += 1
            read_answer(text, schema)
            fits += 1
        except AnswerError:
            continue
    print(f"{name}: {len(texts)} answers, {objects} objects, {fits} usable")
    return len(texts), objects, fits


@pytest.mark.parametrize("name", LEDGERS)
def test_recorded_ledgers(shared_market: Path, name: str) -> None:
    texts = lines(shared_market, name)
    assert share(name, texts, Step) == LEDGERS[name]
    for text in texts:
        whole = json.loads(text)
        if "this_action" in whole:
            assert read_answer(text, Step).this_action.action == whole["this_action"]["action"]


@pytest.mark.parametrize(
    ("name", "kind", "schema", "counts"),
    [
        ("deepfund_example_db_2025-04", "decision", FundDecision, (24, 24, 24)),
        ("deepfund_example_db_2025-04", "signal", FundSignal, (105, 105, 105)),
        ("dsgt_finmmeval_task3_2026-03", "decision", FundDecision, (2, 2, 2)),
        ("dsgt_finmmeval_task3_2026-03", "signal", FundSignal, (6, 6, 6)),
    ],
)
def test_recorded_structured_answers(
    shared_market: Path, name: str, kind: str, schema: type[BaseModel], counts: tuple[int, int, int]
) -> None:
    texts = [x for x in lines(shared_market, name) if json.loads(x)["record_type"] == kind]
    assert share(f"{name} {kind}", texts, schema) == counts
    reasons = [json.loads(x)["justification"] for x in texts]
    assert share(f"{name} {kind}, prose alone", reasons, schema) == (len(texts), 0, 0)


PROSE_FIELDS = {
    ("tradingagents_fork_results_2025-08", "final_trade_decision"): 82,
    ("tradingagents_fork_results_2025-08", "trader_investment_plan"): 82,
    ("tradingagents_fork_results_2025-08", "bull"): 82,
    ("tradingagents_fork_results_2025-08", "bear"): 82,
    ("tradingagents_fork_results_2025-08", "final_decision"): 82,
    ("tradingagents_fork_reports_2025-06_07", "final_trade_decision"): 27,
    ("tradingagents_fork_reports_2025-06_07", "investment_plan"): 27,
    ("tradingagents_fork_reports_2025-06_07", "signal"): 9,
    ("kraken_llm_bot_2025-08", "text"): 24,
    ("desk_reports_TSLA_BMRN_2025-12", "report_markdown"): 52,
}
"""Texts without any object. Most shout an action (FINAL DECISION: BUY); none may be taken for one."""


@pytest.mark.parametrize(("name", "field"), PROSE_FIELDS)
def test_recorded_prose_is_no_action(shared_market: Path, name: str, field: str) -> None:
    rows = [json.loads(x) for x in lines(shared_market, name)]
    texts = [row[field] for row in rows if row.get(field)]
    counts = share(f"{name} {field}", texts, Verdict)
    assert counts == (PROSE_FIELDS[name, field], 0, 0)


def said(record: dict[str, Any]) -> Iterator[str]:
    """What the assistant wrote in one record of a conversation."""
    messages = record["new_messages"]
    for message in messages if isinstance(messages, list) else [messages]:
        if message["role"] == "assistant":
            yield message["content"]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("aitrader_agent_logs_sample", (69, 8, 0)),
        ("tradetrap_agent_logs_sample", (13, 0, 0)),
    ],
)
def test_recorded_conversations_are_no_action(
    shared_market: Path, name: str, counts: tuple[int, int, int]
) -> None:
    """The objects in them are echoes of tool results; the trades went through tool calls."""
    texts = [t for x in lines(shared_market, name) for t in said(json.loads(x)["record"])]
    assert share(name, texts, Trade) == counts
    assert share(name, texts, Verdict) == counts


def test_recorded_injection_yields_no_action(shared_market: Path) -> None:
    """Two conversations in one line, of which one tells the model to buy and sell the wrong way."""
    name = "tradetrap_ATTACK_two_json_objects_on_one_line.txt"
    text = (shared_market / "recorded_decisions" / name).read_text("utf-8")
    assert "buy or hold" in text
    assert share(name, [text], Verdict) == (1, 1, 0)
    last = extract_object(text)["new_messages"]
    assert last == json.loads(text[text.rindex('{"signature"') :])["new_messages"]


# Any text: an object, or a complaint; never another error, and never for long.

PIECES = st.sampled_from(
    ['{"', "{", "}", "[", "]", '"', "\\", ",", ":", "，", "：", "｛", "｝", "“", "”", "＂", "　", "\u200b",
     "\n", "```json", '"action"', '"BUY"', '"confidence"', "1e999", "NaN", "-", "0.5", "9" * 400,
     "\ud800", "\\ud800", "\x00", "null", '{"action": "BUY", "confidence": 0.5, "reason": "x"}']
)  # fmt: skip


def outcome(text: str) -> str:
    """`read`, or what is complained about."""
    try:
        found = extract_object(text)
    except AnswerError as error:
        return str(error)
    assert isinstance(found, dict)
    try:
        assert read_answer(text, Verdict).action in ("BUY", "HOLD", "SELL")
    except AnswerError as error:
        return str(error)
    return "read"


@given(st.text() | st.lists(PIECES, max_size=40).map("".join))
@example('{"confidence": ' + "9" * 400 + "}")
@example('{"action": {"a": "\ud800"}}')
def test_any_text_is_read_or_refused(text: str) -> None:
    assert outcome(text)


@given(st.text(alphabet=st.characters(exclude_characters="{｛")))
def test_a_text_without_a_brace_is_never_an_action(text: str) -> None:
    assert "BUY" not in (complaint := outcome(f"BUY {text} SELL"))
    assert "holds no JSON object" in complaint


LARGEST = MAX_ANSWER_BYTES - 20
SLOW = {
    "one megabyte": "x" * 1_000_000,
    "one megabyte of objects": '{"a": 1}' * 125_000,
    "objects": '{"a": 1}' * (LARGEST // 8),
    "openings": '{"' * (LARGEST // 2),
    "bare openings": "{" * LARGEST,
    "an opening and blanks": "{" + " " * LARGEST,
    "lists": '{"a": [' + "[]," * (LARGEST // 4) + "]}",
    "blanks before closings": '{"a": [' + (" " * 50 + "1,") * (LARGEST // 60) + "]}",
    "backslashes": '{"a": "' + "\\" * LARGEST + '"}',
    "keys": "{" + ",".join(f'"{i}": 1' for i in range(LARGEST // 12)) + "}",
    "the same key": "{" + ",".join('"k": 1' for _ in range(LARGEST // 8)) + "}",
    "one key twice among many": "{" + ",".join(f'"{i}":1' for i in range(6_500)) + ',"6400":1}',
    "digits": '{"a": ' + "9" * LARGEST + "}",
}


@pytest.mark.parametrize("kind", SLOW)
def test_the_largest_answers_take_less_than_50_ms(kind: str) -> None:
    assert len(SLOW[kind]) <= MAX_ANSWER_BYTES or kind.startswith("one megabyte")
    took_s = []
    for _ in range(5):
        began = time.process_time()
        assert outcome(SLOW[kind])
        took_s.append(time.process_time() - began)
    assert min(took_s) < 0.05

"""The paper's messages: golden requests, what is read as an action, what a patient reader accepts."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from arena.agents.remote.protocol import (
    ReplyError,
    SentRequest,
    momentum,
    paper_request,
    read_json,
    read_reply,
)
from arena.agents.remote.received import Received, RequestError, paper_context
from arena.core.actions import Intent
from arena.core.types import Asset
from tests.agents.remote.support import market, stories


def test_golden_request() -> None:
    """Ten closes before the day, oldest first; today's close apart; no other key."""
    closes = [float(c) for c in range(90, 102)]  # 12 sessions: 2025-07-21 at 90 to 2025-08-01 at 101
    got = paper_request(market(closes, stories=stories())).payload()
    assert got == {
        "date": "2025-08-01",
        "symbol": ["BTC"],
        "price": {"BTC": 101.0},
        "news": {"BTC": ["Miners sell. They do.", "A fund opens"]},
        # 101 / 98 - 1 = 3.06 %
        "momentum": {"BTC": "bullish"},
        "10k": None,
        "10q": None,
        "history_price": {
            "BTC": [{"date": f"2025-07-{22 + i}", "price": 91.0 + i} for i in range(10)],
        },
    }
    assert paper_request(market(closes), "gpt-4.1").payload()["model"] == "gpt-4.1"


def test_first_day_has_an_empty_history_and_no_news_is_a_list() -> None:
    got = paper_request(market([100.0])).payload()
    assert (got["history_price"], got["news"], got["momentum"]) == (
        {"BTC": []}, {"BTC": []}, {"BTC": "neutral"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("last", "brief", "word"),
    [
        (100.4, None, "neutral"),  # + 0.4 %
        (100.6, None, "bullish"),  # + 0.6 %
        (99.6, None, "neutral"),
        (99.4, None, "bearish"),  # - 0.6 %
        (150.0, {"summary": "x", "sentiment": "bearish", "score": -1.0}, "bearish"),
        (150.0, {"summary": "x", "sentiment": "odd", "score": 0.0}, "bullish"),
    ],
)
def test_momentum(last: float, brief: dict[str, Any] | None, word: str) -> None:
    # three sessions back is 100; what lies before and between has no part in it
    assert momentum(market([500.0, 100.0, 1.0, 900.0, last], brief=brief)) == word


def test_sender_is_strict() -> None:
    good = paper_request(market([1.0, 2.0])).model_dump(by_alias=True)
    SentRequest.model_validate(good)
    for wrong in (
        good | {"future_price_diff": 1.0},
        good | {"symbol": ["BTC", "ETH"]},
        good | {"price": {"BTC": 0.0}},
        good | {"news": {"BTC": "text"}},
        good | {"momentum": {"BTC": None}},
        good | {"history_price": {"BTC": [{"date": date(2025, 7, 1), "price": 1.0}] * 11}},
    ):
        with pytest.raises(ValidationError):
            SentRequest.model_validate(wrong)


@pytest.mark.parametrize(
    ("raw", "intent"),
    [
        ('{"recommended_action": "BUY"}', Intent.LONG),
        ('{"recommended_action": " sell\\n", "x": [1]}', Intent.SHORT),
        ('{"recommended_action": "Hold", "reasoning": 5, "usage": "much"}', Intent.HOLD),
    ],
)
def test_actions_are_whole_words(raw: str, intent: Intent) -> None:
    reply = read_reply(raw.encode())
    assert (reply.intent, reply.reasoning, reply.usage) == (intent, "", None)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"recommended_action": "DO NOT BUY"}', "must be BUY, HOLD or SELL"),
        (b'{"recommended_action": "sell-off"}', "must be BUY"),
        (b'{"recommended_action": ["BUY"]}', "must be BUY"),
        (b'{"recommended_action": null}', "is missing"),
        (b'{"action": "BUY"}', "is missing"),
        (b'["BUY"]', "no JSON object"),
        (b"BUY", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"recommended_action": "BUY", "recommended_action": "SELL"}', "given twice"),
        (b'{"recommended_action": "BUY", "x": NaN}', "NaN"),
        (b'{"recommended_action": "BUY", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "nested too deeply"),
        (b'{"recommended_action": "BUY", "x": 1e999}', "too large"),
        (b'{"recommended_action": "BUY", "x": "\\ud800"}', "Unicode"),
        (b'{"recommended_action": "BUY", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep"),
    ],
)
def test_everything_else_is_no_action(raw: bytes, why: str) -> None:
    with pytest.raises(ReplyError, match=why):
        read_reply(raw)


def test_nesting_has_a_limit() -> None:
    # the object itself is one level, and 99 lists in it are the rest of 100
    assert read_json('{"x": ' + "[" * 99 + "]" * 99 + "}")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json('{"x": ' + "[" * 100 + "]" * 100 + "}")


def test_usage_is_read_where_it_is_plausible() -> None:
    def usage(text: str) -> Any:
        return read_reply(f'{{"recommended_action": "BUY", "usage": {text}}}'.encode()).usage

    full = usage('{"tokens_in": 900, "tokens_out": 80, "cost_usd": 0.002, "currency": "USD"}')
    assert (full.tokens_in, full.tokens_out, full.cost_usd) == (900, 80, 0.002)
    assert usage('{"tokens_in": 900}').cost_usd is None
    assert usage('{"tokens_in": -1}') is None


PAPER: dict[str, Any] = {
    "date": "2025-01-15", "price": {"TSLA": 250.5}, "symbol": ["TSLA"], "10k": None, "10q": None,
    "news": {"TSLA": ["Tesla announces new production milestone"]}, "momentum": {"TSLA": "bullish"},
    "history_price": {"TSLA": [{"date": "2025-01-13", "price": 249.1}, {"date": "2025-01-14", "price": 250.3}]},
}  # fmt: skip


def context(**changes: Any) -> Any:
    text = json.dumps({k: v for k, v in (PAPER | changes).items() if v != "absent"})
    return paper_context(Received.model_validate(read_json(text)), lambda _: None)


def test_context_of_a_paper_request() -> None:
    got = context()
    assert [(b.session, b.close) for b in got.bars] == [
        (date(2025, 1, 13), 249.1), (date(2025, 1, 14), 250.3), (date(2025, 1, 15), 250.5),
    ]  # fmt: skip
    assert {(b.open, b.high, b.low, b.volume) for b in got.bars[-1:]} == {(250.5, 250.5, 250.5, None)}
    assert got.as_of_utc == datetime(2025, 1, 16, 0, 5, tzinfo=UTC)
    assert (got.asset.id, got.asset.asset_class) == ("TSLA", "stock")
    assert [(s["id"], s["title"]) for s in got.stories] == [
        ("news-1", "Tesla announces new production milestone"),
        ("momentum-1", "The sender labels the day's momentum bullish."),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"symbol": "absent"},
        {"symbol": None},
        {"symbol": []},
        {"symbol": "TSLA"},
        {"news": {"TSLA": "Tesla announces new production milestone"}},
        {"unknown": {"deep": [1]}, "future": 1},
    ],
)
def test_harmless_variants_say_the_same(changes: dict[str, Any]) -> None:
    assert context(**changes).market_hash == context().market_hash


@pytest.mark.parametrize("key", ["news", "momentum", "history_price", "10k", "10q"])
@pytest.mark.parametrize("value", ["absent", None, {}, {"TSLA": None}])
def test_what_may_be_missing(key: str, value: Any) -> None:
    assert context(**{key: value}).price == 250.5


def test_rows_of_the_day_or_later_and_without_a_price_are_dropped() -> None:
    rows = [
        {"date": "2025-01-16", "price": 999.0}, {"date": "2025-01-15", "price": 250.5},
        {"date": "2025-01-14", "price": 2.0}, {"date": "2025-01-13", "price": None},
        {"date": "2025-01-12", "price": 0}, {"date": "2025-01-10", "price": 1.0},
    ]  # fmt: skip
    assert [b.close for b in context(history_price={"TSLA": rows}).bars] == [1.0, 2.0, 250.5]


def test_class_of_an_unknown_symbol() -> None:
    saturday = [{"date": "2025-01-11", "price": 1.0}]
    assert context(history_price={"TSLA": saturday}).asset.asset_class == "crypto"
    known = Asset("TSLA", "Tesla", "stock")
    request = Received.model_validate(PAPER)
    assert paper_context(request, {"TSLA": known}.get).asset is known


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"price": "absent"}, 400),
        ({"price": {}}, 400),
        ({"price": {"TSLA": None}}, 400),
        ({"price": {"TSLA": 0}}, 400),
        ({"price": {"TSLA": 1e300}}, 400),
        ({"price": {"BTC": 1.0}}, 400),
        ({"symbol": [""]}, 400),
        ({"symbol": [], "price": {"A": 1, "B": 2}}, 400),
        ({"symbol": ["TSLA", "BTC"]}, 422),
    ],
)
def test_without_one_symbol_and_its_price_there_is_no_answer(
    changes: dict[str, Any], status: int
) -> None:
    with pytest.raises(RequestError) as refused:
        context(**changes)
    assert refused.value.status == status

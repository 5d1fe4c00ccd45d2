"""Providers and models that send what cannot be stored, counted or read; and deadlines that strike late."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from arena.llm.fields import Text
from arena.llm.journal import AttemptClosed, AttemptOpened, MemoryJournal
from arena.llm.limited import Gate
from arena.llm.parse import AnswerError, read_answer
from arena.llm.provider_errors import _retry_after_s
from arena.llm.redact import redact
from arena.llm.types import ChatReply, ProviderError
from arena.runner.journal import StoreJournal
from arena.store.store import open_store
from tests.llm.mock_provider import ANSWER, MockProvider, Say, refusal
from tests.llm.paid import KEY, request, row, run_of

HALF = "\ud800"  # half of a surrogate pair: valid in JSON, in no encoding


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_API_KEY", KEY)


def said(text: str = ANSWER, model: str = "m", usage: tuple[int, int] = (100, 20)) -> Say:
    answer = {
        "id": "x", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1],
                  "total_tokens": sum(usage)},
    }  # fmt: skip
    return Say(raw=json.dumps(answer).encode())


def test_half_a_surrogate_is_paid_stored_and_not_asked_for_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store, MockProvider(said(f"a{HALF}\0b", f"m{HALF}")) as mock:
        replies = [
            asyncio.run(
                run_of(row(mock.url), journal=StoreJournal(store, "r")).of("mock/m", "d1").complete(request())
            )
            for _ in range(2)
        ]
    assert [r.text for r in replies] == ["a?\0b", "a?\0b"]
    assert replies[0].params["served_model"] == "m?"
    assert len(mock.asked) == 1, "the second time from the journal"


def test_half_a_surrogate_in_an_error_can_be_stored(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store, MockProvider(refusal(400, f"bad {HALF}")) as mock:
        run = run_of(row(mock.url), journal=StoreJournal(store, "r"))
        with pytest.raises(ProviderError, match=r"answered 400: bad \?"):
            asyncio.run(run.of("mock/m", "d1").complete(request()))


@pytest.mark.parametrize(
    "usage", [(-100_000, 5), (100, -5_000), (10**30, 5), (10, 10**30)],
    ids=["prompt below 0", "answer below 0", "prompt beyond", "answer beyond"],
)  # fmt: skip
def test_impossible_usage_is_unknown_and_booked_with_the_worst_case(usage: tuple[int, int]) -> None:
    with MockProvider(said(usage=usage)) as mock:
        run = run_of(row(mock.url))
        reply = asyncio.run(run.of("mock/m", "d1").complete(request()))
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (None, None, None)
    # as in test_gateway: 553 tokens in at 1 USD, 50 out at 2 USD per million
    assert run.budget.spent_tokens == 603
    assert run.budget.spent_usd == pytest.approx((553 * 1 + 50 * 2) / 1e6)


def test_what_litellm_refuses_by_itself_is_a_failure_of_the_provider() -> None:
    with MockProvider() as mock, pytest.raises(ProviderError, match="Unknown ScaleDown model"):
        asyncio.run(run_of(row(mock.url, route="scaledown/x")).of("mock/m", "d1").complete(request()))
    assert mock.asked == []


@pytest.mark.parametrize(
    "date",
    ["Oct 99999999999999999 x 1:2 \u0663", "0 Oct 1:2 99999999999999999 99999999999999999 +0100 \u0663"],
)
def test_a_retry_after_that_is_no_date_is_none(date: str) -> None:
    error: Any = SimpleNamespace(litellm_response_headers={"retry-after": date})
    assert _retry_after_s(error) is None


def test_user_and_password_of_an_address_are_hidden() -> None:
    assert redact("at http://me:hunter2@proxy.example:80/v1, x") == "at http://[secret]@proxy.example:80/v1, x"
    assert redact("at http://h.example:80/v1 of a@b.example") == "at http://h.example:80/v1 of a@b.example"


class Said(BaseModel):
    reason: Annotated[str, Text(100)]


def test_a_quote_after_an_escaped_backslash_does_not_end_a_curly_text() -> None:
    # The text is:  path\\"q  that is, an escaped backslash and a plain quote inside curly ones.
    assert read_answer('{"reason": “path\\\\"q”}', Said).reason == 'path\\"q'
    assert read_answer('{"reason": “a\\"b”}', Said).reason == 'a"b'


def test_depth_cannot_be_hidden_in_a_curly_text() -> None:
    with pytest.raises(AnswerError, match="reason"):
        read_answer('{“x\\\\":' + "[" * 60_000 + "”:1}", Said)


def test_the_complaint_about_a_key_given_twice_can_be_stored() -> None:
    with pytest.raises(AnswerError, match=r"`\?` is given twice"):
        read_answer('{"\\ud800": 1, "\\ud800": 2}', Said)


def _opened(n: int) -> AttemptOpened:
    return AttemptOpened(f"a{n}", f"k{n}", "d", "mock/m", "trader", 0.1, 10)


def test_a_deadline_during_a_write_leaves_the_store_writing(tmp_path: Path) -> None:
    async def cut_then_write(journal: StoreJournal) -> None:
        task = asyncio.create_task(journal.opened(_opened(1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(journal.opened(_opened(2)), 5)

    with open_store(tmp_path / "s.duckdb") as store:
        asyncio.run(cut_then_write(StoreJournal(store, "r")))
        # Neither was closed, so both reservations of 10 tokens count.
        assert StoreJournal(store, "r").spent_tokens == 20


def test_a_deadline_during_the_last_note_does_not_lose_the_answer() -> None:
    class Slow(MemoryJournal):
        def __init__(self) -> None:
            super().__init__()
            self.closing, self.go_on = asyncio.Event(), asyncio.Event()

        async def closed(self, attempt: AttemptClosed) -> None:
            self.closing.set()
            await self.go_on.wait()
            await super().closed(attempt)

    async def cut_then_ask_again(url: str) -> ChatReply:
        journal = Slow()
        run = run_of(row(url), journal=journal)
        task = asyncio.create_task(run.of("mock/m", "d1").complete(request()))
        await journal.closing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        journal.go_on.set()
        await asyncio.sleep(0)
        return await run.of("mock/m", "d1").complete(request())

    with MockProvider() as mock:
        assert asyncio.run(cut_then_ask_again(mock.url)).text == ANSWER
    assert len(mock.asked) == 1


def test_a_secret_that_looks_like_a_number_leaves_the_stored_answer_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.llm.redact._protected", {"14159265"})

    async def once(journal: StoreJournal) -> None:
        reply = ChatReply("pin 14159265", "mock/m", 1, 2, 0.0, 3.14159265, {"retries": ["14159265"]})
        await journal.opened(_opened(1))
        await journal.closed(AttemptClosed("a1", "k1", "answered", 0.1, 3, reply))

    with open_store(tmp_path / "s.duckdb") as store:
        asyncio.run(once(StoreJournal(store, "r")))
        stored = StoreJournal(store, "r").answers["k1"]
    assert (stored.text, stored.latency_ms) == ("pin [secret]", 3.14159265)
    assert stored.params == {"retries": ["[secret]"]}


def test_a_gate_lets_go_of_event_loops_that_are_gone() -> None:
    gate = Gate(1)

    async def two_at_once() -> None:
        async def hold() -> None:
            async with gate.here():
                await asyncio.sleep(0.001)

        await asyncio.gather(hold(), hold())

    for _ in range(3):
        asyncio.run(two_at_once())
    assert len(gate._by_loop) == 1

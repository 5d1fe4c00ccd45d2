"""The gateway and what stands around it, against a provider that misbehaves in every known way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import ConfigError, InvariantError
from arena.llm.gateway import Gateway, load_litellm
from arena.llm.journal import MemoryJournal
from arena.llm.registry import get_model
from arena.llm.retrying import Limits
from arena.llm.roster import roster
from arena.llm.stack import RunModels
from arena.llm.types import ChatReply, ProviderError, ProviderTimeout
from tests.llm.mock_provider import ANSWER, MockProvider, Say, refusal
from tests.llm.paid import KEY, request, row, run_of

NO_ANSWER = b'{"id":"x","object":"chat.completion","model":"m","choices":[]}'


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_API_KEY", KEY)


def ask(run: RunModels, scope: str = "d1", **fields: Any) -> ChatReply:
    return asyncio.run(run.of("mock/m", scope).complete(request(**fields)))


def test_import_of_litellm_reaches_for_nothing() -> None:
    code = (
        "import socket\n"
        "def no(*a, **k): raise SystemExit(f'reached for {a}')\n"
        "socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = no\n"
        "import arena.llm.stack, sys\n"
        "assert 'litellm' not in sys.modules, 'imported too early'\n"
        "from arena.llm.gateway import load_litellm\n"
        "assert load_litellm().suppress_debug_info\n"
        "print('quiet')"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "quiet"), done.stderr


def test_a_reply_says_what_was_sent_served_and_paid() -> None:
    with MockProvider(Say(model="m-2026-01-01")) as mock:
        reply = ask(run_of(row(mock.url, refuses=["top_p"])))
    assert (reply.text, reply.model) == (ANSWER, "mock/m")
    # 100 tokens at 1 USD and 20 at 2 USD per million: 140e-6
    assert (reply.tokens_in, reply.tokens_out) == (100, 20)
    assert reply.cost_usd == pytest.approx(140e-6)
    assert dict(reply.params) == {
        "temperature": 0.5, "max_tokens": 50, "seed": 3, "finish_reason": "stop",
        "left_out": ["top_p"], "served_model": "m-2026-01-01",
    }  # fmt: skip
    (asked,) = mock.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m", "temperature": 0.5, "max_tokens": 50, "seed": 3,
        "messages": [{"role": "system", "content": "You trade."},
                     {"role": "user", "content": "up or down?"}],
    }  # fmt: skip


def test_the_answer_is_no_longer_than_the_model_allows() -> None:
    with MockProvider() as mock:
        assert ask(run_of(row(mock.url, max_answer_tokens=20))).params["max_tokens"] == 20
    assert mock.asked[0].body["max_tokens"] == 20


@pytest.mark.parametrize(
    ("say", "text", "finish"),
    [
        (Say(text=None), "", "stop"),
        (Say(text=""), "", "stop"),
        (Say(text='{"action": "B', finish="length"), '{"action": "B', "length"),
        (Say(raw=NO_ANSWER), "", None),
        (Say(delay_s=0.3), ANSWER, "stop"),
    ],
    ids=["none", "empty", "truncated", "no choices", "slow"],
)
def test_a_poor_answer_is_an_answer(say: Say, text: str, finish: str | None) -> None:
    with MockProvider(say) as mock:
        reply = ask(run_of(row(mock.url)))
    assert (reply.text, reply.params["finish_reason"]) == (text, finish)
    assert len(mock.asked) == 1


def test_unreported_tokens_are_unknown_and_hidden_ones_count() -> None:
    with MockProvider(Say(usage=None)) as mock:
        reply = ask(run_of(row(mock.url)))
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (None, None, None)
    thinking = (
        b'{"id":"x","object":"chat.completion","model":"m","choices":[],'
        b'"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":40}}'
    )
    with MockProvider(Say(raw=thinking)) as mock:
        assert ask(run_of(row(mock.url))).tokens_out == 30


@pytest.mark.parametrize(
    ("say", "requests", "words"),
    [
        (refusal(500), 3, r"answered 500: no \(3 attempts\)"),
        (refusal(503), 3, "answered 503"),
        (refusal(529), 3, "answered 529"),
        (refusal(429), 3, r"answered 429: no \(3 attempts\)"),
        (Say(cut="before"), 3, "lost the connection"),
        (Say(cut="midway"), 3, "lost the connection"),
        (Say(raw=b"<html>hello</html>"), 1, "no answer: .*<html>hello</html>"),
        (refusal(400, "bad thing"), 1, "answered 400: bad thing$"),
        (refusal(400, "This model's maximum context length is 10 tokens"), 1, "too long for `mock/m`"),
    ],
    ids=["500", "503", "529", "429", "cut before", "cut midway", "html", "400", "context"],
)
def test_failures_are_retried_only_where_that_may_help(
    say: Say, requests: int, words: str
) -> None:
    with MockProvider(say) as mock, pytest.raises(ProviderError, match=words) as caught:
        ask(run_of(row(mock.url)))
    assert len(mock.asked) == requests
    assert not isinstance(caught.value, ProviderTimeout)


def test_a_server_that_is_down_is_named() -> None:
    with MockProvider() as mock:
        url = mock.url
    with pytest.raises(ProviderError, match=rf"cannot be reached at {url}.*\(3 attempts\)"):
        ask(run_of(row(url)))


@pytest.mark.parametrize(
    "say", [Say(delay_s=30.0), Say(drip_s=0.05)], ids=["hanging", "dripping"]
)
def test_a_late_answer_is_given_up_in_time_and_not_asked_for_twice(say: Say) -> None:
    with MockProvider(say) as mock:
        run, began = run_of(row(mock.url, request_timeout_s=0.4)), time.monotonic()
        with pytest.raises(ProviderTimeout, match="did not answer"):
            ask(run)
        assert time.monotonic() - began < 1.4
    assert len(mock.asked) == 1


def test_the_deadline_of_the_request_goes_before_the_models_own() -> None:
    with MockProvider(Say(delay_s=30.0)) as mock:
        run, began = run_of(row(mock.url)), time.monotonic()
        with pytest.raises(ProviderTimeout):
            ask(run, deadline_s=0.3)
        assert time.monotonic() - began < 1.3


def test_recovery_leaves_a_note_of_what_went_wrong() -> None:
    with MockProvider([refusal(500), refusal(429, "slow down", retry_after="0.05"), Say()]) as mock:
        reply = ask(run_of(row(mock.url)))
    assert len(mock.asked) == 3
    assert reply.text == ANSWER
    first, second = reply.params["retries"]
    assert "answered 500" in first
    assert "429: slow down" in second


def test_retry_after_is_obeyed_or_not_waited_for() -> None:
    with MockProvider([refusal(429, retry_after="0.4"), Say()]) as mock:
        began = time.monotonic()
        assert ask(run_of(row(mock.url))).text == ANSWER
        assert time.monotonic() - began >= 0.4
    with MockProvider(refusal(429, retry_after="3600")) as mock:
        began = time.monotonic()
        with pytest.raises(ProviderError, match="answered 429"):
            ask(run_of(row(mock.url)))
        assert time.monotonic() - began < 1.0
    assert len(mock.asked) == 1


def test_a_refused_key_ends_the_asking_and_is_never_shown() -> None:
    echo = refusal(401, f"Incorrect API key provided: {KEY}. Header: Bearer {KEY}")
    with MockProvider(echo) as mock:
        journal = MemoryJournal()
        run = run_of(row(mock.url), journal=journal)
        said = []
        for scope in ("d1", "d2"):
            with pytest.raises(ProviderError, match=r"refused the key.*MOCK_API_KEY") as caught:
                ask(run, scope)
            said.append(f"{caught.value} {caught.value!r} {caught.value.__cause__!r}")
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert len(mock.asked) == 1
    (attempt,) = journal.ended
    assert KEY not in f"{said} {attempt}"
    assert "[secret]" in attempt.error
    assert run.budget.spent_usd == 0


@pytest.mark.parametrize("status", [403, 404])
def test_a_forbidden_or_missing_model_is_not_asked_again(status: int) -> None:
    with MockProvider(refusal(status)) as mock:
        run = run_of(row(mock.url))
        for scope in ("d1", "d2", "d3"):
            with pytest.raises(ProviderError, match=f"{status}"):
                ask(run, scope)
    assert len(mock.asked) == 1


def test_nothing_leaves_without_a_key_or_for_a_retired_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with MockProvider() as mock:
        with pytest.raises(ProviderError, match=r"retired.* on 2026-06-15.*[Cc]hoose another"):
            ask(run_of(row(mock.url, retired=date(2026, 6, 15))))
        monkeypatch.delenv("MOCK_API_KEY")
        with pytest.raises(ProviderError, match="MOCK_API_KEY is not set"):
            ask(run_of(row(mock.url)))
        assert mock.asked == []


def test_the_network_switch_counts_for_everything_beyond_loopback() -> None:
    run = run_of(row("https://models.example/v1"))
    with pytest.raises(ConfigError, match="`mock/m` needs the network"):
        ask(run)
    assert (run.budget.spent_usd, run.budget.reserved_usd) == (0, 0)


def test_a_place_at_the_provider_is_shared_by_its_models() -> None:
    with MockProvider(Say(delay_s=0.05)) as mock:
        run = run_of(row(mock.url, concurrency=3), row(mock.url, id="mock/n", route="openai/n"))

        async def all_at_once() -> None:
            asks = [
                run.of(f"mock/{'mn'[i % 2]}", f"d{i}").complete(request()) for i in range(10)
            ]
            await asyncio.gather(*asks)

        asyncio.run(all_at_once())
        assert (len(mock.asked), mock.most_in_flight) == (10, 3)
        # Another event loop, the same run: neither sessions nor places belong to the first one.
        asyncio.run(all_at_once())
        assert (len(mock.asked), mock.most_in_flight) == (10, 3), "answered from the journal"


def test_waiting_for_a_place_ends_with_the_deadline_and_costs_nothing() -> None:
    with MockProvider(Say(delay_s=0.6)) as mock:
        run = run_of(row(mock.url, concurrency=1))

        async def two() -> list[Any]:
            first = asyncio.create_task(run.of("mock/m", "d1").complete(request()))
            await asyncio.sleep(0.05)
            second = run.of("mock/m", "d2").complete(request(deadline_s=0.2))
            return await asyncio.gather(first, second, return_exceptions=True)

        reply, error = asyncio.run(two())
    assert isinstance(reply, ChatReply)
    assert isinstance(error, ProviderTimeout)
    assert "no free place" in str(error)
    assert len(mock.asked) == 1
    assert run.budget.spent_usd == pytest.approx(140e-6)


def test_a_cancelled_request_is_booked_with_its_worst_case() -> None:
    with MockProvider(Say(delay_s=30.0)) as mock:
        journal = MemoryJournal()
        run = run_of(row(mock.url), journal=journal)

        async def give_up() -> None:
            async with asyncio.timeout(0.3):
                await run.of("mock/m", "d1").complete(request())

        with pytest.raises(TimeoutError):
            asyncio.run(give_up())
    (attempt,) = journal.ended
    # bytes of "You trade." + "up or down?" = 10 + 11; + 2 x 16 + 500 = 553 in, 50 out
    assert (attempt.ending, attempt.charged_tokens) == ("cancelled", 603)
    assert run.budget.spent_usd == pytest.approx((553 * 1 + 50 * 2) / 1e6)
    assert (run.budget.reserved_usd, run.budget.reserved_tokens) == (pytest.approx(0), 0)


def test_waits_grow_and_differ_between_requests_but_not_between_runs() -> None:
    from arena.llm.failure import AttemptFailed
    from arena.llm.retrying import Retrying, Standing

    def waits(key: str) -> list[float]:
        retrying = Retrying(Gateway(row("http://127.0.0.1:1/v1")), Standing(), Limits())
        return [
            retrying._wait_s(AttemptFailed("x", retry=True), n, request(key=key)) for n in (1, 2, 9)
        ]

    # first_wait_s = 1: between 0.5 and 1, 1 and 2, and at most 20 s
    first, second, ninth = waits("a")
    assert 0.5 <= first <= 1 <= second <= 2
    assert 10 <= ninth <= 20
    assert waits("a") == [first, second, ninth]
    assert waits("b") != waits("a")


def test_a_paid_model_cannot_be_asked_without_a_budget() -> None:
    with pytest.raises(InvariantError, match="without a budget"):
        asyncio.run(get_model("gpt-4o").complete(request()))
    with pytest.raises(InvariantError, match="not one of the models"):
        run_of().of("gpt-4o", "d1")
    assert run_of().of("offline/trend", "d1").kind == "stand_in"


@pytest.mark.parametrize("info", [i for i in roster().values() if not i.runs_here], ids=lambda i: i.id)
def test_every_row_of_the_roster_is_asked_only_what_litellm_passes_on(info: Any) -> None:
    litellm = load_litellm()
    sent, left_out = Gateway(info)._parameters(litellm, request())
    litellm.utils.get_optional_params(
        model=info.litellm_id.split("/", 1)[1], custom_llm_provider=info.provider, **sent
    )
    assert set(sent) | set(left_out) == {"temperature", "top_p", "max_tokens", "seed"}
    assert set(info.refuses) == set(left_out), "what is left out must stand in the roster"



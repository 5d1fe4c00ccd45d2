"""A model that searches the web, behind a server on this machine: what is sent, proved, paid and refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from arena.core.errors import ConfigError, SourceError
from arena.llm.budgeted import Budget, worst_case
from arena.llm.journal import MemoryJournal
from arena.llm.registry import model_info
from arena.llm.roster import ModelInfo
from arena.llm.stack import RunModels
from arena.llm.types import BudgetStop
from arena.llm.web_search import searches_of
from arena.market.sources.news.base import LimitedError, poll
from arena.runner.web_search import asker, web_search_source
from tests.llm.mock_provider import MockProvider, Say, refusal
from tests.llm.paid import KEY, request, row, run_of
from tests.market.sources.news.keyed import BTC, NOW, SINCE, TSLA, clock

FOUND = '[{"title": "Tesla opens a plant", "url": "https://a.example/1"}]'
CITED = [{
    "type": "url_citation",
    "url_citation": {"url": "https://a.example/1", "title": "a", "start_index": 0, "end_index": 1},
}]  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_API_KEY", KEY)


def answered(text: str = FOUND, cited: list[Any] | None = CITED, **usage: Any) -> Say:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if cited is not None:
        message["annotations"] = cited
    whole = {
        "id": "mock", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 8000, "completion_tokens": 100, "total_tokens": 8100, **usage},
    }  # fmt: skip
    return Say(raw=json.dumps(whole).encode())


def searcher(url: str, **fields: Any) -> ModelInfo:
    base = {"route": "openai/gpt-4o-search-preview", "price_search_usd": 0.025}
    return row(url, **{**base, **fields})


def test_the_search_is_asked_for_paid_for_and_journaled() -> None:
    journal = MemoryJournal()
    with MockProvider(answered()) as mock:
        info = searcher(mock.url)
        run = run_of(info, journal=journal)
        (item,) = web_search_source(run, info, clock).fetch([TSLA], SINCE, NOW)
        assert (item.title, item.ts_quality, item.collected_at_utc) == (
            "Tesla opens a plant", "collected", NOW,
        )  # fmt: skip
        (asked,) = mock.asked
        assert asked.body["web_search_options"] == {"search_context_size": "low"}
        assert asked.body["max_tokens"] == 3000
        assert {"web_search", "temperature"}.isdisjoint(asked.body)
        # The same window in a run that was killed and started again: nothing is asked, nothing paid.
        again = run_of(info, journal=journal)
        assert web_search_source(again, info, clock).fetch([TSLA], SINCE, NOW) == [item]
        assert len(mock.asked) == 1
    # 8000 tokens at 1 USD and 100 at 2 USD per million, and one search: 0.0082 + 0.025
    assert run.budget.spent_usd == pytest.approx(0.0332)
    assert (again.budget.spent_usd, journal.spent_usd) == (0, pytest.approx(0.0332))
    (attempt,) = journal.ended
    assert attempt.reply is not None
    assert attempt.reply.params["searches"] == 1
    assert attempt.reply.cost_usd == pytest.approx(0.0332)


def test_a_search_is_reserved_with_the_pages_that_it_may_bring() -> None:
    info = searcher("http://127.0.0.1:1/v1")
    plain = worst_case(info, request())
    search = worst_case(info, request(params={"max_tokens": 50, "web_search": True}))
    assert search.tokens - plain.tokens == 50_000
    # 50,000 tokens at 1 USD per million and five searches at 0.025: 0.05 + 0.125
    assert search.usd - plain.usd == pytest.approx(0.175)


def test_a_met_budget_ends_the_poll_and_what_was_paid_for_is_kept() -> None:
    """The first question fits, the second does not; started again with more money, only that is asked."""
    journal = MemoryJournal()
    with MockProvider(answered()) as mock:
        info = searcher(mock.url)
        # A question is reserved with about 0.18 USD and costs 0.0332: 0.2 holds one.
        poor = web_search_source(run_of(info, budget=Budget(usd=0.2), journal=journal), info, clock)
        with pytest.raises(BudgetStop, match="Raise the budget"):
            poll([poor], [TSLA, BTC], SINCE, NOW, clock)
        assert len(mock.asked) == 1
        later = NOW.replace(hour=23)
        rich = web_search_source(run_of(info, budget=Budget(usd=1.0), journal=journal), info, clock)
        (told,) = poll([rich], [TSLA, BTC], SINCE, later, clock)
        assert len(mock.asked) == 2
    assert told.status == "ok"
    assert [item.asset for item in told.items] == ["TSLA", "BTC"]
    assert journal.spent_usd == pytest.approx(2 * 0.0332)


@pytest.mark.parametrize(
    "say",
    [answered(cited=None), answered("[]", cited=[]), Say(text="[]")],
    ids=["no citations", "an empty list of them", "nothing found"],
)
def test_an_answer_from_memory_is_not_used(say: Say) -> None:
    with MockProvider(say) as mock:
        info = searcher(mock.url)
        run = run_of(info)
        with pytest.raises(SourceError, match="nothing shows that `mock/m` searched"):
            web_search_source(run, info, clock).fetch([TSLA], SINCE, NOW)
        # Whether it searched is not known, so one search is charged, besides the tokens.
        n_in, n_out = (100, 20) if say.raw is None else (8000, 100)
        assert run.budget.spent_usd == pytest.approx((n_in + 2 * n_out) / 1e6 + 0.025)


def test_a_reported_count_goes_before_citations() -> None:
    with MockProvider(answered(cited=None, prompt_tokens_details={"web_search_requests": 3})) as mock:
        info = searcher(mock.url)
        run = run_of(info)
        assert len(web_search_source(run, info, clock).fetch([TSLA], SINCE, NOW)) == 1
    # 0.0082 for tokens and three searches
    assert run.budget.spent_usd == pytest.approx(0.0832)


class Part:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("usage", "annotations", "expected"),
    [
        (Part(server_tool_use={"web_search_requests": 2}), None, 2),
        (Part(server_tool_use=Part(web_search_requests=0)), CITED, 0),
        (Part(prompt_tokens_details=Part(web_search_requests=None)), CITED, 1),
        (None, CITED, 1),
        (None, [], None),
    ],
)
def test_searches_are_counted_where_a_provider_reports_them(
    usage: Any, annotations: Any, expected: int | None
) -> None:
    message = Part(annotations=annotations)
    assert searches_of(Part(usage=usage, choices=[Part(message=message)])) == expected
    assert searches_of(Part(usage=None, choices=[])) is None


def test_failures_of_the_model_are_failures_of_the_source() -> None:
    def fails(say: Say, kind: type[SourceError], words: str) -> SourceError:
        with MockProvider(say) as mock:
            info = searcher(mock.url)
            with pytest.raises(kind, match=words) as caught:
                web_search_source(run_of(info), info, clock).fetch([TSLA], SINCE, NOW)
        assert KEY not in f"{caught.value!r} {caught.value.__cause__!r}"
        return caught.value

    fails(refusal(401, f"bad key {KEY}"), SourceError, "web-search: .*refused the key")
    fails(Say(raw=b"<html>hello</html>"), SourceError, "web-search: .*no answer")
    fails(answered("Sorry."), SourceError, "holds no list of articles")
    limited = fails(refusal(429, retry_after="3600"), LimitedError, "429")
    assert isinstance(limited, LimitedError)
    assert limited.retry_after_s == 3600.0


def test_a_switched_off_network_is_a_failed_source() -> None:
    info = searcher("https://models.example/v1")
    with pytest.raises(SourceError, match="ARENA_NETWORK is off"):
        asker(run_of(info), info)("question")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"route": "openai/gpt-4.1-2025-04-14"}, r"cannot search the web: OpenAI.*-search-"),
        ({"route": "xai/grok-4.7"}, "cannot search the web: xAI"),
        ({"route": "anthropic/claude-3-5-haiku-20241022"}, "does not list it"),
        ({"route": "hosted_vllm/mine"}, "does not list it"),
        ({"id": "offline/trend", "route": ""}, "runs here and cannot search"),
        ({"price_search_usd": None}, "price_search_usd"),
    ],
)
def test_a_model_that_cannot_is_refused_before_anything_is_asked(
    fields: dict[str, Any], words: str
) -> None:
    info = searcher("http://127.0.0.1:1/v1", **fields)
    with pytest.raises(ConfigError, match=words):
        web_search_source(run_of(info), info, clock)


def test_an_unknown_price_is_allowed_within_a_cap_on_tokens() -> None:
    with MockProvider(answered()) as mock:
        info = searcher(mock.url, price_search_usd=None)
        run = run_of(info, budget=Budget(tokens=60_000, allow_unpriced=True))
        assert len(web_search_source(run, info, clock).fetch([TSLA], SINCE, NOW)) == 1
    assert run.budget.spent_tokens == 8100


def test_the_gateway_refuses_too() -> None:
    with MockProvider(answered()) as mock:
        info = searcher(mock.url, route="openai/m")
        run = RunModels([info], Budget(usd=1.0), MemoryJournal())
        with pytest.raises(SourceError, match="`mock/m` cannot search the web"):
            asker(run, info)("question")
        assert mock.asked == []
    assert run.budget.spent_usd == 0


def test_every_priced_searcher_of_the_roster_can_search() -> None:
    """Options are translated by litellm, so that no row promises what would be dropped on the way."""
    from arena.llm.gateway import Gateway, load_litellm
    from arena.llm.roster import roster
    from arena.llm.web_search import cannot_search

    litellm = load_litellm()
    rows = [info for info in roster().values() if info.price_search_usd is not None]
    assert {info.provider for info in rows} == {"anthropic", "gemini"}
    for info in rows:
        assert cannot_search(litellm, info) == ""
        search = request(params={"max_tokens": 50, "web_search": True})
        sent, _ = Gateway(info)._parameters(litellm, search)
        mapped = litellm.utils.get_optional_params(
            model=info.litellm_id.split("/", 1)[1], custom_llm_provider=info.provider, **sent
        )
        tools = json.dumps(mapped["tools"])
        assert '"max_uses": 1' in tools if info.provider == "anthropic" else "googleSearch" in tools
    assert model_info("claude-haiku-5-5").price_search_usd == 0.01


def test_another_day_is_another_question() -> None:
    with MockProvider(answered()) as mock:
        info = searcher(mock.url)
        source = web_search_source(run_of(info), info, clock)
        source.fetch([TSLA], SINCE, NOW)
        source.fetch([TSLA], SINCE, datetime(2025, 8, 13, 14, 0, tzinfo=UTC))
        assert len(mock.asked) == 2

"""Money: no call without its worst case reserved, and no charge beyond the budget."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.llm.budgeted import Budget, Spend, charge_of, check_price, worst_case
from arena.llm.failure import AttemptFailed, AttemptTimedOut
from arena.llm.gateway import load_litellm
from arena.llm.registry import model_info
from arena.llm.types import BudgetStop, ChatReply, Message, ProviderError
from tests.llm.mock_provider import Asked, MockProvider, Say, refusal
from tests.llm.paid import KEY, request, row, run_of

UNPRICED = {"price_in_usd_per_mtok": None, "price_out_usd_per_mtok": None}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_API_KEY", KEY)


def test_worst_case_by_hand() -> None:
    # "You trade." 10 bytes, "up or down?" 11: 500 + 2 x 16 + 21 = 553 in; 50 out
    # 553 x 1 USD + 50 x 2 USD per million = 653e-6
    worst = worst_case(row("http://127.0.0.1:1"), request())
    assert worst == Spend(pytest.approx(653e-6), 603)
    # three bytes a character: nine more in
    assert worst_case(row("http://127.0.0.1:1"), request("up or down?涨或跌")).tokens == 612
    # nothing asked for: 1024 out; the model's own limit goes before
    assert worst_case(row("http://127.0.0.1:1"), request(params={})).tokens == 553 + 1024
    short = row("http://127.0.0.1:1", max_answer_tokens=20)
    assert worst_case(short, request()).tokens == 573


@pytest.fixture(scope="module")
def cl100k() -> Any:
    """A real byte-level vocabulary; litellm carries it, so that nothing is fetched."""
    load_litellm()
    from litellm.litellm_core_utils.default_encoding import encoding

    return encoding


@given(text=st.text() | st.text(alphabet="0123456789.,- \n%"))
def test_no_text_has_more_tokens_than_bytes(cl100k: Any, text: str) -> None:
    n_tokens = len(cl100k.encode(text, disallowed_special=()))
    assert n_tokens <= len(text.encode())
    assert len(text.encode()) <= worst_case(row("http://127.0.0.1:1"), request(text)).tokens - 50


def test_a_reservation_is_given_back_for_what_was_charged() -> None:
    budget = Budget(usd=1.0)
    budget.reserve(Spend(0.6, 100), "m")
    with pytest.raises(BudgetStop, match=r"may cost 0\.5000 USD; 0\.6000 of 1 USD"):
        budget.reserve(Spend(0.5, 100), "m")
    budget.settle(Spend(0.6, 100), Spend(0.1, 10), "m")
    assert (budget.spent_usd, budget.spent_tokens) == (0.1, 10)
    assert (budget.reserved_usd, budget.reserved_tokens) == (0, 0)
    assert budget.overruns == []


def test_after_one_refusal_everything_is_refused() -> None:
    budget = Budget(usd=1.0)
    with pytest.raises(BudgetStop):
        budget.reserve(Spend(1.1, 1), "dear")
    with pytest.raises(BudgetStop, match="`dear`"):
        budget.reserve(Spend(0.0001, 1), "cheap")


def test_caps_hold_to_the_cent_and_include_what_was_spent_before() -> None:
    Budget(usd=1.0).reserve(Spend(1.0, 5), "m")
    with pytest.raises(BudgetStop):
        Budget(usd=1.0, spent_usd=0.2).reserve(Spend(0.9, 5), "m")
    Budget(tokens=100, spent_tokens=40).reserve(Spend(0.0, 60), "m")
    with pytest.raises(BudgetStop, match=r"may take 61 tokens; 40 of 100.*--token-cap"):
        Budget(tokens=100, spent_tokens=40).reserve(Spend(0.0, 61), "m")
    Budget(usd=0.0).reserve(Spend(0.0, 10**9), "a model of one's own")


def test_more_than_the_worst_case_is_charged_and_noted() -> None:
    budget = Budget(usd=1.0)
    budget.reserve(Spend(0.1, 10), "m")
    budget.settle(Spend(0.1, 10), Spend(0.3, 30), "m")
    assert budget.spent_usd == 0.3
    assert budget.overruns == [
        "`m` reported 30 tokens, 0.300000 USD; its worst case was 10, 0.100000 USD"
    ]


@pytest.mark.parametrize(
    ("outcome", "charged"),
    [
        (ChatReply("x", "m", 10, 5, 0.2, 1.0), Spend(0.2, 15)),
        (ChatReply("x", "m", None, None, None, 1.0), Spend(0.9, 99)),
        (ChatReply("x", "m", 10, 5, None, 1.0), Spend(0.0, 15)),
        (AttemptFailed("500"), Spend(0.0, 0)),
        (AttemptFailed("cut", maybe_charged=True), Spend(0.9, 99)),
        (AttemptTimedOut("late", maybe_charged=True), Spend(0.9, 99)),
        (ConfigError("network off"), Spend(0.0, 0)),
        (asyncio.CancelledError(), Spend(0.9, 99)),
        (RuntimeError("bug"), Spend(0.9, 99)),
    ],
    ids=str,
)
def test_what_an_attempt_is_booked_with(outcome: Any, charged: Spend) -> None:
    assert charge_of(Spend(0.9, 99), outcome) == charged


def test_a_bill_without_bound_is_refused_before_the_first_call() -> None:
    with MockProvider() as mock:
        unpriced = row(mock.url, **UNPRICED)
        for budget in (Budget(usd=5.0), Budget(usd=5.0, allow_unpriced=True), Budget(tokens=9)):
            with pytest.raises(ConfigError, match=r"not known.*--allow-unpriced with --token-cap"):
                run_of(unpriced, budget=budget)
        with pytest.raises(ConfigError, match="--budget-usd"):
            run_of(row(mock.url), budget=Budget())
        assert mock.asked == []
    check_price(row(mock.url), Budget(tokens=9))
    check_price(row(mock.url, price_in_usd_per_mtok=0, price_out_usd_per_mtok=0), Budget())
    check_price(row(mock.url, **UNPRICED, retired=date(2026, 1, 1)), Budget())
    check_price(model_info("offline/trend"), Budget())


def test_an_unpriced_model_is_bounded_by_tokens_and_costs_an_unknown_sum() -> None:
    with MockProvider() as mock:
        # worst case 603 tokens, 120 used: after one call 880 are left for a cap of 1000, then 760,
        # then 640; the fourth leaves 520
        budget = Budget(tokens=1000, allow_unpriced=True)
        run = run_of(row(mock.url, **UNPRICED), budget=budget)
        replies = [asyncio.run(run.of("mock/m", f"d{i}").complete(request())) for i in range(4)]
        with pytest.raises(BudgetStop):
            asyncio.run(run.of("mock/m", "d4").complete(request()))
    assert [r.cost_usd for r in replies] == [None] * 4
    assert (len(mock.asked), budget.spent_tokens, budget.spent_usd) == (4, 480, 0)


def test_a_retry_that_no_longer_fits_stops_the_run() -> None:
    with MockProvider(Say(cut="midway")) as mock:
        # one worst case is 653e-6 USD, and the lost attempt keeps it
        run = run_of(row(mock.url), budget=Budget(usd=0.001))
        with pytest.raises(BudgetStop):
            asyncio.run(run.of("mock/m", "d1").complete(request()))
    assert len(mock.asked) == 1
    assert run.budget.spent_usd == pytest.approx(653e-6)


@settings(max_examples=10)
@given(
    price_in=st.floats(0.01, 50), price_out=st.floats(0.01, 200), share=st.floats(0.02, 1.2),
    sizes=st.lists(st.integers(1, 3000), min_size=17, max_size=40), data=st.data(),
)  # fmt: skip
def test_the_provider_never_charges_more_than_the_budget(
    price_in: float, price_out: float, share: float, sizes: list[int], data: st.DataObject
) -> None:
    """Random prices, prompts, answers and faults, 16 in flight; the mock's own bill is the judge."""
    random = data.draw(st.randoms(use_true_random=False))

    def script(asked: Asked, _n: int) -> Say:
        n_bytes = sum(len(m["content"].encode()) for m in asked.body["messages"])
        usage = random.randint(1, n_bytes), random.randint(0, asked.body["max_tokens"])
        fault = random.random()
        if fault < 0.1:
            return refusal(random.choice([429, 500, 503]))
        if fault < 0.2:
            return Say(usage=usage, cut=random.choice(["before", "midway"]))
        return Say(usage=usage, delay_s=random.choice([0, 0, 0.005]))

    with MockProvider(script) as mock:
        info = row(mock.url, price_in_usd_per_mtok=price_in, price_out_usd_per_mtok=price_out)
        whole = sum(worst_case(info, request("x" * n)).usd for n in sizes)
        run = run_of(info, budget=Budget(usd=whole * share))

        async def all_at_once() -> list[Any]:
            asks = [
                run.of("mock/m", f"d{i}").complete(request("x" * n)) for i, n in enumerate(sizes)
            ]
            return await asyncio.gather(*asks, return_exceptions=True)

        outcomes = asyncio.run(all_at_once())
        charged = sum(i * price_in + o * price_out for i, o in mock.bill) / 1e6
    budget = run.budget
    assert charged <= budget.spent_usd + 1e-12
    assert budget.spent_usd <= budget.usd + 1e-12
    assert budget.reserved_usd == pytest.approx(0, abs=1e-12)
    assert budget.overruns == []
    assert all(isinstance(x, ChatReply | BudgetStop | ProviderError) for x in outcomes)
    assert any(isinstance(x, BudgetStop) for x in outcomes) == bool(budget.stopped)
    assert mock.most_in_flight <= 16


def test_messages_of_every_role_count() -> None:
    one = request()
    more = request()
    object.__setattr__(more, "messages", (*one.messages, Message("assistant", "abc")))
    info = row("http://127.0.0.1:1")
    assert worst_case(info, more).tokens - worst_case(info, one).tokens == 16 + 3

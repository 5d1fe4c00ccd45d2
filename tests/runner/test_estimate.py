"""Before the button: decisions, calls, tokens, money and time, worked out by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from arena.core.season import OPEN_END, RunSpec, Season
from arena.core.types import Asset
from arena.runner.estimate import CALLS, DECISION_S, TOKENS_IN, TOKENS_OUT, estimate
from tests.agents.test_call_counts import COUNTS

ASSETS = {
    "COIN": Asset("COIN", "Coin", "crypto", True, {}),
    "SHARE": Asset("SHARE", "Share", "stock", True, {}),
}


def spec(**fields: Any) -> RunSpec:
    """Monday 4 to Sunday 10 August 2025: seven days of a coin, five sessions of a share."""
    base: dict[str, Any] = {
        "kind": "replay", "season": Season(), "source": "sample", "assets": ("COIN",), "agents": ("vanilla",),
        "models": ("offline/trend",), "start": date(2025, 8, 4), "end": date(2025, 8, 10), "warmup": 0,
    }  # fmt: skip
    return RunSpec(**{**base, **fields})


def test_call_counts_are_those_of_the_agents_own_tests() -> None:
    assert set(CALLS) == set(COUNTS)
    for agent, (company, _, coin, share_bare, coin_bare) in COUNTS.items():
        mine = CALLS[agent]
        assert (mine.stock, mine.crypto, mine.stock_bare, mine.crypto_bare) == (
            company, coin, share_bare, coin_bare,
        )  # fmt: skip


def test_rules_cost_no_token_and_no_money() -> None:
    found = estimate(spec(assets=("COIN", "SHARE"), models=("offline/trend", "offline/news")), ASSETS, epochs=2)
    # (7 + 5 slots) x 1 agent x 2 models x 2 epochs
    assert (found.n_decisions, found.n_calls) == (48, 48)
    assert (found.tokens_in, found.tokens_out, found.usd) == (0, 0, 0.0)
    assert found.seconds < 48 * 2 * DECISION_S


def test_money_is_tokens_at_the_rosters_price() -> None:
    found = estimate(spec(assets=("COIN", "SHARE"), models=("gpt-4.1",)), ASSETS, epochs=3)
    # 12 decisions x 3 epochs, a call each: 36 x 1,800 = 64,800 in, 36 x 240 = 8,640 out;
    # 64,800 x 2 + 8,640 x 8 = 198,720 millionths of a dollar.
    assert (found.n_calls, found.tokens_in, found.tokens_out) == (36, 64_800, 8_640)
    assert found.usd == pytest.approx(0.19872)


def test_an_unknown_price_stays_unknown_and_the_known_part_is_said() -> None:
    found = estimate(spec(models=("gpt-4.1", "openai/something-new")), ASSETS)
    # gpt-4.1: 7 x (1,800 x 2 + 240 x 8) = 7 x 5,520 = 38,640 millionths.
    assert found.usd is None
    assert found.unpriced == ("openai/something-new",)
    assert found.known_usd == pytest.approx(0.03864)


def test_a_committee_learns_and_warms_up() -> None:
    found = estimate(spec(agents=("trade",), models=("gpt-4.1",), warmup=10, brief="digest"), ASSETS)
    # A coin with news: 11 calls and a lesson a decision, one lesson a session of warm-up.
    assert (found.n_decisions, found.n_warmup) == (7, 10)
    assert found.n_calls == 7 * 12 + 10
    bare = estimate(spec(agents=("trade",), models=("gpt-4.1",)), ASSETS)
    assert bare.n_calls == 7 * 11


def test_whoever_writes_the_briefs_is_paid_once_a_slot() -> None:
    found = estimate(spec(brief="gpt-4.1"), ASSETS)
    assert found.tokens_in == 7 * TOKENS_IN
    assert found.tokens_out == 7 * TOKENS_OUT


def test_what_was_measured_takes_the_place_of_the_rule_of_thumb() -> None:
    past = {"vanilla": {"n": 50.0, "calls": 1.5, "tokens_in": 1_000.0, "tokens_out": 100.0}}
    found = estimate(spec(models=("gpt-4.1",)), ASSETS, measured=past)
    # 7 x 1.5 = 10.5 calls of 1,000 and 100 tokens: 10.5 x (2,000 + 800) millionths.
    assert (found.tokens_in, found.tokens_out) == (10_500, 1_050)
    assert found.usd == pytest.approx(0.0294)
    assert found.measured == ("vanilla",)


def test_a_season_is_told_of_so_many_days() -> None:
    found = estimate(
        spec(kind="live", end=OPEN_END, assets=("COIN", "SHARE")), ASSETS, days=30
    )
    # 4 August to 2 September 2025: 30 days of a coin; 22 weekdays less Labor Day, 1 September = 21.
    assert found.n_decisions == 30 + 21


def test_wrapped_agents_ask_like_what_they_wrap() -> None:
    plain, wrapped = (estimate(spec(agents=(a,)), ASSETS) for a in ("trade", "masked+trade"))
    assert plain.n_calls == wrapped.n_calls

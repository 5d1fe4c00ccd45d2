"""The desk: repairs, failures, trace; and what the plain agent's prompt says."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.agents.desk import Desk
from arena.agents.prompt import Sheet, plain, rounded_price, show
from arena.agents.registry import get_agent, known_agents
from arena.agents.trace import storable
from arena.core.actions import Intent, Status
from arena.core.errors import ArenaError, UnknownNameError
from arena.core.season import Generation, Season
from arena.core.types import ActionSpec, Asset, Bar, Decision, MarketContext, Past, TrackView
from arena.llm.registry import get_model, known_models
from arena.llm.scripted import Scripted
from arena.llm.types import ChatModel, ProviderError, ProviderTimeout

GOOD = '{"action": "SELL", "confidence": 0.7, "reason": "down"}'
BAD = '{"action": "WAIT", "confidence": 0.7, "reason": "x"}'
FLAT = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())


def market(closes: list[float] | None = None, asset: Asset | None = None) -> MarketContext:
    closes = closes or [100.0 + (i * 7) % 13 for i in range(260)]
    start = datetime(2024, 11, 15, tzinfo=UTC)
    days = [start + timedelta(days=i) for i in range(len(closes))]
    bars = tuple(
        Bar(d.date(), c, c, c, c, 1.0, d + timedelta(days=1))
        for d, c in zip(days, closes, strict=True)
    )
    asset = asset or Asset("BTC", "Bitcoin", "crypto")
    return MarketContext(asset, bars[-1].session, bars[-1].known_at_utc, bars)


def decide(
    model: ChatModel, view: TrackView = FLAT, season: Season | None = None, *,
    context: MarketContext | None = None, seed: int = 0, deadline_s: float = 5.0,
) -> Decision:  # fmt: skip
    desk = Desk(context or market(), view, model, season or Season(), seed, deadline_s=deadline_s)
    return asyncio.run(get_agent("vanilla").decide(desk))


def test_good_answer_is_taken_as_given() -> None:
    decision = decide(Scripted([GOOD]))
    assert (decision.intent, decision.status) == (Intent.SHORT, Status.OK)
    assert (decision.conviction, decision.reason) == (0.7, "down")
    (call,) = decision.calls
    assert (call.seq, call.kind, call.role, call.attempt) == (0, "model", "trader", 1)
    assert (call.status, call.answer, call.error) == ("ok", GOOD, None)
    assert call.parsed == json.loads(GOOD)
    assert call.cost_usd is None, "a script's cost is unknown, not free"


def test_two_repairs_with_the_validators_words() -> None:
    model = Scripted(["I would not buy", BAD, GOOD])
    decision = decide(model)
    assert (decision.intent, decision.status) == (Intent.SHORT, Status.REPAIRED)
    assert [c.status for c in decision.calls] == ["invalid_output", "invalid_output", "ok"]
    assert [c.attempt for c in decision.calls] == [1, 2, 3]
    assert [c.answer for c in decision.calls] == ["I would not buy", BAD, GOOD]
    assert [len(r.messages) for r in model.history] == [2, 4, 6]
    last = [m.content for m in model.history[-1].messages]
    assert last[2] == "I would not buy"
    assert "no JSON object" in last[3]
    assert "`action`: Input should be" in last[5]
    assert '(got "WAIT")' in last[5]
    assert all(m in decision.calls[-1].prompt for m in last)


def test_three_bad_answers_are_a_failure_that_acts_as_hold() -> None:
    decision = decide(Scripted([BAD, BAD, BAD, GOOD]))
    assert (decision.intent, decision.status) == (Intent.HOLD, Status.INVALID_OUTPUT)
    assert len(decision.calls) == 3
    assert decision.conviction is None
    assert "`action`" in decision.reason
    assert "invalid_output, call 3" in decision.reason


def test_tries_come_from_the_season() -> None:
    season = Season(generation=Generation(tries=1))
    assert len(decide(Scripted([BAD, GOOD]), season=season).calls) == 1


@pytest.mark.parametrize(
    ("answers", "status", "n_calls"),
    [
        ([ProviderError("refused")], Status.PROVIDER_ERROR, 1),
        ([ProviderTimeout("too slow")], Status.TIMEOUT, 1),
        ([BAD, ProviderError("refused")], Status.PROVIDER_ERROR, 2),
        ([], Status.PROVIDER_ERROR, 1),
    ],
)
def test_provider_failures_are_traced(
    answers: list[str | Exception], status: Status, n_calls: int
) -> None:
    decision = decide(Scripted(answers, id="scripted/down"))
    assert (decision.intent, decision.status) == (Intent.HOLD, status)
    assert len(decision.calls) == n_calls
    last = decision.calls[-1]
    assert (last.status, last.model, last.answer) == (status.value, "scripted/down", "")
    assert last.error in decision.reason
    assert (last.tokens_in, last.cost_usd) == (None, None)


def test_deadline_covers_all_answers_of_a_role() -> None:
    # two answers of 0.1 s do not fit into 0.15 s
    decision = decide(Scripted([BAD, GOOD], delay_s=0.1), deadline_s=0.15)
    assert decision.status is Status.TIMEOUT
    assert [c.status for c in decision.calls] == ["invalid_output", "timeout"]
    assert "no answer within 0.15 s" in decision.reason


def test_bug_in_a_model_is_not_taken_for_its_opinion() -> None:
    with pytest.raises(ZeroDivisionError):
        decide(Scripted([ZeroDivisionError("bug")]))


def test_huge_and_broken_texts_can_be_stored() -> None:
    decision = decide(Scripted(["x" * 1_000_000, "\ud800", GOOD]))
    assert decision.status is Status.REPAIRED
    assert len(decision.calls[0].answer) < 70_000
    assert decision.calls[0].answer.endswith("[cut here: 1000000 characters in all]")
    for call in decision.calls:
        (call.prompt + call.answer).encode("utf-8")
    assert storable("plain") == "plain"


def test_generation_settings_and_seed_reach_the_model() -> None:
    model = Scripted([GOOD])
    decision = decide(model, seed=41)
    assert dict(model.history[0].params) == {"temperature": 0.5, "top_p": 1.0, "max_tokens": 1024}
    assert model.history[0].seed == 41
    assert decision.calls[0].params["seed"] == 41


def test_changing_the_model_changes_the_recorded_model() -> None:
    for model_id in (i for i, info in known_models().items() if info.kind == "stand_in"):
        assert {c.model for c in decide(get_model(model_id)).calls} == {model_id}


def test_the_models_word_decides() -> None:
    words = {"BUY": Intent.LONG, "SELL": Intent.SHORT, "HOLD": Intent.HOLD}
    for word, intent in words.items():
        answer = json.dumps({"action": word, "confidence": 0.5, "reason": "x"})
        assert decide(Scripted([answer])).intent is intent


PAST = (
    Past(date(2025, 7, 30), "BUY", 101.0, 0.0123),
    Past(date(2025, 7, 31), "HOLD", 102.2423, None),
)
LONG = TrackView(1, 101_234.56, 0.9995, 98.765, PAST, ActionSpec())


@pytest.mark.parametrize("view", [FLAT, LONG])
@pytest.mark.parametrize("n_bars", [3, 260])
def test_facts_are_exactly_what_the_prompt_says(view: TrackView, n_bars: int) -> None:
    model = Scripted([GOOD])
    decide(model, view, context=market([100.0 + (i * 7) % 13 for i in range(n_bars)]))
    request = model.history[0]
    user = request.messages[1].content
    for spelt in plain(request.facts):
        assert spelt in user
    assert len(request.facts["closes"]) == min(10, n_bars)
    assert ("unknown" in user) == (n_bars == 3 or view is LONG)


@pytest.mark.parametrize(("side", "word"), [(1, "long"), (-1, "short"), (0, "flat")])
def test_prompt_position_is_the_views_position(side: int, word: str) -> None:
    model = Scripted([GOOD])
    entry = 100.0 if side else None
    decide(model, TrackView(side, 5.0, float(side), entry, (), ActionSpec()))
    assert f"Position now: {word}\n" in model.history[0].messages[1].content
    assert ("Entered at" in model.history[0].messages[1].content) == bool(side)


def test_past_is_told_with_its_outcomes_and_an_empty_one_not_at_all() -> None:
    model = Scripted([GOOD, GOOD])
    decide(model, LONG)
    decide(model, FLAT)
    told, silent = (r.messages[1].content for r in model.history)
    assert "2025-07-30 | BUY | 101 | 1.23" in told
    # 102.2423 in six significant digits
    assert "2025-07-31 | HOLD | 102.242 | unknown" in told
    whole = " ".join(m.content for m in model.history[1].messages).lower()
    assert "latest decisions" not in silent
    assert "past" not in model.history[1].facts
    assert not {"lesson", "memory"} & set(whole.replace(".", " ").split())


@pytest.mark.parametrize(
    "spec", [ActionSpec(h, s) for h in ("flat", "keep") for s in (True, False)]
)
def test_glossary_of_the_season_is_told(spec: ActionSpec) -> None:
    model = Scripted([GOOD])
    decide(model, TrackView(0, 1.0, 0.0, None, (), spec))
    system = model.history[0].messages[0].content
    assert spec.glossary() in system
    assert '"action": "BUY" or "HOLD" or "SELL"' in system


def test_spelling_of_numbers() -> None:
    assert [show(v) for v in (None, 0.0, 1e-7, 100_000.0, -1.5, 3, "x")] == [
        "unknown", "0", "0.0000001", "100000", "-1.5", "3", "x",
    ]  # fmt: skip
    # six significant digits where that is finer than a cent
    assert rounded_price(107_146.514) == 107_146.51
    assert rounded_price(0.000012345678) == 0.0000123457


def test_a_fact_has_one_value() -> None:
    sheet = Sheet()
    sheet.values("A", [("x", "X", 1, "")])
    with pytest.raises(ValueError, match="`x`"):
        sheet.values("B", [("x", "X", 2, "")])


def test_agents_by_id_and_label() -> None:
    assert {"vanilla", "investor", "trade", "hedge", "deepfund"} <= set(known_agents())
    assert get_agent("Vanilla") is get_agent("vanilla")
    assert get_agent("vanilla").learns is False
    with pytest.raises(UnknownNameError, match="Did you mean `vanilla`"):
        get_agent("vanila")
    assert issubclass(UnknownNameError, ArenaError)


@pytest.mark.parametrize("symbol", ["TSLA", "BMRN", "BTC", "ETH"])
@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
def test_stand_ins_use_all_three_words_on_real_prices(
    shared_market: Path, symbol: str, model_id: str
) -> None:
    frame = pd.read_csv(shared_market / "csv" / f"{symbol}_daily.csv")
    kind = "crypto" if symbol in ("BTC", "ETH") else "stock"
    bars = [
        Bar(
            date.fromisoformat(r.date), r.open, r.high, r.low, r.close, r.volume,
            datetime.fromisoformat(r.date).replace(tzinfo=UTC) + timedelta(days=1),
        )
        for r in frame.itertuples()
    ]  # fmt: skip
    words: Counter[Intent] = Counter()
    asset = Asset(symbol, symbol, kind)
    for i, bar in enumerate(bars):
        if date(2025, 8, 1) <= bar.session <= date(2025, 9, 30):
            seen = tuple(bars[i - 259 : i + 1])
            context = MarketContext(asset, bar.session, bar.known_at_utc, seen)
            decision = decide(get_model(model_id), context=context)
            assert decision.status is Status.OK
            words[decision.intent] += 1
    assert set(words) == {Intent.LONG, Intent.SHORT, Intent.HOLD}
    assert sum(words.values()) == (61 if kind == "crypto" else 42)

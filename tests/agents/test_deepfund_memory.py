"""DeepFundAgent's memory of its orders, its planner, and its days on real prices."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as hs

from arena.agents.deepfund.agent import DeepFund
from arena.agents.deepfund.exposure import tradable
from arena.agents.desk import Desk
from arena.agents.memory.decision_log import DecisionLog, Entry, Plan
from arena.agents.prompt import plain
from arena.agents.registry import get_agent
from arena.core.actions import ActionSpec, Intent, Status, target_side
from arena.core.errors import ConfigError, InvariantError
from arena.core.season import Season
from arena.core.types import Asset, Bar, MarketContext, Past
from arena.llm.registry import get_model
from arena.llm.scripted import Scripted
from tests.agents.test_deepfund import (
    Fund,
    day,
    decide,
    market,
    ratios,
    view,
)


def test_log_keeps_seven_and_one_a_session() -> None:
    log = DecisionLog()
    gone = [log.add(Entry(day(n), "Hold", 0.0, 100.0 + n)) for n in range(9)]
    assert gone == [[]] * 7 + [[day(0)], [day(1)]]
    log.add(Entry(day(8), "Buy", 1.0, 1.0))
    assert [e.session for e in log.entries] == [day(n) for n in range(2, 9)]
    assert log.entries[-1].action == "Buy"


@given(
    hs.lists(hs.tuples(ratios, hs.none() | ratios, hs.booleans(), hs.none() | ratios), max_size=10),
    hs.none() | hs.just(Plan(day(3), ("technical", "policy"))),
)
def test_log_comes_back_from_its_dump(rows: list[Any], plan: Plan | None) -> None:
    log = DecisionLog(plan=plan)
    for n, (exposure, target, was_given, outcome) in enumerate(rows):
        log.add(Entry(day(n), "Buy", exposure, 100.0, target, was_given))
        if outcome is not None:
            log.resolve(day(n), outcome)
    text = json.dumps(log.dump())
    again = get_agent("deepfund").memory(json.loads(text))
    assert again == log
    assert json.dumps(again.dump()) == text


def test_dump_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="`lesson_log`"):
        DecisionLog.load({"kind": "lesson_log", "version": 1})


def test_outcome_reaches_the_log_and_the_next_prompt() -> None:
    agent, log = DeepFund(), DecisionLog()
    first = market()
    decide(Fund(technical=1), context=first, memory=log)
    model = Fund()
    then = market(later_days=1)
    past = (Past(first.session, "BUY", first.price, -0.0123),)
    desk = Desk(then, replace(view(1.0), past=past), model, Season(), memory=log)
    asyncio.run(agent.learn(desk, past[0]))
    decision = asyncio.run(agent.decide(desk))
    at = f"{first.session} | Buy | 1 | {first.price:g} | 1 | -1.23 | -1.23"
    assert at in model.user("manager")
    assert "past" not in model.facts("manager"), "the same decision is not told twice"
    steps = [(c.role, c.parsed) for c in decision.calls if c.kind == "memory"]
    assert [name for name, _ in steps] == ["reward", "recall", "add"]
    assert steps[0][1] == {
        "session": first.session.isoformat(), "next_return_frac": -0.0123,
        "result_frac": pytest.approx(-0.0123),
    }  # fmt: skip
    assert model.roles == ["technical", "risk_control", "manager"], "learning asks nobody"


def test_empty_memory_is_not_spoken_of() -> None:
    model = Fund()
    decide(model, memory=DecisionLog())
    told = model.user("manager").lower()
    assert "orders" not in model.facts("manager")
    assert not any(
        word in told for word in ("memory", "latest orders", "latest decisions", "given")
    )


@pytest.mark.parametrize(
    ("move", "intent", "exposure", "long_only"),
    [(0.02, Intent.LONG, 1.0, 1.0), (-0.02, Intent.SHORT, -1.0, 0.0), (0.0, Intent.HOLD, 0.0, 0.0)],
)
def test_study_logs_the_sign_of_the_move_without_a_call(
    move: float, intent: Intent, exposure: float, long_only: float
) -> None:
    context = market()
    for shorting, expected in ((True, exposure), (False, long_only)):
        model, log = Scripted([]), DecisionLog()
        desk = Desk(context, view(0.0, ActionSpec(shorting=shorting)), model, Season(), memory=log)
        outcome = Past(context.session, "", context.price, move)
        decision = asyncio.run(DeepFund().study(desk, outcome))
        assert (decision.intent, decision.status) == (intent, Status.OK)
        assert model.history == []
        (entry,) = log.entries
        assert (entry.exposure_after_frac, entry.given, entry.session) == (
            expected, True, context.session,
        )  # fmt: skip
        assert entry.next_return_frac is None, "known to the log when it is known to all"


# --- planner


def test_planner_is_asked_once_a_week_and_only_its_analysts_work() -> None:
    log = DecisionLog()
    asked = []
    for n in range(9):
        model = Fund(planner=["policy"])
        decide(
            model, context=market(feeds=True, later_days=n), memory=log, agent="deepfund-planner"
        )
        asked.append(model.roles[0] == "planner")
        assert model.roles[-4:] == ["technical", "policy", "risk_control", "manager"]
    assert asked == [n in (0, 7) for n in range(9)]


def test_planner_may_only_name_those_with_material() -> None:
    model = Fund(planner=["insider"])  # a coin has none
    decision = decide(model, context=market(feeds=True), agent="deepfund-planner")
    assert model.roles.count("planner") == 3
    assert "`insider` is no id" in model.asked[1].messages[-1].content
    assert decision.failed_roles == ("planner",)
    assert decision.status is Status.OK
    # without a plan everybody works
    assert len(set(model.roles)) == 1 + 4 + 2


def test_planner_that_fails_is_asked_again_the_next_day() -> None:
    log = DecisionLog()
    decide(Fund(["planner"]), memory=log, agent="deepfund-planner")
    model = Fund(planner=[])
    decide(model, context=market(later_days=1), memory=log, agent="deepfund-planner")
    assert model.roles == ["planner", "technical", "risk_control", "manager"]
    assert log.plan == Plan(market(later_days=1).session, ("technical",))


# --- real prices


@pytest.mark.parametrize("symbol", ["TSLA", "BMRN", "BTC", "ETH"])
@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
def test_stand_ins_are_invested_on_some_days_of_real_prices(
    shared_market: Path, symbol: str, model_id: str
) -> None:
    frame = pd.read_csv(shared_market / "csv" / f"{symbol}_daily.csv")
    bars = [
        Bar(
            date.fromisoformat(r.date), r.open, r.high, r.low, r.close, r.volume,
            datetime.fromisoformat(r.date).replace(tzinfo=UTC) + timedelta(days=1),
        )
        for r in frame.itertuples()
    ]  # fmt: skip
    asset = Asset(symbol, symbol, "crypto" if symbol in ("BTC", "ETH") else "stock")
    log, sides, spec = DecisionLog(), [0], ActionSpec()
    for i, bar in enumerate(bars):
        if date(2025, 8, 1) <= bar.session <= date(2025, 9, 30):
            context = MarketContext(
                asset, bar.session, bar.known_at_utc, tuple(bars[i - 259 : i + 1])
            )
            decision = decide(get_model(model_id), view(float(sides[-1])), context, log)
            assert decision.status is Status.OK
            sides.append(target_side(decision.intent, sides[-1], spec))
    invested = np.mean(np.abs(sides[1:]))
    assert 0.05 < invested < 0.95
    assert len(set(sides)) > 1  # it changes its mind


def test_nothing_is_printed_as_minus_zero() -> None:
    trade = tradable(target=-0.0, exposure=-0.001, equity=100_000.0, price=10.0, leans=[])
    assert plain(trade)[:3] == ["0", "0", "0"]


def test_study_without_the_move_is_an_error_and_no_hold() -> None:
    context = market()
    desk = Desk(context, view(0.0), Scripted([]), Season(), memory=DecisionLog())
    with pytest.raises(InvariantError, match="not known yet"):
        asyncio.run(DeepFund().study(desk, Past(context.session, "", context.price, None)))

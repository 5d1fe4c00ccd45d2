"""DeepFund: who is asked, whose word counts, what code bounds, and what the log remembers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs

from arena.agents.deepfund.exposure import exposure_after, intent_of, stepped, tradable
from arena.agents.deepfund.roles import Order
from arena.agents.deepfund.signals import code_signals
from arena.agents.desk import Desk
from arena.agents.memory.decision_log import DecisionLog, Entry
from arena.agents.prompt import plain
from arena.agents.registry import get_agent
from arena.core.actions import ActionSpec, Intent, Status
from arena.core.season import Season
from arena.core.types import Asset, Bar, Decision, MarketContext, TrackView
from arena.llm.types import ChatReply, ChatRequest, ProviderError

COIN, STOCK = Asset("BTC", "Bitcoin", "crypto"), Asset("TSLA", "Tesla", "stock")
STORY_ANALYSTS = {"company_news": None, "macroeconomic": "macro", "policy": "policy"}
ANALYSTS = ("technical", "company_news", "fundamental", "insider", "macroeconomic", "policy")
WORDS = {-1: "Bearish", 0: "Neutral", 1: "Bullish"}


def bars_of(
    closes: Sequence[float], volumes: Sequence[float | None] | None = None
) -> tuple[Bar, ...]:
    days = [datetime(2024, 11, 15, tzinfo=UTC) + timedelta(days=i) for i in range(len(closes))]
    volumes = volumes or [1.0] * len(closes)
    return tuple(
        Bar(d.date(), c, c, c, c, v, d + timedelta(days=1))
        for d, c, v in zip(days, closes, volumes, strict=True)
    )


def story(n: int, as_of: datetime, category: str | None) -> dict[str, Any]:
    kind = {} if category is None else {"category": category}
    return {
        "id": f"S{n}",
        "title": f"Story {n}",
        "known_at_utc": as_of - timedelta(hours=n),
        **kind,
    }


def market(
    asset: Asset = COIN, *, feeds: bool = False, n_bars: int = 260, later_days: int = 0
) -> MarketContext:
    bars = bars_of([100.0 + (i * 7) % 13 for i in range(n_bars + later_days)])
    as_of = bars[-1].known_at_utc
    stories = tuple(story(n, as_of, c) for n, c in enumerate(STORY_ANALYSTS.values(), 1))
    filed = tuple(
        {"id": f"F{n}", "field": f, "period": "2025-Q2", "value": 10.5 * n, "known_at_utc": as_of}
        for n, f in enumerate(("revenue", "insider_bought_shares", "insider_sold_shares"), 1)
    )
    return MarketContext(
        asset, bars[-1].session, as_of, bars[-260:],
        stories if feeds else (), None, filed if feeds and asset is STOCK else (),
    )  # fmt: skip


def view(exposure: float = 0.0, spec: ActionSpec | None = None) -> TrackView:
    side = int(np.sign(exposure))
    return TrackView(side, 1000.0, exposure, 100.0 if side else None, (), spec or ActionSpec())


class Fund:
    """A model that answers by role: analysts as told, the others following what they read.

    Risk control takes the mean of the signals, the manager trades to the target. `says` replaces the
    leading field of a role's answer; a role in `failing` never answers.
    """

    id, kind = "scripted/fund", "scripted"

    def __init__(self, failing: Sequence[str] = (), **says: Any) -> None:
        self.failing, self.says = failing, says
        self.asked: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.asked.append(req)
        if req.role in self.failing:
            raise ProviderError("refused")
        return ChatReply(json.dumps(self.answer(req)), self.id, 1, 1, 0.0, 0.0)

    def answer(self, req: ChatRequest) -> Mapping[str, Any]:
        said, common = self.says.get(req.role), {"confidence": 0.5, "reason": f"{req.role} says so"}
        match req.role:
            case "planner":
                return {"analysts": said, "reason": "enough"}
            case "risk_control":
                mean = float(np.mean([row[1] for row in req.facts["voices"]]))
                return {"target_ratio": mean if said is None else said, **common}
            case "manager":
                change = req.facts["change"]
                own = "Hold" if abs(change) < 0.15 else "Buy" if change > 0 else "Sell"
                return {"action": said or own, **common}
        cites = {"cites": req.facts["evidence_ids"][:1]} if "evidence_ids" in req.facts else {}
        return {"signal": WORDS[said or 0], **common, **cites}

    @property
    def roles(self) -> list[str]:
        return [r.role for r in self.asked]

    def user(self, role: str) -> str:
        return next(r.messages[1].content for r in self.asked if r.role == role)

    def facts(self, role: str) -> Mapping[str, Any]:
        return next(r.facts for r in self.asked if r.role == role)


def decide(
    model: Any, at: TrackView | None = None, context: MarketContext | None = None,
    memory: DecisionLog | None = None, agent: str = "deepfund",
) -> Decision:  # fmt: skip
    desk = Desk(context or market(), at or view(), model, Season(), memory=memory)
    return asyncio.run(get_agent(agent).decide(desk))


# --- who is asked


@pytest.mark.parametrize(
    ("asset", "feeds", "analysts"),
    [
        (STOCK, True, ANALYSTS),
        (COIN, True, ("technical", "company_news", "macroeconomic", "policy")),
        (STOCK, False, ("technical",)),
    ],
)
def test_analysts_are_those_with_material(
    asset: Asset, feeds: bool, analysts: tuple[str, ...]
) -> None:
    model = Fund()
    decision = decide(model, context=market(asset, feeds=feeds))
    # 6 + 2 = 8 calls on a stock with all feeds, 4 + 2 = 6 on a coin, 1 + 2 = 3 on prices alone
    assert model.roles == [*analysts, "risk_control", "manager"]
    assert decision.status is Status.OK
    assert [row[0] for row in model.facts("manager")["voices"]] == list(analysts)


def test_each_analyst_sees_its_own_material_alone() -> None:
    model = Fund()
    decision = decide(model, context=market(STOCK, feeds=True))
    sees = {
        "company_news": {"S1"}, "macroeconomic": {"S2"}, "policy": {"S3"},
        "fundamental": {"F1"}, "insider": {"F2", "F3"}, "technical": set(),
    }  # fmt: skip
    for role, ids in sees.items():
        words = set(model.user(role).replace("|", " ").split())
        assert words & {"S1", "S2", "S3", "F1", "F2", "F3"} == ids
        assert ("Latest closes" in model.user(role)) == (role == "technical")
    # each of the five cites the first id it was offered; insiders are told newest and last id first
    assert decision.evidence == ("S1", "F1", "F3", "S2", "S3")


def test_facts_are_exactly_what_the_prompts_say() -> None:
    model, memory = Fund(technical=1, planner=list(ANALYSTS)), DecisionLog()
    memory.add(Entry(date(2025, 7, 30), "Buy", 1.0, 101.0, given=True, next_return_frac=0.01))
    decide(model, view(-1.0), market(STOCK, feeds=True), memory, "deepfund-planner")
    assert len(model.asked) == 9
    for request in model.asked:
        for spelt in plain(request.facts):
            assert spelt in request.messages[1].content


def test_newest_ten_stories_and_three_periods_are_told() -> None:
    base = market(STOCK)
    as_of = base.as_of_utc
    stories = tuple(story(n, as_of, None) for n in range(12, 0, -1))
    filed = tuple(
        {"id": f"F{q}", "field": "revenue", "period": f"2024-Q{q}", "value": q,
         "known_at_utc": as_of - timedelta(days=90 * (5 - q))}
        for q in (2, 4, 1, 3)
    )  # fmt: skip
    context = MarketContext(STOCK, base.session, as_of, base.bars, stories, None, filed)
    model = Fund()
    decide(model, context=context)
    assert [r[0] for r in model.facts("company_news")["stories"]] == [f"S{n}" for n in range(1, 11)]
    assert [r[0] for r in model.facts("fundamental")["filings"]] == ["F4", "F3", "F2"]


def test_a_filing_that_restates_earlier_periods_does_not_push_newer_ones_out() -> None:
    base = market(STOCK)
    as_of = base.as_of_utc
    # The report on 2025Q2 states 2024Q2 again, and the annual one two earlier years.
    known = {"TTM": 1, "2025Q2": 1, "2024Q2": 1, "2025Q1": 90, "FY2024": 150, "FY2023": 150, "FY2022": 150}
    filed = tuple(
        {"id": p, "field": field, "period": p, "value": 1.0, "known_at_utc": as_of - timedelta(days=n)}
        for field in ("revenue", "insider_bought_shares") for p, n in known.items()
    )  # fmt: skip
    context = MarketContext(STOCK, base.session, as_of, base.bars, (), None, filed)
    model = Fund()
    decide(model, context=context)
    told = [r[0] for r in model.facts("fundamental")["filings"]]
    assert told == ["TTM", "2025Q2", "2025Q1"]
    insiders = [r[0] for r in model.facts("insider")["filings"]]
    assert insiders == ["TTM", "2025Q2", "2025Q1", "FY2024", "2024Q2", "FY2023", "FY2022"]


# --- whose word counts


@pytest.mark.parametrize("role", ANALYSTS)
def test_every_analysts_word_can_change_the_action(role: str) -> None:
    context = market(STOCK, feeds=True)
    other = [a for a in ANALYSTS if a != role]
    for word, intent in ((1, Intent.LONG), (-1, Intent.SHORT)):
        # one of six: 1 / 6, stepped .15: traded, but too small for a position
        alone = decide(Fund(**{role: word}), context=context)
        assert alone.intent is Intent.FLAT
        # two of six: 1 / 3, stepped .35
        with_one = decide(Fund(**{role: word, other[0]: word}), context=context)
        assert with_one.intent is intent
    without = decide(Fund([role], **{role: 1, other[0]: 1}), context=context)
    # 1 of the 5 that are left: .2
    assert (without.intent, without.failed_roles) == (Intent.FLAT, (role,))


@pytest.mark.parametrize(
    ("target", "intent"),
    [(1.0, Intent.LONG), (0.25, Intent.LONG), (0.2, Intent.FLAT), (0.1, Intent.KEEP), (0.0, Intent.KEEP),
     (-0.2, Intent.FLAT), (-0.25, Intent.SHORT), (-1.0, Intent.SHORT)],
)  # fmt: skip
def test_risk_controls_target_decides(target: float, intent: Intent) -> None:
    # the manager of the script trades from .15 on
    assert decide(Fund(technical=1, risk_control=target)).intent is intent


@pytest.mark.parametrize(
    ("word", "exposure", "intent"),
    [("Buy", 0.0, Intent.LONG), ("Sell", 0.0, Intent.SHORT), ("Hold", 0.0, Intent.KEEP),
     ("Buy", 1.0, Intent.LONG), ("Sell", 1.0, Intent.FLAT), ("Hold", 1.0, Intent.KEEP),
     ("Buy", -1.0, Intent.FLAT), ("Sell", -1.0, Intent.SHORT), ("Hold", -1.0, Intent.KEEP)],
)  # fmt: skip
def test_managers_word_decides_even_where_all_others_are_neutral(
    word: str, exposure: float, intent: Intent
) -> None:
    decision = decide(Fund(manager=word), view(exposure))
    assert (decision.intent, decision.conviction) == (intent, 0.5)
    assert decision.reason == "manager says so"


def test_leaving_out_risk_control_changes_the_decision() -> None:
    whole, without = Fund(technical=1), Fund(["risk_control"], technical=1)
    assert decide(whole).intent is Intent.LONG
    decision = decide(without)
    assert (decision.intent, decision.failed_roles) == (Intent.KEEP, ("risk_control",))
    assert decision.status is Status.OK


@pytest.mark.parametrize("exposure", [-1.0, 0.0, 0.63])
def test_failed_risk_control_keeps_the_exposure_and_is_no_opinion(exposure: float) -> None:
    model, log = Fund(["risk_control"], technical=-1), DecisionLog()
    decide(model, view(exposure), memory=log)
    facts = model.facts("manager")
    assert (facts["target_ratio"], facts["change"], facts["shares"]) == (exposure, 0.0, 0.0)
    assert "risk control gave none" in model.user("manager")
    assert "trade_voices" not in facts
    assert log.entries[0].exposure_after_frac == exposure


def test_no_analyst_is_no_decision() -> None:
    model, log = Fund(["technical"]), DecisionLog()
    decision = decide(model, view(1.0), memory=log)
    assert (decision.intent, decision.status) == (Intent.HOLD, Status.PROVIDER_ERROR)
    assert "technical" in decision.reason
    assert model.roles == ["technical"]
    assert log == DecisionLog()


def test_three_unusable_orders_leave_the_memory_untouched() -> None:
    class Mute(Fund):
        def answer(self, req: ChatRequest) -> Mapping[str, Any]:
            return {"action": "Wait"} if req.role == "manager" else super().answer(req)

    model, log = Mute(technical=1), DecisionLog()
    decision = decide(model, memory=log)
    assert (decision.intent, decision.status) == (Intent.HOLD, Status.INVALID_OUTPUT)
    assert model.roles.count("manager") == 3
    assert log == DecisionLog()


def test_no_shorts_where_the_season_has_none() -> None:
    spec = ActionSpec(shorting=False)
    model = Fund(technical=-1)
    assert decide(model, view(1.0, spec)).intent is Intent.FLAT
    assert model.facts("risk_control")["lowest_target"] == 0.0
    # the script asked for -1; the target told to the manager is 0, and so is what a Sell leads to
    assert model.facts("manager")["target_ratio"] == 0.0
    assert decide(Fund(technical=-1, manager="Sell"), view(0.0, spec)).intent is Intent.FLAT


# --- arithmetic


@pytest.mark.parametrize(
    ("ratio", "low", "expected"),
    [(0.524, -1, 0.5), (0.525, -1, 0.55), (-0.525, -1, -0.55), (0.02, -1, 0.0), (-0.02, -1, 0.0),
     (1.0, -1, 1.0), (-0.7, 0, 0.0), (0.15, -1, 0.15)],
)  # fmt: skip
def test_steps_of_a_twentieth(ratio: float, low: float, expected: float) -> None:
    found = stepped(ratio, low, 1.0)
    assert found == expected
    assert str(found) == str(expected + 0.0), "no negative zero"


def test_tradable_amount_by_hand() -> None:
    # from .2 short to .55 long of 1,000 at 50: .75 x 1000 / 50 = 15 units; two signals say rise
    assert tradable(0.55, -0.2, 1000.0, 50.0, [1.0, 1.0, 0.0, -1.0]) == {
        "target": 0.55, "exposure": -0.2, "change": 0.75, "shares": 15.0, "n_against": 2,
    }  # fmt: skip
    assert tradable(0.0, 0.0, 1000.0, 50.0, [1.0, -1.0])["n_against"] == 0


def order(word: Literal["Sell", "Hold", "Buy"], size: float | None = None) -> Order:
    return Order(action=word, confidence=0.5, reason="x", exposure_after=size)


@pytest.mark.parametrize(
    ("word", "size", "exposure", "target", "after"),
    [
        ("Hold", 1.0, 0.3, -1.0, 0.3),
        ("Buy", None, 0.0, 0.6, 0.6),
        ("Buy", 0.4, 0.0, 0.6, 0.4),
        ("Buy", -0.5, 0.3, 0.6, 0.3),  # a size against its own word trades nothing
        ("Sell", 0.9, 0.3, -1.0, 0.3),
        ("Sell", None, 1.0, 0.1, 0.1),
        ("Sell", None, 1.0, 1.0, 0.0),  # against risk control: it closes
        ("Buy", None, 0.0, -0.6, 0.25),  # against risk control: the smallest position
        ("Sell", None, 0.0, 0.6, -0.25),
        ("Buy", None, 0.0, 0.1, 0.1),
    ],
)
def test_exposure_after_an_order(
    word: Literal["Sell", "Hold", "Buy"], size: float | None, exposure: float, target: float,
    after: float,
) -> None:  # fmt: skip
    side = int(np.sign(exposure))
    assert exposure_after(order(word, size), exposure, target, side, -1.0, 1.0) == after
    assert str(exposure_after(order("Sell"), 1.0, 1.0, 1, -1.0, 1.0)) == "0.0"


ratios = hs.floats(-1.0, 1.0)


@given(hs.sampled_from(["Sell", "Buy"]), hs.none() | ratios, ratios, ratios, hs.booleans())
def test_an_order_stays_within_the_limits_and_goes_its_own_way(
    word: Literal["Sell", "Buy"], size: float | None, exposure: float, target: float, shorting: bool
) -> None:
    low = -1.0 if shorting else 0.0
    exposure, target = max(low, exposure), max(low, target)
    after = exposure_after(order(word, size), exposure, target, int(np.sign(exposure)), low, 1.0)
    assert low <= after <= 1.0
    assert (after - exposure) * (1 if word == "Buy" else -1) >= 0.0


def test_less_than_a_quarter_is_flat() -> None:
    edges = {0.25: Intent.LONG, 0.2499: Intent.FLAT, -0.25: Intent.SHORT, -0.2499: Intent.FLAT}
    assert {e: intent_of(e) for e in edges} == edges


# --- code signals


def says(closes: Sequence[float], name: str, volumes: Sequence[float] | None = None) -> str:
    return str(code_signals(bars_of(closes, volumes))[name]["says"])


ZIGZAG = [100.0 + (1 if i % 2 else -1) for i in range(259)]
RISING = [100.0 * 1.01**i for i in range(260)]


def test_every_signal_can_say_both() -> None:
    falling = RISING[::-1]
    assert (says(RISING, "trend"), says(falling, "trend")) == ("Bullish", "Bearish")
    assert (says(RISING, "rsi"), says(falling, "rsi")) == ("Bearish", "Bullish")
    # from 99..101 to 90 or 110: far more than two deviations
    assert says([*ZIGZAG, 90.0], "mean reversion") == "Bullish"
    assert says([*ZIGZAG, 110.0], "mean reversion") == "Bearish"
    wild, calm = [100.0 + 4 * (-1) ** i for i in range(30)], ZIGZAG
    assert says([*calm, *wild], "volatility") == "Bearish"
    assert says([*wild * 9, *calm[:30]], "volatility") == "Bullish"
    more = [float(i) for i in range(1, 261)]
    assert says(RISING, "volume", more) == "Bullish"
    assert says(falling, "volume", more) == "Bearish"
    # valley of 90 and hill of 110, each with five rows on both sides; then near the one or the other
    there = [100.0, 98, 96, 94, 92, 90, 92, 95, 98, 101, 104, 110, 104, 103, 102, 101, 100, 97]
    assert says([*there, 93.0], "support and resistance") == "Bullish"
    assert says([200 - c for c in [*there, 93.0]], "support and resistance") == "Bearish"


def test_low_band_alone_is_not_bullish() -> None:
    # sd of ZIGZAG is 1; a slow slide keeps z above -2 while %B is low
    slide = [*ZIGZAG[:200], *(100.0 - 0.3 * k for k in range(1, 61))]
    figures = code_signals(bars_of(slide))["mean reversion"]["figures"]
    z, b = (float(w.strip(",")) for w in (figures.split()[4], figures.split()[-1]))
    assert -2.0 < z < 2.0
    assert b < 0.2
    assert says(slide, "mean reversion") == "Neutral"


def test_signals_without_history_or_volume_are_left_out() -> None:
    assert code_signals(bars_of([100.0, 101.0, 102.0])) == {}
    without = code_signals(bars_of(ZIGZAG, [None] * len(ZIGZAG)))
    assert "volume" not in without
    assert "trend" in without
    flat = code_signals(bars_of([100.0] * 260))
    assert {s["says"] for s in flat.values()} == {"Neutral"}
    model = Fund()
    decide(model, context=market(n_bars=3))
    assert "Signals by fixed rules" not in model.user("technical")
    assert "nan" not in model.user("technical").lower()


# --- memory


def day(n: int) -> date:
    return date(2025, 8, 1) + timedelta(days=n)


def test_log_counts_what_orders_came_to() -> None:
    log = DecisionLog()
    log.add(Entry(day(0), "Buy", 1.0, 100.0, given=True))
    log.add(Entry(day(1), "Buy", 0.5, 110.0, 0.5))
    log.add(Entry(day(2), "Sell", -1.0, 99.0, -1.0))
    assert log.resolve(day(0), 0.10) is not None
    assert log.entries[0].result_frac == 0.0, "what was given earns nothing"
    log.resolve(day(1), -0.10)  # 1 + .5 x -.1 = .95
    log.resolve(day(2), -0.02)  # .95 x 1.02 = .969
    assert log.entries[1].result_frac == pytest.approx(-0.05)
    assert log.entries[2].result_frac == pytest.approx(-0.031)
    assert log.resolve(day(2), 0.5) is None, "an outcome is written once"
    assert log.resolve(day(9), 0.5) is None
    assert log.growth == pytest.approx(0.969)

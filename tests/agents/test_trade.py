"""TradeAgent: who is asked, who is heard, what a rating means, and what is learnt."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.desk import Desk
from arena.agents.memory.lesson_log import Entry, LessonLog
from arena.agents.prompt import plain
from arena.agents.trade.agent import TradeAgent
from arena.agents.trade.roles import intent_of
from arena.core.actions import Intent, Status
from arena.core.season import Generation, Season
from arena.core.types import ActionSpec, Asset, Bar, Decision, MarketContext, Past, TrackView
from arena.llm.offline.policy import Opinion, fill, in_role
from arena.llm.types import ChatModel, ChatReply, ChatRequest, ModelKind, ProviderError

ANALYSTS = ["market_analyst", "sentiment_analyst", "news_analyst", "fundamentals_analyst"]
DEBATE = ["bull", "bear"]
PANEL = ["aggressive_risk", "conservative_risk", "neutral_risk"]
INNER = [*ANALYSTS, *DEBATE, "research_manager", "trader", *PANEL]
PM = "portfolio_manager"
FLAT = TrackView(0, 100_000.0, 0.0, None, (), ActionSpec())
AGENT = TradeAgent()
ZIGZAG = [100.0 + (i * 7) % 13 for i in range(260)]


def market(
    closes: list[float] = ZIGZAG, *, coin: bool = False, feeds: bool = True
) -> MarketContext:
    start = datetime(2024, 11, 15, tzinfo=UTC)
    days = [start + timedelta(days=i) for i in range(len(closes))]
    bars = tuple(
        Bar(d.date(), c, c * 1.01, c * 0.99, c, 1e6, d + timedelta(days=1))
        for d, c in zip(days, closes, strict=True)
    )
    asset = Asset("BTC", "Bitcoin", "crypto") if coin else Asset("TSLA", "Tesla", "stock")
    story = {"id": "n1", "title": "A new plant | opens", "source": "Wire", "known_at_utc": days[-1]}
    filed = {
        "id": "f1",
        "field": "revenue",
        "period": "2025Q1",
        "value": 12.5,
        "known_at_utc": days[-1],
    }
    return MarketContext(
        asset, bars[-1].session, bars[-1].known_at_utc, bars,
        stories=(story,) if feeds else (), fundamentals=(filed,) if feeds else (),
    )  # fmt: skip


class Firm:
    """A model whose roles say what they are told to; the others go by what they hear.

    `said` by role: a lean with confidence 1 (of bull and bear: the strength of their case), the
    text of an answer, several of them in turn, or an exception.
    """

    id = "scripted/firm"
    kind: ModelKind = "scripted"

    def __init__(self, said: Mapping[str, Any] | None = None) -> None:
        self.said = dict(said or {})
        self.history: list[ChatRequest] = []

    async def complete(self, req: ChatRequest) -> ChatReply:
        self.history.append(req)
        word = self.said.get(req.role, Opinion(0.0, 0.0, "by what I hear"))
        if isinstance(word, list):
            word = word.pop(0)
        if isinstance(word, Exception):
            raise word
        if isinstance(word, float):
            word = Opinion(word, word if req.role in DEBATE else 1.0, f"{req.role} speaks")
        elif isinstance(word, Opinion):
            word = in_role(req.facts, word)
        text = word if isinstance(word, str) else json.dumps(fill(req.schema, word, req.facts))
        return ChatReply(text, self.id, None, None, None, 0.0)

    def prompt(self, role: str) -> str:
        (found,) = (r for r in self.history if r.role == role)
        return found.messages[1].content

    def asked(self) -> list[str]:
        return [r.role for r in self.history]


def desk_of(
    model: ChatModel, context: MarketContext | None = None, log: LessonLog | None = None, *,
    side: int = 0, tries: int = 1,
) -> Desk:  # fmt: skip
    view = replace(FLAT, side=side, exposure_frac=float(side), entry_price=100.0 if side else None)
    season = Season(generation=Generation(tries=tries))
    return Desk(context or market(), view, model, season, memory=log)


def decide(model: ChatModel, context: MarketContext | None = None, **desk: Any) -> Decision:
    return asyncio.run(AGENT.decide(desk_of(model, context, **desk)))


NEUTRAL_ANALYSTS = dict.fromkeys(ANALYSTS, Opinion(0.0, 0.5, "nothing either way"))


# Who is asked


@pytest.mark.parametrize(
    ("coin", "feeds", "analysts", "n"),
    [
        (False, True, ANALYSTS, 12),
        (True, True, ANALYSTS[:3], 11),
        (False, False, [ANALYSTS[0], ANALYSTS[2]], 10),
        (True, False, [ANALYSTS[0], ANALYSTS[2]], 10),
    ],
)
def test_calls_for_each_feed(coin: bool, feeds: bool, analysts: list[str], n: int) -> None:
    decision = decide(Firm(), market(coin=coin, feeds=feeds))
    asked = [c.role for c in decision.calls if c.kind == "model"]
    assert asked == [*analysts, *DEBATE, "research_manager", "trader", *PANEL, PM]
    assert len(asked) == n
    assert decision.status is Status.OK


def test_a_day_without_news_is_a_fact_and_no_story() -> None:
    firm = Firm()
    decide(firm, market(coin=True, feeds=False))
    told = firm.prompt("news_analyst")
    assert "News at hand: none" in told
    assert "<<" not in told
    request = next(r for r in firm.history if r.role == "news_analyst")
    assert "stories" not in request.facts
    assert "Accounts: a coin has none" in firm.prompt("bull")


def test_stories_are_fenced_and_cited_ones_become_the_evidence() -> None:
    firm = Firm(
        {
            "news_analyst": '{"lean": 0.1, "confidence": 0.5, "summary": "plant", "cites": ["n1"]}',
            "fundamentals_analyst": '{"lean": 0.1, "confidence": 0.5, "summary": "x", "cites": ["f1"]}',
            "sentiment_analyst": '{"lean": 0.1, "confidence": 0.5, "summary": "x", "cites": ["n7"]}',
        }
    )
    decision = decide(firm)
    # n7 was never offered, so that analyst failed
    assert decision.evidence == ("n1", "f1")
    assert decision.failed_roles == ("sentiment_analyst",)
    assert "<<A new plant / opens>>" in firm.prompt("news_analyst")
    assert "f1 | revenue | 2025Q1 | 12.5" in firm.prompt("fundamentals_analyst")
    assert "Accounts" not in firm.prompt("bull")


def test_a_flood_of_news_and_figures_is_cut_to_the_newest_and_the_main() -> None:
    base = market()
    start = base.as_of_utc - timedelta(hours=50)
    stories = tuple(
        {"id": f"s{n}", "title": f"Story {n}", "known_at_utc": start + timedelta(hours=n)}
        for n in range(50)
    )
    periods = ("TTM", "2025Q2", "FY2024", "2025Q1", "FY2022", "FY2023")
    rows = tuple(
        {
            "id": f"{name}-{period}", "field": name, "period": period, "value": 1.0,
            "known_at_utc": start,
        }
        for name in ("assets", "revenue", *(f"other_{n}" for n in range(20)))
        for period in periods
        if name == "revenue" or period != "TTM"
    )  # fmt: skip
    firm = Firm()
    decide(firm, replace(base, stories=stories, fundamentals=rows))
    told = {r.role: r.facts for r in firm.history}
    assert [row[0] for row in told["news_analyst"]["stories"]] == [
        f"s{n}" for n in range(49, 37, -1)
    ]
    figures = [row[0] for row in told["fundamentals_analyst"]["filings"]]
    # The main figure first; of each what is newest, then two years: the other 21 share the room.
    assert figures[:4] == ["revenue-TTM", "revenue-FY2024", "revenue-FY2023", "assets-2025Q2"]
    assert len(figures) == 40


def test_facts_of_every_role_are_what_its_prompt_says() -> None:
    log = LessonLog([Entry(date(2025, 7, 1), "Sell", "short", "why", 0.0123, "wait | for volume")])
    firm = Firm()
    decide(firm, log=log, side=1)
    for request in firm.history:
        for spelt in plain(request.facts):
            assert spelt in request.messages[1].content, request.role
        assert {"asset", "session"} <= set(request.facts)
    assert "2025-07-01 | Sell | 1.23 | wait / for volume" in firm.prompt(PM)


def test_volume_that_is_missing_is_left_out_not_called_unknown() -> None:
    firm, context = Firm(), market(coin=True)
    silent = replace(context, bars=tuple(replace(b, volume=None) for b in context.bars))
    decide(firm, silent)
    assert "olume" not in firm.prompt("market_analyst")
    assert "unknown" not in firm.prompt("market_analyst")


def test_cost_told_is_both_sides_of_a_trade() -> None:
    firm = Firm()
    decide(firm)
    # stocks pay 5 bp a side: 2 * 5 bp = 0.1 %
    for role in ("research_manager", "trader", PM):
        assert "Of going in and out again: 0.1 %" in firm.prompt(role)


# Who is heard


def test_one_voice_by_hand() -> None:
    """The bull's case at full strength, every analyst neutral at 0.5, the rest by what they hear."""
    firm = Firm({**NEUTRAL_ANALYSTS, "bull": 1.0})
    decision = decide(firm)
    rows = {row[0]: row[1:3] for r in firm.history if r.role == PM for row in r.facts["voices"]}
    # bear hears four neutral analysts: its case is 0.5. Research: (1 - 0.5) / (4 * 0.5 + 1.5) = 0.14,
    # Overweight, confidence 0.5 + 0.14 / 2 = 0.57
    assert rows["research_manager"] == [0.5, 0.57]
    # trader hears 0.5: BUY, confidence 0.75
    assert rows["trader"] == [1.0, 0.75]
    # panel: 0.75 / (4 * 0.5 + 0.75) = 0.27, Overweight, 0.5 + 0.27 / 2 = 0.635 (the float below it)
    assert [rows[who] for who in PANEL] == [[0.5, pytest.approx(0.635, abs=0.006)]] * 3
    # (0.285 + 0.75 + 3 * 0.32) / (2 + 0.57 + 0.75 + 3 * 0.64) = 0.38: Overweight
    assert (decision.intent, decision.conviction) == (Intent.LONG, 0.5)
    assert decision.reason.startswith("Overweight: ")


@pytest.mark.parametrize("role", INNER)
def test_every_voice_can_turn_the_decision(role: str) -> None:
    up, down = (0.0, 1.0) if role == "bear" else (1.0, 0.0 if role == "bull" else -1.0)
    said = {r: v for r, v in NEUTRAL_ANALYSTS.items() if r != role}
    assert decide(Firm({**said, role: up})).intent is Intent.LONG
    assert decide(Firm({**said, role: down})).intent is Intent.SHORT


def test_the_portfolio_manager_has_the_last_word() -> None:
    everybody_up: dict[str, Any] = {**dict.fromkeys(INNER, 1.0), "bear": 0.0}
    assert decide(Firm(everybody_up)).intent is Intent.LONG
    assert decide(Firm({**everybody_up, PM: -1.0})).intent is Intent.SHORT
    assert decide(Firm({**everybody_up, PM: 0.0})).intent is Intent.HOLD


def test_every_voice_is_missed_when_it_is_gone() -> None:
    rng = random.Random(4)
    changed: Counter[str] = Counter()
    n = 40
    for _ in range(n):
        said: dict[str, Any] = {
            r: round(rng.uniform(-1, 1), 2) for r in INNER if rng.random() < 0.6
        }
        said |= {r: rng.random() for r in DEBATE}
        whole = decide(Firm(said)).intent
        for role in INNER:
            less = decide(Firm({**said, role: ProviderError("gone")}))
            assert less.failed_roles == (role,)
            changed[role] += less.intent is not whole
    assert all(0 < changed[role] < n for role in INNER), changed


@given(
    leans=st.lists(st.sampled_from([-1.0, -0.6, -0.2, 0.0, 0.2, 0.6, 1.0]), min_size=4, max_size=4),
    strengths=st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]), min_size=2, max_size=2),
)
def test_neither_side_of_the_debate_is_favoured(leans: list[float], strengths: list[float]) -> None:
    """Turn every finding round and swap the strengths: the rating turns round with them."""
    rating = {}
    for sign in (1.0, -1.0):
        said: dict[str, Any] = {a: sign * x for a, x in zip(ANALYSTS, leans, strict=True)}
        said |= dict(zip(DEBATE, strengths[:: int(sign)], strict=True))
        decision = decide(Firm(said))
        rating[sign] = decision.reason.partition(":")[0]
    mirror = {"Buy": "Sell", "Overweight": "Underweight", "Hold": "Hold"}
    mirror |= {v: k for k, v in mirror.items()}
    assert rating[-1.0] == mirror[rating[1.0]]


def test_the_other_side_is_answered_and_not_averaged() -> None:
    firm = Firm({"bull": 1.0})
    decide(firm)
    bear = next(r for r in firm.history if r.role == "bear")
    assert bear.facts["argues"] == "fall"
    assert "You argue for: fall" in firm.prompt("bear")
    assert [row[0] for row in bear.facts["debate_so_far"]] == ["bull"]
    assert "debate_so_far" not in next(r for r in firm.history if r.role == "bull").facts


# What fails


@pytest.mark.parametrize("role", INNER)
def test_a_failed_voice_is_counted_and_gone_without(role: str) -> None:
    firm = Firm({**NEUTRAL_ANALYSTS, role: ProviderError("down")})
    decision = decide(firm)
    assert decision.status is Status.OK
    assert decision.failed_roles == (role,)
    assert firm.asked()[-1] == PM
    heard = next(r for r in firm.history if r.role == PM).facts["voices"]
    assert sorted(row[0] for row in heard) == sorted(set(INNER) - set(DEBATE) - {role})
    assert ("the other side was not heard" in firm.prompt("research_manager")) == (role in DEBATE)


def test_without_a_plan_the_trader_hears_what_it_would_have_been_made_of() -> None:
    firm = Firm({"research_manager": ProviderError("down")})
    decide(firm)
    heard = next(r for r in firm.history if r.role == "trader").facts["voices"]
    assert [row[0] for row in heard] == [*ANALYSTS, *DEBATE]


def test_without_any_analyst_nobody_debates() -> None:
    firm, log = Firm(dict.fromkeys(ANALYSTS, ProviderError("down"))), LessonLog()
    decision = decide(firm, log=log)
    assert sorted(firm.asked()) == sorted(ANALYSTS)
    assert (decision.intent, decision.status) == (Intent.HOLD, Status.PROVIDER_ERROR)
    assert decision.failed_roles == tuple(ANALYSTS)
    assert "down" in decision.reason
    assert decision.conviction is None
    assert log == LessonLog()


def test_too_few_prices_are_no_data_and_cost_no_call() -> None:
    firm = Firm()
    decision = decide(firm, market(ZIGZAG[:10]))
    assert (decision.intent, decision.status) == (Intent.KEEP, Status.NO_DATA)
    assert "10 sessions" in decision.reason
    assert firm.history == []
    # RSI needs 14 changes: with 15 closes there is something to read
    assert decide(firm, market(ZIGZAG[:15])).status is Status.OK
    assert "RSI over 14 sessions, 0 to 100: unknown" not in firm.prompt("market_analyst")
    assert "Return over 20 sessions: unknown" in firm.prompt("market_analyst")


GOOD = '{"rating": "Overweight", "thesis": "stretched down"}'


@pytest.mark.parametrize(
    "text",
    [
        "Rating: Overweight",
        "Rating：Overweight",
        "Final rating: Sell（bearish）",
        "最终评级：卖出",
        "建议：**Sell**-off risk remains elevated",
        "I would not buy",
        '{"rating": "Sell-off", "thesis": "x"}',
        '{"rating": "Buyer interest", "thesis": "x"}',
        '{"rating": "Buy2024", "thesis": "x"}',
        '{"rating": "Overweight（超配）", "thesis": "x"}',
        '{"rating": ["Buy"], "thesis": "x"}',
        '{"rating": "Buy"}',
    ],
)
def test_no_rating_is_picked_out_of_other_words(text: str) -> None:
    log = LessonLog()
    failed = decide(Firm({PM: [text] * 3}), log=log, tries=3)
    assert (failed.intent, failed.status) == (Intent.HOLD, Status.INVALID_OUTPUT)
    assert failed.conviction is None
    assert log == LessonLog(), "a failure leaves no entry"
    repaired = decide(Firm({PM: [text, GOOD]}), tries=3)
    assert (repaired.intent, repaired.status) == (Intent.LONG, Status.REPAIRED)


def test_a_rating_is_read_whole_whatever_its_case_and_punctuation() -> None:
    full_width = '｛"rating"："  overweight "，"thesis"："x"｝'
    decision = decide(Firm({PM: full_width}))
    assert (decision.intent, decision.status) == (Intent.LONG, Status.OK)
    assert decision.reason == "Overweight: x"


@pytest.mark.parametrize(
    ("rating", "short", "flat", "long"),
    [
        ("Buy", Intent.LONG, Intent.LONG, Intent.LONG),
        ("Overweight", Intent.LONG, Intent.LONG, Intent.LONG),
        ("Hold", Intent.HOLD, Intent.HOLD, Intent.HOLD),
        ("Underweight", Intent.SHORT, Intent.SHORT, Intent.HOLD),
        ("Sell", Intent.SHORT, Intent.SHORT, Intent.SHORT),
    ],
)
def test_what_a_rating_means(rating: Any, short: Intent, flat: Intent, long: Intent) -> None:
    assert [intent_of(rating, side) for side in (-1, 0, 1)] == [short, flat, long]
    text = json.dumps({"rating": rating, "thesis": "x"})
    conviction = {"Buy": 1.0, "Sell": 1.0, "Hold": 0.0}.get(rating, 0.5)
    for side, intent in ((-1, short), (0, flat), (1, long)):
        decision = decide(Firm({PM: text}), side=side)
        assert (decision.intent, decision.conviction) == (intent, conviction)


# What is learnt


def outcome(session: date, move_frac: float | None) -> Past:
    return Past(session, "BUY", 100.0, move_frac)


def learn(firm: Firm, log: LessonLog, past: Past) -> Desk:
    desk = desk_of(firm, log=log)
    asyncio.run(AGENT.learn(desk, past))
    return desk


def operations(calls: list[Any]) -> list[str]:
    return [c.role for c in calls if c.kind == "memory"]

"""TradeAgent's lessons, and how often it holds."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.memory.lesson_log import KEPT, PRACTICE, Entry, LessonLog
from arena.agents.vanilla import Vanilla
from arena.core.actions import Intent, Status, target_side
from arena.core.errors import ConfigError
from arena.core.types import ActionSpec, Asset, Bar, MarketContext, Past
from arena.llm.fields import Lean, marker_of
from arena.llm.registry import get_model
from tests.agents.test_trade import (
    AGENT,
    GOOD,
    PM,
    Firm,
    decide,
    desk_of,
    learn,
    market,
    operations,
    outcome,
)


def test_an_empty_log_is_not_spoken_of() -> None:
    firm, log = Firm(), LessonLog()
    decision = decide(firm, log=log)
    for request in firm.history:
        words = " ".join(m.content for m in request.messages).lower()
        assert "lesson" not in words
        assert "memory" not in words
    assert operations(list(decision.calls)) == ["recall", "add"]
    (entry,) = log.entries
    assert (entry.session, entry.rating, entry.action) == (date(2025, 8, 1), "Hold", "hold")
    assert (entry.outcome_1d_frac, entry.lesson) == (None, None)


def test_a_decision_gets_its_outcome_and_lesson_and_the_next_one_reads_them() -> None:
    log = LessonLog()
    decide(Firm({PM: GOOD}), log=log)
    firm = Firm({"reflector": '{"lesson": "RSI was right.\\nHeed | it."}'})
    desk = learn(firm, log, outcome(date(2025, 8, 1), 0.0234))
    assert firm.asked() == ["reflector"]
    told = firm.prompt("reflector")
    assert "Why: stretched down" in told
    assert "Change until the next close: 2.34 %" in told
    assert operations(desk.calls) == ["reward", "add"]
    decision = asyncio.run(AGENT.decide(desk))
    assert [c.role for c in decision.calls][:3] == ["reward", "reflector", "add"]
    assert "2025-08-01 | Overweight | 2.34 | RSI was right. Heed / it." in firm.prompt(PM)


@pytest.mark.parametrize(
    ("move_frac", "asks"), [(0.0019, 0), (-0.0019, 0), (0.002, 1), (-0.002, 1)]
)
def test_a_move_of_noise_teaches_nothing(move_frac: float, asks: int) -> None:
    firm, log = Firm(), LessonLog([Entry(date(2025, 8, 1), "Buy", "long", "x")])
    learn(firm, log, outcome(date(2025, 8, 1), move_frac))
    assert len(firm.history) == asks
    (entry,) = log.entries
    assert entry.outcome_1d_frac == move_frac
    assert (entry.lesson is not None) == bool(asks)


def test_a_reflector_that_fails_leaves_the_outcome_and_no_lesson() -> None:
    log = LessonLog([Entry(date(2025, 8, 1), "Buy", "long", "x")])
    desk = learn(Firm({"reflector": "no idea"}), log, outcome(date(2025, 8, 1), -0.03))
    assert log.entries == [Entry(date(2025, 8, 1), "Buy", "long", "x", -0.03)]
    assert desk.failed_roles == ["reflector"]
    assert operations(desk.calls) == ["reward"]


@pytest.mark.parametrize(
    ("entries", "past"),
    [
        ([], outcome(date(2025, 8, 1), 0.05)),
        ([Entry(date(2025, 7, 31), "Buy", "long", "x")], outcome(date(2025, 8, 1), 0.05)),
        ([Entry(date(2025, 8, 1), "Buy", "long", "x", 0.01)], outcome(date(2025, 8, 1), 0.05)),
        ([Entry(date(2025, 8, 1), "Buy", "long", "x")], outcome(date(2025, 8, 1), None)),
    ],
    ids=["nothing decided", "that session failed", "known already", "not known yet"],
)
def test_no_other_entry_is_taught(entries: list[Entry], past: Past) -> None:
    firm, log = Firm(), LessonLog(list(entries))
    desk = learn(firm, log, past)
    assert log.entries == entries
    assert (firm.history, desk.calls) == ([], [])


@pytest.mark.parametrize(
    ("move_frac", "intent", "asks"),
    [
        (0.03, Intent.LONG, 1),
        (-0.03, Intent.SHORT, 1),
        (0.0, Intent.HOLD, 0),
        (0.001, Intent.LONG, 0),
    ],
)
def test_practice_follows_the_sign_of_the_move(move_frac: float, intent: Intent, asks: int) -> None:
    firm, log = Firm({"reflector": '{"lesson": "Note it."}'}), LessonLog()
    desk = desk_of(firm, log=log)
    today = outcome(date(2025, 8, 1), move_frac)
    decision = asyncio.run(AGENT.study(desk, today))
    assert (decision.intent, decision.status) == (intent, Status.OK)
    assert f" {move_frac * 100:g} %" in decision.reason
    assert [r.role for r in firm.history] == ["reflector"] * asks
    (entry,) = log.entries
    assert (entry.rating, entry.action) == (PRACTICE, intent.value)
    assert (entry.outcome_1d_frac, entry.lesson) == (move_frac, "Note it." if asks else None)
    if asks:
        assert f"Stance that would have paid: {intent.value}" in firm.prompt("reflector")
        assert "rating" not in firm.history[0].facts, "nobody rated anything"
    learn(firm, log, today)
    assert len(firm.history) == asks, "learnt once"


def test_the_last_five_resolved_entries_are_shown() -> None:
    days = [date(2025, 7, 1) + timedelta(days=i) for i in range(8)]
    log = LessonLog([Entry(d, "Hold", "hold", "x", 0.01) for d in days])
    log.entries[-1] = replace(log.entries[-1], outcome_1d_frac=None)
    firm = Firm()
    decide(firm, log=log)
    shown = next(r for r in firm.history if r.role == PM).facts["lessons"]
    assert [row[0] for row in shown] == [d.isoformat() for d in days[2:7]]


def test_the_log_is_bounded_and_says_what_it_lets_go() -> None:
    days = [date(2025, 3, 1) + timedelta(days=i) for i in range(KEPT)]
    log = LessonLog([Entry(d, "Hold", "hold", "x", 0.01) for d in days])
    decision = decide(Firm(), log=log)
    assert len(log.entries) == KEPT
    assert log.entries[0].session == days[1]
    forgot = next(c for c in decision.calls if c.role == "forget")
    assert forgot.parsed == {"sessions": ["2025-03-01"]}


def test_a_session_has_one_entry() -> None:
    log, day = LessonLog(), date(2025, 8, 1)
    log.add(Entry(day, "Buy", "long", "first"))
    log.add(Entry(day, "Sell", "short", "w" * 400))
    (entry,) = log.entries
    assert entry.rating == "Sell"
    assert len(entry.thesis) == 300


words = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=50)
entries = st.builds(
    Entry, st.dates(), words, words, words, st.none() | st.floats(-1, 5), st.none() | words
)


@given(st.lists(entries, max_size=5, unique_by=lambda e: e.session))
def test_a_log_comes_back_from_its_dump(found: list[Entry]) -> None:
    dump = json.loads(json.dumps(LessonLog(found).dump()))
    assert AGENT.memory(dump) == LessonLog(found)
    assert AGENT.memory(dump).dump() == dump


@pytest.mark.parametrize(
    "wrong", [{"kind": "layered", "version": 1}, {"kind": "lesson_log", "version": 2}]
)
def test_a_foreign_or_newer_dump_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="memory"):
        AGENT.memory({**wrong, "entries": []})


def test_a_desk_without_memory_remembers_nothing() -> None:
    decision = decide(Firm())
    assert decision.status is Status.OK
    assert operations(list(decision.calls)) == []


# Its character


def walks(n: int) -> list[list[float]]:
    """Balanced prices: random walks of 2 % a session, each with its mirror image."""
    steps = np.random.default_rng(20250801).normal(0.0, 0.02, (n // 2, 260))
    both = np.concatenate([steps, -steps])
    return [list(100.0 * np.exp(path)) for path in np.cumsum(both, axis=1)]


@pytest.mark.parametrize(
    ("model_id", "hold_from", "hold_to"),
    [("offline/trend", 0.3, 0.65), ("offline/contrarian", 0.4, 0.75)],
)
def test_share_of_hold_on_balanced_prices(model_id: str, hold_from: float, hold_to: float) -> None:
    model, n = get_model(model_id), 120
    intents, same = Counter[Intent](), 0
    for closes in walks(n):
        context = market(closes, coin=True, feeds=False)
        intent = decide(model, context).intent
        intents[intent] += 1
        same += asyncio.run(Vanilla().decide(desk_of(model, context))).intent is intent
    assert hold_from <= intents[Intent.HOLD] / n <= hold_to, intents
    # mirror images: neither direction is favoured by more than a few borderline walks
    assert abs(intents[Intent.LONG] - intents[Intent.SHORT]) <= 0.1 * n, intents
    assert same / n <= 0.93, "a firm is not one trader with a longer bill"


@pytest.mark.parametrize("model_id", ["offline/trend", "offline/contrarian"])
def test_on_real_prices_it_is_no_vanilla_and_neither_always_in_nor_out(
    shared_market: Path, model_id: str
) -> None:
    model, spec = get_model(model_id), ActionSpec()
    intents, same = Counter[Intent](), 0
    for symbol in ("TSLA", "BMRN", "BTC"):
        frame = pd.read_csv(shared_market / "csv" / f"{symbol}_daily.csv")
        frame = frame[frame["date"] <= "2025-09-30"].tail(260 + 60)
        bars = [
            Bar(
                date.fromisoformat(r.date), r.open, r.high, r.low, r.close, r.volume,
                datetime.fromisoformat(r.date).replace(tzinfo=UTC) + timedelta(days=1),
            )
            for r in frame.itertuples()
        ]  # fmt: skip
        asset, side = Asset(symbol, symbol, "crypto" if symbol == "BTC" else "stock"), 0
        for last in range(260, len(bars)):
            seen = tuple(bars[last - 259 : last + 1])
            context = MarketContext(asset, seen[-1].session, seen[-1].known_at_utc, seen)
            intent = decide(model, context, side=side).intent
            same += asyncio.run(Vanilla().decide(desk_of(model, context))).intent is intent
            side = target_side(intent, side, spec)
            intents[intent] += 1
    n = intents.total()
    assert n == 180
    assert 0.2 <= intents[Intent.HOLD] / n <= 0.8, intents
    assert min(intents[Intent.LONG], intents[Intent.SHORT]) > 0, intents
    assert same / n <= 0.9


def test_ratings_run_from_down_to_up() -> None:
    """`Lean` takes the order of the words for their meaning."""
    firm = Firm()
    decide(firm)
    schema = next(r for r in firm.history if r.role == PM).schema
    info = schema.model_fields["rating"]
    marker = marker_of(info.metadata)
    assert isinstance(marker, Lean)
    assert [marker.pick(info.annotation, x) for x in (-1.0, -0.2, 0.0, 0.2, 1.0)] == [
        "Sell", "Underweight", "Hold", "Overweight", "Buy",
    ]  # fmt: skip

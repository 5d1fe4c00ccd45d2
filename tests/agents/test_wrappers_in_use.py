"""Wrappers in use: real news masked, wrappers in a row, memory passed through."""

from __future__ import annotations

import asyncio
import re
import time
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.agents.desk import Desk
from arena.agents.fundamentals import read_fundamentals
from arena.agents.registry import get_agent
from arena.agents.wrappers.agents import Inverted, Masked
from arena.agents.wrappers.masked_text import TextMask
from arena.agents.wrappers.masking import SHIFT_DAYS, Mask
from arena.core.actions import Intent
from arena.core.season import Season
from arena.core.types import Asset, Past
from arena.llm.scripted import Scripted
from tests.agents.test_wrappers import (
    ANSWER,
    BTC,
    FILED,
    FLAT,
    TSLA,
    Probe,
    at_work,
    leaks,
    market,
    story,
)


@pytest.mark.parametrize(
    ("symbol", "name", "low", "high", "n_texts"),
    [
        ("TSLA", "Tesla", 215.0, 490.0, 212), ("BMRN", "BioMarin", 51.0, 75.0, 46),
        ("BTC", "Bitcoin", 16_500.0, 125_000.0, 5_059), ("ETH", "Ethereum", 1_400.0, 4_950.0, 1_144),
    ],
)  # fmt: skip
def test_real_news_is_masked(
    shared_market: Path, symbol: str, name: str, low: float, high: float, n_texts: int
) -> None:
    news = pd.read_parquet(shared_market / "news.parquet", filters=[("asset", "==", symbol)])
    mask = TextMask(Asset(symbol, name, "stock"), low, high)
    traces = re.compile(
        rf"(?<![a-z]){symbol}(?![a-z])|{name}|(?<!\d)20[12]\d(?!\d)|[$€£]\s?\d|"
        r"(?<![a-z])(?:january|february|august|september|october|november|december)(?![a-z])",
        re.IGNORECASE,
    )
    texts = [f"{r.title}. {r.text or ''}" for r in news.itertuples()]
    assert len(texts) == n_texts
    assert sum(bool(traces.search(t)) for t in texts) > 0.75 * n_texts
    assert [t for t in map(mask, texts) if traces.search(t)] == []


def test_long_words_and_digits_are_masked_in_time() -> None:
    mask, began = TextMask(BTC, 10.0, 20.0), time.process_time()
    for text in ("x" * 50_000, "7" * 50_000, "7," * 25_000, "7 " * 25_000, "$" * 50_000):
        assert mask(text) == text.strip()
    assert time.process_time() - began < 3


# Wrappers in a row, and what passes through


def test_wrappers_stand_in_a_row() -> None:
    agent = get_agent("masked+inverted+vanilla")
    assert (agent.id, agent.label) == ("masked+inverted+vanilla", "Vanilla, inverted, masked")
    probe = Probe(Intent.LONG)
    for wrapped in (Masked(Inverted(probe)), Inverted(Masked(probe)), Masked(Masked(probe))):
        decision, desk = at_work(wrapped, Scripted([ANSWER]))
        assert decision.intent is (
            Intent.LONG if wrapped.id == "masked+masked+probe" else Intent.SHORT
        )
        assert leaks(desk.calls[0].prompt) == []
        assert decision.calls == tuple(desk.calls)


@pytest.mark.parametrize("wrap", [Inverted, Masked])
def test_memory_and_lessons_pass_through(wrap: type[Inverted | Masked]) -> None:
    probe = Probe()
    wrapped = wrap(probe)
    assert wrapped.learns
    assert wrapped.id == f"{wrapped.prefix}+probe"
    held = {"kind": "probe", "version": 1, "n": 3}
    memory = wrapped.memory(held)
    assert memory is not None
    assert memory.dump() == held
    desk = Desk(market(stories=(story("x"),)), FLAT, Scripted([]), Season(), memory=memory)
    outcome = Past(date(2025, 7, 31), "SELL", desk.context.price, 0.02)
    asyncio.run(wrapped.learn(desk, outcome))
    studied = asyncio.run(wrapped.study(desk, outcome))
    assert all(d.memory is memory for d in probe.desks)
    shown = outcome
    if wrap is Masked:
        shown = Past(date(2025, 7, 31) + timedelta(days=SHIFT_DAYS), "SELL", 100.0, 0.02)
    assert probe.outcomes == [shown, shown]
    assert [c.role for c in desk.calls] == ["reward"]
    assert (studied.intent, studied.evidence) == (Intent.LONG, ("btc-2025-08-01-7",))


def test_the_newer_of_two_periods_stays_the_newer() -> None:
    rows = tuple(
        {"id": f"{f}{p}", "field": f, "period": p, "value": x, "known_at_utc": FILED}
        for f, p, x in (
            ("equity", "FY2024", 500.0), ("equity", "2025Q2", 500.0),
            ("debt", "FY2024", 100.0), ("debt", "2025Q2", 900.0),
        )
    )  # fmt: skip
    masked = Mask(market(TSLA, 302.63, fundamentals=rows)).context.fundamentals
    seen, real = read_fundamentals(masked), read_fundamentals(rows)
    assert seen is not None
    assert real is not None
    # 900 / 500 at the newest balance, not 100 / 500
    assert seen.now.debt_to_equity == pytest.approx(1.8) == real.now.debt_to_equity

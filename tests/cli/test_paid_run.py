"""A whole run on a model that costs money: kill -9 with 16 calls in flight, and a budget that holds."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests import forked
from tests.llm.mock_provider import Asked, MockProvider, Say

PRICE_IN, PRICE_OUT = 10.0, 50.0  # USD per million tokens
USAGE = (1_000, 100)  # 1,000 x 10 + 100 x 50 = 15,000 millionths: 0.015 USD a call
COST_USD = 0.015
KEY = "sk-mock-abcdefghijklmnop"
WORKERS = 16
KILLS = 3
MODELS = """
[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0

[[model]]
id = "mock/free"
label = "Mock without a price"
kind = "model"
route = "openai/free"
key_env = "MOCK_API_KEY"
api_base = "{url}"
"""


def answer(asked: Asked, n: int) -> Say:
    return Say(delay_s=0.05 + 0.01 * (n % 7), usage=USAGE)


@pytest.fixture
def mock() -> Any:
    with MockProvider(answer) as provider:
        yield provider


def command(store: Path, *more: str) -> list[str]:
    return [
        "replay", "--data", "sample", "--brief", "none", "--store", str(store),
        "--agents", "vanilla", "--models", "mock/priced", "--epochs", "1", "--warmup", "0",
        "--start", "2025-08-04", "--end", "2025-08-22", "--strategies", "baseline",
        "--workers", str(WORKERS), "--json", *more,
    ]  # fmt: skip


def env(tmp_path: Path, mock: MockProvider) -> dict[str, str]:
    roster = tmp_path / "models.toml"
    roster.write_text(MODELS.format(url=mock.url))
    return {**os.environ, "ARENA_MODELS": str(roster), "MOCK_API_KEY": KEY}


def charged_usd(mock: MockProvider) -> float:
    return sum(n_in * PRICE_IN + n_out * PRICE_OUT for n_in, n_out in mock.bill) / 1e6


def stored(store: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(store)) as con:
        return con.execute(sql).fetchall()


def test_the_budget_holds_through_kills_and_nothing_is_paid_twice(
    arena: Callable[..., Any], tmp_path: Path, mock: MockProvider
) -> None:
    store, budget, rng = tmp_path / "a.duckdb", 0.75, random.Random(1)
    environment = env(tmp_path, mock)
    for _ in range(KILLS):
        before = len(mock.asked)
        run = forked.start(*command(store, "--budget-usd", str(budget)), env=environment)
        deadline = time.monotonic() + 60
        # In the middle of calls: some more than at the start, and not always the same number.
        wanted = before + rng.randint(3, 9)
        while len(mock.asked) < wanted and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        run.kill()
        run.wait()
        assert charged_usd(mock) <= budget
    done = arena(*command(store, "--budget-usd", str(budget)), **environment)
    assert done.code == 0, done.err
    first = done.json
    assert "--budget-usd" in first["budget_stop"]
    # 0.75 USD holds 50 calls; fewer, as reservations of killed calls count as spent.
    assert 0.1 < charged_usd(mock) <= budget
    assert stored(store, "SELECT status, note LIKE 'budget_stop%' FROM runs") == [("stopped", True)]
    whole = arena(*command(store, "--budget-usd", "20"), **environment).json
    assert "budget_stop" not in whole
    # 19 days of two coins, 15 sessions of two stocks.
    assert whole["n_decisions"] == 2 * 19 + 2 * 15
    assert whole["n_failed"] == 0
    # Every decision took one answer; besides, only what was in flight when a process was killed.
    answered = stored(store, "SELECT count(*) FROM attempts WHERE status = 'answered'")[0][0]
    assert answered == 68
    assert len(mock.asked) - 68 <= KILLS * WORKERS
    assert stored(store, "SELECT round(sum(cost_usd), 6) FROM decisions") == [(round(68 * COST_USD, 6),)]
    again = len(mock.asked)
    assert arena(*command(store, "--budget-usd", "20"), **environment).code == 0
    assert len(mock.asked) == again


def test_what_nothing_bounds_is_refused_before_a_store_exists(
    arena: Callable[..., Any], tmp_path: Path, mock: MockProvider
) -> None:
    environment = {k: env(tmp_path, mock)[k] for k in ("ARENA_MODELS", "MOCK_API_KEY")}
    words = command(tmp_path / "a.duckdb")
    refused = arena(*words, **environment)
    assert (refused.code, "Give --budget-usd" in refused.err) == (2, True)
    words[words.index("mock/priced")] = "mock/free"
    unknown = arena(*words, "--budget-usd", "5", **environment)
    assert (unknown.code, "--allow-unpriced" in unknown.err) == (2, True)
    assert not (tmp_path / "a.duckdb").exists()
    assert mock.asked == []
    capped = arena(*words, "--allow-unpriced", "--token-cap", "20000", **environment)
    assert capped.code == 0, capped.err
    assert "--token-cap" in capped.json["budget_stop"]
    assert sum(map(sum, mock.bill)) <= 20_000
    assert KEY not in capped.out + capped.err


def test_the_key_is_nowhere_in_the_store(
    arena: Callable[..., Any], tmp_path: Path
) -> None:
    with MockProvider(lambda asked, _n: Say(text=f"your key is {asked.headers['authorization']}")) as mock:
        environment = {k: env(tmp_path, mock)[k] for k in ("ARENA_MODELS", "MOCK_API_KEY")}
        words = command(tmp_path / "a.duckdb", "--budget-usd", "5", "--assets", "QUBIXCOIN")
        words[words.index("2025-08-22")] = "2025-08-04"
        done = arena(*words, **environment)
    assert done.json["n_failed"] == 1  # a model that repeats the key gives no usable answer
    for table in ("blobs", "calls", "decisions", "attempts"):
        text = str(stored(tmp_path / "a.duckdb", f"SELECT * FROM {table}"))
        assert KEY not in text
    assert "[secret]" in str(stored(tmp_path / "a.duckdb", "SELECT * FROM blobs"))

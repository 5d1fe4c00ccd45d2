"""Warm-up, memory and what follows a decision: who is told what, when, and that nothing of it counts."""

from __future__ import annotations

import json
import threading
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from arena.agents import registry
from arena.agents.base import Agent
from arena.agents.desk import Desk
from arena.agents.memory.base import Dump, opened
from arena.audit.check import check_store
from arena.core.actions import WORD_INTENT, Intent, Status
from arena.core.errors import ConfigError
from arena.core.season import RunSpec
from arena.core.types import Decision, Past
from arena.market.sources import open_source
from arena.runner.plan import load_histories
from arena.store import reader
from arena.store.store import open_store
from tests.runner.test_replay import digest, play, spec


class Diary:
    """A memory that writes down all that its agent was told."""

    def __init__(self, lines: list[Any]) -> None:
        self.lines = lines

    def dump(self) -> dict[str, Any]:
        return {"kind": "diary", "version": 1, "lines": self.lines}


class Diarist(Agent):
    """Short after a rise, long after a fall; knows only what it was told."""

    id, label, learns = "diarist", "Diarist", True

    def memory(self, dump: Dump | None = None) -> Diary:
        return Diary(list(opened(dump, "diary", 1)["lines"]) if dump else [])

    async def learn(self, desk: Desk, outcome: Past) -> None:
        desk.memory.lines.append(["learn", _told(outcome)])  # type: ignore[union-attr]

    async def study(self, desk: Desk, outcome: Past) -> Decision:
        desk.memory.lines.append(["study", _told(outcome)])  # type: ignore[union-attr]
        desk.noted("add", {"line": len(desk.memory.lines)})  # type: ignore[union-attr]
        return desk.decision(WORD_INTENT[outcome.action], Status.OK, "as taught")

    async def decide(self, desk: Desk) -> Decision:
        kind, (_, _, move) = desk.memory.lines[-1]  # type: ignore[union-attr]
        assert kind == "learn"
        return desk.decision(Intent.SHORT if move > 0 else Intent.LONG, Status.OK, f"after {move}")


def _told(outcome: Past) -> list[Any]:
    return [str(outcome.session), outcome.action, outcome.next_return_frac]


@pytest.fixture(autouse=True)
def _diarist(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.known_agents()
    monkeypatch.setitem(registry._AGENTS, "diarist", Diarist())


def run_of(**changes: Any) -> RunSpec:
    values: dict[str, Any] = {
        "assets": ("QUBIXCOIN",), "agents": ("diarist",), "models": ("offline/trend",), "warmup": 3,
        "start": date(2025, 8, 4), "end": date(2025, 8, 6),
    }  # fmt: skip
    return spec(**(values | changes))


def closes(run: RunSpec) -> dict[date, float]:
    from arena.core.clock import utc_now

    history = load_histories(open_source("sample"), run, utc_now())["QUBIXCOIN"]
    return {b.session: b.close for b in history.bars}


def test_who_is_told_what_and_when(tmp_path: Path) -> None:
    run = run_of()
    result = play(tmp_path / "w.duckdb", run)
    assert result.n_decisions == 3  # a warm-up does not count
    price = closes(run)
    d1, d2, d3, s1, s2, s3 = (date(2025, 8, day) for day in (1, 2, 3, 4, 5, 6))

    def move(a: date, b: date) -> float:
        return price[b] / price[a] - 1.0

    with open_store(tmp_path / "w.duckdb", read=True) as store:
        rows = reader.decisions(store, run.run_id(), phase=None).to_dict("records")
        lines = json.loads(reader.memories(store, run.run_id())[rows[0]["track"]]["content_json"])[
            "lines"
        ]
    assert [r["phase"] for r in rows] == ["warmup"] * 3 + ["live"] * 3
    assert [r["seq"] for r in rows] == [0, 1, 2, 3, 4, 5]
    # Each session of the warm-up: first what followed the day before, then the answer of today.
    words = [r["action"] for r in rows]
    told = [(kind, said[0], said[2]) for kind, said in lines]
    assert told == [
        ("study", str(d1), move(d1, d2)),
        ("learn", str(d1), move(d1, d2)),
        ("study", str(d2), move(d2, d3)),
        ("learn", str(d2), move(d2, d3)),
        ("study", str(d3), move(d3, s1)),
        ("learn", str(d3), move(d3, s1)),
        ("learn", str(s1), move(s1, s2)),
        ("learn", str(s2), move(s2, s3)),
    ]
    # The forced word has the sign of the move that follows; a rising day teaches BUY.
    for word, (a, b) in zip(words[:3], [(d1, d2), (d2, d3), (d3, s1)], strict=True):
        assert word == ("BUY" if move(a, b) > 0 else "SELL")
    for word, (a, b) in zip(words[3:], [(d3, s1), (s1, s2), (s2, s3)], strict=True):
        assert word == ("SELL" if move(a, b) > 0 else "BUY")


def test_accounts_start_flat_at_the_capital_after_it(tmp_path: Path) -> None:
    run = run_of()
    play(tmp_path / "w.duckdb", run)
    with open_store(tmp_path / "w.duckdb", read=True) as store:
        rows = reader.decisions(store, run.run_id(), phase=None).to_dict("records")
        summaries = reader.summaries(store, run.run_id())
        equity = reader.equity(store, summaries["account"].tolist())
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
    assert rows[3]["position_before"] == 0  # though the paper account was invested
    assert any(r["position_before"] for r in rows[1:3])
    assert set(equity["session"].dt.date) == {date(2025, 8, d) for d in (4, 5, 6)}
    first = equity[equity["session"] == "2025-08-04"]
    assert set(first["balance"]) == {100_000.0}  # fill `next`: the first row is V_0
    assert set(summaries["n_decisions"]) == {0, 3}  # Buy & Hold has none


def test_paper_mode_decides_from_the_first_session(tmp_path: Path) -> None:
    run = run_of(warmup_mode="paper", agents=("vanilla", "diarist"), warmup=0)
    play(tmp_path / "p.duckdb", run_of(warmup_mode="teacher", agents=("vanilla",)))
    with open_store(tmp_path / "p.duckdb", read=True) as store:
        phases = reader.decisions(store, run_of(agents=("vanilla",)).run_id(), phase=None)["phase"]
    assert set(phases) == {"live"}  # an agent that does not learn has no warm-up
    assert run.warmup == 0


def test_a_run_stopped_in_its_warm_up_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    run = run_of(warmup=6, models=("offline/contrarian", "offline/trend"))
    play(tmp_path / "calm.duckdb", run)
    stop, rounds = threading.Event(), []

    def progress(tick: object) -> None:
        rounds.append(tick)
        if len(rounds) in (2, 5):
            stop.set()

    for _ in range(2):
        stop.clear()
        assert play(tmp_path / "torn.duckdb", run, stop=stop, progress=progress).stopped
    done = play(tmp_path / "torn.duckdb", run)
    assert done.n_decisions == 6
    assert digest(tmp_path / "torn.duckdb", tmp_path / "t") == digest(
        tmp_path / "calm.duckdb", tmp_path / "c"
    )
    again = play(tmp_path / "torn.duckdb", run)
    assert (again.n_resumed, again.n_decisions) == (6, 6)


def test_memory_of_a_newer_version_is_refused_with_the_fix(tmp_path: Path) -> None:
    run = run_of()
    stop = threading.Event()
    play(tmp_path / "n.duckdb", run, stop=stop, progress=lambda _: stop.set())
    with open_store(tmp_path / "n.duckdb") as store, store.cursor() as cur:
        cur.execute("UPDATE memory SET content_json = replace(content_json, '\"version\":1', '\"version\":2')")
    with pytest.raises(ConfigError, match="version 2; this arena reads up to 1"):
        play(tmp_path / "n.duckdb", run)


def test_too_little_history_names_the_first_start_with_the_warm_up(tmp_path: Path) -> None:
    source = open_source("sample")
    first = min(source.daily(source.assets()["QUBIXCOIN"], date(2020, 1, 1), date(2026, 1, 1))["session"])
    start = date.fromordinal(first.toordinal() + 259)  # the 260th bar
    early = run_of(start=start, end=start, warmup=5)
    with pytest.raises(ConfigError, match=f"first possible start is {date.fromordinal(start.toordinal() + 5)}"):
        play(tmp_path / "e.duckdb", early)
    play(tmp_path / "e.duckdb", run_of(start=start, end=start, warmup=0, agents=("vanilla",)))

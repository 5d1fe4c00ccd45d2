"""A whole run whose agent works behind a URL: the same decisions as in process, memory and all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.serving import serving

ENTRIES = """
[[agent]]
id = "there"
label = "Investor elsewhere"
url = "{url}"
protocol = "arena/2"
learns = true
allow_private = true

[[agent]]
id = "paper"
label = "Vanilla by the paper's payload"
url = "{paper}"
allow_private = true
"""
SLIPS = """
from arena.agents.base import Agent

class Slips(Agent):
    id, label = "slips", "Slips"

    async def decide(self, desk):
        return desk.view.equity / 0
"""
WINDOW = ("--data", "sample", "--assets", "QUBIXCOIN,ZORVANE", "--start", "2025-08-01",
          "--end", "2025-08-12", "--warmup", "6", "--strategies", "baseline", "--json")  # fmt: skip


@pytest.fixture
def entries(tmp_path: Path) -> Iterator[Path]:
    listed = tmp_path / "agents.toml"
    with (
        serving(tmp_path, "investor", "offline/trend") as url,
        serving(tmp_path, "vanilla", "offline/trend") as paper,
    ):
        listed.write_text(ENTRIES.format(url=url, paper=paper))
        yield listed


def decisions(store: Path, agent: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(store)) as con:
        return con.execute(
            "SELECT asset, slot_key, phase, intent, status, reason, conviction, evidence_json, "
            "market_hash FROM decisions WHERE agent = ? ORDER BY asset, slot_key",
            [agent],
        ).fetchall()


def test_a_run_elsewhere_is_the_run_here(
    arena: Callable[..., Any], tmp_path: Path, entries: Path
) -> None:
    environment = {**os.environ, "ARENA_AGENTS": str(entries)}
    store = tmp_path / "a.duckdb"
    done = arena("replay", "--store", store, "--agents", "there,investor,paper", "--models",
                 "offline/trend", *WINDOW, **environment)  # fmt: skip
    assert done.code == 0, done.err
    # 12 days of a coin and 8 sessions of a stock, three agents. An agent elsewhere has its own model,
    # which says what it is sent.
    assert (done.json["n_decisions"], done.json["n_failed"]) == (3 * 20, 0)
    here, there = decisions(store, "investor"), decisions(store, "there")
    assert there == here
    assert len(here) == 20 + 2 * 6
    paper = decisions(store, "paper")
    assert {row[4] for row in paper} == {"ok"}
    assert len(paper) == 20  # it does not learn, so it has no warm-up
    with duckdb.connect(str(store)) as con:
        models = dict(con.execute("SELECT DISTINCT agent, model FROM decisions").fetchall())
    assert models == {"investor": "offline/trend", "there": "arena/2", "paper": "ama/1"}
    assert arena("check", "--store", store).code == 0


def test_an_agent_that_is_gone_is_a_failure_that_others_do_not_share(
    arena: Callable[..., Any], tmp_path: Path
) -> None:
    listed = tmp_path / "agents.toml"
    listed.write_text(
        '[[agent]]\nid = "gone"\nlabel = "Gone"\nurl = "http://127.0.0.1:9/x"\nallow_private = true\n'
        '\n[[agent]]\nid = "torn"\npath = "torn.py"\n'
    )
    (tmp_path / "torn.py").write_text("class Torn(:\n")
    environment = {**os.environ, "ARENA_AGENTS": str(listed)}
    store = tmp_path / "a.duckdb"
    words = [*WINDOW]
    words[words.index("2025-08-12")] = "2025-08-01"
    done = arena("replay", "--store", store, "--agents", "gone,vanilla", "--models", "offline/trend",
                 *words, **environment)  # fmt: skip
    assert (done.code, done.json["n_decisions"], done.json["n_failed"]) == (0, 4, 2)
    statuses = {(a, s) for a in ("gone", "vanilla") for *_, s in [r[:5] for r in decisions(store, a)]}
    assert statuses == {("gone", "provider_error"), ("vanilla", "ok")}
    (tmp_path / "slips.py").write_text(SLIPS)
    with listed.open("a") as more:
        more.write('\n[[agent]]\nid = "slips"\npath = "slips.py"\n')
    slipped = arena("replay", "--store", tmp_path / "b.duckdb", "--agents", "slips,vanilla",
                    "--models", "offline/trend", *words, **environment)  # fmt: skip
    assert (slipped.code, slipped.json["n_failed"]) == (0, 2)
    said = {(row[4], row[5]) for row in decisions(tmp_path / "b.duckdb", "slips")}
    assert said == {
        ("invalid_output", "Error in the agent's code. ZeroDivisionError: float division by zero (slips.py line 8)")
    }
    broken = arena("replay", "--store", store, "--agents", "torn", *words, **environment)
    assert broken.code == 2
    assert "torn.py line 1" in broken.err

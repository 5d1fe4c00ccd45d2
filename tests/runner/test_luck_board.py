"""Luck of a real board: a sample run, against the stored numbers and slow recomputation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.analytics.leaderboard import board
from arena.analytics.proportions import wilson_interval
from arena.cli.main import app
from arena.core.season import RunSpec, Season
from arena.market.sources import open_source
from arena.runner.boards import BoardData, select_board
from arena.runner.luck_board import luck_board, row_key, with_luck
from arena.runner.replay import run_replay
from arena.store import reader
from arena.store.store import Store, open_store

STRATEGIES = ("baseline", "flip_on_reversal", "pyramid_exit")
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("luck") / "a.duckdb"
    spec = RunSpec(
        kind="replay", season=Season(slippage_bps=2), source="sample",
        assets=("QUBIXCOIN", "ZORVANE"), agents=("vanilla",),
        models=("offline/trend", "offline/contrarian"),
        start=date(2025, 8, 1), end=date(2025, 9, 5), warmup=0,
    )  # fmt: skip
    with open_store(path) as store:
        run_replay(spec, STRATEGIES, open_source("sample"), store)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path, read=True) as opened:
        yield opened


def asked(store: Store, by: str) -> tuple[BoardData, Rows]:
    data = select_board(store, None)
    rows = board(data.summaries, data.equity, by=by, capital=data.capital, fills=data.fills)  # type: ignore[arg-type]
    return data, with_luck(rows, luck_board(store, data, rows))


def test_own_timing_all_in_is_the_stored_return(store: Store) -> None:
    """Two engines and the forced close agree: the floor compares with the return that the board shows."""
    _, rows = asked(store, "account")
    checked = 0
    for row in rows:
        own = row["luck"]["floor"]["own_return_frac"]
        if own is not None and row["strategy"] != "pyramid_exit":
            assert own == pytest.approx(row["metrics"]["CR"]["value"], abs=1e-12)
            checked += 1
    assert checked >= 6


def test_excess_and_interval_belong_to_the_row(store: Store) -> None:
    _, rows = asked(store, "entry")
    for row in rows:
        luck = row["luck"]
        interval = luck["return_interval"]
        # A resample of the very curve: its return lies inside but for odd samples, none of them here.
        assert interval["low"] <= row["metrics"]["CR"]["value"] <= interval["high"]
        if row["group"] == "benchmark":
            assert (luck["verdict"], luck["decision_score"], luck["flags"]) == (None, None, [])
            assert luck["floor"]["reason"] == "one_position"
            # It is the asset, but for its first day: it buys at an open and pays a fee.
            assert luck["market_model"]["beta"] == pytest.approx(1.0, abs=0.1)
        else:
            excess = luck["excess_interval"]
            apart = excess["low"] > 0 or excess["high"] < 0
            assert apart == (luck["verdict"] != "not distinguishable from Buy & Hold")


def test_decision_score_counted_slowly(store: Store) -> None:
    _, rows = asked(store, "entry")
    row = next(r for r in rows if r["entry"] == "vanilla@offline/trend")
    decisions = reader.decisions(store, row["run"])
    own = decisions[(decisions["agent"] == "vanilla") & (decisions["model"] == "offline/trend")]
    n = agreed = 0
    for d in own.to_dict("records"):
        bars = reader.bars(store, d["asset"], 0)
        later = bars[bars["session"] > d["session"]]
        if d["action"] == "HOLD" or later.empty:
            continue
        move = later["close"].iloc[0] - d["price"]
        n += 1
        agreed += bool(move > 0 if d["action"] == "BUY" else move < 0)
    score = row["luck"]["decision_score"]
    assert n > 10
    assert (score["n"], score["n_agreed"]) == (n, agreed)
    assert (score["low_frac"], score["high_frac"]) == wilson_interval(agreed, n)


def test_a_sound_run_has_no_mismatch_and_an_altered_one_has(store: Store) -> None:
    data, rows = asked(store, "account")
    assert "sign_mismatch" not in {f["flag"] for r in rows for f in r["luck"]["flags"]}
    victim = next(r["account"] for r in rows if r["strategy"] == "baseline")
    turned = data.equity.copy()
    turned.loc[turned["account"] == victim, "side"] *= -1
    found = luck_board(store, replace(data, equity=turned), rows)
    assert "sign_mismatch" in {f["flag"] for f in found[victim]["flags"]}


def test_equal_streams_share_everything(store: Store) -> None:
    """Stand-ins answer roles alike; where two accounts end alike, the leader of them shares its rank."""
    _, rows = asked(store, "account")
    ranked = [r for r in rows if r["rank"] is not None]
    leader = ranked[0]
    twins = [r for r in ranked[1:] if r["balance"] == leader["balance"]]
    assert all(r["luck"]["rank_label"] == leader["luck"]["rank_label"] for r in twins)
    numbers = [int(str(r["luck"]["rank_label"]).rstrip("=")) for r in ranked]
    assert numbers[0] == 1
    assert numbers == sorted(numbers)
    assert all(n <= r["rank"] for n, r in zip(numbers, ranked, strict=True))


def test_the_documented_shape(store: Store, root: Path) -> None:
    page = (root / "docs" / "metrics.md").read_text(encoding="utf-8").split("## Luck")[1]
    documented = json.loads(page.split("```json")[1].split("```")[0])
    _, rows = asked(store, "entry")
    made = next(r["luck"] for r in rows if r["group"] != "benchmark")
    assert made.keys() == documented.keys()
    for key, part in documented.items():
        if isinstance(part, dict):
            assert made[key].keys() == part.keys()


def test_twice_the_same(store: Store) -> None:
    first, second = asked(store, "entry")[1], asked(store, "entry")[1]
    assert json.dumps(first) == json.dumps(second)
    assert len({row_key(r) for r in first}) == len(first)


def test_the_command_line_tells_the_same(path: Path, store: Store) -> None:
    _, rows = asked(store, "entry")
    shown = CliRunner().invoke(
        app, ["leaderboard", "--store", str(path), "--format", "json", "--luck"]
    )
    assert shown.exit_code == 0, shown.output
    assert [r["luck"] for r in json.loads(shown.stdout)] == [r["luck"] for r in rows]
    plain = CliRunner().invoke(app, ["leaderboard", "--store", str(path), "--format", "json"])
    assert all("luck" not in r for r in json.loads(plain.stdout))
    table = CliRunner().invoke(
        app, ["leaderboard", "--store", str(path), "--format", "csv", "--luck"]
    )
    head, first = table.stdout.splitlines()[:2]
    assert "better_than_frac" in head
    assert len(first.split(",")) >= len(head.split(","))


def test_luck_wants_a_format_that_can_hold_it(path: Path) -> None:
    refused = CliRunner().invoke(app, ["leaderboard", "--store", str(path), "--luck"])
    assert refused.exit_code != 0

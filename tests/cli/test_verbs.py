"""Every verb on the sample: documents on stdout, words on stderr, exit codes 0, 1, 2."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

REPLAY = ("replay", "--data", "sample", "--assets", "ZORVANE,QUBIXCOIN", "--start", "2025-08-01",
          "--end", "2025-08-12", "--models", "offline/trend")  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, root: Path) -> tuple[Path, dict[str, Any]]:
    """One small finished run."""
    path = tmp_path_factory.mktemp("store") / "a.duckdb"
    done = subprocess.run(
        [sys.executable, "-m", "arena", *REPLAY, "--store", str(path), "--json"],
        cwd=root, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "decisions/s" in done.stderr
    return path, json.loads(done.stdout)


def test_replay_reports(made: tuple[Path, dict[str, Any]]) -> None:
    path, document = made
    assert set(document) == {
        "runs", "n_decisions", "n_failed", "n_gaps", "n_ignored", "n_resumed", "store"
    }  # fmt: skip
    # 12 days of the coin, 8 sessions of the stock.
    assert document["n_decisions"] == 20
    assert document["store"] == str(path)


def test_an_agents_label_names_the_same_run(
    arena: Callable[..., Any], made: tuple[Path, dict[str, Any]]
) -> None:
    again = arena(*REPLAY, "--agents", "Vanilla", "--store", made[0], "--json").json
    assert again["runs"] == made[1]["runs"]
    assert again["n_resumed"] == 20


def test_leaderboard_shapes(arena: Callable[..., Any], made: tuple[Path, dict[str, Any]]) -> None:
    path, document = made
    by_account = arena("leaderboard", "--store", path, "--by", "account", "--format", "json").json
    names = {
        "account", "agent", "model", "asset", "strategy", "run", "epoch", "fill", "start", "end",
        "n_sessions", "n_decisions", "n_failed", "n_gaps", "n_late", "bankrupt", "voided", "group",
        "rank", "balance", "metrics",
    }  # fmt: skip
    assert all(names <= set(r) for r in by_account)
    metrics = {
        "CR", "CR_gross", "AR", "AV", "SR", "MDD", "Sortino", "Calmar", "win_rate_trades",
        "win_rate_active", "time_in_market", "turnover", "excess_bh", "days_over_bh",
    }  # fmt: skip
    assert set(by_account[0]["metrics"]) == metrics
    assert {"value", "status", "reason", "unit", "basis", "flags"} <= set(by_account[0]["metrics"]["CR"])
    by_entry = arena("leaderboard", "--store", path, "--format", "json").json
    assert {r["entry"] for r in by_entry} == {"vanilla@offline/trend", "buy_hold"}
    assert {r["group"] for r in by_entry} == {"stand_in", "benchmark"}
    assert all(r["fill"] == "next" for r in by_entry)
    assert [r["rank"] for r in by_entry if r["group"] == "benchmark"] == [None]
    for fmt in ("table", "csv", "latex"):
        assert "vanilla@offline/trend" in arena("leaderboard", "--store", path, "--format", fmt).out
    bad = arena("leaderboard", "--store", path, "--assets", "ZORVAN")
    assert (bad.code, "Did you mean `ZORVANE`" in bad.err) == (2, True)
    assert arena("leaderboard", "--store", path, "--run", document["runs"][0]).code == 0


def test_equity_decision_manifest_export(
    arena: Callable[..., Any], made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    path, document = made
    track = f"{document['runs'][0]}:vanilla@offline%2Ftrend:QUBIXCOIN"
    curve = arena("equity", "--store", path, "--account", f"{track}:baseline", "--format", "json").json
    assert len(curve) == 12
    assert set(curve[0]) == {"session", "price", "position", "balance", "balance_gross"}
    decision = arena("decision", "--store", path, f"{track}:2025-08-04", "--json").json
    (call,) = decision["calls"]
    assert "QUBIXCOIN" in call["prompt"]
    assert json.loads(call["answer"])["action"] == decision["action"]
    assert decision["context"]["n_bars"] == 260
    assert "--- prompt ---" in arena("decision", "--store", path, f"{track}:2025-08-04").out
    missing = arena("decision", "--store", path, f"{track}:2025-08-99")
    assert (missing.code, "Unknown decision" in missing.err) == (2, True)
    manifest = arena("manifest", "--store", path, "--run", document["runs"][0]).json
    assert manifest["synthetic_data"] is True
    assert manifest["n_decisions"] == 20
    assert arena("export", "--store", path, "--out", tmp_path / "out", "--format", "csv").code == 0
    assert (tmp_path / "out" / "decisions.csv").read_text().count("\n") == 21


def test_rescore_and_void(
    arena: Callable[..., Any], made: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "copy.duckdb"
    shutil.copy(made[0], path)
    run = made[1]["runs"][0]
    child = arena("rescore", "--store", path, "--run", run, "--fill", "close", "--json").json
    rows = arena("leaderboard", "--store", path, "--run", child["runs"][0], "--format", "json").json
    assert {r["rank"] for r in rows} == {None}
    assert arena("void", "--store", path, "--run", run, "--reason", "wrong data").code == 0
    rows = arena("leaderboard", "--store", path, "--run", run, "--format", "json").json
    assert all(r["voided"] and r["rank"] is None for r in rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--assets", "TSLAA"), "Unknown asset `TSLAA`"),
        (("--agents", "vanila"), "Did you mean `vanilla`"),
        (("--models", "gpt-4o"), "Give --budget-usd"),
        (("--models", "claude-3.5-haiku", "--budget-usd", "1"), "was retired by its provider"),
        (("--models", "gpt-6-luna", "--budget-usd", "1"), "OPENAI_API_KEY is not set"),
        (("--models", "gpt-4p"), "Unknown model `gpt-4p`"),
        (("--strategies", "basline"), "Did you mean `baseline`"),
        (("--start", "yesterday"), "--start is `yesterday`, which is no date"),
        (("--start", "2025-09-01"), "--start 2025-09-01 is after --end 2025-08-12"),
        (("--data", "files:/no/such/folder"), "there is no folder"),
        (("--data", "nonsense"), "--data is `nonsense`"),
        (("--fill", "soon"), "--fill is `soon`; it must be next or close"),
        (("--fee-bps", "-1"), "fee_bps of"),
        (("--capital", "0"), "`capital`"),
        (("--protocol", "ama-2024"), "Did you mean `ama-2025`"),
        (("--nonsense",), "No such option: --nonsense"),
    ],
)
def test_bad_arguments_name_value_rule_and_fix(
    arena: Callable[..., Any], tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    store = tmp_path / "a.duckdb"
    done = arena(*REPLAY, "--store", store, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not store.exists()


def test_a_missing_option_is_named(arena: Callable[..., Any]) -> None:
    done = arena("rescore")
    assert (done.code, done.out) == (2, "")
    assert "Missing option '--run'" in done.err


def test_stores_that_cannot_be_used(arena: Callable[..., Any], tmp_path: Path) -> None:
    none = arena("leaderboard", "--store", tmp_path / "none.duckdb")
    assert none.code == 2
    assert not (tmp_path / "none.duckdb").exists()
    garbage = tmp_path / "garbage.duckdb"
    garbage.write_bytes(b"not a database" * 1000)
    done = arena(*REPLAY, "--store", garbage)
    assert (done.code, "garbage.duckdb" in done.err) == (2, True)
    assert garbage.read_bytes() == b"not a database" * 1000


HOLD_OPEN = """
import time
from arena.store.store import open_store
store = open_store({path!r})
print("open", flush=True)
time.sleep(60)
"""


def test_a_second_process_reads_the_snapshot_and_cannot_write(
    arena: Callable[..., Any], made: tuple[Path, dict[str, Any]], tmp_path: Path, root: Path
) -> None:
    path = tmp_path / "a.duckdb"
    assert arena(*REPLAY, "--store", path).code == 0
    owner = subprocess.Popen(
        [sys.executable, "-c",
         HOLD_OPEN.format(path=str(path))],
        cwd=root, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        read = arena("leaderboard", "--store", path, "--format", "json")
        assert read.code == 0
        assert "snapshot" in read.err
        assert " s old" in read.err
        assert len(read.json) == 4
        assert arena("check", "--store", path).code == 0
        write = arena(*REPLAY, "--store", path)
        assert write.code == 2
        assert f"process {owner.pid}" in write.err
    finally:
        owner.kill()
        owner.wait()
        assert owner.stdout is not None
        owner.stdout.close()


TAMPER = {
    "equity": ("UPDATE equity SET balance = balance + 1 WHERE rowid = 10", "equity"),
    "decision": ("UPDATE decisions SET reason = 'other' WHERE seq = 3", "chain"),
    "action": ("UPDATE decisions SET intent = 'short', action = 'SELL' WHERE seq = 3", "chain"),
    "bar": ("UPDATE bars SET close = close * 1.0001 WHERE session = '2025-08-05'", "bars"),
    "old bar": ("UPDATE bars SET volume = volume + 1 WHERE session = '2025-03-05'", "bars"),
    "fill": ("UPDATE fills SET units = units * 1.01 WHERE rowid = 2", "fills"),
    "fee": ("UPDATE fills SET fee = 0 WHERE rowid = 2", "fills"),
    "answer": ("UPDATE blobs SET text = text || ' ' WHERE rowid = 4", "texts"),
    "lost tail": ("DELETE FROM decisions WHERE seq = (SELECT max(seq) FROM decisions)", "head"),
    "summary": ("UPDATE account_summary SET balance = balance * 2", "summary"),
}


@pytest.mark.parametrize("what", TAMPER)
def test_check_names_what_was_altered(
    arena: Callable[..., Any], made: tuple[Path, dict[str, Any]], tmp_path: Path, what: str
) -> None:
    path = tmp_path / "a.duckdb"
    shutil.copy(made[0], path)
    shutil.copy(made[0].with_suffix(".head.json"), path.with_suffix(".head.json"))
    statement, rule = TAMPER[what]
    with duckdb.connect(str(path)) as con:
        con.execute(statement)
    report = arena("check", "--store", path, "--json")
    assert report.code == 1, what
    assert rule in {f["rule"] for f in report.json["findings"] if f["level"] == "breach"}


def test_doctor(arena: Callable[..., Any], made: tuple[Path, dict[str, Any]]) -> None:
    done = arena("doctor", "--store", made[0], "--json")
    lines = {line["name"]: line for line in done.json}
    assert done.code == 0
    assert lines["store"]["text"].endswith("1 runs")
    assert lines["sample data"]["ok"]
    assert "models have what they need" in lines["models"]["text"]
    assert "local model" in lines

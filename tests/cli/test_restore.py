"""`restore`: the same board to the last digit from an empty disk, and exit codes of what cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.runner.keeper import Keeper
from arena.store.store import open_store

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2025, 9, 1, tzinfo=UTC)


def arena(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arena", *map(str, args)], cwd=ROOT, text=True, capture_output=True,
        env={**os.environ, "ARENA_NETWORK": "off"}, timeout=280, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store with a finished run, and the target where its keeper brought it."""
    folder = tmp_path_factory.mktemp("made")
    store, target = folder / "live.duckdb", folder / "target"
    done = arena(
        "replay", "--data", "sample", "--store", store, "--assets", "QUBIXCOIN,ZORVANE", "--agents",
        "vanilla", "--models", "offline/trend,offline/contrarian", "--start", "2025-08-01", "--end", "2025-08-15",
        "--warmup", "0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    os.environ["ARENA_UPLOAD_URL"] = target.as_uri()
    try:
        with open_store(store) as opened:
            keeper = Keeper(opened)
            keeper.tick(NOW)
            keeper.stop(60)
            assert keeper.flush(NOW) is None
    finally:
        del os.environ["ARENA_UPLOAD_URL"]
    return store, target


def board(store: Path) -> str:
    said = arena("leaderboard", "--store", store, "--format", "json")
    assert said.returncode == 0, said.stderr
    return said.stdout


def test_from_the_upload_target_on_an_empty_disk(uploaded: tuple[Path, Path], tmp_path: Path) -> None:
    store, target = uploaded
    new = tmp_path / "disk" / "live.duckdb"
    done = arena("restore", "--from", target.as_uri(), "--store", new, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    # Two models and their vote; the coin on all 15 days, the stock on the 11 sessions among them.
    assert (said["n_decisions"], said["refused"], said["moved"]) == (3 * (15 + 11), [], [])
    assert board(new) == board(store)
    check = arena("check", "--store", new)
    assert check.returncode == 0, check.stdout


def test_a_copy_with_an_altered_decision_is_refused(
    uploaded: tuple[Path, Path], tmp_path: Path
) -> None:
    import duckdb

    store, _ = uploaded
    forged = tmp_path / "forged.duckdb"
    forged.write_bytes(store.with_name("live.snapshot.duckdb").read_bytes())
    con = duckdb.connect(str(forged))
    con.execute("UPDATE decisions SET intent = 'short' WHERE intent = 'long'").fetchall()
    con.close()
    done = arena("restore", "--from", forged, "--store", tmp_path / "new.duckdb")
    assert done.returncode == 2
    assert "was altered" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "new.duckdb").exists()


def test_what_is_no_source_is_a_bad_argument(tmp_path: Path) -> None:
    done = arena("restore", "--from", tmp_path / "nothing", "--store", tmp_path / "new.duckdb")
    assert done.returncode == 2
    assert "nothing" in done.stderr
    assert done.stdout == ""

"""Runs that were cut off: nothing ends in the middle, and `check` sees what was taken away."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.cli.output import visible
from arena.core.errors import ConfigError
from arena.runner.derived import run_rescore
from arena.runner.first_run import goes_on_free
from arena.store import reader
from arena.store.store import Store, open_store
from tests.runner.test_replay import digest, play, spec


class After(threading.Event):
    """A stop that comes after `n` rounds."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def is_set(self) -> bool:
        self.n -= 1
        return self.n < 0


def breaches(store: Store) -> list[str]:
    return [f.rule for f in check_store(store).findings if f.level == "breach"]


def test_accounts_once_begun_go_on_whatever_the_command_names(tmp_path: Path) -> None:
    both = ("baseline", "pyramid_exit")
    play(tmp_path / "a.duckdb", spec(), both, stop=After(8))
    play(tmp_path / "a.duckdb", spec(), ("baseline",))
    play(tmp_path / "b.duckdb", spec(), both)
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        assert breaches(store) == []
    assert digest(tmp_path / "a.duckdb", tmp_path / "x") == digest(
        tmp_path / "b.duckdb", tmp_path / "y"
    )


def test_half_a_run_is_not_rescored(tmp_path: Path) -> None:
    play(tmp_path / "a.duckdb", spec(), stop=After(8))
    with open_store(tmp_path / "a.duckdb") as store:
        with pytest.raises(ConfigError, match="is `stopped`"):
            run_rescore(store, spec().run_id(), "close")
        assert len(reader.runs(store)) == 1


KILLED = """
import os, sys
from arena.runner.derived import run_rescore
from arena.store import writer
from arena.store.store import open_store

writer.GROUP_UNITS = 4
handle, left = writer.Writer._handle, [int(sys.argv[3])]

def then_die(self, jobs):
    handle(self, jobs)
    left[0] -= 1
    if not left[0]:
        os._exit(9)

writer.Writer._handle = then_die
with open_store(sys.argv[1]) as store:
    run_rescore(store, sys.argv[2], "close")
"""


def test_a_rescore_that_is_killed_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    run = spec(agents=("investor", "vanilla"), warmup=3, end=date(2025, 8, 8))
    play(path, run, ("baseline",))
    died = subprocess.run([sys.executable, "-c", KILLED, str(path), run.run_id(), "1"], check=False)
    assert died.returncode == 9
    with open_store(path) as store:
        run_rescore(store, run.run_id(), "close")
        assert breaches(store) == []
        child = reader.runs(store).query("kind == 'rescore'")["run"].iloc[0]
        # Votes come along, a warm-up does not: 8 days of a coin, 6 sessions of a stock, 2 x (2 + 1).
        assert len(reader.decisions(store, child, phase=None)) == (8 + 6) * 6


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("DELETE FROM account_summary WHERE strategy = 'pyramid_exit'", "summary"),
        ("UPDATE account_summary SET n_failed = 7 WHERE agent = 'vanilla'", "summary"),
        ("UPDATE account_summary SET start = '2025-08-02'", "summary"),
        ("UPDATE memory SET seq = seq - 1", "memory"),
        ("DELETE FROM equity", "completeness"),
    ],
)
def test_check_sees_it(tmp_path: Path, sql: str, rule: str) -> None:
    play(tmp_path / "a.duckdb", spec(agents=("investor", "vanilla"), warmup=2, end=date(2025, 8, 5)))
    with open_store(tmp_path / "a.duckdb") as store:
        assert breaches(store) == []
        store._writer().submit(lambda cur: cur.execute(sql)).result()
        assert rule in breaches(store)


def test_the_app_never_goes_on_with_a_run_that_costs_money() -> None:
    assert goes_on_free(spec().model_dump_json())
    assert not goes_on_free(spec(models=("gpt-4o",)).model_dump_json())
    assert not goes_on_free(spec(models=("no-such-model",)).model_dump_json())


def test_words_of_a_model_cannot_drive_a_terminal() -> None:
    assert visible("a\x1b]0;title\x07b\n\tc\x9bd") == "a\\x1b]0;title\\x07b\n\tc\\x9bd"

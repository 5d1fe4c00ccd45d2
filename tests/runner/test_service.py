"""The embedded runner: one a process, fills an empty store, shows a locked one, ends quickly."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from arena.core import settings
from arena.runner import first_run, service
from arena.runner.service import ServiceState
from arena.store import reader
from arena.store.export import export
from arena.store.store import open_store
from tests.runner.test_replay import play, spec


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "s.duckdb"
    monkeypatch.setenv("ARENA_RUNNER", "on")
    monkeypatch.setenv("ARENA_DATA", "sample")
    monkeypatch.setenv("ARENA_STORE", str(path))
    monkeypatch.setattr(first_run, "FIRST_RUN_DAYS", 6)
    monkeypatch.setattr(settings, "RECORDED", tmp_path / "recorded")
    yield path
    service.stop(30)


def settled(state: ServiceState, timeout_s: float = 60) -> ServiceState:
    assert state.thread is not None
    state.thread.join(timeout_s)
    assert not state.thread.is_alive()
    return state


def test_an_empty_store_fills_itself_once(running: Path) -> None:
    states: list[ServiceState] = []
    threads = [
        threading.Thread(target=lambda: states.append(service.ensure_started())) for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(s) for s in states}) == 1
    state = settled(states[0])
    assert (state.level, state.message, state.progress()) == ("ok", None, None)
    assert state.store is not None
    runs = reader.runs(state.store)
    assert runs["status"].tolist() == ["done"]
    assert bool(runs["synthetic"].iloc[0])
    # 26 to 31 December 2025: 6 days of two coins, 4 sessions of two stocks; five agents, each on
    # two rules and their vote.
    assert len(reader.decisions(state.store, runs["run"].iloc[0])) == 5 * 3 * (2 * 6 + 2 * 4)
    service.stop()
    again = settled(service.ensure_started())
    assert again.store is not None
    assert len(reader.runs(again.store)) == 1


def test_recorded_runs_join_the_first_run_and_are_not_taken_for_it(
    running: Path, tmp_path: Path
) -> None:
    run = spec(start=date(2025, 8, 4), end=date(2025, 8, 5))
    play(tmp_path / "made.duckdb", run)
    with open_store(tmp_path / "made.duckdb", read=True) as store:
        export(store, tmp_path / "recorded" / run.run_id(), with_timing=True)
    for _ in range(2):
        state = settled(service.ensure_started())
        assert state.store is not None
        runs = reader.runs(state.store)
        assert len(runs) == 2
        assert set(runs["status"]) == {"done"}
        # The newest is the one a board shows without being asked.
        assert runs["run"].iloc[1] == run.run_id()
        service.stop()


def test_stopping_in_a_replay_is_quick_and_the_next_start_finishes_it(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_run, "FIRST_RUN_DAYS", 40)
    state = service.ensure_started()
    deadline = time.monotonic() + 30
    while (state.progress() or (0.0, ""))[0] < 0.05 and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    service.stop()
    assert time.monotonic() - began < 2.0
    with open_store(running, read=True) as store:
        assert reader.runs(store)["status"].tolist() == ["stopped"]
    done = settled(service.ensure_started())
    assert done.store is not None
    assert reader.runs(done.store)["status"].tolist() == ["done"]


def test_a_locked_store_becomes_a_message_with_the_pid(running: Path, root: Path) -> None:
    settled(service.ensure_started())
    service.stop()
    hold = (
        "import time; from arena.store.store import open_store; "
        f"s = open_store({str(running)!r}); print('open', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", hold], cwd=root, stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        owner.stdout.readline()
        state = settled(service.ensure_started())
        assert state.level == "warning"
        assert f"process {owner.pid}" in (state.message or "")
        assert state.store is not None
        assert state.store.read_only
        assert len(reader.runs(state.store)) == 1
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()  # type: ignore[union-attr]


def test_a_damaged_store_is_a_message_not_a_crash(running: Path) -> None:
    running.write_bytes(b"garbage" * 1000)
    state = settled(service.ensure_started())
    assert state.level == "error"
    assert str(running.name) in (state.message or "")
    assert running.read_bytes() == b"garbage" * 1000


def test_auto_without_network_is_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(service, "RUNTIME", tmp_path)
    assert service.resolve_choice("auto") == "sample"
    (tmp_path / "live.duckdb").touch()
    assert service.resolve_choice("auto") == "live"
    assert service.resolve_choice("files:/x") == "files:/x"

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
from arena.core.errors import ConfigError
from arena.market.sources import live as live_source
from arena.runner import first_run, service
from arena.runner.service import ServiceState
from arena.store import damage, reader
from arena.store.damage import StoreTrouble
from arena.store.export import export
from arena.store.store import open_store
from tests.runner.test_replay import play, spec
from tests.store.conftest import Make


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
    """The state once the store is filled, or shown; a viewer's thread goes on."""
    ends_at = time.monotonic() + timeout_s
    while time.monotonic() < ends_at:
        if state.clock is not None or state.viewer is not None:
            return state
        assert state.thread is not None
        if not state.thread.is_alive():
            return state
        time.sleep(0.02)
    raise AssertionError("the service did not settle")


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
    monkeypatch.setattr(first_run, "FIRST_RUN_DAYS", 12)
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
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setattr(live_source, "reachable", lambda timeout_s: False)
    assert service.resolve_choice("auto") == "sample"
    # A source that is away for a moment makes no sample of an arena that is kept elsewhere.
    monkeypatch.setenv("ARENA_UPLOAD_URL", (tmp_path / "away").as_uri())
    assert service.resolve_choice("auto") == "live"
    monkeypatch.delenv("ARENA_UPLOAD_URL")
    (tmp_path / "live.duckdb").touch()
    assert service.resolve_choice("auto") == "live"
    assert service.resolve_choice("files:/x") == "files:/x"


def test_a_first_run_that_fails_stops_nothing_else(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data that changed under a replay which was cut off, say: the clock must run all the same."""

    def fails(*_: object, **__: object) -> None:
        raise ConfigError("data changed; use --new")

    monkeypatch.setattr(first_run, "fill_store", fails)
    state = settled(service.ensure_started())
    assert state.clock is not None
    assert state.level == "warning"
    assert "data changed" in (state.message or "")
    assert state.store is not None
    with state.store.cursor() as cur:
        cur.execute("SELECT action FROM audit")
        assert ("first run failed",) in cur.fetchall()


def test_a_full_disk_at_the_start_is_tried_again(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TICK_S", "0.1")
    opened = damage.open_guarded
    full = StoreTrouble("full", "1 MB is free.", "Make room.")
    answers = [(None, full)]
    monkeypatch.setattr(damage, "open_guarded", lambda path: answers.pop() if answers else opened(path))
    state = service.ensure_started()
    ends_at = time.monotonic() + 60
    while state.clock is None and time.monotonic() < ends_at:
        time.sleep(0.02)
    assert not answers
    assert state.clock is not None
    assert (state.level, state.message) == ("ok", None)


def test_no_message_names_the_folder(running: Path) -> None:
    """Visitors read it."""
    running.write_bytes(b"garbage" * 1000)
    state = settled(service.ensure_started())
    assert running.name in (state.message or "")
    assert str(running.parent) not in (state.message or "")


def test_without_a_runner_a_live_store_is_followed_and_left_free(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of pages beside `arena live`, started before it: it must not take the store."""
    for name, value in (("ARENA_RUNNER", "off"), ("ARENA_DATA", "live"), ("ARENA_TICK_S", "0.05")):
        monkeypatch.setenv(name, value)
    make = Make()
    with open_store(running) as store:
        store.write([make.ground(), make.unit(0)])
    state = settled(service.ensure_started())
    ends_at = time.monotonic() + 30
    while state.message is None and time.monotonic() < ends_at:
        time.sleep(0.02)
    assert (state.store, state.level) == (None, "error")
    for day in (1, 2):
        with open_store(running) as store:
            store.write([make.unit(day)])
            store.snapshot()
        while time.monotonic() < ends_at:
            if state.store is not None and len(reader.decisions(state.store, make.run_id)) == day + 1:
                break
            time.sleep(0.02)
        else:
            raise AssertionError("the new snapshot was not shown")
    assert (state.level, state.message) == ("ok", None)

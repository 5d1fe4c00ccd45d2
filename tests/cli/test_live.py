"""The live arena from the command line: what is due now, what is kept, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.audit.check import check_store
from arena.cli.live import Told, line_of
from arena.runner import live, live_seasons
from arena.runner.live_run import RoundReport
from arena.runner.once import Done, decide_once
from arena.runner.service import ServiceState
from arena.store import reader
from arena.store.store import open_store
from tests import forked
from tests.cli.conftest import Said
from tests.live.world import World
from tests.runner.test_follow import Receiver

SEASON = live_seasons.Section(
    label="Small", assets=("AAA", "XXX"), agents=("vanilla",), models=("offline/trend",),
    strategies=("baseline",), brief="none", warmup=0,
)  # fmt: skip
MONDAY, TUESDAY, AFTERNOON = "2026-03-02T12:00", "2026-03-03T00:10", "2026-03-03T14:10"
"""Nothing is due yet; Monday's session of the coin is; that of the stock, since 14:00 UTC."""


def made_up() -> None:
    """A made-up market in place of the live sources, and one agent and one rule on it."""
    world = World()
    live_seasons.load_sections = lambda *_: {"small": SEASON}  # type: ignore[assignment]
    live.open_source = lambda _: world  # type: ignore[assignment]


def strange() -> None:
    made_up()
    small = SEASON.model_copy(update={"assets": ("XXX", "NOWHERE")})
    live_seasons.load_sections = lambda *_: {"small": small}  # type: ignore[assignment]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    """A store whose season began on Monday, and what was said then."""
    folder = tmp_path_factory.mktemp("begun")
    store, clock, out, err = (folder / name for name in ("live.duckdb", "clock", "out", "err"))
    clock.write_text(f"{MONDAY}:00+00:00")
    env = {**os.environ, "ARENA_NETWORK": "off", "ARENA_CLOCK_FILE": str(clock)}
    words = ("round", "--once", "--data", "live", "--store", store)
    code = forked.start(*words, before=made_up, out=out, err=err, env=env).wait()
    return store, Said(code, out.read_text("utf-8"), err.read_text("utf-8"))


@pytest.fixture
def store(begun: tuple[Path, Said], tmp_path: Path) -> Path:
    for file in begun[0].parent.glob("live.*"):
        shutil.copyfile(file, tmp_path / file.name)
    return tmp_path / "live.duckdb"


@pytest.fixture
def at(tmp_path: Path, store: Path) -> Callable[..., Said]:
    """`round --once` at a moment, in a process of its own."""

    def decide(
        moment: str, *words: str, before: Callable[[], None] = made_up,
        out: str | None = None, **env: str,
    ) -> Said:  # fmt: skip
        clock = tmp_path / "clock"
        clock.write_text(f"{moment}:00+00:00")
        said = (Path(out or tmp_path / "out"), Path(out or tmp_path / "err"))
        code = forked.start(
            "round", "--once", "--data", "live", "--store", store, *words, before=before,
            out=said[0], err=said[1],
            env={**os.environ, "ARENA_CLOCK_FILE": str(clock), **env},
        ).wait()  # fmt: skip
        return Said(code, *("" if out else file.read_text("utf-8") for file in said))

    return decide


def slots(path: Path) -> list[tuple[str, str]]:
    with open_store(path, read=True) as opened:
        assert [f for f in check_store(opened).findings if f.level == "breach"] == []
        frame = reader.decisions(opened, str(reader.runs(opened)["run"].iloc[0]))
    return sorted(zip(frame["asset"], frame["slot_key"], strict=True))


def test_each_look_decides_what_has_come_due(
    begun: tuple[Path, Said], at: Callable[..., Said], store: Path
) -> None:
    assert (begun[1].code, begun[1].out) == (0, "Nothing is due.\n"), begun[1].err
    assert store.with_name("live.snapshot.duckdb").exists()
    coin = at(TUESDAY)
    assert coin.code == 0, coin.err
    assert coin.out.startswith("2026-03-03 00:05 UTC  live-")
    assert coin.out.endswith("-e1  1 decisions\n")
    assert at(TUESDAY).out == "Nothing is due.\n"
    stock = at(AFTERNOON, "--json")
    (report,) = stock.json["rounds"]
    assert (report["as_of_utc"], report["n_decisions"], stock.json["problems"]) == (
        "2026-03-03T14:00:00+00:00", 1, [],
    )  # fmt: skip
    assert slots(store) == [("AAA", "2026-03-02"), ("XXX", "2026-03-02")]


def test_on_an_empty_disk_it_goes_on_from_the_upload(
    at: Callable[..., Said], store: Path, tmp_path: Path
) -> None:
    away = {"ARENA_UPLOAD_URL": (tmp_path / "away").as_uri()}
    assert at(TUESDAY, **away).code == 0
    for file in tmp_path.glob("live.*"):
        file.unlink()
    assert at(AFTERNOON, **away).code == 0
    assert slots(store) == [("AAA", "2026-03-02"), ("XXX", "2026-03-02")]


def test_an_upload_that_fails_is_a_failure(
    at: Callable[..., Said], store: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = at(TUESDAY, ARENA_UPLOAD_URL=(tmp_path / "file" / "below").as_uri())
    assert done.code == 1
    assert "The upload failed" in done.err
    # What was decided stands all the same.
    assert slots(store) == [("XXX", "2026-03-02")]


def test_a_season_that_cannot_go_on_is_named(at: Callable[..., Said]) -> None:
    done = at(MONDAY, before=strange)
    assert done.code == 1
    assert "NOWHERE" in done.err


@pytest.mark.parametrize(
    ("report", "failed"), [({}, False), ({"n_late": 2}, False), ({"n_failed": 1}, True), ({"stopped": "budget"}, True)],
)  # fmt: skip
def test_what_makes_a_look_fail(report: dict[str, Any], failed: bool) -> None:
    plain = {"n_decisions": 4, "n_failed": 0, "n_late": 0, "decision_ids": ()}
    made = RoundReport(**{"run": "r", "as_of_utc": datetime(2026, 3, 3, tzinfo=UTC), **plain, **report})
    assert Done("s", [made]).failed is failed
    assert Done("s", [], 0, ["a season stands still"]).failed


def test_what_is_refused(arena: Callable[..., Said], at: Callable[..., Said], store: Path) -> None:
    assert arena("round").code == 2
    sample = arena("round", "--once", "--data", "sample", "--store", store)
    assert (sample.code, "nothing new ever becomes due" in sample.err) == (2, True)
    off = arena("live", "--store", store, ARENA_RUNNER="off")
    assert (off.code, "ARENA_RUNNER is off" in off.err) == (2, True)
    with open_store(store):
        owned = at(MONDAY)
    assert owned.code == 2
    assert f"process {os.getpid()}" in owned.err
    store.write_bytes(b"garbage" * 1000)
    damaged = at(MONDAY)
    assert damaged.code == 2
    assert store.read_bytes() == b"garbage" * 1000


@pytest.mark.fault(36)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_fault_36_a_round_is_decided_with_its_streams_on_a_full_disk(
    at: Callable[..., Said], store: Path
) -> None:
    assert at(TUESDAY, out="/dev/full", ARENA_LOG="json").code == 0
    assert slots(store) == [("XXX", "2026-03-02")]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_followers_are_told_before_it_ends(
    store: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((live, "open_source"), (live_seasons, "load_sections")):
        monkeypatch.setattr(module, name, getattr(module, name))
    made_up()
    monkeypatch.setenv("ARENA_NETWORK", "on")
    monkeypatch.setenv("ARENA_WEBHOOK_URL", receiver.url)
    now = datetime.fromisoformat(f"{TUESDAY}:00+00:00")
    done = decide_once(store, "live", threading.Event(), 10.0, lambda: now)
    assert not done.failed, done.problems
    # One decision of a fresh account: flat, so a BUY or SELL is also a change of sides.
    kinds = {body["arena"]["kind"] for body in receiver.bodies}
    assert "round" in kinds
    assert kinds <= {"round", "flips"}


# `live`


def test_a_line_tells_what_was_decided() -> None:
    row = {
        "as_of_utc": datetime(2026, 3, 3, 0, 5, tzinfo=UTC), "run": "live-1", "n_decisions": 20,
        "n_failed": 1, "n_gaps": 0, "n_late": 2,
    }  # fmt: skip
    assert line_of(row) == "2026-03-03 00:05 UTC  live-1  20 decisions, 1 failed, 2 late"


def test_rounds_are_told_once_and_only_new_ones(
    at: Callable[..., Said], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.live.utc_now", lambda: datetime(2026, 3, 3, tzinfo=UTC))
    assert at(TUESDAY).code == 0
    told = Told()
    with open_store(store, read=True) as opened:
        assert list(told.new(ServiceState(store=opened))) == []
    assert at(AFTERNOON).code == 0
    with open_store(store, read=True) as opened:
        state = ServiceState(store=opened)
        # At the first look it could still grow; at the second it has not.
        assert list(told.new(state)) == []
        (line,) = told.new(state)
        assert line.startswith("2026-03-03 14:00 UTC")
        assert list(told.new(state)) == []
    assert list(told.new(ServiceState())) == []


def wait_for(what: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not what():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_it_decides_as_the_clock_goes_on(tmp_path: Path, store: Path) -> None:
    clock, out, err = (tmp_path / name for name in ("clock", "out", "err"))
    clock.write_text(f"{MONDAY}:00+00:00")
    env = {
        **os.environ, "ARENA_RUNNER": "on", "ARENA_CLOCK_FILE": str(clock), "ARENA_TICK_S": "0.2",
    }  # fmt: skip
    words = ("live", "--data", "live", "--store", store)
    running = forked.start(*words, before=made_up, out=out, err=err, env=env)
    try:
        wait_for(lambda: running.poll() is not None or (err.exists() and "as sessions come due" in err.read_text()))
        assert running.poll() is None, err.read_text()
        for moment, slot in ((TUESDAY, "2026-03-03 00:05"), (AFTERNOON, "2026-03-03 14:00")):
            # The other process may read the file at any instant.
            (tmp_path / "next").write_text(f"{moment}:00+00:00")
            (tmp_path / "next").replace(clock)
            wait_for(lambda slot=slot: f"{slot} UTC  live-" in out.read_text())  # type: ignore[misc]
        began_s = time.monotonic()
        running.terminate()
        assert running.wait(20) == 0, err.read_text()
        assert time.monotonic() - began_s < _two_seconds() + 0.5
    finally:
        running.kill()
    assert out.read_text().count("1 decisions") == 2
    assert slots(store) == [("AAA", "2026-03-02"), ("XXX", "2026-03-02")]


def test_a_store_that_is_owned_or_a_choice_without_a_future_end_it(
    arena: Callable[..., Said], store: Path
) -> None:
    on = {"ARENA_RUNNER": "on", "ARENA_TICK_S": "0.2"}
    with open_store(store):
        owned = arena("live", "--data", "live", "--store", store, **on)
    assert owned.code == 2
    assert f"process {os.getpid()}" in owned.err
    files = arena("live", "--data", "files:/nowhere", "--store", store, **on)
    assert (files.code, "nothing new ever becomes due" in files.err) == (2, True)


def _two_seconds() -> float:
    """Two seconds of a machine that has a core for it."""
    return 2.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_two_seconds(
    root: Path, store: Path, number: signal.Signals
) -> None:
    env = os.environ | {"ARENA_RUNNER": "on"}
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "live", "--data", "live", "--store", str(store)],
        cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        # Nobody reads what it says.
        process.stdout.close()
        # The network is off: what is due cannot be asked for, and that is said.
        line = process.stderr.readline()
        while line and "network" not in line:
            line = process.stderr.readline()
        assert line
        began_s = time.monotonic()
        process.send_signal(number)
        said = process.stderr.read()
        code = process.wait(20)
        took_s = time.monotonic() - began_s
    finally:
        process.kill()
    process.stderr.close()
    assert code == 0, said
    assert took_s < _two_seconds()
    with open_store(store) as opened:
        assert [f for f in check_store(opened).findings if f.level == "breach"] == []

"""Two servers on one store, one clock and one market: who owns it decides, the other one watches.

The vendors are servers on this machine, and the clock is a file that both servers read.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.store import reader
from arena.store.store import open_store
from tests.browser.harness import ROOT, free_port
from tests.live.made_seasons import breaches
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

MONDAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""The season begins; nothing is due before Tuesday, 00:05 UTC."""

N_SESSIONS, N_SLOTS = 10, 10
PATIENCE_S = 90.0
SWITCHED_OFF = {"ARENA_NETWORK": "off", "ARENA_RUNNER": "on", "ARENA_DATA": "live", "ARENA_TICK_S": "0.2"}


class Clock:
    """The time of all processes, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def set(self, now_utc: datetime) -> None:
        part = self.path.with_suffix(".part")
        part.write_text(now_utc.isoformat(), "utf-8")
        part.replace(self.path)

    def __call__(self) -> datetime:
        return datetime.fromisoformat(self.path.read_text("utf-8"))


class Server:
    """The app as a process of its own."""

    def __init__(self, log: Path, env: dict[str, str]) -> None:
        port, self.log = free_port(), log
        self.host = f"127.0.0.1:{port}"
        words = [
            sys.executable, "-m", "streamlit", "run", "tests/live/small_app.py",
            "--server.address", "127.0.0.1", "--server.port", str(port),
        ]  # fmt: skip
        with log.open("wb") as out:
            self.process = subprocess.Popen(words, cwd=ROOT, env=env, stdout=out, stderr=out)

    def health(self) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"http://{self.host}/api/health", timeout=10) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as refusal:
            return dict(json.load(refusal))
        except (OSError, ValueError):
            # Streamlit answers any address with its page until the app has been loaded.
            return {}

    def wait(self, good: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        ends_at = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends_at and self.process.poll() is None:
            if (seen := self.health()) and good(seen):
                return seen
            time.sleep(0.1)
        raise AssertionError(f"{what}: {self.health()}\n{self.log.read_text('utf-8')[-3000:]}")

    def visit(self) -> bytes:
        """One cold session: everything that the first run of the page sends."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
        from websockets.sync.client import connect

        said = BackMsg()
        said.rerun_script.query_string = ""
        heard = b""
        with connect(f"ws://{self.host}/_stcore/stream", max_size=None, open_timeout=30) as socket:
            socket.send(said.SerializeToString())
            while True:
                message = socket.recv(timeout=60)
                assert isinstance(message, bytes)
                heard += message
                if ForwardMsg.FromString(message).WhichOneof("type") == "script_finished":
                    return heard

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    made = Clock(tmp_path / "clock")
    made.set(MONDAY)
    return made


@pytest.fixture
def start(tmp_path: Path, clock: Clock) -> Iterator[Callable[[str], Server]]:
    prices, servers = MadePrices(clock), []
    with YahooServer(prices) as yahoo, KrakenServer(prices) as kraken:
        env = os.environ | SWITCHED_OFF | {
            "ARENA_STORE": str(tmp_path / "live.duckdb"), "ARENA_CLOCK_FILE": str(clock.path),
            "ARENA_YAHOO_URL": yahoo.url, "ARENA_KRAKEN_URL": kraken.url,
        }  # fmt: skip

        def begin(name: str) -> Server:
            servers.append(Server(tmp_path / f"{name}.log", env))
            return servers[-1]

        yield begin
        for server in servers:
            server.end()


def slot_of(health: dict[str, Any]) -> str:
    """When the slot of the newest round was, as the arena tells it."""
    last = health.get("last_round") or {}
    return str(last.get("as_of_utc", ""))[:16]


@pytest.mark.fault(10)
@pytest.mark.fault(11)
@pytest.mark.fault(13)
def test_fault_10_11_13_an_owner_that_freezes_beside_a_viewer(
    start: Callable[[str], Server], clock: Clock, tmp_path: Path
) -> None:
    store = tmp_path / "live.duckdb"
    owner = start("owner")
    owner.wait(lambda _: True, "the first server answers")
    with ThreadPoolExecutor(N_SESSIONS) as many:
        pages = list(many.map(lambda _: owner.visit(), range(N_SESSIONS)))
    assert all(b"Agent Market Arena" in page or b"Overview" in page for page in pages)
    owner.wait(lambda h: h["live_runs"] and h["work"] is None, "the season begins")

    viewer = start("viewer")
    viewer.wait(lambda h: h["status"] == "viewer", "the second server is a viewer")
    assert f"process {owner.process.pid}".encode() in viewer.visit()
    clock.set(datetime(2026, 3, 3, 0, 10, tzinfo=UTC))
    owner.wait(lambda h: slot_of(h) == "2026-03-03T00:05", "Monday is decided")
    viewer.wait(lambda h: slot_of(h) == "2026-03-03T00:05", "the viewer follows")

    owner.process.send_signal(signal.SIGSTOP)
    for day in range(1, N_SLOTS + 1):
        clock.set(datetime(2026, 3, 3, 0, 10, tzinfo=UTC) + timedelta(days=day))
        time.sleep(0.5)  # two looks of the viewer
        seen = viewer.health()
        assert (seen["status"], slot_of(seen)) == ("viewer", "2026-03-03T00:05")
    owner.process.send_signal(signal.SIGCONT)
    owner.wait(lambda h: slot_of(h) == "2026-03-13T00:05", "the owner catches up")
    seen = viewer.wait(lambda h: slot_of(h) == "2026-03-13T00:05", "the viewer follows")
    assert seen["status"] == "viewer"
    owner_pid = owner.process.pid
    viewer.end()
    owner.end()

    # Ten visitors and a second server: one scheduler, that of the owner.
    assert store.with_suffix(".clocks").read_text().split() == [str(owner_pid)]
    with open_store(store, read=True) as opened:
        assert breaches(opened) == []
        runs = reader.runs(opened)
        (run,) = runs.loc[runs["kind"] == "live", "run"]
        rows = reader.decisions(opened, run)
    # Sessions 2 to 12 March: Monday on time, ten slots slept through, of which the last one was
    # looked at within its wait.
    want = [date(2026, 3, 2) + timedelta(days=i) for i in range(1 + N_SLOTS)]
    assert rows["track"].nunique() == 2
    for _, track in rows.groupby("track"):
        assert [s.date() for s in track["session"]] == want
        assert track["late"].tolist() == [False] + [True] * (N_SLOTS - 1) + [False]
        assert set(track["status"]) == {"ok"}

"""Two servers on one store, one clock and one market: who owns it decides, the other one watches.

The vendors are servers on this machine, and the clock is a file that both servers read.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.store import reader
from arena.store.store import open_store
from tests.live.made_seasons import breaches
from tests.live.server import Server
from tests.wire.file_clock import FileClock
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

MONDAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""The season begins; nothing is due before Tuesday, 00:05 UTC."""

N_SESSIONS, N_SLOTS = 10, 10
SWITCHED_OFF = {"ARENA_NETWORK": "off", "ARENA_RUNNER": "on", "ARENA_DATA": "live", "ARENA_TICK_S": "0.2"}


@pytest.fixture
def clock(tmp_path: Path) -> FileClock:
    return FileClock(tmp_path / "clock", MONDAY)


@pytest.fixture
def start(tmp_path: Path, clock: FileClock) -> Iterator[Callable[[str], Server]]:
    prices, servers = MadePrices(clock), []
    with YahooServer(prices) as yahoo, KrakenServer(prices) as kraken:
        env = os.environ | SWITCHED_OFF | {
            "ARENA_STORE": str(tmp_path / "live.duckdb"), "ARENA_CLOCK_FILE": str(clock.path),
            "ARENA_YAHOO_URL": yahoo.url, "ARENA_KRAKEN_URL": kraken.url,
        }  # fmt: skip

        def begin(name: str) -> Server:
            servers.append(Server(tmp_path / f"{name}.log", env, "tests/live/small_app.py", forked=True))
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
    start: Callable[[str], Server], clock: FileClock, tmp_path: Path
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

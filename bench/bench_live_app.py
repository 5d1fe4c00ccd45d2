"""The real app while it is live: pages beside a round that commits, and memory with every library loaded.

Prices come from servers on this machine in Yahoo's and Kraken's formats, a model's answers in OpenAI's,
so that yfinance, ccxt and litellm do their work. `ARENA_BENCH_LIVE_ROUNDS` (15) is how many days are played.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from arena.runner.job_request import JobRequest
from arena.runner.job_run import enrol
from arena.store.store import open_store
from bench.bench_app import HEAVY, ROOT, rss_mb
from bench.bench_replay import quiet_env
from tests.live.server import Server
from tests.llm.mock_provider import MockProvider, Say
from tests.wire.file_clock import FileClock
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

PAGE_MS, RSS_MB, GROWTH_MB = 300.0, 590.0, 30.0
BEGAN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
PAUSE_S, LOOK_S, SETTLE_S, REFRESHES, START_S = 0.2, 0.5, 10.0, 200, 300.0
ROSTER = """
[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 0.1
price_out_usd_per_mtok = 0.2
"""
STARTER = JobRequest(
    kind="season", agents=("investor", "vanilla"), models=("mock/priced",), assets=("BTC",),
    strategies=("baseline",), warmup=0, brief="digest", budget_day_usd=0.25,
)  # fmt: skip


def run() -> list[dict[str, Any]]:
    rounds = int(os.environ.get("ARENA_BENCH_LIVE_ROUNDS", "15"))
    with (
        tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
        live_app(Path(folder)) as (server, clock),
    ):
        beside, alone = _rounds(server, clock, rounds)
        peak = _peak_mb(server.process.pid)
        time.sleep(SETTLE_S)
        full = rss_mb(server.process.pid)
        grown = _refreshes(server) - full
    return [
        _row(f"Overview script while a round commits, p95 of {len(beside)}", _p95(beside), "ms", PAGE_MS),
        _row(f"the same between rounds, p95 of {len(alone)}", _p95(alone), "ms", None),
        _row(f"resident memory, {', '.join(HEAVY)} in use, {rounds} days played", full, "MB", RSS_MB),
        _row("the most it ever was, a snapshot and a backup under way", peak, "MB", None),
        _row(f"memory gained by {REFRESHES} refreshes of the Overview", grown, "MB", GROWTH_MB),
    ]


@contextmanager
def live_app(folder: Path) -> Iterator[tuple[Server, FileClock]]:
    """The app of a host with the default season and an enrolled one, its first run and round over.

    Raises:
        RuntimeError: in the end one of the servers was never asked, so its library was not in use.
    """
    clock, store = FileClock(folder / "clock", BEGAN), folder / "live.duckdb"
    prices = MadePrices(clock)
    with YahooServer(prices) as yahoo, KrakenServer(prices) as kraken, MockProvider(Say()) as models:
        roster = folder / "models.toml"
        roster.write_text((ROOT / "data/models.toml").read_text() + ROSTER.format(url=models.url))
        with open_store(store) as opened:
            enrol(STARTER, "live", opened, "bench", BEGAN)
        env = quiet_env(
            ARENA_STORE=str(store), ARENA_DATA="live", ARENA_TICK_S="2", ARENA_MODELS=str(roster),
            ARENA_YAHOO_URL=yahoo.url, ARENA_KRAKEN_URL=kraken.url, ARENA_CLOCK_FILE=str(clock.path),
            MOCK_API_KEY="none",
        )  # fmt: skip
        server = Server(folder / "app.log", env)
        try:
            first = BEGAN.replace(hour=0, minute=6) + timedelta(days=1)
            server.wait(lambda h: len(h.get("live_runs", ())) == 2, "both seasons begin", START_S)
            clock.set(first)
            server.wait(_decided(first), "the first round", START_S)
            yield server, clock
            if not (yahoo.asked and kraken.asked and models.asked):
                raise RuntimeError("a server was never asked, so what was measured is not the whole app")
        finally:
            server.end()


def _rounds(server: Server, clock: FileClock, n: int) -> tuple[list[float], list[float]]:
    """Milliseconds of page scripts beside a round, and of those that ran alone."""
    beside: list[float] = []
    alone: list[float] = []
    busy, over = threading.Event(), threading.Event()

    def visitor() -> None:
        with server.session() as look:
            look()
            while not over.is_set():
                before, began = busy.is_set(), time.perf_counter()
                look()
                took = 1e3 * (time.perf_counter() - began)
                (beside if before or busy.is_set() else alone).append(took)
                time.sleep(PAUSE_S)

    watching = threading.Thread(target=visitor)
    watching.start()
    try:
        for day in range(2, n + 2):
            now = (BEGAN + timedelta(days=day)).replace(hour=0, minute=6)
            busy.set()
            clock.set(now)
            server.wait(_decided(now), f"the round of {now:%d %b}", every_s=LOOK_S)
            busy.clear()
            time.sleep(1.0)
    finally:
        over.set()
        watching.join()
    return beside, alone


def _decided(now: datetime) -> Callable[[dict[str, Any]], bool]:
    """Whether the newest round is that of `now`, five minutes past midnight."""
    slot = f"{now:%Y-%m-%d}T00:05"
    return lambda health: str((health.get("last_round") or {}).get("as_of_utc", "")).startswith(slot)


def _refreshes(server: Server) -> float:
    with server.session() as look:
        for _ in range(REFRESHES):
            look()
    return rss_mb(server.process.pid)


def _peak_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


def _p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(0.95 * len(times)) - 1)]


def _row(name: str, value: float, unit: str, target: float | None) -> dict[str, Any]:
    ok = None if target is None else value <= target
    return {"name": name, "value": round(value, 1), "unit": unit, "target": target, "ok": ok}


if __name__ == "__main__":
    for line in run():
        print(line)

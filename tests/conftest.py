"""Rules that hold for every test: no network, no embedded runner, real data only where it is there."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# A shared, slow machine must not turn a right answer into a deadline failure.
settings.register_profile(
    "arena", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("arena")


SLOW_FIRST = (
    "tests/browser/test_axe.py",
    "tests/browser/test_market.py",
    "tests/cli/test_live.py",
    "tests/llm/test_local.py",
    "tests/browser/test_overview.py",
    "tests/wire/test_first_start.py",
    "tests/browser/test_decisions.py",
    "tests/runner/test_intelligence_cut.py",
    "tests/browser/test_equity.py",
    "tests/browser/test_app.py",
    "tests/browser/test_launch.py",
    "tests/runner/test_replay.py",
    "tests/live/test_soak.py",
    "tests/audit/test_pages_against_slow_engine.py",
    "tests/store/test_faults_store.py",
    "tests/live/test_faults_crash.py",
    "tests/runner/test_service.py",
    "tests/live/test_live.py",
    "tests/live/test_two_servers.py",
    "tests/live/test_faults_time.py",
    "tests/browser/test_analyst_path.py",
    "tests/browser/test_architecture.py",
    "tests/cli/test_paid_run.py",
    "tests/runner/test_brief_money.py",
    "tests/runner/test_cut_off.py",
    "tests/cli/test_kill_news.py",
)
"""Longest first. A file is one piece of work under `--dist loadfile`: one that is begun last is waited for."""


def pytest_configure(config: pytest.Config) -> None:
    # By itself xdist begins with the files of most tests, and a kill test is a file of one.
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {ROOT / name: at for at, name in enumerate(SLOW_FIRST)}
    if gone := [str(path) for path in place if not path.is_file()]:
        raise pytest.UsageError(f"SLOW_FIRST in tests/conftest.py names files that are not there: {gone}")
    items.sort(key=lambda item: place.get(item.path, len(place)))


def _is_loopback(address: Any) -> bool:
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _closed_house(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every switch at its quiet setting, and no socket that leaves this machine."""
    monkeypatch.setenv("ARENA_NETWORK", "off")
    monkeypatch.setenv("ARENA_RUNNER", "off")
    for name in ("ARENA_STORE", "ARENA_DATA", "ARENA_AGENTS", "ARENA_MODELS", "ARENA_SEASONS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    real_connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address):
            raise RuntimeError(f"a test tried to reach {address!r}; tests stay on this machine")
        real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_market() -> Path:
    """Folder of the real price files (`ARENA_SHARED`, or `../shared/market`); skips where absent."""
    folder = Path(os.environ.get("ARENA_SHARED") or ROOT.parent / "shared" / "market")
    if not (folder / "daily.parquet").is_file():
        pytest.skip("real prices are not on this machine; set ARENA_SHARED to their folder")
    return folder

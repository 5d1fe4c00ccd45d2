"""The service over a made store, without its thread, and a client of its addresses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.runner import public_board, service
from arena.runner.service import ServiceState
from arena.shell import api
from arena.store.store import open_store
from tests.ui import made_store

NOW = datetime(2025, 9, 3, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_store.build(tmp_path_factory.mktemp("api") / "made.duckdb")


@pytest.fixture
def state(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceState]:
    """The service as it is over the made store, without its thread."""
    now = ServiceState(store=open_store(made))
    monkeypatch.setattr(service, "ensure_started", lambda: now)
    monkeypatch.setattr(api, "utc_now", lambda: NOW)
    public_board._kept.clear()
    yield now
    if now.store is not None:
        now.store.close()


@pytest.fixture
def client(state: ServiceState) -> TestClient:
    return TestClient(Starlette(routes=api.ROUTES))



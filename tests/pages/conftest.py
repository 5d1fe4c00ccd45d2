"""The shell's script on a store with chosen numbers, without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.core.settings import runner_enabled
from arena.runner import service
from tests.ui.made_store import build

SHELL = Path(__file__).resolve().parents[2] / "arena/shell/main.py"
TIMEOUT_S, START_S = 60, 20

Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("store") / "made.duckdb")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Let the process's service open a store, and wait until it has."""

    def start(path: Path) -> None:
        monkeypatch.setenv("ARENA_STORE", str(path))
        monkeypatch.setenv("ARENA_DATA", "sample")
        state = service.ensure_started()
        assert state.thread is not None
        # A runner's thread goes on for as long as the service does.
        ends_at = time.monotonic() + START_S
        while state.thread.is_alive() and time.monotonic() < ends_at:
            if runner_enabled() and state.store is not None:
                break
            state.thread.join(0.05)

    service.stop()
    yield start
    service.stop()


@pytest.fixture
def page(serve: Callable[[Path], None], made: Path) -> Open:
    """Open a page by file, with its URL parameters set before the first run."""
    serve(made)

    def visit(file: str | None = None, **params: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        for name, value in params.items():
            app.query_params[name] = value
        if file is not None:
            app.switch_page(str(SHELL.parents[2] / file))
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return visit

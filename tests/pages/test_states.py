"""Pages when something is missing, and Methods."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.core.settings import ROOT
from arena.runner import service
from arena.store import reader
from arena.store.store import Store, open_store
from arena.ui import session
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_store import build


def visit() -> AppTest:
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S).run()
    assert not app.exception, app.exception[0].stack_trace
    return app


def test_missing_store_says_what_to_do(serve: Callable[[Path], None], tmp_path: Path) -> None:
    serve(tmp_path / "none.duckdb")
    app = visit()
    assert app.title[0].value == "Overview"
    assert [e.value for e in app.error if "replay" in e.value]
    assert len(app.error) == 1


def test_empty_store_says_what_to_do(serve: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    open_store(path).close()
    serve(path)
    app = visit()
    assert app.title[0].value == "Overview"
    assert "python -m arena replay" in app.info[0].value


def test_damaged_store_is_named(serve: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "bad.duckdb"
    path.write_bytes(b"not a database" * 400)
    serve(path)
    assert "bad.duckdb" in visit().error[0].value


def test_first_replay_shows_its_progress(
    serve: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "empty.duckdb"
    open_store(path).close()
    serve(path)
    monkeypatch.setattr(service.ensure_started(), "work", (0.25, "Replaying AAA"))
    app = visit()
    assert app.title[0].value == "Overview"
    assert "on its way" in " ".join(m.value for m in app.markdown)
    assert not app.info


def test_data_stay_while_a_replay_is_running(
    serve: Callable[[Path], None], made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(made)
    monkeypatch.setattr(service.ensure_started(), "work", (0.25, "Replaying AAA"))
    app = visit()
    assert "trade@m-one" in set(app.dataframe[0].value["name"])
    assert app.get("progress")


OWNER = """
import sys
from arena.store.store import open_store
store = open_store(sys.argv[1])
store.snapshot()
print("ready", flush=True)
sys.stdin.readline()
"""


def test_a_store_of_another_process_is_read_from_its_snapshot(
    serve: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path / "owned.duckdb")
    command = [sys.executable, "-c", OWNER, str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().strip() == "ready"
        monkeypatch.setenv("ARENA_RUNNER", "on")
        serve(path)
        app = visit()
        assert str(owner.pid) in app.warning[0].value
        assert any("Snapshot" in m.value for m in app.markdown)
        assert "trade@m-one" in set(app.dataframe[0].value["name"])
        service.stop()
        owner.communicate("\n", timeout=20)


def test_methods_is_true_about_what_is_made_up(page) -> None:
    app = page("pages/about/methods.py")
    assert app.title[0].value == "Methods"
    words = " ".join(m.value for m in app.markdown)
    assert "fictional" in words
    assert "Sharpe" in words


@pytest.mark.fault(34)
def test_a_query_of_a_page_that_takes_too_long_is_told_of_in_its_place(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "SELECT count(*) FROM range(1000000000000) t(i) WHERE hash(i) = 1 AND ? <> ''"
    with monkeypatch.context() as slow:
        slow.setattr(session, "PAGE_QUERY_S", 0.2)
        slow.setattr(reader, "accounts", lambda store, run: _ask(store, endless, run))
        st.cache_data.clear()
        app = page()
        assert "longer than 0.2 s" in app.error[0].value
    assert not page().error


def _ask(store: Store, sql: str, run: str) -> None:
    with store.cursor() as cur:
        cur.execute(sql, [run])

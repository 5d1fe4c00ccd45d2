"""Pages when something is missing, and Methods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from arena.store.store import open_store
from tests.pages.conftest import SHELL, TIMEOUT_S


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


def test_methods_is_true_about_what_is_made_up(page) -> None:
    app = page("pages/about/methods.py")
    assert app.title[0].value == "Methods"
    words = " ".join(m.value for m in app.markdown)
    assert "fictional" in words
    assert "Sharpe" in words

"""Health: what is wrong stands first, and the host voids a run or checks the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.audit.background_check import CHECKS
from arena.runner import service
from arena.store import reader
from arena.store.store import open_store
from arena.ui import auth
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.ui.made_store import HOSTILE, RULES_RUN, build

HEALTH = "pages/about/health.py"
TOKEN = "a-token"


@pytest.fixture
def host(
    serve: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """The page on a store that may be written, for whoever holds the token."""
    st.cache_data.clear()
    monkeypatch.setattr(auth, "_failed_at_s", auth.deque(maxlen=auth.MOST_FAILURES))
    monkeypatch.setattr(service, "recorded_runs", list)
    monkeypatch.setenv("ARENA_RUNNER", "on")
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", TOKEN)
    serve(build(tmp_path / "made.duckdb"))

    def visit(*, unlocked: bool = True) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        if unlocked:
            app.session_state[auth.HELD] = auth._digest(TOKEN)
        app.switch_page(str(SHELL.parents[2] / HEALTH))
        return clean(app.run())

    return visit


def clean(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].stack_trace
    return app


def said(app: AppTest) -> str:
    return "\n".join(x.value for x in (*app.error, *app.warning, *app.success, *app.markdown))


def press(app: AppTest, label: str) -> AppTest:
    return clean(next(b for b in app.button if b.label == label).click().run())


def test_anybody_sees_and_nobody_writes_without_the_token(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-shown")
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    app = page(HEALTH)
    assert app.title[0].value == "Health"
    assert not app.button
    assert "ARENA_ADMIN_TOKEN" in said(app)
    keys = next(d.value for d in app.dataframe if "key" in d.value).set_index("model")
    assert keys.loc["claude-sonnet-4", "key"] == "✓ ANTHROPIC_API_KEY set"
    assert keys.loc["gemini-2.0-flash", "key"] == "✕ GEMINI_API_KEY not set"
    # Retired before today whatever the keys: the reason is its own.
    assert keys.loc["claude-sonnet-4", "ready"] == "✕ no"
    assert "retired" in keys.loc["claude-sonnet-4", "why"]
    everything = said(app) + "".join(t.value for t in app.text) + keys.to_string()
    assert "sk-never-shown" not in everything
    # Whoever has no token is not told where the file lies.
    assert "made.duckdb" in everything
    assert "/made.duckdb" not in everything


def test_what_is_wrong_stands_first(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = service.ensure_started()
    state.say("warning", "The worker *stumbled*")
    app = page(HEALTH)
    # hedge fails on the last session of both assets.
    assert any("decisions of the newest round failed" in w.value for w in app.warning)
    assert not app.success
    monkeypatch.setattr(service.ensure_started(), "level", "error")
    monkeypatch.setattr(service.ensure_started(), "message", "The disk *failed*")
    app = page_again(app)
    assert "The disk \\*failed\\*" in app.error[0].value


def page_again(app: AppTest) -> AppTest:
    return clean(app.run())


def test_a_run_is_voided_with_its_reason_and_stays(host: Callable[..., AppTest]) -> None:
    app = host()
    store = service.ensure_started().store
    assert store is not None
    chooser = next(s for s in app.selectbox if s.label == "Run to void")
    assert chooser.value is None
    app = press(app, "Void this run")
    assert "No run is chosen" in said(app)
    app.selectbox(key="void_run_0").select(RULES_RUN)
    app = press(app, "Void this run")
    assert "voided with a reason" in said(app)
    app.selectbox(key="void_run_0").select(RULES_RUN)
    app.text_input(key="void_reason_0").input(HOSTILE)
    app = press(app, "Void this run")
    assert reader.run(store, RULES_RUN)["voided_reason"] == HOSTILE
    struck = [m.value for m in app.markdown if m.value.startswith("~~")]
    assert len(struck) == 1
    assert "![x]" not in struck[0]
    runs = next(d.value for d in app.dataframe if "state" in d.value).set_index("run")
    assert runs.loc[RULES_RUN, "state"] == "✕ void"
    # The fields are new: a second click takes no other run along, and the voided one is not offered.
    again = app.selectbox(key="void_run_1")
    assert again.value is None
    assert RULES_RUN not in again.options
    app = press(app, "Void this run")
    assert reader.runs(store)["voided_reason"].notna().sum() == 1


def test_without_the_token_the_forms_are_not_there(host: Callable[..., AppTest]) -> None:
    app = host(unlocked=False)
    assert not [b for b in app.button if b.label in ("Void this run", "Run the check")]
    assert [t for t in app.text_input if t.label.startswith("Token of the host")]


def test_the_check_names_what_it_found(host: Callable[..., AppTest]) -> None:
    app = host()
    assert "Not run since the app was started." in said(app)
    app = press(app, "Run the check")
    CHECKS.wait(60)
    app = page_again(app)
    # The made store has no calls and invented hashes: the check must say so, and the page say it first.
    found = next(d.value for d in app.dataframe if "rule" in d.value)
    breaches = found[found["level"] == "breach"]
    assert len(breaches) > 0
    assert f"{len(breaches)} breaches" in app.error[0].value
    assert "values checked" in said(app)


def test_no_store_is_said(serve: Callable[[Path], None], tmp_path: Path) -> None:
    serve(tmp_path / "none.duckdb")
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    app.switch_page(str(SHELL.parents[2] / HEALTH))
    app = clean(app.run())
    assert app.title[0].value == "Health"
    assert app.error


def test_an_empty_store_is_healthy(serve: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    open_store(path).close()
    serve(path)
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    app.switch_page(str(SHELL.parents[2] / HEALTH))
    app = clean(app.run())
    assert "Nothing is known to be wrong" in app.success[0].value
    assert "No run yet" in said(app)

"""Launch a run: the preview before the button, errors beside fields, jobs, and who may do what."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.runner import audit_log, service
from arena.runner.asker import Admin
from arena.store import jobs_reader
from arena.ui import auth, own_key, signing_in
from arena.ui.launch_form import key_of
from tests.pages.conftest import SHELL, TIMEOUT_S
from tests.runner.made_jobs import audit, ended, small
from tests.ui.made_store import build

LAUNCH = "pages/experiments/launch.py"
TOKEN = "a-token-of-the-host"


@pytest.fixture
def visit(
    serve: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """The page on a store that may be written, with a runner that works."""
    st.cache_data.clear()
    audit_log._refused_at_s.clear()
    monkeypatch.setattr(auth, "_failed_at_s", auth.deque(maxlen=auth.MOST_FAILURES))
    monkeypatch.setattr(service, "recorded_runs", list)
    monkeypatch.setenv("ARENA_RUNNER", "on")
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", TOKEN)
    serve(build(tmp_path / "made.duckdb"))
    deadline = time.monotonic() + 30
    while getattr(service.ensure_started(), "jobs", None) is None and time.monotonic() < deadline:
        time.sleep(0.02)

    def open_page(*, unlocked: bool = False, state: dict[str, Any] | None = None, **params: str) -> AppTest:
        app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
        if unlocked:
            app.session_state[auth.HELD] = auth._digest(TOKEN)
        for name, value in (state or {}).items():
            app.session_state[name] = value
        for name, value in params.items():
            app.query_params[name] = value
        app.switch_page(str(SHELL.parents[2] / LAUNCH))
        return clean(app.run())

    return open_page


def clean(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].stack_trace
    return app


def said(app: AppTest) -> str:
    found = (*app.error, *app.warning, *app.success, *app.markdown, *app.info)
    return "\n".join(x.value for x in found)


def metric(app: AppTest, label: str) -> str:
    return str(next(m.value for m in app.metric if m.label == label))


def four_days(**more: Any) -> dict[str, Any]:
    """Session values of a small form: one rule on one coin, 4 to 7 August 2025."""
    values = {
        "agents": ["vanilla"], "models": ["offline/trend"], "assets": ["QUBIXCOIN"],
        "window": (date(2025, 8, 4), date(2025, 8, 7)), "brief": "none",
    }  # fmt: skip
    return {key_of(k): v for k, v in {**values, **more}.items()}


def test_the_preview_counts_before_anything_runs(visit: Callable[..., AppTest]) -> None:
    app = visit(state=four_days(assets=["QUBIXCOIN", "ZORVANE"]))
    # Monday to Thursday: four days of a coin, four sessions of a share.
    assert metric(app, "Decisions") == "8"
    assert metric(app, "Cost, about") == "$0.00"
    assert "Free: only rules" in said(app)
    assert "--start 2025-08-04 --end 2025-08-07" in app.code[0].value
    store = service.ensure_started().store
    assert store is not None
    assert jobs_reader.jobs(store) == []


def test_a_paid_model_shows_its_price_and_wants_a_budget(
    visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    app = visit(unlocked=True, state=four_days(models=["gpt-4.1"]))
    # 4 calls x (1,800 x 2 + 240 x 8) = 4 x 5,520 millionths = 0.02 USD.
    assert metric(app, "Cost, about") == "$0.02"
    assert "no budget yet" in said(app)
    app = clean(app.number_input(key=key_of("budget_usd")).set_value(5.0).run())
    assert "Fits the budget: \\$0.02 of \\$5.00" in said(app)
    assert "3 epochs show how far runs differ" in said(app)


def test_errors_stand_beside_their_fields(visit: Callable[..., AppTest]) -> None:
    app = visit(state=four_days(agents=[], window=(date(2019, 8, 4), date(2019, 8, 7))))
    assert "Choose at least one." in said(app)
    button = next(b for b in app.button if b.label == "Launch run")
    assert button.disabled
    app = visit(state=four_days(window=(date(2019, 8, 4), date(2019, 8, 7))))
    assert "has no prices up to 2019-08-07" in said(app)
    assert next(b for b in app.button if b.label == "Launch run").disabled


def test_a_visitor_launches_and_the_address_carries_the_job(visit: Callable[..., AppTest]) -> None:
    app = visit(state=four_days())
    app = clean(next(b for b in app.button if b.label == "Launch run").click().run())
    job = app.query_params["job"]
    job = job[0] if isinstance(job, list) else job
    store = service.ensure_started().store
    assert store is not None
    row = ended(store, job)
    assert (row["status"], row["requested_by"]) == ("done", "visitor")
    later = visit(job=job)
    assert [p.proto.text for p in later.get("progress")] == ["**4 of 4** decisions · 100%"]
    history = next(d.value for d in later.dataframe if "state" in d.value)
    assert history["state"].tolist() == ["✓ done"]
    assert history["act"].tolist() == ["Open"]
    assert row["run"] in [c.value for c in later.code]


def test_a_visitor_is_told_what_needs_the_admin(
    visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    app = visit(state=four_days(models=["gpt-4.1"], budget_usd=5.0))
    assert own_key.PROMISE in said(app)
    app = clean(next(b for b in app.button if b.label == "Launch run").click().run())
    assert "needs the admin or a key of your own for OPENAI" in said(app).replace("\\_", "_")
    store = service.ensure_started().store
    assert store is not None
    assert jobs_reader.jobs(store) == []
    assert [a for who, a, _, _ in audit(store) if who == "visitor"] == ["refused"]


def test_an_own_key_is_held_in_the_session_only(
    visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit(state=four_days(models=["gpt-4.1"], budget_usd=5.0))
    field = next(t for t in app.text_input if t.label == "OPENAI_API_KEY")
    app = clean(field.set_value("own-key-27182818284").run())
    assert app.session_state[own_key.HELD] == {"OPENAI_API_KEY": "own-key-27182818284"}
    # The field itself is empty, and gone.
    assert not [t for t in app.text_input if t.label == "OPENAI_API_KEY"]
    assert "own-key" not in said(app)
    app = clean(next(b for b in app.button if b.label == "Forget it").click().run())
    assert app.session_state[own_key.HELD] == {}


def test_the_link_is_printed_where_the_shells_script_is_the_entry(
    visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARENA_ADMIN_TOKEN")
    monkeypatch.setattr(signing_in, "LINK", signing_in.OneTimeLink())
    assert "open the link that the terminal printed" in said(visit(state=four_days()))
    visit(state=four_days())
    [token] = re.findall(r"\?admin=(\S+)", capsys.readouterr().err)
    visit(state=four_days(), admin="a-guess")
    app = visit(state=four_days(), admin=token)
    assert "the terminal printed" not in said(app)
    assert "admin" not in app.query_params


def test_a_wrong_token_is_refused_and_audited(visit: Callable[..., AppTest]) -> None:
    app = visit(state=four_days())
    field = next(t for t in app.text_input if t.label.startswith("Token of the host"))
    app = clean(field.set_value("a-guess").run())
    assert "That is not the token." in said(app)
    store = service.ensure_started().store
    assert store is not None
    [(_, action, origin, detail)] = [row for row in audit(store) if row[0] == "visitor"]
    assert (action, detail) == ("wrong token", "{}")
    assert len(origin) == 16


def test_a_form_filled_in_from_a_run(visit: Callable[..., AppTest]) -> None:
    store = service.ensure_started().store
    assert store is not None
    jobs = service.ensure_started().jobs
    wanted = small(agents=("investor",), hold="keep", seed=5, strategies=("baseline", "pyramid_exit"))
    row = ended(store, jobs.submit(wanted, Admin("x", lambda: True)))
    app = visit(from_run=row["run"])
    kept = {n: app.session_state[key_of(n)] for n in ("agents", "models", "assets", "window", "hold", "seed", "strategies")}
    assert kept == {
        "agents": ["investor"], "models": ["offline/trend"], "assets": ["QUBIXCOIN"],
        "window": (date(2025, 8, 4), date(2025, 8, 7)), "hold": "keep", "seed": 5,
        "strategies": ["baseline", "pyramid_exit"],
    }  # fmt: skip
    other = visit(from_run=row["run"], change="model")
    assert other.session_state[key_of("models")] == []
    assert other.session_state[key_of("agents")] == ["investor"]


def test_a_visitor_cannot_have_the_hosts_key_write_the_brief(
    visit: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    # Chosen while the model was, and kept when only rules were left.
    app = visit(state=four_days(brief="gpt-4.1", budget_usd=5.0))
    assert app.selectbox(key=key_of("brief")).value == "gpt-4.1"
    app = clean(next(b for b in app.button if b.label == "Launch run").click().run())
    assert "needs the admin or a key of your own for OPENAI" in said(app).replace("\\_", "_")
    store = service.ensure_started().store
    assert store is not None
    assert jobs_reader.jobs(store) == []


def test_a_job_that_was_charged_more_than_its_budget_can_be_resumed(visit: Callable[..., AppTest]) -> None:
    now = service.ensure_started()
    assert now.store is not None
    row = ended(now.store, now.jobs.submit(small(budget_usd=1.0), Admin("x", lambda: True)))
    now.jobs._worker._update(row["job"], status="stopped", spent_usd=1.25)
    app = visit(unlocked=True, job=row["job"])
    assert app.number_input(key=f"budget_{row['job']}").value == 1.25


def test_names_in_the_address_that_do_not_exist_are_said(visit: Callable[..., AppTest]) -> None:
    app = visit(job="job-<b>no</b>", from_run="replay-none")
    assert "There is no job" in said(app)
    assert "Unknown run" in said(app)


def test_a_viewer_shows_and_launches_nothing(
    serve: Callable[[Path], None], tmp_path: Path
) -> None:
    build(tmp_path / "made.duckdb")
    serve(tmp_path / "made.duckdb")
    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    app.switch_page(str(SHELL.parents[2] / LAUNCH))
    app = clean(app.run())
    assert app.title[0].value == "Launch a run"
    assert "The runner does not run here" in said(app)
    assert next(b for b in app.button if b.label == "Launch run").disabled

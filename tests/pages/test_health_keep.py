"""Health says up to when the data are safe, and why the runner waits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from arena.core.errors import SourceError
from arena.runner import service
from arena.runner.keeper import Keeper
from arena.store.damage import StoreTrouble
from arena.store.offsite import Offsite
from arena.store.store import open_store
from tests.ui.made_store import build

HEALTH = "pages/about/health.py"
AT = datetime(2026, 3, 14, 12, 30, tzinfo=UTC)


def texts(app: AppTest) -> list[str]:
    return [t.value for t in app.text]


def words(app: AppTest) -> str:
    return "\n".join(x.value for x in (*app.error, *app.warning, *app.markdown))


def test_where_the_newest_copy_is_and_what_it_lacks(
    page: Callable[..., AppTest], serve: Callable[[Path], None], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert "No copy has been made yet" in words(page(HEALTH))
    service.stop()
    path = build(tmp_path / "mine.duckdb")
    monkeypatch.setenv("ARENA_UPLOAD_URL", (tmp_path / "away").as_uri())
    with open_store(path) as store:
        keeper = Keeper(store)
        keeper.tick(AT)
        keeper.stop(30)
    serve(path)
    app = page_of(HEALTH)
    assert "14 Mar 2026, 12:30 UTC" in words(app)
    assert "away from this disk; nothing was decided since" in words(app)
    assert texts(app).count("14 Mar 2026, 12:30 UTC") == 2
    assert "1; at most 7 daily, 4 weekly" in texts(app)
    assert "file" in texts(app)
    assert not any(str(tmp_path) in t for t in texts(app))

    def refused(*_: object) -> None:
        raise SourceError("The target said 503.")

    service.stop()
    monkeypatch.setattr(Offsite, "put", refused)
    with open_store(path) as store:
        store.update_run(store_run(path), status="done")
        assert Keeper(store).flush(AT.replace(hour=14), 30) == "The target said 503."
    serve(path)
    app = page_of(HEALTH)
    said = [w.value for w in app.warning]
    assert any("No copy has left this disk since 2026-03-14 12:30 UTC: The target said 503." in w for w in said)


def store_run(path: Path) -> str:
    from arena.store import reader

    with open_store(path, read=True) as store:
        return str(reader.runs(store)["run"].iloc[0])


def page_of(file: str) -> AppTest:
    from tests.pages.conftest import SHELL, TIMEOUT_S

    app = AppTest.from_file(str(SHELL), default_timeout=TIMEOUT_S)
    app.switch_page(str(SHELL.parents[2] / file))
    app.run()
    assert not app.exception, app.exception[0].stack_trace
    return app


def test_a_runner_that_waits_says_why_on_every_page(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = StoreTrouble("full", "3 MB are free beside the *store*.", "Make room.")
    waiting = SimpleNamespace(
        keeper=SimpleNamespace(trouble=trouble), paused=str(trouble), live=None, end=lambda _: True
    )
    page()
    monkeypatch.setattr(service.ensure_started(), "ticker", waiting)
    for file in (None, HEALTH):
        errors = [e.value for e in page(file).error]
        assert any("The runner waits. 3 MB are free beside the \\*store\\*." in e for e in errors), file
        assert any("Make room." in e for e in errors)
    assert not page(HEALTH).success


def test_a_copy_that_was_not_made_is_told_of(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = SimpleNamespace(
        paused=None, unshown="The store has grown to 900 MB, too *large*.", troubles={}, deciding=False
    )
    deciding = SimpleNamespace(
        keeper=SimpleNamespace(trouble=None, last_upload=None), paused=None, live=live, end=lambda _: True
    )
    page()
    monkeypatch.setattr(service.ensure_started(), "ticker", deciding)
    told = "The store has grown to 900 MB, too \\*large\\*."
    assert any(told in w.value and "see an older copy" in w.value for w in page_of(HEALTH).warning)
    live.unshown = None
    assert not any(told in w.value for w in page_of(HEALTH).warning)

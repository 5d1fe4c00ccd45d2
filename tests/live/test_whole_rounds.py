"""Pages show whole rounds: what they wait for, for how long, and what is ready when a round shows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.store import reader
from arena.store.store import Store, open_store
from arena.ui import board_queries, overview_data, queries, session
from arena.ui.filters import Axes
from arena.ui.page import RunPage
from arena.ui.warming import warm
from tests.live.test_live import Arena
from tests.ui.made_store import MODELS_RUN, build

ROUND = datetime(2026, 3, 3, 0, 30, tzinfo=UTC)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    made = Arena(tmp_path / "live.duckdb")
    made.live.reconcile()
    yield made
    made.store.close()


def test_a_round_is_prepared_once_it_is_stored_and_before_it_shows(arena: Arena) -> None:
    seen: list[tuple[bool, int]] = []
    arena.live.prepare = lambda _: seen.append((arena.live.deciding, len(arena.decisions())))
    assert not arena.live.deciding
    arena.clock.now_utc = ROUND
    assert len(arena.live.reconcile()) == 1
    assert seen == [(True, 1)]
    assert not arena.live.deciding
    assert arena.live.reconcile() == []
    assert len(seen) == 1  # nothing was decided


def test_pages_that_cannot_be_prepared_cost_no_round(arena: Arena, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Store) -> None:
        raise ValueError("no such column")

    arena.live.prepare = broken
    arena.clock.now_utc = ROUND
    with caplog.at_level(logging.ERROR):
        assert len(arena.live.reconcile()) == 1
    assert "the pages could not be prepared" in caplog.text
    assert not arena.live.deciding


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A store, whether a round is under way, and what `session.version` says."""
    now = SimpleNamespace(deciding=False, s=0.0, before_a_round_shows=lambda _: None)
    monkeypatch.setattr(session, "state", lambda: now)
    monkeypatch.setattr(session.time, "monotonic", lambda: now.s)
    with open_store(tmp_path / "s.duckdb") as store:
        now.store, now.version = store, lambda: session.version(store)[1]
        yield now


def commit(store: Store) -> int:
    store.change(lambda cur: cur.execute("SELECT 1"))
    return reader.data_version(store)


def test_the_version_stands_still_in_a_round_and_moves_with_its_end(shown: Any) -> None:
    first = commit(shown.store)
    assert shown.version() == first
    shown.deciding = True
    for _ in range(3):
        commit(shown.store)
        assert shown.version() == first
    shown.deciding = False
    assert shown.version() == first + 3


def test_a_long_round_is_shown_in_parts(shown: Any) -> None:
    first = shown.version()
    shown.deciding = True
    commit(shown.store)
    shown.s = session.HOLD_S
    assert shown.version() == first
    shown.s += 0.1
    assert shown.version() == first + 1
    commit(shown.store)
    assert shown.version() == first + 1
    shown.s += session.HOLD_S + 0.1
    assert shown.version() == first + 2


def test_a_store_that_was_set_back_is_shown_at_once(shown: Any) -> None:
    commit(shown.store)
    shown.version()
    shown.deciding = True
    session._shown[shown.store.store_id] = (99, 0.0)
    assert shown.version() == reader.data_version(shown.store)


def test_what_a_visitor_sees_first_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `warm` the page's questions are answered without a look into the store."""
    with open_store(build(tmp_path / "made.duckdb")) as store:
        warm(store)
        key = (store.store_id, reader.data_version(store))
        with monkeypatch.context() as shut:
            shut.setattr(Store, "cursor", lambda _: pytest.fail("the store was asked"))
            runs = queries.runs(key, store)
            run = runs.iloc[0]
            page = RunPage(store, key, run, queries.summaries(key, store, str(run["run"])))
            data = overview_data.read(page, Axes((), (), (), "baseline"))
            assert data is not None
            assert board_queries.spend(key, store, page.run_id) is not None
        assert MODELS_RUN in set(runs["run"])

"""A host that only shows follows what another one uploads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.settings import follow_url
from arena.runner.viewer import Viewer
from arena.store import reader
from arena.store.backup import describe
from arena.store.offsite import Offsite, copy_name
from arena.store.store import Store, open_store
from tests.store.conftest import Make

make = Make()
NOW = datetime(2025, 3, 14, tzinfo=UTC)


def upload(store: Store, target: Path, at: datetime) -> Path:
    snapshot = store.snapshot()
    note = describe(snapshot, at, "")
    note = replace(note, file=copy_name(note))
    Offsite(target.as_uri()).put(snapshot, note)
    return target / note.file


def shown(viewer: Viewer) -> int:
    assert viewer.store is not None
    return len(reader.decisions(viewer.store, make.run_id))


def test_it_follows_from_target_to_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, here = tmp_path / "target", tmp_path / "here" / "live.duckdb"
    monkeypatch.setenv("ARENA_FOLLOW_URL", target.as_uri() + "/")
    with open_store(tmp_path / "there.duckdb") as there:
        there.write([make.unit(0)])
        upload(there, target, NOW)
        viewer = Viewer(here, NOW, "nobody", follow_url())
        assert shown(viewer) == 1
        assert viewer.store is not None
        assert here.with_name("live.snapshot.duckdb").stat().st_mtime == NOW.timestamp()
        there.write([make.unit(1)])
        upload(there, target, NOW + timedelta(minutes=1))
        assert not viewer.tick(NOW + timedelta(minutes=9))
        assert viewer.tick(NOW + timedelta(minutes=10))
        assert shown(viewer) == 2

        there.write([make.unit(2)])
        bent = upload(there, target, NOW + timedelta(minutes=12))
        whole = bent.read_bytes()
        bent.write_bytes(whole[:-1])
        assert not viewer.tick(NOW + timedelta(minutes=20))
        assert "not the copy that was noted" in str(viewer.problem)
        assert not viewer.tick(NOW + timedelta(minutes=21))
        assert "not the copy that was noted" in str(viewer.problem)
        assert shown(viewer) == 2
        bent.write_bytes(whole)
        assert viewer.tick(NOW + timedelta(minutes=30))
        assert viewer.problem is None
        assert shown(viewer) == 3
    for minutes in range(40, 44):
        viewer.tick(NOW + timedelta(minutes=minutes))
    assert not viewer.may_start
    assert not list(here.parent.glob("*.fetching*"))
    viewer.close()


def test_a_store_of_this_host_is_not_replaced(tmp_path: Path) -> None:
    target, here = tmp_path / "target", tmp_path / "live.duckdb"
    for path in (here, tmp_path / "there.duckdb"):
        with open_store(path) as store:
            store.write([make.unit(0)])
            if path != here:
                store.write([make.unit(1)])
                upload(store, target, NOW)
            else:
                store.snapshot()
    viewer = Viewer(here, NOW, "nobody", target.as_uri())
    assert shown(viewer) == 1
    assert "ARENA_FOLLOW_URL" in str(viewer.problem)
    viewer.close()

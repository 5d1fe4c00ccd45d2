"""A viewer shows the newest snapshot, lets old ones be read to their end, and knows when it may own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.runner.viewer import GRACE, Viewer
from arena.store import reader
from arena.store.backup import make_backup
from arena.store.store import Store, open_store
from tests.store.conftest import ROOT, Make

make = Make()
NOW = datetime(2025, 3, 14, tzinfo=UTC)


def shown(store: Store | None) -> int:
    assert store is not None
    return len(reader.decisions(store, make.run_id))


def links(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.glob("s.view-*"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def test_it_follows_the_snapshot(path: Path) -> None:
    with open_store(path) as owner:
        owner.write([make.ground(), make.unit(0)])
        owner.snapshot()
        viewer = Viewer(path, NOW)
        first = viewer.store
        assert first is not None
        assert (first.path, first.read_only) == (path, True)
        assert first.age_s is not None
        assert first.age_s < 60
        owner.write([make.unit(1)])
        assert not viewer.tick(NOW)
        owner.snapshot()
        assert viewer.tick(NOW + timedelta(seconds=10))
        assert (shown(viewer.store), shown(first)) == (2, 1)
        # A page that began with the first has a minute to end.
        viewer.tick(NOW + timedelta(seconds=9) + GRACE)
        assert shown(first) == 1
        assert len(links(path)) == 2
        viewer.tick(NOW + timedelta(seconds=10) + GRACE)
        with pytest.raises(StoreError, match="closed"):
            shown(first)
        assert len(links(path)) == 1
        viewer.close()
        assert links(path) == []
        assert not viewer.may_start


def test_without_hard_links_it_copies(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    with open_store(path) as owner:
        owner.write([make.unit(0)])
        snapshot = owner.snapshot()
    os.utime(snapshot, (1e9, 1e9))
    viewer = Viewer(path, NOW)
    assert shown(viewer.store) == 1
    assert viewer.store is not None
    assert viewer.store.age_s is not None
    assert viewer.store.age_s > 1e8  # the age of the snapshot, not of the copy
    viewer.close()


def test_a_spoilt_snapshot_leaves_what_is_shown(path: Path) -> None:
    with open_store(path) as owner:
        owner.write([make.unit(0)])
        snapshot = owner.snapshot()
        make_backup(owner, NOW)
        viewer = Viewer(path, NOW)
        spoilt = path.with_name("half")
        spoilt.write_bytes(b"no DuckDB file at all" * 400)
        spoilt.replace(snapshot)
        assert not viewer.tick(NOW)
        assert shown(viewer.store) == 1
        assert "not a DuckDB file" in str(viewer.problem)
        owner.write([make.unit(1)])
        owner.snapshot()
        assert viewer.tick(NOW)
        assert viewer.problem is None
        assert shown(viewer.store) == 2
        viewer.close()


def test_with_a_spoilt_snapshot_from_the_start_the_newest_backup_is_shown(path: Path) -> None:
    with open_store(path) as owner:
        owner.write([make.unit(0)])
        make_backup(owner, NOW)
        owner.snapshot().write_bytes(b"no DuckDB file at all" * 400)
    viewer = Viewer(path, NOW, "repair")
    assert shown(viewer.store) == 1
    viewer.close()


def test_without_any_copy_it_waits_for_one(path: Path) -> None:
    viewer = Viewer(path, NOW)
    assert (viewer.store, viewer.problem) == (None, None)
    with open_store(path) as owner:
        owner.write([make.unit(0)])
        owner.snapshot()
    assert viewer.tick(NOW)
    assert shown(viewer.store) == 1
    viewer.close()


OWN = """
import sys; from arena.store import open_store
s = open_store(sys.argv[1]); print('up', flush=True); input()
"""


def own(path: Path) -> subprocess.Popen[str]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWN, str(path)], cwd=ROOT, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert owner.stdout is not None
    assert owner.stdout.readline() == "up\n"
    return owner


def test_it_may_own_only_once_the_owner_is_gone_for_two_looks(path: Path) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        store.snapshot()
    owner = own(path)
    viewer = Viewer(path, NOW)
    for _ in range(3):
        viewer.tick(NOW)
    assert not viewer.may_start
    owner.kill()
    owner.communicate()
    viewer.tick(NOW)
    assert not viewer.may_start
    viewer.tick(NOW)
    assert viewer.may_start
    viewer.close()


def test_beside_a_damaged_store_it_waits_for_another_file(path: Path) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        good = shutil.copyfile(store.snapshot(), path.with_name("good"))
    path.write_bytes(b"no DuckDB file at all" * 400)
    viewer = Viewer(path, NOW, "repair")
    for _ in range(4):
        viewer.tick(NOW)
    assert not viewer.may_start
    good.replace(path)
    assert viewer.may_start
    viewer.close()


def test_what_a_killed_viewer_left_is_swept_away(path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        path.with_name(f"s.view-{pid}-7.duckdb").touch()
    path.with_name("s2.view-1-7.duckdb").touch()
    Viewer(path, NOW).close()
    assert links(path) == [f"s.view-{os.getpid()}-7.duckdb"]
    assert path.with_name("s2.view-1-7.duckdb").exists()

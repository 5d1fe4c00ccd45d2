"""What is wrong with a store is told in one sentence and its fix, and nothing is begun anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from arena.core.errors import StoreError
from arena.store.damage import disk_trouble, examine_store, open_guarded
from arena.store.head import head_path
from arena.store.lock import owner_pid
from arena.store.store import open_store


def cut_off(path: Path, *tracks_and_seqs: tuple[str, int]) -> None:
    """Delete the end of tracks, as a lost log does."""
    con = duckdb.connect(str(path))
    for track, seq in tracks_and_seqs:
        con.execute("DELETE FROM decisions WHERE track = ? AND seq >= ?", [track, seq]).fetchall()
    con.close()


def test_a_whole_store_and_a_new_one_are_in_no_trouble(path: Path, make) -> None:
    for _ in range(2):
        store, trouble = open_guarded(path)
        assert store is not None
        assert trouble is None
        store.write([make.unit(0)])
        store.close()


def test_lost_rounds_are_counted_and_named(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(day, model) for day in range(5) for model in ("m", "n")])
        store.snapshot()
    cut_off(path, (make.track("m"), 2), (make.track("n"), 3))
    store, trouble = open_guarded(path)
    assert store is not None
    assert store.writable
    store.close()
    assert trouble is not None
    # 10 recorded; 3 of m and 2 of n are gone. Day 2 is 3 January 2025, day 4 the 5th; n has day 2.
    assert trouble.kind == "head"
    assert "2 tracks" in trouble.what
    assert "holds 5 of 10 decisions, the last of 2025-01-03 00:05 UTC" in trouble.what
    assert "Lost are 3 rounds, 2025-01-03 00:05 UTC to 2025-01-05 00:05 UTC" in trouble.what
    assert f"restore --from {path.with_name('s.snapshot.duckdb')} --store {path}" in trouble.fix


def test_a_copy_that_lacks_the_end_as_well_is_not_offered(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0), make.unit(1)])
        store.snapshot()
        store.write([make.unit(2)])
    cut_off(path, (make.track(), 2))
    _, trouble = opened = open_guarded(path)
    assert opened[0] is not None
    opened[0].close()
    assert trouble is not None
    assert "holds 2 of 3 decisions" in trouble.what
    assert "No copy beside it has the rest" in trouble.fix
    assert head_path(path).name in trouble.fix


def test_a_spoilt_head_file_keeps_the_runner_waiting(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        head_path(path).write_text("{")
        trouble = examine_store(store)
    assert trouble is not None
    assert trouble.kind == "head"
    assert "s.head.json" in trouble.what


def test_a_store_that_is_gone_is_not_begun_anew(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        store.snapshot()
    path.unlink()
    store, trouble = open_guarded(path)
    assert store is None
    assert trouble is not None
    assert trouble.kind == "gone"
    assert "restore --from" in trouble.fix
    assert not path.exists()


def test_a_damaged_store_without_any_copy_points_to_the_upload(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
    path.write_bytes(b"no DuckDB file at all" * 400)
    before = path.read_bytes()
    store, trouble = open_guarded(path)
    assert store is None
    assert trouble is not None
    assert trouble.kind == "damaged"
    assert "s.duckdb" in trouble.what
    assert "--from URL" in trouble.fix
    assert path.read_bytes() == before


def test_a_small_disk_is_trouble_before_it_is_full(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    assert disk_trouble(tmp_path / "s.duckdb", free // 2) is None
    trouble = disk_trouble(tmp_path / "s.duckdb", 2 * free)
    assert trouble is not None
    assert trouble.kind == "full"
    assert "MB are free" in trouble.what


def test_the_owner_is_found_without_disturbing_it(path: Path, child) -> None:
    open_store(path).close()
    assert owner_pid(path) is None
    assert owner_pid(path.with_name("none.duckdb")) is None
    hold = "import sys; from arena.store import open_store\ns = open_store(sys.argv[1]); print('up', flush=True); input()"
    owner = child(hold, path)
    assert owner.stdout.readline() == "up\n"
    for _ in range(3):
        assert owner_pid(path) == owner.pid
    with pytest.raises(StoreError, match=str(owner.pid)):
        open_store(path)
    owner.communicate("\n")
    assert owner_pid(path) is None
    with open_store(path), pytest.raises(StoreError, match="open in this process"):
        owner_pid(path)


def test_a_store_is_opened_anew_under_its_handles(path: Path, make, counts) -> None:
    a, b = open_store(path), open_store(path)
    a.write([make.unit(0)])
    a.reopen(writing=False)
    assert not a.writable
    assert counts(b)["decisions"] == 1
    with pytest.raises(StoreError, match="reading only"):
        b.write([make.unit(1)])
    assert owner_sees_lock(path)
    a.reopen(writing=True)
    b.write([make.unit(1)])
    assert counts(a)["decisions"] == 2
    a.close()
    b.close()


def owner_sees_lock(path: Path) -> bool:
    """The file stays locked against writers of other processes while it is only read."""
    import subprocess
    import sys

    code = "import sys, duckdb; duckdb.connect(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    return "Could not set lock" in done.stderr


def test_a_disk_without_room_is_not_told_as_damage(
    path: Path, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration that finds no room fails with DuckDB's own error; restoring would help nothing."""
    with open_store(path) as store:
        store.write([make.unit(0)])

    def no_room(*_: object) -> None:
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr("arena.store.store.migrate", no_room)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    store, trouble = open_guarded(path)
    assert store is None
    assert trouble is not None
    assert trouble.kind == "full"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**12))
    assert open_guarded(path)[1].kind == "damaged"  # type: ignore[union-attr]


def test_a_store_of_another_user_is_not_told_as_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"anything")
    monkeypatch.setattr(os, "access", lambda *_: False)
    _, trouble = open_guarded(path)
    assert trouble is not None
    assert trouble.kind == "unusable"
    assert "chown" in trouble.fix


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"store_id":"a","heads":[],"n_decisions":1}'])
def test_a_head_file_that_cannot_be_used_is_named(path: Path, make, text: str) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
    head_path(path).write_text(text)
    store, trouble = open_guarded(path)
    assert store is None
    assert trouble is not None
    assert "The head file" in trouble.what
    assert "Move it away" in trouble.what

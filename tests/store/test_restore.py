"""Back from a copy: from every kind of place, and never over something without moving it aside."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest

from arena.core.errors import ConfigError, SourceError, StoreError, StoreLockedError
from arena.store import reader
from arena.store.backup import CopyNote, backup_folder, describe, make_backup
from arena.store.deleting import delete_runs
from arena.store.export import export
from arena.store.head import read_head
from arena.store.offsite import KEPT_COPIES, Offsite, copy_name, public_url
from arena.store.restore import restore, restore_missing
from arena.store.store import Store, open_store

NOW = datetime(2025, 3, 14, 12, tzinfo=UTC)


def upload(store: Store, url: str, at: datetime) -> CopyNote:
    snapshot = store.snapshot()
    note = describe(snapshot, at, "")
    note = replace(note, file=copy_name(note))
    Offsite(url).put(snapshot, note)
    return note


def same(a: Path, b: Path) -> bool:
    with open_store(a, read=True) as one, open_store(b, read=True) as two:
        return reader.summaries(one).equals(reader.summaries(two)) and one.store_id == two.store_id


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "memory":
        url = f"memory://{tmp_path.name}"
        yield url
        fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)
    else:
        yield (tmp_path / "target").as_uri()


@pytest.mark.parametrize("target", ["file", "memory"], indirect=True)
def test_from_an_upload_target_to_an_empty_disk(target: str, path: Path, make, tmp_path: Path) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0), make.unit(1)])
        upload(store, target, NOW - timedelta(hours=2))
        store.write([make.unit(2, balance=100.0 / 3)])
        note = upload(store, target, NOW)
        store.write([make.unit(3)])
    new = tmp_path / "elsewhere" / "live.duckdb"
    done = restore_missing(target, new, NOW)
    assert done is not None
    assert (done.note.n_decisions, done.refused, done.moved) == (3, [], [])
    assert done.note.sha256 == note.sha256
    with open_store(new) as restored:
        assert reader.summaries(restored)["balance"].tolist() == [100.0 / 3]
        assert read_head(new)["heads"] == {make.track(): make.chain(2)}
        restored.write([make.unit(3)])  # and life goes on
    assert same(new, path)
    assert restore_missing(target, new, NOW) is None  # there is a store now


def test_the_newest_whole_copy_is_taken(path: Path, make, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with open_store(path) as store:
        notes = []
        for day in range(3):
            store.write([make.unit(day)])
            notes.append(upload(store, target.as_uri(), NOW + timedelta(days=day)))
    bent = target / notes[2].file
    content = bytearray(bent.read_bytes())
    content[9000] ^= 1
    bent.write_bytes(bytes(content))
    (target / notes[1].file).unlink()
    (target / "latest.json").write_text("{")  # torn
    new = tmp_path / "new.duckdb"
    done = restore(target.as_uri(), new, NOW)
    assert done.note.n_decisions == 1
    assert len(done.refused) == 2
    assert "SHA-256" in done.refused[0]
    assert "missing" in done.refused[1]
    assert not list(tmp_path.glob("*.restoring*"))
    (target / notes[0].file).unlink()
    with pytest.raises(StoreError, match=r"No copy in .* is whole"):
        restore(target.as_uri(), tmp_path / "newer.duckdb", NOW)
    assert not (tmp_path / "newer.duckdb").exists()


def test_from_a_folder_of_backups_over_a_store_that_is_moved_aside(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        make_backup(store, NOW - timedelta(days=1))
        store.write([make.unit(1)])
        make_backup(store, NOW)
        store.write([make.unit(2)])
        store.snapshot()
    before = path.read_bytes()
    done = restore(str(backup_folder(path)), path, NOW)
    assert done.note.n_decisions == 2
    aside = path.with_name("s.aside-20250314T120000Z.duckdb")
    assert aside in done.moved
    assert aside.read_bytes() == before
    assert path.with_name("s.aside-20250314T120000Z.snapshot.duckdb") in done.moved
    assert read_head(path)["n_decisions"] == 2
    with open_store(path, read=True) as store:
        assert len(reader.decisions(store, make.run_id)) == 2


def test_a_closed_store_with_its_log_may_be_the_source(path: Path, make, child, tmp_path: Path) -> None:
    code = """
import os, sys
sys.path.insert(0, "tests")
from tests.store.conftest import Make
from arena.store import open_store
store = open_store(sys.argv[1])
store.write([Make().unit(0), Make().unit(1)])
os._exit(0)
"""
    child(code, path).communicate()
    assert path.with_name("s.duckdb.wal").stat().st_size
    done = restore(str(path), tmp_path / "b.duckdb", NOW)
    assert done.note.n_decisions == 2


def test_from_an_export(path: Path, make, tmp_path: Path) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0), make.unit(1)])
        export(store, tmp_path / "out", with_timing=True)
    new = tmp_path / "new.duckdb"
    assert restore(str(tmp_path / "out"), new, NOW).note.n_decisions == 2
    with open_store(path, read=True) as a, open_store(new) as b:
        assert reader.summaries(a).equals(reader.summaries(b))


def test_a_store_in_use_is_left_alone(path: Path, make, tmp_path: Path, child) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        store.snapshot()
    hold = "import sys; from arena.store import open_store\ns = open_store(sys.argv[1]); print('up', flush=True); input()"
    owner = child(hold, path)
    assert owner.stdout.readline() == "up\n"
    with pytest.raises(StoreLockedError, match=str(owner.pid)):
        restore(str(path.with_name("s.snapshot.duckdb")), path, NOW)
    with pytest.raises(StoreError, match=f"process {owner.pid} has it open"):
        restore(str(path), tmp_path / "b.duckdb", NOW)
    owner.communicate("\n")
    with open_store(path), pytest.raises(StoreError, match="open in this process"):
        restore(str(path.with_name("s.snapshot.duckdb")), path, NOW)


def test_another_arena_is_not_replaced(path: Path, make, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    for name in (path, other):
        with open_store(name) as store:
            store.write([make.unit(0)])
            store.snapshot()
    before = other.read_bytes()
    with pytest.raises(StoreError, match="another arena"):
        restore(str(path.with_name("s.snapshot.duckdb")), other, NOW)
    assert other.read_bytes() == before
    assert not list(tmp_path.glob("*.restoring*"))


def test_a_judge_may_refuse_a_copy_that_can_be_read(path: Path, make, tmp_path: Path) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        copy = store.snapshot()
    with pytest.raises(StoreError, match="the chain is broken"):
        restore(str(copy), tmp_path / "new.duckdb", NOW, lambda _: ["the chain is broken"])


@pytest.mark.parametrize(
    ("source", "why"),
    [("nowhere", "no file, no folder"), ("memory://empty", "holds no copy"), ("bogus://x/y", "cannot be used")],
)
def test_a_source_without_a_copy_is_named(
    source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    with pytest.raises(ConfigError, match=why):
        restore(source, tmp_path / "new.duckdb", NOW)
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_leaves_is_not_asked_without_network(tmp_path: Path) -> None:
    url = "https://user:hunter2@example.com/data?token=abc"
    with pytest.raises(ConfigError, match="ARENA_NETWORK=off") as refused:
        restore(url, tmp_path / "new.duckdb", NOW)
    assert "hunter2" not in str(refused.value)
    assert "abc" not in str(refused.value)
    assert public_url(url) == "https://example.com/data"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Callable[[Path], str]]:
    """Serve a folder over HTTP, as a branch of a repository is."""
    servers = []

    def serve(folder: Path) -> str:
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_from_a_web_folder(path: Path, make, tmp_path: Path, web) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0), make.unit(1)])
        upload(store, (tmp_path / "target").as_uri(), NOW)
        address = web(tmp_path / "target")
        with pytest.raises(ConfigError, match="can be read only"):
            upload(store, address, NOW)
    new = tmp_path / "new.duckdb"
    assert restore_missing(address, new, NOW) is not None
    assert same(new, path)


def test_a_web_folder_without_copies_is_empty_and_one_that_is_away_is_an_error(
    tmp_path: Path, web
) -> None:
    (tmp_path / "t").mkdir()
    assert restore_missing(web(tmp_path / "t"), tmp_path / "new.duckdb", NOW) is None
    with pytest.raises(SourceError, match=r"`http://127.0.0.1:9` could not be read"):
        restore_missing("http://127.0.0.1:9", tmp_path / "new.duckdb", NOW)


def test_uploads_are_pruned_and_others_copies_stay(path: Path, make, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "aaaaaaaaaaaa-20250101T000000Z-1.duckdb").touch()
    with open_store(path) as store:
        for day in range(5):
            store.write([make.unit(day)])
            upload(store, target.as_uri(), NOW + timedelta(days=day))
        Offsite(target.as_uri()).prune(store.store_id)
        mine = sorted(target.glob(f"{store.store_id[:12]}-*.duckdb"))
    assert [p.name[13:21] for p in mine] == ["20250316", "20250317", "20250318"]
    assert len(mine) == KEPT_COPIES == len(list(target.glob("*Z-*.json")))
    assert (target / "aaaaaaaaaaaa-20250101T000000Z-1.duckdb").exists()


def test_no_upload_over_another_store_or_a_newer_state(path: Path, make, tmp_path: Path) -> None:
    url = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        store.write([make.unit(0)])
        copy = store.snapshot()
        old = describe(copy, NOW, "old.duckdb")
        store.write([make.unit(1)])
        upload(store, url, NOW)
        with pytest.raises(SourceError, match="a newer state"):
            Offsite(url).put(copy, old)
    with open_store(tmp_path / "other.duckdb") as other:
        other.write([make.unit(day) for day in range(4)])
        with pytest.raises(SourceError, match="holds the store"):
            upload(other, url, NOW)
    latest = Offsite(url).latest()
    assert latest is not None
    assert latest.n_decisions == 2
    assert not (tmp_path / "target" / "old.duckdb").exists()


def test_of_a_mixed_folder_the_copies_of_this_store_are_taken(path: Path, make, tmp_path: Path) -> None:
    """`backups` holds those of every store beside it, and another one's may be newer."""
    other, ours = tmp_path / "t.duckdb", ""
    for name, at in ((path, NOW), (other, NOW + timedelta(hours=1))):
        with open_store(name) as store:
            store.write([make.unit(0)])
            make_backup(store, at)
            ours = store.store_id if name == path else ours
    folder = str(backup_folder(path))
    for lost in (False, True):
        if lost:
            for file in tmp_path.glob("s.*"):
                file.unlink()
        assert restore(folder, path, NOW + timedelta(seconds=lost)).note.store_id == ours
    with pytest.raises(ConfigError, match="holds copies of 2 arenas"):
        restore(folder, tmp_path / "new.duckdb", NOW)


def test_a_torn_note_beside_a_good_copy_keeps_nobody_from_it(path: Path, make, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with open_store(path) as store:
        store.write([make.unit(0)])
        upload(store, target.as_uri(), NOW)
    (target / "torn.json").write_text('{"store_id":')
    assert restore_missing(target.as_uri(), tmp_path / "new.duckdb", NOW) is not None


def test_the_newest_state_counts_whatever_a_clock_said(path: Path, make, tmp_path: Path) -> None:
    """Three uploads while the clock was a year ahead, then one with the clock set right."""
    target = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        for day in range(KEPT_COPIES + 1):
            store.write([make.unit(day)])
            ahead = timedelta(days=365 if day < KEPT_COPIES else 0)
            note = upload(store, target, NOW + ahead + timedelta(hours=day))
            Offsite(target).prune(store.store_id)
    assert (tmp_path / "target" / note.file).exists()
    assert restore(target, tmp_path / "new.duckdb", NOW).note.n_decisions == KEPT_COPIES + 1


def test_a_copy_here_that_knows_more_than_the_upload_is_left_to_a_person(
    path: Path, make, tmp_path: Path
) -> None:
    target = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        store.write([make.unit(0)])
        upload(store, target, NOW)
        store.write([make.unit(1)])
        snapshot = store.snapshot()
    path.unlink()
    assert restore_missing(target, path, NOW) is None
    assert snapshot.exists()
    assert not path.exists()


def test_a_store_that_another_process_began_meanwhile_stays(
    path: Path, make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers start on an empty disk; one is still fetching when the other has begun."""
    target = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        store.write([make.unit(0)])
        upload(store, target, NOW)
    new, fetch = tmp_path / "new.duckdb", Offsite.fetch

    def slow(self: Offsite, note: CopyNote, into: Path) -> None:
        fetch(self, note, into)
        new.write_bytes(b"of the other server")

    monkeypatch.setattr(Offsite, "fetch", slow)
    assert restore_missing(target, new, NOW) is None
    assert new.read_bytes() == b"of the other server"
    assert not list(tmp_path.glob("*.aside-*"))
    assert not list(tmp_path.glob("*.restoring*"))


def test_an_arena_that_went_on_from_an_older_copy_replaces_no_upload(
    path: Path, make, tmp_path: Path
) -> None:
    target = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        store.write([make.unit(0), make.unit(0, "gone")])
        make_backup(store, NOW)
        store.write([make.unit(1)])
        kept = upload(store, target, NOW)
    restore(str(backup_folder(path)), path, NOW)
    again = make.unit(1)
    decision = replace(again.rows[0], chain_hash="decided otherwise")
    with open_store(path) as store:
        store.write([replace(again, rows=(decision, *again.rows[1:]), heads=((make.track(), "decided otherwise"),))])
        for day in range(2, 5):
            store.write([make.unit(day)])
        assert reader.data_version(store) > kept.data_version
        with pytest.raises(SourceError, match=r"made otherwise here \(1 tracks\)"):
            upload(store, target, NOW + timedelta(days=1))
    latest = Offsite(target).latest()
    assert latest is not None
    assert latest.sha256 == kept.sha256


def test_a_run_that_was_deleted_stops_no_upload(path: Path, make, tmp_path: Path) -> None:
    target = (tmp_path / "target").as_uri()
    with open_store(path) as store:
        other = make.unit(0, "other")
        moved = replace(other.rows[0], run="replay-gone-e1")
        store.write([make.unit(0), replace(other, rows=(moved, *other.rows[1:]))])
        upload(store, target, NOW)
        delete_runs(store, ["replay-gone-e1"])
        store.write([make.unit(1)])
        assert upload(store, target, NOW + timedelta(days=1)).n_decisions == 2


def test_a_snapshot_that_somebody_shows_can_be_restored(path: Path, make, child) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        copy = store.snapshot()
    show = "import sys; from arena.store import open_store\ns = open_store(sys.argv[1], read=True); print('up', flush=True); input()"
    viewer = child(show, copy)
    assert viewer.stdout.readline() == "up\n"
    try:
        assert restore(str(copy), path, NOW).note.n_decisions == 1
    finally:
        viewer.communicate("\n")


def test_what_root_restores_belongs_to_whom_the_folder_belongs_to(
    path: Path, make, tmp_path: Path
) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    with open_store(path) as store:
        store.write([make.unit(0)])
        copy = store.snapshot()
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12346)
    restore(str(copy), home / "live.duckdb", NOW)
    for name in ("live.duckdb", "live.head.json"):
        owner = (home / name).stat()
        assert (owner.st_uid, owner.st_gid) == (12345, 12346)


def test_an_upload_that_was_cut_off_is_pruned_like_any_other(path: Path, make, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with open_store(path) as store:
        store.write([make.unit(0)])
        note = upload(store, target.as_uri(), NOW)
        (target / note.file.replace(".duckdb", ".json")).unlink()
        for day in range(1, KEPT_COPIES + 1):
            store.write([make.unit(day)])
            upload(store, target.as_uri(), NOW + timedelta(days=day))
        Offsite(target.as_uri()).prune(store.store_id)
    assert not (target / note.file).exists()

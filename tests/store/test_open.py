"""Opening: hardening, sharing, and every way in which it can go wrong."""

from __future__ import annotations

import contextlib
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError, StoreLockedError
from arena.store import reader
from arena.store.store import open_store


def test_an_owner_creates_folder_and_store(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "s.duckdb"
    with open_store(path) as store:
        assert store.path == path
        assert (store.read_only, store.age_s) == (False, None)
        assert reader.data_version(store) == 0
    assert path.exists()


def test_a_relative_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("s.duckdb") as a, open_store(tmp_path / "x" / ".." / "s.duckdb") as b:
        assert a.path == b.path == tmp_path / "s.duckdb"
        assert a.store_id == b.store_id


def test_reading_never_creates(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no such store.*replay"):
        open_store(tmp_path / "a" / "s.duckdb", read=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"hello\n" * 500, b"\x00" * 5000, b"abc"])
@pytest.mark.parametrize("read", [True, False])
def test_another_file_is_named_and_left_alone(path: Path, content: bytes, read: bool) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"s.duckdb.*not a DuckDB file"):
        open_store(path, read=read)
    assert path.read_bytes() == content


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path)


def test_a_damaged_store_is_named(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(day) for day in range(20)])
    content = bytearray(path.read_bytes())
    # The first 12 KiB are headers; everything behind is broken.
    content[12288:] = os.urandom(len(content) - 12288)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"s.duckdb"):
        open_store(path)


def test_a_newer_store_is_refused_unchanged(path: Path) -> None:
    open_store(path).close()
    con = duckdb.connect(str(path))
    con.execute("INSERT INTO migrations VALUES ('m999_future', now())").fetchall()
    con.close()
    before = path.read_bytes()
    for read in (True, False):
        with pytest.raises(StoreError, match=r"s.duckdb.*newer.*m999_future.*Update"):
            open_store(path, read=read)
    assert path.read_bytes() == before


def test_a_foreign_duckdb_file_is_refused_unchanged(path: Path) -> None:
    con = duckdb.connect(str(path))
    con.execute("CREATE TABLE mine (a BIGINT)").fetchall()
    con.close()
    before = path.read_bytes()
    for read in (True, False):
        with pytest.raises(StoreError, match=r"no arena store.*mine"):
            open_store(path, read=read)
    assert path.read_bytes() == before


def test_an_altered_table_is_refused(path: Path) -> None:
    open_store(path).close()
    con = duckdb.connect(str(path))
    con.execute("ALTER TABLE calls DROP COLUMN error").fetchall()
    con.close()
    with pytest.raises(StoreError, match="`calls`"):
        open_store(path)


def test_one_process_shares_one_connection(path: Path, make) -> None:
    a, b = open_store(path), open_store(path)
    reading = open_store(path, read=True)
    a.write([make.unit()])
    assert len(reader.decisions(b, make.run_id)) == 1
    with pytest.raises(StoreError, match="reading only"):
        reading.write([make.unit(1)])
    a.close()
    a.close()
    b.write([make.unit(1)])
    b.close()
    # The last handle keeps the store open.
    assert len(reader.decisions(reading, make.run_id)) == 2
    reading.close()
    for closed in (a, b, reading):
        with pytest.raises(StoreError, match="closed"), closed.cursor():
            pass
    with open_store(path, read=True) as again:
        assert len(reader.decisions(again, make.run_id)) == 2


def test_a_reader_opened_first_goes_on_under_an_owner(path: Path, make) -> None:
    open_store(path).close()
    reading = open_store(path, read=True)
    assert reader.data_version(reading) == 0
    with open_store(path) as owner:
        owner.write([make.unit()])
        assert reader.data_version(reading) == 1
    assert reader.data_version(reading) == 1
    reading.close()


def test_an_owner_waits_for_cursors_of_readers(path: Path, make) -> None:
    open_store(path).close()
    reading, cursors = open_store(path, read=True), contextlib.ExitStack()
    cursors.enter_context(reading.cursor())
    threading.Timer(0.3, cursors.close).start()
    with open_store(path) as owner:
        owner.write([make.unit()])
    reading.close()


def test_two_readers_in_two_processes(path: Path, child) -> None:
    open_store(path).close()
    code = (
        "import sys; from arena.store import open_store, reader\n"
        "print(reader.data_version(open_store(sys.argv[1], read=True)))"
    )
    with open_store(path, read=True):
        assert child(code, path).communicate()[0] == "0\n"


def test_time_is_utc_on_every_cursor_whatever_the_host(path: Path, child) -> None:
    code = """
import sys, datetime as dt
from arena.core.rows import WriteUnit, ContextRow
from arena.store import open_store
at = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
with open_store(sys.argv[1]) as store:
    store.write([WriteUnit((ContextRow("h", "BTC", at.date(), at, at.date(), 1, 0),))])
    for _ in range(2):
        with store.cursor() as cur:
            cur.execute("SELECT as_of_utc::DATE, session, as_of_utc, current_setting('TimeZone') FROM contexts")
            d, s, t, zone = cur.fetchall()[0]
            print(d, s, t.isoformat(), zone)
"""
    out = child(code, path, tz="America/New_York").communicate()[0].splitlines()
    assert out == ["2025-01-01 2025-01-01 2025-01-01T00:00:00+00:00 UTC"] * 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY meta TO '/tmp/arena_must_not_exist.csv'",
        "ATTACH '/tmp/arena_must_not_exist.duckdb' AS other",
        "SET GLOBAL enable_external_access = true",
        "SET threads = 8",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM secret",
    ],
)
@pytest.mark.parametrize("read", [True, False])
def test_a_query_reaches_nothing_outside(path: Path, sql: str, read: bool) -> None:
    import pandas as pd

    secret = pd.DataFrame({"key": ["sk-1"]})
    open_store(path).close()
    with open_store(path, read=read) as store, store.cursor() as cur, pytest.raises(duckdb.Error):
        cur.execute(sql).fetchall()
    assert len(secret) == 1
    assert not list(Path("/tmp").glob("arena_must_not_exist*"))


def test_the_file_stays_readable_for_duckdb_1_5(path: Path) -> None:
    with open_store(path) as store, store.cursor() as cur:
        cur.execute("SELECT tags FROM duckdb_databases() WHERE database_name = current_database()")
        assert cur.fetchall()[0][0]["storage_version"].startswith("v1.5")


def test_a_forked_child_is_turned_away(path: Path, child) -> None:
    code = """
import os, sys
from arena.store import open_store
from arena.core.errors import StoreError
store = open_store(sys.argv[1])
pid = os.fork()
if pid == 0:
    for use in (store.cursor().__enter__, store.snapshot):
        try:
            use()
        except StoreError as error:
            print("parent" in str(error), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""
    assert child(code, path).communicate()[0] == "True\nTrue\n"


def test_locked_names_the_owner_and_falls_back_to_the_snapshot(path: Path, child, make) -> None:
    code = """
import sys
from arena.store import open_store
store = open_store(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    store.snapshot()
    print("done", flush=True)
"""
    owner = child(code, path)
    assert owner.stdout.readline() == "ready\n"
    for read, snapshot_ok in ((False, False), (True, False), (True, True)):
        with pytest.raises(StoreLockedError, match=r"s.duckdb") as caught:
            open_store(path, read=read, snapshot_ok=snapshot_ok)
        assert caught.value.pid == owner.pid
    owner.stdin.write("snapshot\n")
    owner.stdin.flush()
    assert owner.stdout.readline() == "done\n"
    with pytest.raises(StoreLockedError):
        open_store(path, snapshot_ok=True)  # an owner never gets a copy
    with open_store(path, read=True, snapshot_ok=True) as copy:
        assert copy.read_only
        assert copy.path == path
        assert 0 <= copy.age_s < 60
        assert reader.data_version(copy) == 0
        with pytest.raises(StoreError, match="reading only"):
            copy.write([make.unit()])
        with pytest.raises(StoreError, match="reading only"):
            copy.snapshot()
    old = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
    os.utime(path.with_name("s.snapshot.duckdb"), (old, old))
    with open_store(path, read=True, snapshot_ok=True) as copy:
        assert copy.age_s == pytest.approx(3600, abs=30)
    owner.communicate()
    with open_store(path, read=True, snapshot_ok=True) as live:
        assert live.age_s is None

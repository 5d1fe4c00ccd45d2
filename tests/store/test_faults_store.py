"""Faults of disk, process and version that a store must survive, made for real and small.

The number in a name is the row of the table of faults.
"""

from __future__ import annotations

import dataclasses
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError, StoreLockedError
from arena.runner.keeper import Keeper
from arena.runner.viewer import Viewer
from arena.store import migrations, reader
from arena.store.damage import head_trouble, open_guarded
from arena.store.head import head_path
from arena.store.restore import restore
from arena.store.snapshot import copy_database, snapshot_path
from arena.store.store import Store, open_store
from tests.store.conftest import ROOT

NOW = datetime(2025, 3, 14, 12, tzinfo=UTC)


def content(store: Store) -> dict[str, int | None]:
    """A hash of every row of every table, as a set; bookkeeping of versions and moments apart."""
    found = {}
    with store.cursor() as cur:
        cur.execute("SELECT table_name FROM information_schema.tables WHERE table_catalog = current_database()")
        for (table,) in cur.fetchall():
            if table not in ("meta", "migrations"):
                cur.execute(f'SELECT bit_xor(hash(t)) FROM "{table}" t')
                found[table] = cur.fetchall()[0][0]
    return found


def run(code: str, *argv: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, argv)], cwd=ROOT, text=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=280, check=False,
    )  # fmt: skip


# One process that has imported everything and opens nothing; each owner is a fork of it. It keeps
# count of what was acknowledged, kills after a moment, and goes on with the same file.
KILLER = """
import os, random, signal, sys, time
from arena.store import open_store
from tests.store.conftest import Make
path, n, make, rng = sys.argv[1], int(sys.argv[2]), Make(), random.Random(4)
day = 0
for _ in range(n):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        store = open_store(path)
        os.write(w, b"u")
        while True:
            store.write([make.unit(day)])
            os.write(w, b"a")
            day += 1
            with store.cursor() as cur:
                cur.execute("CHECKPOINT").fetchall()
            store.snapshot()
            os.write(w, b"s")
            assert store.renew()
    os.close(w)
    assert os.read(r, 1) == b"u", "the store could not be opened"
    said = b""
    for _ in range(rng.randrange(3)):
        said += os.read(r, 1)
    time.sleep(rng.uniform(0.0, 0.1))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while part := os.read(r, 4096):
        said += part
    os.close(r)
    # The one that was under way may be there or not: the next owner writes it again, to no effect.
    day += said.count(b"a")
print(day)
"""


@pytest.mark.fault(4)
def test_fault_04_killed_during_checkpoint_or_snapshot(path: Path, make, counts) -> None:
    """25 owners in a row are killed between a write, a checkpoint, a snapshot and opening the file anew."""
    done = run(KILLER, path, 25)
    assert done.returncode == 0, done.stderr
    acknowledged = int(done.stdout)
    assert acknowledged >= 8
    store, trouble = open_guarded(path)
    assert store is not None
    assert trouble is None
    with store:
        n = counts(store)
        assert acknowledged <= n["decisions"] <= acknowledged + 1
        assert n["equity"] == n["fills"] == n["calls"] == n["decisions"]
    with open_store(snapshot_path(path), read=True) as copy:
        m = counts(copy)
        assert 1 <= m["decisions"] <= n["decisions"]
        assert m["equity"] == m["decisions"]


DIES_AT_CHECKPOINT = """
import os, signal, sys
from arena.store import migrations, store
left = int(sys.argv[2])
class Cursor:
    def __init__(self, cur): self.cur = cur
    def __getattr__(self, name): return getattr(self.cur, name)
    def execute(self, sql, *args):
        global left
        if sql == "CHECKPOINT":
            left -= 1
            if left == 0: os.kill(os.getpid(), signal.SIGKILL)
        return self.cur.execute(sql, *args)
store.migrate = lambda cur, path: migrations.migrate(Cursor(cur), path)
store.open_store(sys.argv[1])
"""


@pytest.mark.fault(5)
def test_fault_05_killed_after_a_migration_before_its_checkpoint(tmp_path: Path, make) -> None:
    """At every step of a new store, and of one that holds data when it is updated."""
    steps = migrations.MIGRATIONS
    every = [s.__name__ for s in steps]
    for n in (1, len(steps)):
        path = tmp_path / f"new{n}.duckdb"
        assert run(DIES_AT_CHECKPOINT, path, n).returncode == -signal.SIGKILL
        with open_store(path) as store, store.cursor() as cur:
            assert migrations.applied(cur) == every
            store.write([make.ground(), make.unit(0)])
    for n in range(1, len(steps)):
        old = tmp_path / f"old{n}.duckdb"
        con = duckdb.connect(str(old))
        migrations.migrate(con.cursor(), old, steps=steps[:n])
        con.execute("INSERT INTO seasons VALUES ('mine', '{}')").fetchall()
        con.close()
        assert run(DIES_AT_CHECKPOINT, old, 1).returncode == -signal.SIGKILL
        assert old.with_name(f"old{n}.before-{every[n]}.duckdb").exists()
        with open_store(old) as store, store.cursor() as cur:
            assert migrations.applied(cur) == every
            cur.execute("SELECT season FROM seasons")
            assert cur.fetchall() == [("mine",)]


WRITES_AND_DIES = """
import os, sys
from arena.store import open_store
from tests.store.conftest import Make
make, store = Make(), open_store(sys.argv[1])
store.write([make.ground()])
for day in range(3):
    store.write([make.unit(day)])
with store.cursor() as cur:
    cur.execute("CHECKPOINT").fetchall()
for day in range(3, 8):
    store.write([make.unit(day)])
store.snapshot()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def with_log(tmp_path: Path) -> Path:
    """A folder with a store of 8 rounds: 3 in the main file, 5 in the log of an owner that was killed."""
    folder = tmp_path / "made"
    folder.mkdir()
    assert run(WRITES_AND_DIES, folder / "s.duckdb").returncode == -signal.SIGKILL
    assert (folder / "s.duckdb.wal").stat().st_size > 10_000
    return folder


def damages(log: bytes) -> Iterator[tuple[str, bytes | None]]:
    yield "whole", log
    yield "deleted", None
    yield "empty", b""
    for tenth in (2, 5, 8):
        yield f"cut at {tenth}/10", log[: len(log) * tenth // 10]
    rng = random.Random(6)
    for _ in range(16):
        bent = bytearray(log)
        bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
        yield "flipped", bytes(bent)


@pytest.mark.fault(6)
def test_fault_06_a_damaged_log_is_never_silent(with_log: Path, tmp_path: Path) -> None:
    """Refused, or the lost rounds named exactly by the heads; the snapshot brings them back."""
    log = (with_log / "s.duckdb.wal").read_bytes()
    seen = set()
    for n, (what, bent) in enumerate(damages(log)):
        folder = tmp_path / str(n)
        folder.mkdir()
        for name in ("s.duckdb", "s.head.json", "s.snapshot.duckdb"):
            shutil.copyfile(with_log / name, folder / name)
        path = folder / "s.duckdb"
        if bent is not None:
            (folder / "s.duckdb.wal").write_bytes(bent)
        store, trouble = open_guarded(path)
        if store is None:
            assert trouble is not None, what
            assert trouble.kind == "damaged", what
            assert "s.duckdb" in trouble.what
            seen.add("refused")
        else:
            with store:
                with store.cursor() as cur:
                    cur.execute("SELECT count(*) FROM decisions")
                    stored = cur.fetchall()[0][0]
                if stored == 8:
                    assert trouble is None, what
                    seen.add("whole")
                else:
                    assert trouble is not None, what
                    assert trouble.kind == "head"
                    assert f"holds {stored} of 8 decisions" in trouble.what
                    lost = "is the round" if stored == 7 else f"are {8 - stored} rounds"
                    assert f"Lost {lost}" in trouble.what
                    seen.add("named")
        if what == "deleted" or n == 10:
            assert trouble is not None
            done = restore(str(snapshot_path(path)), path, NOW)
            assert done.note.n_decisions == 8
            with open_store(path) as again:
                assert head_trouble(again) is None
    assert seen == {"whole", "named", "refused"}


@pytest.mark.fault(7)
def test_fault_07_a_flipped_byte_in_the_main_file(path: Path, make) -> None:
    """Named, the pages read the snapshot, and the damaged file stays as it was found."""
    with open_store(path) as store:
        store.write([make.ground(), *(make.unit(day) for day in range(40))])
        store.snapshot()
        whole = content(store)
    raw, head = path.read_bytes(), head_path(path).read_bytes()
    rng, named = random.Random(7), 0
    for _ in range(24):
        bent = bytearray(raw)
        at = rng.randrange(len(bent) - 8)
        for i in range(8):
            bent[at + i] ^= 0xFF
        path.write_bytes(bent)
        head_path(path).write_bytes(head)
        store, trouble = open_guarded(path)
        if store is not None:
            # Room that nothing uses, or a block that is only read when something is written.
            with store:
                assert trouble is None
                assert content(store) == whole
            continue
        named += 1
        assert trouble is not None
        assert trouble.kind == "damaged"
        assert "s.duckdb" in trouble.what
        assert "restore --from" in trouble.fix
    assert named > 5
    assert path.read_bytes() != raw
    viewer = Viewer(path, NOW, "repair")
    assert viewer.store is not None
    assert viewer.store.read_only
    assert content(viewer.store) == whole
    viewer.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 30 MB; needs root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=30m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(store: Store, make, first_day: int) -> int:
    """Write until the store refuses; the day that was refused."""
    for day in range(first_day, first_day + 400):
        unit = make.unit(day)
        text = make.blob(random.Random(day).randbytes(200_000).hex())
        try:
            store.write([dataclasses.replace(unit, rows=(*unit.rows, text))])
        except StoreError:
            return day
    raise AssertionError("the disk never filled up")


@pytest.mark.fault(8)
@pytest.mark.parametrize("where", ["checkpoint", "insert"])
def test_fault_08_a_full_disk(small_disk: Path, make, where: str) -> None:
    """The runner waits, pages read, and it goes on by itself once there is room; nothing is lost."""
    path, ballast = small_disk / "s.duckdb", small_disk / "ballast"
    if where == "insert":
        # Less room than the log takes before its first checkpoint.
        ballast.write_bytes(bytes(20_000_000))
    with open_store(path) as store:
        store.write([make.ground()])
        keeper = Keeper(store, least_free_bytes=4_000_000)
        keeper.tick(NOW)
        assert keeper.trouble is None
        refused = fill(store, make, 0)
        if where == "checkpoint":
            assert "checkpoint" in str(store.broken)
        keeper.tick(NOW)
        assert keeper.trouble is not None
        assert keeper.trouble.kind == "full"
        assert re.search(r"^\d+ MB are free beside the store `s.duckdb`", keeper.trouble.what)
        decided = len(reader.decisions(store, make.run_id))
        # What was acknowledged is there; of the one that was refused, all or nothing.
        assert refused <= decided <= refused + 1
        keeper.tick(NOW)
        assert keeper.trouble.kind == "full"
        assert len(reader.decisions(store, make.run_id)) == decided
        # Room is made: more of it, since a log that could not be written out needs some as well.
        ballast.unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,size=120m", small_disk], check=True)
        keeper.tick(NOW)
        assert keeper.trouble is None
        store.write([make.unit(day) for day in range(refused, refused + 3)])
        assert len(reader.decisions(store, make.run_id)) == refused + 3
        with store.cursor() as cur:
            cur.execute("CHECKPOINT")
            cur.execute("SELECT count(*) FROM blobs WHERE length(text) = 400000")
            assert cur.fetchall()[0][0] in (refused, refused + 1)
    store, trouble = open_guarded(path)
    assert store is not None
    store.close()
    assert trouble is None


@pytest.mark.fault(8)
def test_fault_08_a_snapshot_that_finds_no_room_takes_none(small_disk: Path, make) -> None:
    path = small_disk / "s.duckdb"
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0)])
        old = store.snapshot().read_bytes()
        (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - 3_000_000))
        with pytest.raises(StoreError, match=r"s.snapshot.duckdb.*could not be renewed"):
            store.snapshot()
        assert not list(small_disk.glob("*.part*"))
        assert snapshot_path(path).read_bytes() == old
        store.write([make.unit(1)])


@pytest.mark.fault(9)
def test_fault_09_a_file_locked_by_another_process(path: Path, make, child) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0)])
        store.snapshot()
    owner = child(
        "import sys; from arena.store import open_store\n"
        "s = open_store(sys.argv[1]); print('up', flush=True); input()",
        path,
    )
    assert owner.stdout.readline() == "up\n"
    with pytest.raises(StoreLockedError, match=rf"s.duckdb.*process {owner.pid}") as refused:
        open_guarded(path)
    assert refused.value.pid == owner.pid
    viewer = Viewer(path, NOW)
    assert viewer.store is not None
    assert viewer.store.read_only
    assert viewer.store.age_s is not None
    assert len(reader.decisions(viewer.store, make.run_id)) == 1
    with pytest.raises(StoreError, match="reading only"):
        viewer.store.write([make.unit(1)])
    viewer.close()
    owner.communicate("\n")


READS_ON = """
import sys
from arena.store import open_store, reader
store = open_store(sys.argv[1], read=True)
for line in sys.stdin:
    print(len(reader.decisions(store, line.strip())), flush=True)
"""


@pytest.mark.fault(37)
def test_fault_37_a_reader_of_the_snapshot_while_it_is_replaced(path: Path, make, child) -> None:
    with open_store(path) as owner:
        owner.write([make.ground(), make.unit(0)])
        owner.snapshot()
        readers = []
        for day in range(1, 4):
            readers.append(child(READS_ON, snapshot_path(path)))
            for n, other in enumerate(readers, start=1):
                other.stdin.write(f"{make.run_id}\n")
                other.stdin.flush()
                # Each reads on in the file that it opened.
                assert other.stdout.readline() == f"{n}\n"
            owner.write([make.unit(day)])
            owner.snapshot()
        for n, other in enumerate(readers, start=1):
            assert other.communicate(f"{make.run_id}\n")[0] == f"{n}\n"
            assert other.returncode == 0


@pytest.mark.fault(38)
def test_fault_38_a_newer_version_is_refused_unchanged(path: Path, make) -> None:
    """A store with a step that is unknown here, and a file of a format that this DuckDB cannot read."""
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0)])
        copy = path.with_name("copy.duckdb")
        with store.cursor() as cur:
            copy_database(cur, copy)
    con = duckdb.connect(str(path))
    con.execute("INSERT INTO migrations VALUES ('m999_future', now())").fetchall()
    con.close()
    before = path.read_bytes()
    store, trouble = open_guarded(path)
    assert store is None
    assert trouble is not None
    assert (trouble.kind, trouble.fix) == ("unusable", "Nothing was changed.")
    assert re.search(r"s.duckdb.*newer version \(step `m999_future`.*Update the arena", trouble.what)
    with pytest.raises(StoreError, match="newer version"):
        restore(str(path), path.with_name("other.duckdb"), NOW)
    assert path.read_bytes() == before

    # The main header: 8 bytes of checksum, `DUCK`, then the number of the storage version.
    raw = bytearray(copy.read_bytes())
    assert raw[8:12] == b"DUCK"
    raw[12:20] = struct.pack("<Q", 999)
    copy.write_bytes(raw)
    store, trouble = open_guarded(copy)
    assert store is None
    assert trouble is not None
    assert "copy.duckdb" in trouble.what
    assert copy.read_bytes() == bytes(raw)


@pytest.mark.fault(38)
def test_fault_38_a_store_for_the_older_duckdb_is_kept_readable_by_it(path: Path) -> None:
    """The way back: DuckDB 1.5 reads storage versions up to 68; a file of 2.x by default has 69."""
    open_store(path).close()
    assert struct.unpack("<Q", path.read_bytes()[12:20])[0] <= 68

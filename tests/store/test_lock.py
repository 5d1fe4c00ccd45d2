"""The lock of the live file, against everything an owner does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from arena.core.errors import StoreLockedError
from arena.store.export import export
from arena.store.store import open_store

TRY = """
import sys
from arena.store import open_store
from arena.core.errors import StoreLockedError
try:
    open_store(sys.argv[1]).close()
    print("opened")
except StoreLockedError as error:
    print(error.pid)
"""

NAKED = """
import sys, duckdb
con = duckdb.connect(sys.argv[1])
print("owner", flush=True)
for line in sys.stdin:
    open(sys.argv[1], "rb").close()
    print("touched", flush=True)
"""


def test_opening_the_live_file_by_path_would_drop_the_lock(path: Path, child) -> None:
    """Why nothing but `connect` may open it. If this ever fails, DuckDB has mended the trap."""
    open_store(path).close()
    owner = child(NAKED, path)
    assert owner.stdout.readline() == "owner\n"
    assert child(TRY, path).communicate()[0] == f"{owner.pid}\n"
    owner.stdin.write("go\n")
    owner.stdin.flush()
    assert owner.stdout.readline() == "touched\n"
    assert child(TRY, path).communicate()[0] == "opened\n"
    owner.kill()
    owner.communicate()


def test_no_work_of_the_owner_drops_the_lock(path: Path, tmp_path: Path, child, make) -> None:
    def refused() -> None:
        assert child(TRY, path).communicate()[0] == f"{os.getpid()}\n"

    with open_store(path) as store:
        store.write([make.ground(), make.unit()])
        refused()
        store.snapshot()
        refused()
        export(store, tmp_path / "out", "csv", with_timing=True)
        store.update_run(make.run_id, status="done")
        refused()
        with open_store(path), open_store(path, read=True):
            pass
        # A caller's failure changes nothing either.
        with pytest.raises(ZeroDivisionError), open_store(path, read=True):
            _ = 1 / 0
        store.write([make.unit(1)])
        store.snapshot()
        refused()
    assert child(TRY, path).communicate()[0] == "opened\n"


def test_python_never_opens_the_live_file(path: Path, tmp_path: Path, make) -> None:
    opened: list[str] = []
    watching = True

    def watch(event: str, args: tuple[object, ...]) -> None:
        if watching and event == "open" and isinstance(args[0], str):
            opened.append(args[0])

    sys.addaudithook(watch)  # stays for the life of the process, hence the switch
    try:
        with open_store(path) as store:
            store.write([make.ground(), make.unit()])
            store.snapshot()
            export(store, tmp_path / "out")
    finally:
        watching = False
    assert any(name.endswith("s.head.json.part") for name in opened)
    live = {str(path), f"{path}.wal"}
    assert not live & set(opened)


def test_a_lock_error_without_a_pid_is_still_a_lock_error() -> None:
    assert "another process" in str(StoreLockedError("s.duckdb", None))

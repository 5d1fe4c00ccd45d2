"""Opening the owner's file anew while others use the store."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.store import connection
from arena.store.store import open_store


def test_it_waits_for_nobody_who_reads(path: Path, make, counts) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        with store.limited(10.0).cursor() as cur:
            assert not store.renew()
            cur.execute("SELECT count(*) FROM decisions")
            assert cur.fetchall() == [(1,)]
        assert store.renew()
        store.write([make.unit(1)])
        assert counts(store)["decisions"] == 2


def test_a_query_that_fails_is_no_reader_for_ever(path: Path) -> None:
    with open_store(path) as store:
        with pytest.raises(ZeroDivisionError), store.cursor():
            _ = 1 / 0
        assert store.renew()


def test_who_only_reads_has_nothing_to_renew(path: Path) -> None:
    open_store(path).close()
    with open_store(path, read=True) as store:
        assert not store.renew()


def test_nothing_is_lost_of_what_is_written_and_read_meanwhile(path: Path, make, counts) -> None:
    """Two writers and a reader go on, without an error, while the file is opened anew thirty times."""
    begun, done = threading.Barrier(4), threading.Event()

    with open_store(path) as store, ThreadPoolExecutor(3) as pool:

        def write(model: str) -> None:
            begun.wait()
            for day in range(60):
                store.write([make.unit(day, model)])

        def read() -> int:
            begun.wait()
            looks = 0
            while not done.is_set():
                assert counts(store)["decisions"] <= 120
                looks += 1
            return looks

        writers, looks = [pool.submit(write, name) for name in ("m", "n")], pool.submit(read)
        begun.wait()
        renewed = sum(store.renew() for _ in range(200) if not all(w.done() for w in writers))
        for writer in writers:
            writer.result()
        done.set()
        assert looks.result() > 0
        assert renewed > 0
        assert counts(store)["decisions"] == 120


def test_a_store_that_has_grown_gets_its_memory(
    path: Path, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the database may use goes by the size of the file as it is opened; here the rule itself changes."""
    monkeypatch.setattr(connection, "OWNER_MB", 24)
    with open_store(path) as store:
        store.write([make.unit(0)])
        with store.cursor() as cur:
            cur.execute("SELECT current_setting('memory_limit')")
            before = cur.fetchall()[0][0]
        monkeypatch.setattr(connection, "OWNER_MB", 48)
        assert store.renew()
        with store.cursor() as cur:
            cur.execute("SELECT current_setting('memory_limit')")
            # 24 and 48 million bytes in binary megabytes: 24e6 / 2**20 = 22.89, 48e6 / 2**20 = 45.78
            assert (before, cur.fetchall()[0][0]) == ("22.8 MiB", "45.7 MiB")

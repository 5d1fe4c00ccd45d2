"""Copies made from inside a live store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from arena.store import reader
from arena.store.snapshot import snapshot_path
from arena.store.store import open_store


def test_it_is_a_store_of_its_own_with_the_same_content(path: Path, make, counts) -> None:
    with open_store(path) as store:
        store.write([make.ground(), make.unit(0), make.unit(1)])
        assert store.snapshot() == path.with_name("s.snapshot.duckdb")
        store.write([make.unit(2)])
        with open_store(snapshot_path(path), read=True) as copy:
            assert copy.store_id == store.store_id
            assert counts(copy)["decisions"] == 2
            assert reader.bars(copy, "BTC", 0).equals(reader.bars(store, "BTC", 0))
        store.snapshot()
        with open_store(snapshot_path(path), read=True) as copy:
            assert counts(copy)["decisions"] == 3
    assert not list(path.parent.glob("*.part*"))


def test_it_is_whole_while_others_write_and_copy(path: Path, make, counts) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])

        def copies() -> None:
            for _ in range(5):
                store.snapshot()

        day = 1
        with ThreadPoolExecutor(2) as pool:
            copying = [pool.submit(copies) for _ in range(2)]
            while not all(f.done() for f in copying):
                store.write([make.unit(day)])
                day += 1
        for future in copying:
            future.result()
        with open_store(snapshot_path(path), read=True) as copy:
            n = counts(copy)
            assert 1 <= n["decisions"] <= day
            assert n["equity"] == n["fills"] == n["calls"] == n["decisions"]
            assert reader.summaries(copy)["n_decisions"].tolist() == [n["decisions"]]


def test_a_broken_attempt_is_cleared_away(path: Path, make) -> None:
    with open_store(path) as store:
        store.write([make.unit(0)])
        snapshot_path(path).with_name("s.snapshot.duckdb.part").write_bytes(b"half")
        store.snapshot()
        with open_store(snapshot_path(path), read=True) as copy:
            assert len(reader.decisions(copy, make.run_id)) == 1


def test_odd_names(tmp_path: Path, make) -> None:
    path = tmp_path / 'it\'s a "store".duckdb'
    with open_store(path) as store:
        store.write([make.unit(0)])
        with open_store(store.snapshot(), read=True) as copy:
            assert len(reader.decisions(copy, make.run_id)) == 1

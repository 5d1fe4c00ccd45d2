"""Whole units or none, once and for all."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError, UnknownNameError
from arena.core.rows import SORT_KEYS, TABLES, WriteUnit
from arena.store import reader, writer
from arena.store.store import Store, open_store


def stored(store: Store, table: str) -> list[tuple]:
    with store.cursor() as cur:
        cur.execute(f'SELECT * FROM "{table}" ORDER BY {", ".join(SORT_KEYS[table])}')
        return cur.fetchall()


def test_every_row_comes_back_as_it_went_in(store, make) -> None:
    ground = make.ground()
    unit = make.unit()
    store.write([ground, unit])
    rows = [*ground.rows, *unit.rows, *unit.summaries, unit.memory]
    for kind in TABLES:
        sent = [row for row in rows if isinstance(row, kind)]
        assert sent, kind.TABLE
        sent.sort(key=lambda r: tuple(getattr(r, c) for c in SORT_KEYS[r.TABLE]))
        assert stored(store, kind.TABLE) == [astuple(row) for row in sent]


def test_a_memory_is_the_newest_of_its_track(store, make) -> None:
    store.write([make.unit(day=0), make.unit(day=1), make.unit(day=0, model="other")])
    contents = {row[0].split("@")[1].split(":")[0]: row[3] for row in stored(store, "memory")}
    assert contents == {"m": '{"day":1}', "other": '{"day":0}'}


@pytest.mark.parametrize(
    "text", ["", "'; DROP TABLE blobs; --", "naïve ₿\n\tline", "a" * 1_000_000, "nul \x00 inside"]
)
def test_any_text_survives(store, make, text: str) -> None:
    blob = make.blob(text)
    store.write([WriteUnit((blob,))])
    assert stored(store, "blobs") == [(blob.sha256, text)]


def test_integers_at_the_edge_of_63_bits_and_tiny_floats(store, make) -> None:
    row = replace(make.equity(), account_key=2**63 - 1, cash=5e-324, units=-0.1)
    store.write([WriteUnit((row,))])
    assert stored(store, "equity") == [astuple(row)]


def test_a_key_counts_once_and_the_unit_is_dropped_whole(store, make, counts) -> None:
    assert store.submit(make.unit()).result() is True
    before, version = counts(store), reader.data_version(store)
    again = make.unit(balance=999.0)
    assert store.submit(again).result() is False
    assert counts(store) == before
    assert reader.data_version(store) == version
    assert reader.summaries(store)["balance"].tolist() == [100.0]


def test_a_key_twice_in_one_group_counts_once(store, make, counts) -> None:
    hold_the_writer(store, lambda: store.submit(make.unit(5)))
    first, second = make.unit(), make.unit(balance=999.0)
    results = grouped(store, [first, second])
    assert results == [True, False]
    assert counts(store)["equity"] == 2


def test_once_guards_units_without_a_decision(store, make, counts) -> None:
    unit = WriteUnit(
        rows=(make.equity(), make.fill()),
        summaries=(make.summary(),),
        once=(make.account(), make.first),
    )
    later = replace(
        unit,
        rows=(make.equity(1),),
        summaries=(make.summary(1),),
        once=(make.account(), make.first + timedelta(1)),
    )
    assert store.submit(unit).result() is True
    assert store.submit(unit).result() is False
    assert grouped(store, [later, later, unit]) == [True, False, False]
    assert (counts(store)["equity"], counts(store)["fills"]) == (2, 1)


def test_rows_with_a_key_are_kept_as_they_were_first(store, make) -> None:
    store.write([WriteUnit((make.bar(close=100.0), make.bar(1)))])
    version = reader.data_version(store)
    store.write([WriteUnit((make.bar(close=50.0), make.bar(1)))])
    assert [row[6] for row in stored(store, "bars")] == [100.0, 100.0]
    assert reader.data_version(store) == version


def test_the_first_of_two_equal_keys_in_one_unit_wins(store, make) -> None:
    store.write([WriteUnit((make.bar(close=100.0), make.bar(close=50.0)))])
    assert [row[6] for row in stored(store, "bars")] == [100.0]


def test_the_newest_summary_replaces_the_others(store, make) -> None:
    assert grouped(store, [make.unit(day, balance=100.0 + day) for day in range(3)]) == [True] * 3
    assert reader.summaries(store)["balance"].tolist() == [102.0]
    store.write([make.unit(3, balance=7.0)])
    assert reader.summaries(store)["balance"].tolist() == [7.0]


def hold_the_writer(store: Store, meanwhile: Callable[[], object]) -> None:
    """Run `meanwhile` while the writer is busy, so that what it submits queues up."""
    entered, leave = threading.Event(), threading.Event()

    def wait(cur: object) -> None:
        entered.set()
        leave.wait(5)

    busy = store._engine.writer.submit(wait)
    entered.wait(5)
    meanwhile()
    leave.set()
    busy.result()


def grouped(store: Store, units: list[WriteUnit]) -> list[bool]:
    futures: list = []
    hold_the_writer(store, lambda: futures.extend(store.submit(u) for u in units))
    return [f.result() for f in futures]


def test_waiting_units_share_one_transaction(store, make) -> None:
    before = reader.data_version(store)
    grouped(store, [make.unit(day) for day in range(30)])
    # One step for the call that held the writer, one for all thirty units.
    assert reader.data_version(store) == before + 2


def test_a_group_is_cut_at_its_limit(store, make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "GROUP_UNITS", 4)
    before = reader.data_version(store)
    grouped(store, [make.unit(day) for day in range(10)])
    assert reader.data_version(store) == before + 1 + 3  # 4 + 4 + 2


def test_a_bad_unit_does_not_take_its_neighbours_along(store, make, counts) -> None:
    good, bad, other = make.unit(0), make.unit(1), make.unit(2)
    bad = replace(bad, rows=(*bad.rows, replace(make.bar(), close=-1.0)))
    with pytest.raises(StoreError, match="CHECK"):
        store.write([good, bad, other])
    assert counts(store)["decisions"] == 2
    assert counts(store)["equity"] == 2
    futures: list = []
    hold_the_writer(store, lambda: futures.extend(map(store.submit, [make.unit(3), bad])))
    assert futures[0].result() is True
    assert isinstance(futures[1].exception(), StoreError)


def test_a_wrong_type_is_that_units_error(store, make) -> None:
    wrong = WriteUnit((replace(make.bar(), session="no date"),))
    with pytest.raises(StoreError):
        store.write([wrong])
    store.write([make.unit()])


def test_order_of_units_and_run_updates_is_kept(store, make) -> None:
    futures: list = []

    def queue_up() -> None:
        futures.append(store.submit(WriteUnit((make.run(),))))
        done = threading.Thread(target=lambda: store.update_run(make.run_id, status="done"))
        done.start()
        futures.append(done)

    hold_the_writer(store, queue_up)
    futures[1].join()
    assert reader.run(store, make.run_id)["status"] == "done"


def test_update_run(store, make) -> None:
    store.write([WriteUnit((make.run(),))])
    version = reader.data_version(store)
    store.update_run(make.run_id, status="failed", note="it's", finished_at_utc=make.at)
    found = reader.run(store, make.run_id)
    assert (found["status"], found["note"], found["finished_at_utc"]) == ("failed", "it's", make.at)
    assert reader.data_version(store) == version + 1
    with pytest.raises(UnknownNameError, match=r"Did you mean `status`\?"):
        store.update_run(make.run_id, statu="done")
    with pytest.raises(UnknownNameError, match=f"Did you mean `{make.run_id}`"):
        store.update_run(make.run_id + "x", status="done")
    assert reader.data_version(store) == version + 1


def test_eight_threads_read_whole_units_while_one_writes(store, make) -> None:
    """Every commit brings one decision, one equity row and the summary that counts them."""
    stop = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not stop.is_set():
            with store.cursor() as cur:
                cur.execute(
                    "SELECT (SELECT count(*) FROM decisions), (SELECT count(*) FROM equity), "
                    "(SELECT max(n_decisions) FROM account_summary), "
                    "(SELECT count(*) FROM account_summary), ?",
                    [threading.get_ident()],
                )
                decisions, equity, counted, accounts, me = cur.fetchall()[0]
            assert (equity, counted or 0, accounts) == (decisions, decisions, min(decisions, 1))
            assert me == threading.get_ident()
            seen.append(decisions)

    with ThreadPoolExecutor(8) as pool:
        reading = [pool.submit(read) for _ in range(8)]
        for day in range(20):
            store.write([make.unit(day)])
        stop.set()
        for future in reading:
            future.result()
    assert len(seen) > 20
    assert max(seen) <= 20


def test_many_threads_may_submit(store, make, counts) -> None:
    with ThreadPoolExecutor(8) as pool:
        work = [(day, model) for day in range(15) for model in "abcd"] * 2
        results = list(pool.map(lambda w: store.submit(make.unit(*w)).result(), work))
    assert sum(results) == 60
    assert counts(store)["decisions"] == counts(store)["equity"] == 60


def test_close_writes_what_is_queued(path: Path, make) -> None:
    store = open_store(path)
    futures = [store.submit(make.unit(day)) for day in range(20)]
    store.close()
    assert all(f.result(0) for f in futures)
    with pytest.raises(StoreError, match="closed"):
        store.submit(make.unit(21))
    with open_store(path, read=True) as again:
        assert len(reader.decisions(again, make.run_id)) == 20


def test_after_a_fatal_error_the_store_says_so(path: Path, make) -> None:
    store = open_store(path)

    def die(cur: object) -> None:
        raise duckdb.FatalException("database has been invalidated")

    with pytest.raises(StoreError, match="given up"):
        store._engine.writer.submit(die).result()
    with pytest.raises(StoreError, match="restart"):
        store.submit(make.unit())
    store.close()
    with open_store(path) as again:
        again.write([make.unit()])


KILLED = """
import sys, threading, time
sys.path.insert(0, "tests/store")
from conftest import Make
from arena.store import open_store
make, first = Make(), int(sys.argv[2])
store = open_store(sys.argv[1])
for day in range(first, first + 100000):
    store.write([make.unit(day)])
    if day % 7 == 0:
        store.snapshot()
    print(day, flush=True)
"""


def test_kill_at_any_instant_loses_nothing_acknowledged(path: Path, child, make, counts) -> None:
    first = 0
    for wait_s in (0.05, 0.11, 0.23, 0.31):
        process = child(KILLED, path, first)
        lines = [process.stdout.readline()]
        time.sleep(wait_s)
        process.kill()
        lines += process.communicate()[0].split()
        last = max(int(line) for line in lines if line.strip())
        with open_store(path) as store:
            found = reader.decisions(store, make.run_id)
            # At most the unit in flight is there beyond the last one acknowledged.
            assert last <= found["seq"].max() <= last + 1
            assert found["seq"].tolist() == list(range(len(found)))
            n = counts(store)
            assert n["equity"] == n["fills"] == n["calls"] == n["decisions"] == len(found)
            assert reader.summaries(store)["n_decisions"].tolist() == [len(found)]
            assert store.submit(make.unit(last)).result() is False
        first = len(found)


def test_a_caller_that_gives_up_waiting_takes_nothing_from_the_others(store, make) -> None:
    held = threading.Event()
    store._writer().submit(lambda _: held.wait(5))
    unit = make.unit()
    saved = store.submit(unit)

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await asyncio.wrap_future(saved)

    with contextlib.suppress(TimeoutError):
        asyncio.run(impatient())
    held.set()
    assert saved.result(5) is True
    assert store.submit(unit).result(5) is False  # the thread lives, and knows the unit

"""Readers with a limit of time: what takes longer is broken off, and nobody else notices."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError, TooLargeError, TooLongError
from arena.store import reader
from arena.store.store import open_store

ENDLESS = "SELECT count(*) FROM range(1000000000000) t(i) WHERE hash(i) = 1"
LIMIT_S, SOON_S = 0.2, 10.0


@pytest.mark.fault(34)
def test_an_endless_query_ends_in_time_and_the_store_goes_on(path: Path, make) -> None:
    with open_store(path) as store:
        short = store.limited(LIMIT_S)
        began = time.monotonic()
        with pytest.raises(TooLongError, match=r"longer than 0.2 s.*Ask for less"), short.cursor() as cur:
            cur.execute(ENDLESS)
        assert LIMIT_S <= time.monotonic() - began < SOON_S
        store.write([make.unit()])
        assert reader.data_version(short) == reader.data_version(store) == 1


def test_a_quick_query_is_not_broken_off_later(path: Path) -> None:
    with open_store(path) as store:
        with store.limited(LIMIT_S).cursor() as cur:
            cur.execute("SELECT 1")
        time.sleep(2 * LIMIT_S)
        with store.limited(60).cursor() as cur:
            assert cur.execute("SELECT 2").fetchall() == [(2,)]


def test_a_limit_is_closed_with_its_store_and_never_closes_it(path: Path) -> None:
    store = open_store(path)
    short = store.limited(LIMIT_S)
    short.close()
    assert reader.data_version(store) == 0
    store.close()
    with pytest.raises(StoreError, match="is closed"), short.cursor():
        pass


def test_a_wrong_query_is_named_as_ever(path: Path) -> None:
    with (
        open_store(path) as store,
        pytest.raises(duckdb.CatalogException, match="no_such_table"),
        store.limited(LIMIT_S).cursor() as cur,
    ):
        cur.execute("SELECT * FROM no_such_table")


def test_what_does_not_fit_into_memory_is_told_of(path: Path) -> None:
    everything = "SELECT list(i::VARCHAR || repeat('x', 1000)) FROM range(10000000) t(i)"
    with open_store(path) as store:
        with pytest.raises(TooLargeError, match="more memory"), store.limited(60).cursor() as cur:
            cur.execute(everything)
        assert reader.data_version(store) == 0

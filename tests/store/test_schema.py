"""Tables, and the steps that make them."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError
from arena.core.hashing import sha256_text
from arena.core.rows import HOST_TABLES, LATER_COLUMNS, TABLES, WriteUnit
from arena.store import migrations
from arena.store.schema import columns
from arena.store.store import open_store


def tables(path: Path) -> dict[str, list[str]]:
    con = duckdb.connect(str(path), read_only=True)
    cur = con.cursor()
    cur.execute(
        "SELECT table_name, list(column_name ORDER BY ordinal_position) "
        "FROM information_schema.columns GROUP BY ALL"
    )
    found = dict(cur.fetchall())
    con.close()
    return found


def test_m001_is_the_text_that_was_released() -> None:
    """If this fails, a released step was edited: stores out there need a new step instead."""
    text = migrations.M001.read_text("utf-8")
    assert sha256_text(text) == "ffa3fa2582f692975d9296524f65dcec71d8450773add5c5521f18b7b0b93d7e"


def test_m003_is_the_text_that_was_released() -> None:
    text = migrations.M003.read_text("utf-8")
    assert sha256_text(text) == "144649812e5a15af64dbef99c7506b263966e78d0d4010a2d735aa9a431c9d17"


def test_m004_is_the_text_that_was_released() -> None:
    text = migrations.M004.read_text("utf-8")
    assert sha256_text(text) == "952a6b9ed013ad53fc13492a44485dad4e438b86c080a6edb1c3072a52593b94"


def test_a_new_store_has_every_table_with_its_fields_in_order(path: Path) -> None:
    open_store(path).close()
    found = tables(path)
    for row in (*TABLES, *HOST_TABLES):
        assert found[row.TABLE] == list(columns(row))
    assert found["migrations"] == ["name", "applied_at_utc"]
    assert found["meta"] == ["key", "value"]


def test_a_second_open_changes_no_byte(path: Path) -> None:
    open_store(path).close()
    before = path.read_bytes()
    open_store(path).close()
    assert path.read_bytes() == before


def test_a_later_step_is_applied_once_after_a_copy(
    path: Path, monkeypatch: pytest.MonkeyPatch, make
) -> None:
    with open_store(path) as store:
        store.write([make.unit()])
    runs = []

    def m999_extra(cur: duckdb.DuckDBPyConnection) -> None:
        runs.append(1)
        cur.execute("CREATE TABLE extra (a BIGINT)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_extra))
    with open_store(path) as store, store.cursor() as cur:
        cur.execute("SELECT name FROM migrations ORDER BY name")
        assert cur.fetchall() == [
            ("m001_tables",), ("m002_memory",), ("m003_news",), ("m004_live",),
            ("m999_extra",)
        ]  # fmt: skip
        cur.execute("SELECT count(*) FROM decisions")
        assert cur.fetchall() == [(1,)]
    open_store(path).close()
    assert runs == [1]
    copy = tables(path.with_name("s.before-m999_extra.duckdb"))
    assert "decisions" in copy
    assert "extra" not in copy


def test_a_store_of_the_first_release_is_brought_up_to_date(path: Path, make) -> None:
    """Its rows get the values that `LATER_COLUMNS` names, so their chain links still hold."""
    con = duckdb.connect(str(path))
    migrations.migrate(con.cursor(), path, steps=migrations.MIGRATIONS[:1])
    row = make.decision()
    old = [v for f, v in asdict(row).items() if f not in LATER_COLUMNS["decisions"]]
    con.execute(f"INSERT INTO decisions VALUES ({', '.join('?' * len(old))})", old)
    con.close()
    with open_store(path) as store, store.cursor() as cur:
        cur.execute("SELECT decision, n_failed_roles, memory_sha256 FROM decisions")
        assert cur.fetchall() == [(row.decision, 0, None)]


def test_a_step_that_fails_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(path).close()

    def m002_wrong(cur: duckdb.DuckDBPyConnection) -> None:
        cur.execute("CREATE TABLE half (a BIGINT)")
        cur.execute("INSERT INTO no_such_table VALUES (1)")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m002_wrong))
        with pytest.raises(StoreError):
            open_store(path)
    assert "half" not in tables(path)
    open_store(path).close()


def test_a_reader_asks_for_the_upgrade_of_an_older_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(path).close()

    def m999_extra(cur: duckdb.DuckDBPyConnection) -> None:
        cur.execute("CREATE TABLE extra (a BIGINT)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_extra))
    with pytest.raises(StoreError, match="older version"):
        open_store(path, read=True)
    assert "extra" not in tables(path)


@pytest.mark.parametrize("close", [0.0, -1.0, math.nan, math.inf])
def test_no_bar_without_a_real_price(store, make, close: float) -> None:
    bar = replace(make.bar(), close=close)
    with pytest.raises(StoreError, match="CHECK"):
        store.write([WriteUnit((bar,))])


def test_no_balance_that_is_no_number(store, make) -> None:
    with pytest.raises(StoreError, match="CHECK"):
        store.write([WriteUnit((make.equity(balance=math.nan),))])


def test_none_only_where_the_row_allows_it(store, make) -> None:
    with pytest.raises(StoreError, match="NOT NULL"):
        store.write([WriteUnit((replace(make.bar(), source=None),))])
    store.write([WriteUnit((make.bar(),))])  # adj_close is None

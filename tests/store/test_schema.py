"""Tables, and the steps that make them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from arena.core.errors import StoreError
from arena.core.rows import TABLES, WriteUnit
from arena.store import migrations
from arena.store.schema import columns, create_table
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
    """If this fails, `core.rows` changed: stores out there need a new step, and this file too."""
    frozen = (Path(__file__).parent / "m001.sql").read_text("utf-8")
    assert ";\n\n".join(create_table(row) for row in TABLES) + ";\n" == frozen


def test_a_new_store_has_every_table_with_its_fields_in_order(path: Path) -> None:
    open_store(path).close()
    found = tables(path)
    for row in TABLES:
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

    def m002_extra(cur: duckdb.DuckDBPyConnection) -> None:
        runs.append(1)
        cur.execute("CREATE TABLE extra (a BIGINT)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m002_extra))
    with open_store(path) as store, store.cursor() as cur:
        cur.execute("SELECT name FROM migrations ORDER BY name")
        assert cur.fetchall() == [("m001_tables",), ("m002_extra",)]
        cur.execute("SELECT count(*) FROM decisions")
        assert cur.fetchall() == [(1,)]
    open_store(path).close()
    assert runs == [1]
    copy = tables(path.with_name("s.before-m002_extra.duckdb"))
    assert "decisions" in copy
    assert "extra" not in copy


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

    def m002_extra(cur: duckdb.DuckDBPyConnection) -> None:
        cur.execute("CREATE TABLE extra (a BIGINT)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m002_extra))
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

"""Equal content, equal bytes."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from arena.core.errors import ConfigError
from arena.core.hashing import sha256_text
from arena.core.rows import HOST_COLUMNS, TABLES, BlobRow, WriteUnit
from arena.store import export as export_module
from arena.store.export import export
from arena.store.schema import columns
from arena.store.store import open_store


def digests(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()}


def filled(path: Path, make, order: list[int], host_year: int):
    """The same run, stored in another order and at another time of another machine."""
    then = datetime(host_year, 1, 1, tzinfo=UTC)
    store = open_store(path)
    ground = make.ground()
    rows = [
        replace(r, **{c: then for c in HOST_COLUMNS[r.TABLE] if c.endswith("_utc")})
        if r.TABLE in HOST_COLUMNS
        else r
        for r in ground.rows
    ]
    store.write([WriteUnit(tuple(rows))])
    for day in order:
        unit = make.unit(day)
        changed = tuple(
            replace(r, latency_ms=float(host_year)) if r.TABLE in ("decisions", "calls") else r
            for r in unit.rows
        )
        store.write([replace(unit, rows=changed, summaries=(make.summary(29),))])
    return store


@pytest.mark.parametrize("fmt", ["parquet", "csv"])
def test_order_and_host_leave_no_trace(
    tmp_path: Path, make, fmt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "CHUNK_ROWS", 7)  # several row groups
    straight, shuffled = list(range(30)), list(range(30))
    random.Random(1).shuffle(shuffled)
    shuffled.remove(29)
    shuffled.append(29)  # a memory is that of the last decision, and those come in order
    for name, order, year in (("a", straight, 2025), ("b", shuffled, 2031)):
        with filled(tmp_path / f"{name}.duckdb", make, order, year) as store:
            files = export(store, tmp_path / name, fmt)
            assert [f.name for f in files] == [f"{row.TABLE}.{fmt}" for row in TABLES]
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    with open_store(tmp_path / "a.duckdb", read=True) as store:
        export(store, tmp_path / "c", fmt)
    assert digests(tmp_path / "c") == digests(tmp_path / "a")


def test_parquet_has_the_rows_types_and_order(tmp_path: Path, make, store, monkeypatch) -> None:
    monkeypatch.setattr(export_module, "CHUNK_ROWS", 4)
    store.write([make.unit(d, m) for d in range(5) for m in "ba"])
    export(store, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "decisions.parquet")
    assert table.num_rows == 10
    assert pq.ParquetFile(tmp_path / "out" / "decisions.parquet").num_row_groups == 3  # 4 + 4 + 2
    assert table["decision"].to_pylist() == sorted(table["decision"].to_pylist())
    assert table["tokens_out"].to_pylist() == [None] * 10
    assert str(table.schema.field("tokens_in").type) == "int64"
    assert str(table.schema.field("session").type) == "date32[day]"
    assert str(table.schema.field("as_of_utc").type) == "timestamp[us, tz=UTC]"
    assert "decided_at_utc" not in table.column_names
    equity = pq.read_table(tmp_path / "out" / "equity.parquet").to_pylist()
    keys = [(r["account_key"], r["session"]) for r in equity]
    assert keys == sorted(keys)
    empty = pq.read_table(tmp_path / "out" / "bars.parquet")
    assert (empty.num_rows, "close" in empty.column_names) == (0, True)


def test_timing_comes_only_on_request(tmp_path: Path, make, store) -> None:
    store.write([make.ground(), make.unit()])
    export(store, tmp_path / "out", with_timing=True)
    for row in TABLES:
        names = pq.read_schema(tmp_path / "out" / f"{row.TABLE}.parquet").names
        assert names == list(columns(row))
    meta = pq.read_table(tmp_path / "out" / "meta.parquet").to_pylist()
    assert {"key": "store_id", "value": store.store_id} in meta
    assert (tmp_path / "out" / "migrations.parquet").exists()
    assert not list((tmp_path / "out").glob("*.part"))


def test_csv_is_plain_and_exact(tmp_path: Path, make, store) -> None:
    tricky = 'a "quoted", line\nbreak'
    store.write([make.ground(), make.unit(balance=0.1 + 0.2), WriteUnit((make.blob(tricky),))])
    export(store, tmp_path / "out", "csv")
    equity = (tmp_path / "out" / "equity.csv").read_text().splitlines()
    assert "2025-01-01" in equity[1]
    assert "0.30000000000000004" in equity[1]
    contexts = pd.read_csv(tmp_path / "out" / "contexts.csv")
    assert contexts["as_of_utc"][0].startswith("2025-01-01 00:05:00")
    assert tricky in pd.read_csv(tmp_path / "out" / "blobs.csv")["text"].tolist()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_csv_text_cannot_be_a_formula(tmp_path: Path, store, start: str) -> None:
    text = f"{start}cmd()\n=second line"
    store.write([WriteUnit((BlobRow(sha256_text(text), text),))])
    export(store, tmp_path / "csv", "csv")
    assert pd.read_csv(tmp_path / "csv" / "blobs.csv")["text"].tolist() == ["'" + text]
    export(store, tmp_path / "pq")
    assert pq.read_table(tmp_path / "pq" / "blobs.parquet")["text"].to_pylist() == [text]


def test_a_reader_exports_too_and_a_wrong_format_is_named(tmp_path: Path, make, path: Path) -> None:
    with open_store(path) as store:
        store.write([make.unit()])
        store.snapshot()
        with pytest.raises(ConfigError, match="`xlsx`"):
            export(store, tmp_path / "x", "xlsx")
        export(store, tmp_path / "live")
    with open_store(path.with_name("s.snapshot.duckdb"), read=True) as copy:
        export(copy, tmp_path / "copy")
    assert digests(tmp_path / "live") == digests(tmp_path / "copy")
    assert not (tmp_path / "x").exists()

"""From an export back into a store: the runs of a folder of Parquet files, with their host columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from arena.core.errors import StoreError
from arena.core.rows import TABLES, DecisionRow, MemoryRow, Row, SummaryRow, WriteUnit
from arena.store import reader
from arena.store.schema import columns
from arena.store.store import Store


def load_export(store: Store, folder: Path) -> list[str]:
    """Add the runs of an export made `with_timing` to a store that has none of them; their ids.

    A store that has one of the runs already is left as it is, and the list is empty.

    Raises:
        StoreError: a file is missing or lacks a column, so that nothing was written.
    """
    tables = {kind: list(_rows(folder, kind)) for kind in TABLES}
    runs = [str(row["run"]) for row in _dicts(folder, "runs")]
    if set(runs) & set(reader.runs(store)["run"]):
        return []
    plain = [
        row for kind, rows in tables.items() if kind not in (SummaryRow, MemoryRow) for row in rows
    ]
    heads: dict[str, DecisionRow] = {}
    for row in tables[DecisionRow]:
        assert isinstance(row, DecisionRow)
        if row.track not in heads or heads[row.track].seq < row.seq:
            heads[row.track] = row
    summaries = tuple(r for r in tables[SummaryRow] if isinstance(r, SummaryRow))
    memories = [r for r in tables[MemoryRow] if isinstance(r, MemoryRow)]
    links = tuple((track, row.chain_hash) for track, row in heads.items())
    store.write(
        [WriteUnit(tuple(plain), summaries, heads=links), *(WriteUnit(memory=m) for m in memories)]
    )
    return runs


def _rows(folder: Path, kind: type[Row]) -> Iterator[Row]:
    names = columns(kind)
    for values in _dicts(folder, kind.TABLE):
        if missing := names.keys() - values.keys():
            raise StoreError(
                f"{folder.name}/{kind.TABLE}.parquet lacks `{min(missing)}`; export it with "
                "--with-timing by this version."
            )
        yield kind(**{name: values[name] for name in names})


def _dicts(folder: Path, table: str) -> list[dict[str, Any]]:
    path = folder / f"{table}.parquet"
    if not path.is_file():
        raise StoreError(f"{folder} is no export: {path.name} is missing.")
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows

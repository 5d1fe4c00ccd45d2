"""Tables as files: equal content gives equal bytes, in whatever order it was stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from arena.core.errors import ConfigError
from arena.core.rows import HOST_COLUMNS, HOST_TABLES, SORT_KEYS, TABLES, Row
from arena.store.schema import ARROW_TYPE, columns, quote
from arena.store.store import Store

CHUNK_ROWS = 100_000

FREE_TEXT = (
    "reason", "text", "detail", "error", "note", "voided_reason", "answer", "title", "url", "outlet",
    "evidence", "reviewer", "author", "form",
)  # fmt: skip
"""Columns with words of models, strangers or people. A spreadsheet would run one that starts like a formula."""

PLAIN_TABLES: dict[str, pa.Schema] = {
    "meta": pa.schema([("key", pa.string()), ("value", pa.string())]),
    "migrations": pa.schema([("name", pa.string()), ("applied_at_utc", ARROW_TYPE[datetime])]),
}


HOST_FILES = (*(row.TABLE for row in HOST_TABLES), *PLAIN_TABLES)
"""Tables that no other store can use."""


def export(
    store: Store,
    out_dir: str | Path,
    fmt: Literal["parquet", "csv"] = "parquet",
    with_timing: bool = False,
) -> list[Path]:
    """Write one `TABLE.parquet` or `TABLE.csv` for every table, sorted by key; returns the files.

    Columns of wall clock or host (`core.rows.HOST_COLUMNS`) and the tables attempts, meta and
    migrations come only `with_timing`. In CSV, free text that starts like a formula gets a leading apostrophe.

    Raises:
        ConfigError: an unknown format.
    """
    if fmt not in ("parquet", "csv"):
        raise ConfigError(f"The export format is `{fmt}`; it must be parquet or csv.")
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    wanted = [(row.TABLE, _schema(row, with_timing), SORT_KEYS[row.TABLE]) for row in TABLES]
    if with_timing:
        wanted += [(r.TABLE, _schema(r, with_timing), SORT_KEYS[r.TABLE]) for r in HOST_TABLES]
        wanted += [(name, schema, (schema.names[0],)) for name, schema in PLAIN_TABLES.items()]
    files = []
    for table, schema, sort in wanted:
        target = out / f"{table}.{fmt}"
        part = target.with_name(target.name + ".part")
        _write(part, schema, _chunks(store, table, schema, sort), fmt)
        part.replace(target)
        files.append(target)
    return files


def _schema(row: type[Row], with_timing: bool) -> pa.Schema:
    hidden = frozenset() if with_timing else HOST_COLUMNS.get(row.TABLE, frozenset())
    return pa.schema(
        [
            pa.field(name, ARROW_TYPE[kind], nullable)
            for name, (kind, nullable) in columns(row).items()
            if name not in hidden
        ]
    )


def _chunks(store: Store, table: str, schema: pa.Schema, sort: Sequence[str]) -> Iterator[pa.Table]:
    """The sorted table in pieces of exactly CHUNK_ROWS (the last one shorter).

    DuckDB hands out batches of varying size; row groups of a file must not follow them.
    """
    with store.cursor() as cur:
        names, order = ", ".join(map(quote, schema.names)), ", ".join(map(quote, sort))
        cur.execute(f"SELECT {names} FROM {quote(table)} ORDER BY {order}")
        held = schema.empty_table()
        while len(frame := cur.fetch_df_chunk(20)):
            held = pa.concat_tables([held, _arrow(frame, schema)])
            while len(held) >= CHUNK_ROWS:
                yield held.slice(0, CHUNK_ROWS).combine_chunks()
                held = held.slice(CHUNK_ROWS)
        if len(held):
            yield held.combine_chunks()


def _arrow(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pandas(frame, schema, preserve_index=False).replace_schema_metadata(None)


def _write(path: Path, schema: pa.Schema, chunks: Iterator[pa.Table], fmt: str) -> None:
    if fmt == "parquet":
        with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as parquet:
            for chunk in chunks:
                parquet.write_table(chunk, row_group_size=CHUNK_ROWS)
        return
    with pacsv.CSVWriter(path, schema) as text:
        for chunk in chunks:
            text.write_table(_defused(chunk))


def _defused(table: pa.Table) -> pa.Table:
    for i, field in enumerate(table.schema):
        if field.name in FREE_TEXT:
            words = table.column(i)
            safe = pc.replace_substring_regex(words, r"\A([=+\-@\t\r])", r"'\1")
            table = table.set_column(i, field, safe)
    return table

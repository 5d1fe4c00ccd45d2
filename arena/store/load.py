"""From an export back into a store: the runs of a folder of Parquet files, with their host columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arena.core.errors import StoreError
from arena.core.rows import (
    LATER_COLUMNS,
    LATER_TABLES,
    TABLES,
    BarRow,
    BriefRow,
    DecisionRow,
    MemoryRow,
    Row,
    SummaryRow,
    WriteUnit,
)
from arena.store import reader
from arena.store.schema import columns
from arena.store.store import Store


def load_export(store: Store, folder: Path) -> list[str]:
    """Add the runs of an export made `with_timing` to a store that has none of them; their ids.

    A store that has one of the runs already is left as it is, and the list is empty.

    Raises:
        StoreError: a file is missing, damaged or lacks a column, or the store holds other bars or
            another wording of a brief; then nothing was written.
    """
    tables = {kind: list(_rows(folder, kind)) for kind in TABLES}
    runs = [str(row["run"]) for row in _dicts(folder, "runs")]
    if set(runs) & set(reader.runs(store)["run"]):
        return []
    _refuse_other_bars(store, tables[BarRow], folder)
    _refuse_other_briefs(store, tables[BriefRow], folder)
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
    # The run comes last: a load that was cut off before it is simply made again.
    store.write(
        [*(WriteUnit(memory=m) for m in memories), WriteUnit(tuple(plain), summaries, heads=links)]
    )
    return runs


def _rows(folder: Path, kind: type[Row]) -> Iterator[Row]:
    names = columns(kind)
    if kind in LATER_TABLES and not (folder / f"{kind.TABLE}.parquet").is_file():
        return  # exported before there was such a table
    for values in _dicts(folder, kind.TABLE):
        values = {**LATER_COLUMNS.get(kind.TABLE, {}), **values}
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
    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{path} cannot be read as Parquet ({error}).") from error
    return rows


def _refuse_other_bars(store: Store, bars: Iterable[Row], folder: Path) -> None:
    """A bar that the store has is kept, so a run made on another one would no longer follow from it."""
    with store.cursor() as cur:
        cur.execute("SELECT asset, session, revision, open, high, low, close FROM bars")
        stored = {row[:3]: row[3:] for row in cur.fetchall()}
    for bar in bars:
        assert isinstance(bar, BarRow)
        prices = (bar.open, bar.high, bar.low, bar.close)
        if stored.get((bar.asset, bar.session, bar.revision), prices) != prices:
            raise StoreError(
                f"{folder.name} was made on another bar of {bar.asset} on {bar.session} than this "
                "store holds. Load it into a store of its own."
            )


def _refuse_other_briefs(store: Store, briefs: Iterable[Row], folder: Path) -> None:
    """A model words a brief anew in every store; the first is kept, and would stand for the other."""
    with store.cursor() as cur:
        cur.execute("SELECT brief, content_json FROM briefs")
        stored = dict(cur.fetchall())
    for brief in briefs:
        assert isinstance(brief, BriefRow)
        if stored.get(brief.brief, brief.content_json) != brief.content_json:
            raise StoreError(
                f"{folder.name} was made on another wording of {brief.brief}, `{brief.maker}` on "
                f"{brief.asset} at {brief.session}, than this store holds. Load it into a store of "
                "its own."
            )

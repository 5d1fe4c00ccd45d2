"""SQL of the tables, derived from `core.rows`: one column a field, in field order.

Names come from our own classes only and are quoted; values always travel as parameters.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from arena.core.errors import StoreError
from arena.core.rows import SORT_KEYS, Row

SQL_TYPE = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    date: "DATE",
    datetime: "TIMESTAMPTZ",
}

ARROW_TYPE = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    date: pa.date32(),
    datetime: pa.timestamp("us", tz="UTC"),
}

UNKEYED = frozenset({"equity", "fills"})
"""Tables without a primary key: on millions of rows it triples the cost of a snapshot. Their rows
are unique because they are only written together with a keyed decision (`WriteUnit.key`, `.once`)."""

# NaN counts as the largest number in DuckDB, so `> 0` alone would let it pass.
CHECKS = {
    "bars": [f'"{c}" > 0 AND isfinite("{c}")' for c in ("open", "high", "low", "close")],
    "fills": ["price > 0 AND isfinite(price)", "isfinite(units)", "isfinite(fee)"],
    "equity": ["isfinite(cash)", "isfinite(balance)", "isfinite(balance_gross)"],
    "brief_scores": ["score BETWEEN 0 AND 2"],
    "reviews": [
        f"{rule} BETWEEN 0 AND 2"
        for rule in ("date_accuracy", "coverage", "bias_awareness", "source_diversity")
    ],
    "fundamentals": ['isfinite("value")'],
    "quotes": ["price > 0 AND isfinite(price)"],
    "actions": ['"value" > 0 AND isfinite("value")'],
}


_COLUMNS: dict[str, dict[str, tuple[type, bool]]] = {}


def quote(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """An SQL string, for the few statements that take no parameters (SET, ATTACH)."""
    return "'" + text.replace("'", "''") + "'"


def columns(row: type[Row]) -> dict[str, tuple[type, bool]]:
    """Field name -> (python type, may be None), in column order."""
    if row.TABLE not in _COLUMNS:
        hints = get_type_hints(row)
        _COLUMNS[row.TABLE] = {f.name: _python_type(hints[f.name]) for f in fields(row)}
    return _COLUMNS[row.TABLE]


def _python_type(hint: Any) -> tuple[type, bool]:
    if isinstance(hint, types.UnionType):
        (kind,) = (a for a in get_args(hint) if a is not type(None))
        return kind, True
    return hint, False


def has_key(row: type[Row]) -> bool:
    return row.TABLE not in UNKEYED


def key_of(row: Row) -> tuple[Any, ...]:
    """Primary key values of a row of a keyed table."""
    return tuple(getattr(row, c) for c in SORT_KEYS[row.TABLE])


def create_table(row: type[Row]) -> str:
    """The CREATE TABLE statement of a row class."""
    parts = [
        f"{quote(name)} {SQL_TYPE[kind]}" + ("" if nullable else " NOT NULL")
        for name, (kind, nullable) in columns(row).items()
    ]
    parts += [f"CHECK ({rule})" for rule in CHECKS.get(row.TABLE, ())]
    if has_key(row):
        parts.append(f"PRIMARY KEY ({', '.join(map(quote, SORT_KEYS[row.TABLE]))})")
    return f"CREATE TABLE {quote(row.TABLE)} (\n  " + ",\n  ".join(parts) + "\n)"


def insert_sql(row: type[Row], *, new: bool = False) -> str:
    """INSERT of all rows of the Arrow table registered as `INCOMING`.

    Rows known to be `new` go without a look at what is there, which takes half the time.
    """
    tail = " ON CONFLICT DO NOTHING" if has_key(row) and not new else ""
    return f"INSERT INTO {quote(row.TABLE)} SELECT * FROM {INCOMING}{tail}"


INCOMING = "incoming_rows"


def arrow_table(rows: Sequence[Row]) -> pa.Table:
    """The rows turned into columns; three times faster into DuckDB than lists of Python values.

    Raises:
        StoreError: a value that is not of its column's type.
    """
    kind = type(rows[0])
    table = {}
    for name, (python_type, _) in columns(kind).items():
        try:
            values = [getattr(row, name) for row in rows]
            table[name] = pa.array(values, ARROW_TYPE[python_type])
        except (pa.ArrowException, TypeError, OverflowError, UnicodeError) as error:
            raise StoreError(
                f"The store refused a write: `{name}` of {kind.TABLE} is no "
                f"{python_type.__name__} ({error})"
            ) from error
    return pa.table(table)

"""SQL of the tables, derived from `core.rows`: one column a field, in field order.

Names come from our own classes only and are quoted; values always travel as parameters.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Any, get_args, get_type_hints

from arena.core.rows import SORT_KEYS, Row

SQL_TYPE = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    date: "DATE",
    datetime: "TIMESTAMPTZ",
}

UNKEYED = frozenset({"equity", "fills"})
"""Tables without a primary key: on millions of rows it triples the cost of a snapshot. Their rows
are unique because they are only written together with a keyed decision (`WriteUnit.key`, `.once`)."""

# NaN counts as the largest number in DuckDB, so `> 0` alone would let it pass.
CHECKS = {
    "bars": [f'"{c}" > 0 AND isfinite("{c}")' for c in ("open", "high", "low", "close")],
    "fills": ["price > 0 AND isfinite(price)", "isfinite(units)", "isfinite(fee)"],
    "equity": ["isfinite(cash)", "isfinite(balance)", "isfinite(balance_gross)"],
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


def insert_sql(row: type[Row]) -> str:
    """INSERT of any number of rows: one list parameter a column, so its text never changes."""
    lists = ", ".join(f"unnest(?::{SQL_TYPE[kind]}[])" for kind, _ in columns(row).values())
    tail = " ON CONFLICT DO NOTHING" if has_key(row) else ""
    return f"INSERT INTO {quote(row.TABLE)} SELECT {lists}{tail}"


def column_lists(rows: Sequence[Row]) -> list[list[Any]]:
    """Parameters of `insert_sql`: the rows turned into columns."""
    names = columns(type(rows[0]))
    return [[getattr(row, name) for row in rows] for name in names]

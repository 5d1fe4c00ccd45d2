"""Forgetting quotes; new ones are rows like any other (`Store.write`)."""

from __future__ import annotations

from datetime import datetime

import duckdb

from arena.store.store import Store
from arena.store.writer import HOST_ONLY


def drop_quotes(store: Store, before_utc: datetime) -> None:
    """Delete the quotes before `before_utc`, but those at whose moment an order was filled; and what
    was noted of polls then, hundreds of rows a day of which the newest say it all."""

    def change(cur: duckdb.DuckDBPyConnection) -> str:
        cur.execute(
            "DELETE FROM quotes WHERE at_utc < ? AND at_utc NOT IN "
            "(SELECT filled_at_utc FROM fills WHERE rule = 'quote')",
            [before_utc],
        )
        cur.execute(
            "DELETE FROM source_health WHERE at_utc < ? AND source LIKE 'quotes of %'", [before_utc]
        )
        return HOST_ONLY

    store.change(change)

"""Reading stored quotes: the one that an order fills at, and the newest of each asset."""

from __future__ import annotations

from datetime import datetime

from arena.store.store import Store

Price = tuple[float, datetime, str]
"""Price, when it held, and who said so."""


def first_quote(
    store: Store, asset: str, since_utc: datetime, before_utc: datetime
) -> Price | None:
    """The first quote with `since_utc` <= time < `before_utc`: (price, at_utc, source), or None.

    Of two at one moment, the source that comes first by name, so that the answer never changes.
    """
    with store.cursor() as cur:
        cur.execute(
            "SELECT price, at_utc, source FROM quotes "
            "WHERE asset = ? AND at_utc >= ? AND at_utc < ? ORDER BY at_utc, source LIMIT 1",
            [asset, since_utc, before_utc],
        )
        found = cur.fetchall()
    return (found[0][0], found[0][1], found[0][2]) if found else None


def newest_quotes(store: Store) -> dict[str, tuple[float, datetime, str, datetime]]:
    """Of each asset the quote with the latest time: (price, at_utc, source, fetched_at_utc)."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT asset, price, at_utc, source, fetched_at_utc FROM quotes "
            "QUALIFY row_number() OVER (PARTITION BY asset ORDER BY at_utc DESC, source) = 1 "
            "ORDER BY asset"
        )
        rows = cur.fetchall()
    return {asset: (price, at, source, fetched) for asset, price, at, source, fetched in rows}


def last_prices(store: Store) -> dict[str, float]:
    """Of each asset the price known last: its newest quote or its newest final close."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT asset, price FROM ("
            "  SELECT asset, price, at_utc, 1 AS of_quote FROM quotes"
            "  UNION ALL"
            "  SELECT asset, close, known_at_utc, 0 FROM bars"
            "  QUALIFY row_number() OVER ("
            "    PARTITION BY asset ORDER BY session DESC, revision DESC) = 1"
            ") QUALIFY row_number() OVER (PARTITION BY asset ORDER BY at_utc DESC, of_quote) = 1 "
            "ORDER BY asset"
        )
        return dict(cur.fetchall())

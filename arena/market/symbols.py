"""Symbols by date: an asset keeps its id while venues rename, reuse or drop its symbol.

In `data/assets.toml` a symbol is one word, or a history in words, oldest first:
`yahoo = "FB until 2022-06-08, then META"`. Without an end after it the last one holds for good;
`"SIVB until 2023-03-09"` alone says that trading ended then.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from arena.core.errors import DataError
from arena.core.types import Asset

PART = re.compile(r"(?P<symbol>\S+)(?: until (?P<until>\d{4}-\d{2}-\d{2}))?")

Dated = tuple[str, date | None]
"""A symbol and its last day, None where it still holds."""


def dated(text: str) -> tuple[Dated, ...]:
    """The symbols of a history, oldest first.

    Raises:
        DataError: it is not written as above.
    """
    found: list[Dated] = []
    for part in re.split(r", then ", text.strip()):
        match = PART.fullmatch(part)
        try:
            until = date.fromisoformat(match["until"]) if match and match["until"] else None
        except ValueError:
            match = None
        last = found[-1][1] if found else None
        if match is None or (found and (last is None or (until is not None and until <= last))):
            raise DataError(
                f"`{text}` is no symbol with dates. Write it as `FB until 2022-06-08, then META`."
            )
        found.append((match["symbol"], until))
    return tuple(found)


def symbols_within(text: str, start: date, end: date) -> tuple[tuple[str, date, date], ...]:
    """(symbol, first day, last day) of each symbol that holds in [start, end], oldest first."""
    found = []
    since = date.min
    for symbol, until in dated(text):
        first, last = max(start, since), min(end, until or date.max)
        if first <= last:
            found.append((symbol, first, last))
        if until is None:
            break
        since = until + timedelta(days=1)
    return tuple(found)


def symbol_on(asset: Asset, venue: str, day: date) -> str | None:
    """The asset's symbol at a venue on `day`; None where it has none there (any more)."""
    text = asset.symbols.get(venue)
    held = symbols_within(text, day, day) if text else ()
    return held[0][0] if held else None


def last_day(asset: Asset, venue: str) -> date | None:
    """The day on which the asset was traded there for the last time, None while it is."""
    text = asset.symbols.get(venue)
    return dated(text)[-1][1] if text else None


def newest_symbol(asset: Asset, venue: str) -> str | None:
    """The last of the asset's symbols there, also where it is no longer traded."""
    text = asset.symbols.get(venue)
    return dated(text)[-1][0] if text else None

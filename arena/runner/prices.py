"""Bars and checks into the store: append-only, a changed past bar is a new revision, never an update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime

from arena.core.hashing import canonical_json
from arena.core.rows import AssetRow, BarRow, PriceCheckRow, Row
from arena.core.types import Asset
from arena.market.history import History
from arena.store import reader
from arena.store.store import Store

Price = tuple[float, float, float, float]


def asset_row(asset: Asset) -> AssetRow:
    return AssetRow(
        asset.id, asset.name, asset.asset_class, asset.synthetic, asset.annual_base,
        canonical_json(asset.symbols),
    )  # fmt: skip


def latest_revision(store: Store) -> int:
    """Number of the newest revision of any bar; 0 in an empty store."""
    with store.cursor() as cur:
        rows = cur.execute("SELECT coalesce(max(revision), 0) FROM bars").fetchall()
    return int(rows[0][0])


def own_revision(store: Store, asset: str, revision: int) -> int:
    """The newest revision of an asset's bars up to `revision`; 0 without any."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT coalesce(max(revision), 0) FROM bars WHERE asset = ? AND revision <= ?",
            [asset, revision],
        )
        return int(cur.fetchall()[0][0])


def stored_prices(store: Store, asset: str, revision: int) -> dict[object, Price]:
    """session -> (open, high, low, close) at `revision`."""
    frame = reader.bars(store, asset, revision)
    sessions = frame["session"].dt.date if len(frame) else ()
    columns = zip(frame["open"], frame["high"], frame["low"], frame["close"], strict=True)
    return dict(zip(sessions, columns, strict=True))


def changed_sessions(history: History, stored: Mapping[object, Price]) -> list[object]:
    """Sessions whose stored prices differ from those of `history`."""
    return [
        b.session
        for b in history.bars
        if b.session in stored and stored[b.session] != (b.open, b.high, b.low, b.close)
    ]


def _holes(history: History, stored: Mapping[object, Price]) -> set[object]:
    """Sessions that are missing between stored ones and that `history` has."""
    known = [s for s in stored if isinstance(s, date)]
    if not known:
        return set()
    first, last = min(known), max(known)
    found: set[object] = {b.session for b in history.bars if first < b.session < last}
    return found - set(known)


def price_rows(
    store: Store, histories: Iterable[History], now_utc: datetime
) -> tuple[int, list[Row]]:
    """Rows that bring the store up to `histories`, and the revision a new run reads them at.

    New sessions join at the newest revision; changed ones open the next revision, each with a
    `revision` check that keeps the old close beside the new one. So do those that fill a hole: what
    was sealed without them must not find them at its revision.
    """
    current = latest_revision(store)
    rows: list[Row] = []
    revision = current
    for history in histories:
        rows.append(asset_row(history.asset))
        stored = stored_prices(store, history.asset.id, current)
        changed = set(changed_sessions(history, stored))
        filled = _holes(history, stored)
        if changed or filled:
            revision = current + 1
        for bar in history.bars:
            if bar.session in stored and bar.session not in changed:
                continue
            at = current + 1 if bar.session in changed | filled else current
            source = history.sources[bar.session]
            rows.append(
                BarRow(
                    history.asset.id, bar.session, at, bar.open, bar.high, bar.low, bar.close,
                    history.adj_close.get(bar.session), bar.volume, source,
                    bar.known_at_utc, now_utc,
                )
            )  # fmt: skip
            if bar.session in changed:
                old = stored[bar.session][3]
                rows.append(
                    PriceCheckRow(
                        history.asset.id, bar.session, "revision", f"{source}#{at}", bar.close, old,
                        f"close was {old}, is now {bar.close}; earlier fills keep theirs", now_utc,
                    )
                )  # fmt: skip
        rows.extend(
            PriceCheckRow(c.asset, c.session, c.kind, c.source, c.value, c.other, c.detail, now_utc)
            for c in history.checks
        )
    return revision, rows

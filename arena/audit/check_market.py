"""Contexts against bars: what agents saw can be rebuilt from the store, and nothing came from later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from arena.audit.finding import Finding
from arena.audit.rows import load
from arena.core.errors import InvariantError
from arena.core.rows import AssetRow, BarRow, BlobRow, ContextRow, DecisionRow
from arena.core.types import Asset, Bar, MarketContext
from arena.runner.sealing import parse_part
from arena.store.store import Store

BarKey = tuple[str, int]

PARTS_OF_CONTEXTS = (
    "WHERE sha256 IN (SELECT unnest([stories_sha256, brief_sha256, fundamentals_sha256]) FROM contexts)"
)


def bars_at(bars: list[BarRow], revision: int) -> list[BarRow]:
    """Bars of one asset as they stood at `revision`, oldest first."""
    newest: dict[date, BarRow] = {}
    for bar in sorted(bars, key=lambda b: (b.session, b.revision)):
        if bar.revision <= revision:
            newest[bar.session] = bar
    return list(newest.values())


def to_asset(row: AssetRow) -> Asset:
    return Asset(
        row.asset, row.name, row.asset_class, row.synthetic, json.loads(row.symbols_json)  # type: ignore[arg-type]
    )  # fmt: skip


def rebuild(
    context: ContextRow, asset: Asset, bars: list[BarRow], texts: Mapping[str, str]
) -> MarketContext:
    """The context from its bars and from the texts of what was read.

    Raises:
        InvariantError: something in it was not known then.
        ValueError, TypeError, AttributeError, LookupError: a text was altered beyond reading, or is gone.
    """
    inside = [b for b in bars if context.first_session <= b.session <= context.session]
    return MarketContext(
        asset,
        context.session,
        context.as_of_utc,
        tuple(
            Bar(b.session, b.open, b.high, b.low, b.close, b.volume, b.known_at_utc) for b in inside
        ),
        tuple(_part(context.stories_sha256, texts) or ()),
        _part(context.brief_sha256, texts),
        tuple(_part(context.fundamentals_sha256, texts) or ()),
    )


def _part(sha256: str | None, texts: Mapping[str, str]) -> Any:
    return None if sha256 is None else parse_part(texts[sha256])


def check_contexts(store: Store, decisions: list[DecisionRow]) -> Iterator[Finding | int]:
    """Every context's hash equals that of its rebuilt self; the first of each asset that does not is named."""
    assets = {a.asset: to_asset(a) for a in load(store, AssetRow, "")}
    bars: dict[str, list[BarRow]] = {}
    for bar in load(store, BarRow, "ORDER BY asset, session, revision"):
        bars.setdefault(bar.asset, []).append(bar)
    contexts = load(store, ContextRow, "ORDER BY asset, as_of_utc")
    texts = {b.sha256: b.text for b in load(store, BlobRow, PARTS_OF_CONTEXTS)}
    cache: dict[BarKey, list[BarRow]] = {}
    broken: dict[str, list[ContextRow]] = {}
    yield len(contexts)
    for context in contexts:
        key = (context.asset, context.revision)
        if key not in cache:
            cache[key] = bars_at(bars.get(context.asset, []), context.revision)
        found: str | None
        try:
            found = rebuild(context, assets[context.asset], cache[key], texts).market_hash
        except InvariantError as error:
            yield Finding("breach", "look-ahead", str(error))
            continue
        except (ValueError, TypeError, AttributeError, LookupError):
            found = None
        if found != context.market_hash:
            broken.setdefault(context.asset, []).append(context)
    for asset, lost in broken.items():
        yield Finding(
            "breach",
            "bars",
            f"{len(lost)} market contexts of {asset} no longer follow from the stored bars, first "
            f"at {lost[0].session}: a bar from {lost[0].first_session} to {lost[0].session}, a text "
            "that was read, or the context was altered or is gone",
        )
    known = {c.market_hash for c in contexts} | {""}
    for row in decisions:
        if row.market_hash not in known:
            yield Finding("breach", "contexts", f"the market of {row.decision} is not in the store")

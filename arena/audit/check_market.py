"""Contexts against bars: what agents saw can be rebuilt from the store, and nothing came from later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from arena.audit.finding import Finding
from arena.audit.rows import load
from arena.core.errors import InvariantError
from arena.core.rows import ActionRow, AssetRow, BarRow, BlobRow, ContextRow, DecisionRow
from arena.core.types import Asset, Bar, MarketContext
from arena.market.actions import adjust_bars
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
    context: ContextRow, asset: Asset, bars: list[BarRow], texts: Mapping[str, str],
    splits: Sequence[ActionRow] = (),
) -> MarketContext:  # fmt: skip
    """The context from its bars, in its share units by `splits`, and from the texts of what was read.

    Raises:
        InvariantError: something in it was not known then.
        ValueError, TypeError, AttributeError, LookupError: a text was altered beyond reading, or is gone.
    """
    inside = [
        Bar(b.session, b.open, b.high, b.low, b.close, b.volume, b.known_at_utc)
        for b in bars
        if context.first_session <= b.session <= context.session
    ]
    return MarketContext(
        asset,
        context.session,
        context.as_of_utc,
        adjust_bars(inside, splits, context.as_of_utc),
        tuple(_part(context.stories_sha256, texts) or ()),
        _part(context.brief_sha256, texts),
        tuple(_part(context.fundamentals_sha256, texts) or ()),
    )


def _views(context: ContextRow, splits: Sequence[ActionRow]) -> list[tuple[ActionRow, ...]]:
    """The splits that its bars may have been shown with. A replay's bars have them worked in and need
    none; a live run's have those that had been fetched by then, and when it was made is not kept."""
    inside = [
        s for s in splits
        if context.first_session < s.ex_date <= context.session and s.known_at_utc <= context.as_of_utc
    ]  # fmt: skip
    moments = sorted({s.fetched_at_utc for s in inside}, reverse=True)
    return [*(tuple(s for s in inside if s.fetched_at_utc <= m) for m in moments), ()]


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
    splits: dict[str, list[ActionRow]] = {}
    for action in load(store, ActionRow, "WHERE kind = 'split'"):
        splits.setdefault(action.asset, []).append(action)
    cache: dict[BarKey, list[BarRow]] = {}
    broken: dict[str, list[ContextRow]] = {}
    yield len(contexts)
    for context in contexts:
        key = (context.asset, context.revision)
        if key not in cache:
            cache[key] = bars_at(bars.get(context.asset, []), context.revision)
        found: set[str] = set()
        try:
            for view in _views(context, splits.get(context.asset, ())):
                asset = assets[context.asset]
                found.add(rebuild(context, asset, cache[key], texts, view).market_hash)
        except InvariantError as error:
            yield Finding("breach", "look-ahead", str(error))
            continue
        except (ValueError, TypeError, AttributeError, LookupError):
            found = set()
        if context.market_hash not in found:
            broken.setdefault(context.asset, []).append(context)
    for name, lost in broken.items():
        yield Finding(
            "breach",
            "bars",
            f"{len(lost)} market contexts of {name} no longer follow from the stored bars, first "
            f"at {lost[0].session}: a bar from {lost[0].first_session} to {lost[0].session}, a text "
            "that was read, or the context was altered or is gone",
        )
    known = {c.market_hash for c in contexts} | {""}
    for row in decisions:
        if row.market_hash not in known:
            yield Finding("breach", "contexts", f"the market of {row.decision} is not in the store")

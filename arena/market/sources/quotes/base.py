"""The protocol of a source of quotes, and the chain in which they are asked.

A quote is a price of the moment. It never enters a bar or a metric; a live coin's order fills at one.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from arena.core.clock import Clock
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.checks import JUMP_LOG_RETURN
from arena.market.quarantine import same_price
from arena.market.sources.patience import PatienceError, trouble_of

log = logging.getLogger("arena.quotes")

AHEAD = timedelta(seconds=90)
"""A venue's clock may be ahead of ours by this much; a later time is refused."""

ALONE = "a jump that no second source has"

PATIENCE_S = 25.0
"""Seconds of one poll after which no further source is asked: the tick has other work."""


@dataclass(frozen=True, slots=True)
class Quote:
    """`at_utc` is when the price held: the venue's time, or that of its answer where it gives none."""

    asset: str
    price: float
    at_utc: datetime
    source: str


class QuoteSource(Protocol):
    """One venue. `name` goes into the quotes, e.g. `ccxt:kraken`."""

    name: str

    def quote(self, asset: Asset, now_utc: datetime) -> Quote | None:
        """The asset's newest price there; None where it has none of that asset.

        Raises:
            PatienceError: it refused not long ago and is left alone.
            SourceError: it cannot be reached, refuses, or answers with something unreadable.
        """
        ...


@dataclass(frozen=True)
class Asked:
    """What came of asking one source in a poll; `n_wanted` assets, `n_kept` quotes."""

    source: str
    status: Literal["ok", "limited", "failed"]
    n_wanted: int
    n_kept: int
    refused: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None


def defect(quote: Quote, now_utc: datetime) -> str | None:
    """Why a quote may not enter, or None."""
    if not math.isfinite(quote.price) or quote.price <= 0:
        return "no price"
    if quote.at_utc > now_utc + AHEAD:
        return "from the future"
    return None


def ask_chain(
    chain: Sequence[QuoteSource],
    assets: Sequence[Asset],
    last: Mapping[str, float],
    clock: Clock,
) -> tuple[list[Quote], list[Asked]]:
    """A quote of each asset from the first source that has one; the next is asked for what is missing.

    A quote more than 0.4 in log from `last` (the price known before) waits for a second source that
    is within 1 % of it, in the same poll; without one it is dropped. Sources that are left alone are
    passed over without a word.
    """
    found: list[Quote] = []
    asked: list[Asked] = []
    doubtful: dict[str, float] = {}
    missing = list(assets)
    began = clock()
    for source in chain:
        if not missing or (clock() - began).total_seconds() > PATIENCE_S:
            break
        quotes, refused, error = _ask(source, missing, clock)
        if isinstance(error, PatienceError):
            continue
        kept = []
        for quote in quotes:
            if _jumps(quote, last) and not same_price(quote.price, doubtful.get(quote.asset)):
                doubtful[quote.asset] = quote.price
                refused[ALONE] += 1
            else:
                kept.append(quote)
        found += kept
        asked.append(_said(source.name, len(missing), len(kept), refused, error))
        have = {quote.asset for quote in kept}
        missing = [asset for asset in missing if asset.id not in have]
    return found, asked


def _jumps(quote: Quote, last: Mapping[str, float]) -> bool:
    before = last.get(quote.asset)
    return before is not None and abs(math.log(quote.price / before)) > JUMP_LOG_RETURN


def _ask(
    source: QuoteSource, assets: Sequence[Asset], clock: Clock
) -> tuple[list[Quote], Counter[str], SourceError | None]:
    """Quotes without a defect, and why others stayed out; the first failure ends the source's turn."""
    kept: list[Quote] = []
    refused: Counter[str] = Counter()
    for asset in assets:
        try:
            quote = source.quote(asset, clock())
        except SourceError as error:
            # After a good answer a wait that begins now is news, not an old story.
            return kept, refused, SourceError(str(error)) if kept else error
        except Exception as error:
            log.exception("%s", source.name)
            return kept, refused, SourceError(f"{source.name}: {type(error).__name__}: {error}")
        why = "not listed" if quote is None else defect(quote, clock())
        if quote is None or why is not None:
            refused[why or ""] += 1
        else:
            kept.append(quote)
    return kept, refused, None


def _said(
    name: str, n_wanted: int, n_kept: int, refused: Mapping[str, int], error: SourceError | None
) -> Asked:
    if error is None:
        return Asked(name, "ok", n_wanted, n_kept, dict(refused))
    limited = trouble_of(error) == "limited"
    return Asked(
        name, "limited" if limited else "failed", n_wanted, n_kept, dict(refused), str(error)
    )

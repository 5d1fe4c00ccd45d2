"""A market and an account as a track may see them that must not know which asset and when.

What tells nothing of them stays exactly true: returns, ratios, weekdays, the order of sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from arena.agents.wrappers.masked_text import NAME, TextMask
from arena.core.hashing import sha256_text
from arena.core.types import Bar, MarketContext, Past, TrackView

SHIFT_DAYS = 28_672
"""4,096 weeks, half a year short of 79 years: weekdays stay, and reports come half a year off season."""

SHIFT_FISCAL_YEARS = 79
SHIFT_QUARTERS = 4 * SHIFT_FISCAL_YEARS
"""A year and its quarters move alike, so that which of two periods is newer stays."""
LAST_CLOSE = 100.0
MEAN_VOLUME = SHARES = 1_000_000.0

SCALE_FREE = ("_rate", "_ratio", "_margin", "_growth", "_yield", "_frac", "_pct", "beta")
"""Endings of fundamental fields that are neither money nor a number of shares."""

PER_SHARE = ("eps", "_per_share")

WORD_KEYS = frozenset({"kind", "category", "sentiment", "trust", "dated", "maker", "drivers"})
"""Keys of stories and briefs whose texts are words of the arena, not prose."""

ID_ENDINGS = ("_id", "_ids", "_sha256")
"""Endings of keys whose texts name something that can be looked up, beside `id` and `ids`."""


class Mask:
    """Takes asset, time and price level out of what belongs to one slot.

    Prices are scaled so that the last close is 100, volumes to a mean of a million, money of the
    fundamentals so that price ratios stay. Days move by `SHIFT_DAYS`, the same for every slot, so
    that a memory keeps its order. Ids of evidence become hashes of themselves.
    """

    def __init__(self, market: MarketContext) -> None:
        self.market = market
        self.text = TextMask(
            market.asset, min(b.low for b in market.bars), max(b.high for b in market.bars)
        )
        volumes = [b.volume for b in market.bars if b.volume]
        self._mean_volume = sum(volumes) / len(volumes) if volumes else MEAN_VOLUME
        self._real_ids: dict[str, str] = {}

    @cached_property
    def context(self) -> MarketContext:
        """The market masked; its own check against look-ahead still holds, all days moved alike."""
        real = self.market
        return MarketContext(
            asset=replace(real.asset, id=NAME, name=NAME, symbols={}),
            session=real.session + timedelta(SHIFT_DAYS),
            as_of_utc=real.as_of_utc + timedelta(SHIFT_DAYS),
            bars=tuple(map(self._bar, real.bars)),
            stories=tuple(self._plain(s) for s in real.stories),
            brief=self._plain(real.brief),
            fundamentals=self._fundamentals(real.fundamentals),
        )

    def view(self, view: TrackView) -> TrackView:
        """Prices and days of the account masked; the money in it is the season's, and stays.

        `memory` was written at masked desks, so it stays too.
        """
        entry = None if view.entry_price is None else self.price(view.entry_price)
        return replace(view, entry_price=entry, past=tuple(map(self.past, view.past)))

    def past(self, past: Past) -> Past:
        return replace(
            past, session=past.session + timedelta(SHIFT_DAYS), price=self.price(past.price)
        )

    def price(self, price: float) -> float:
        """Divided first, so that the last close is exactly 100."""
        return price / self.market.price * LAST_CLOSE

    def real_ids(self, ids: Sequence[str]) -> tuple[str, ...]:
        """The real ids of masked evidence of this slot; any other is given back as it is."""
        _ = self.context
        return tuple(self._real_ids.get(i, i) for i in ids)

    def _bar(self, bar: Bar) -> Bar:
        volume = None if bar.volume is None else bar.volume / self._mean_volume * MEAN_VOLUME
        return Bar(
            bar.session + timedelta(SHIFT_DAYS),
            self.price(bar.open), self.price(bar.high), self.price(bar.low), self.price(bar.close),
            volume, bar.known_at_utc + timedelta(SHIFT_DAYS),
        )  # fmt: skip

    def _id(self, real: str) -> str:
        masked = f"x{int(sha256_text(real)[:10], 16)}"
        self._real_ids[masked] = real
        return masked

    def _plain(self, value: Any, key: str = "") -> Any:
        """Texts, days and ids inside `value` masked; numbers stay (tones, counts)."""
        if isinstance(value, str):
            if key in WORD_KEYS:
                return value
            is_id = key in ("id", "ids") or key.endswith(ID_ENDINGS)
            return self._id(value) if is_id else self.text(value)
        if isinstance(value, date):
            return value + timedelta(SHIFT_DAYS)
        if isinstance(value, dict):
            return {k: self._plain(v, str(k)) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._plain(v, key) for v in value)
        return value

    def _fundamentals(self, rows: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        """Reported figures, scaled so that what is per share fits the masked price.

        Shares become a million at the latest count; money in all is per share times shares.
        """
        counts = [r for r in rows if r["field"] == "shares" and r["value"]]
        latest = max(counts, key=lambda r: r["known_at_utc"])["value"] if counts else SHARES
        per_share, shares = LAST_CLOSE / self.market.price, SHARES / latest
        masked = []
        for row in rows:
            figures = ("field", "period", "value")
            kept = self._plain({k: v for k, v in row.items() if k not in figures})
            name, value = str(row["field"]), row["value"]
            if isinstance(value, str):
                value = self.text(value)
            elif value is not None and not name.endswith(SCALE_FREE):
                if name.endswith(PER_SHARE):
                    value *= per_share
                else:
                    value *= shares if name.endswith("shares") else per_share * shares
            period = masked_period(str(row["period"]))
            masked.append({**kept, "field": name, "period": period, "value": value})
        return tuple(masked)


def masked_period(period: str) -> str:
    """`2025Q2`, `FY2024` or an ISO day as of the masked time; a word like `TTM` stays."""
    year, q, quarter = period.partition("Q")
    if q and year.rstrip("-").isdigit():
        count = 4 * int(year.rstrip("-")) + int(quarter) - 1 + SHIFT_QUARTERS
        return f"{count // 4}{year[4:]}Q{count % 4 + 1}"
    prefix = "FY" if period.startswith("FY") else ""
    if (bare := period.removeprefix("FY")).isdigit():
        return f"{prefix}{int(bare) + SHIFT_FISCAL_YEARS}"
    try:
        return (date.fromisoformat(period) + timedelta(SHIFT_DAYS)).isoformat()
    except ValueError:
        return period

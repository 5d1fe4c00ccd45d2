"""A request of the paper's protocol as its known senders write it, and the context it tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from arena.agents.remote.protocol import (
    HISTORY_ROWS,
    MAX_PRICE,
    MIN_PRICE,
    NEWS_CHARS,
    NEWS_ITEMS,
)
from arena.core.text import clean_foreign
from arena.core.types import Asset, AssetClass, Bar, MarketContext

FILING_CHARS = 20_000
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2100, 12, 31)


class RequestError(Exception):
    """A request that cannot be answered. `status` is the HTTP status."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status, self.problem = status, problem


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")
    date: date
    price: float | None = None


Texts = dict[str, list[str] | str | None] | None


class Received(BaseModel):
    """A paper request as its known senders write it: much may be missing."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
    date: Annotated[date, Field(ge=FIRST_DAY, le=LAST_DAY)]
    symbol: list[str] | str | None = None
    price: dict[str, float | None] | None = None
    news: Texts = None
    momentum: dict[str, str | None] | None = None
    history_price: dict[str, list[_Row] | None] | None = None
    ten_k: Texts = Field(default=None, alias="10k")
    ten_q: Texts = Field(default=None, alias="10q")
    model: str | None = None


def paper_context(request: Received, asset_of: Callable[[str], Asset | None]) -> MarketContext:
    """What a paper request tells, sealed at 00:05 UTC of the next day.

    Each price is a bar that opened, peaked and closed there; volumes are unknown. Rows of the
    request's own date or later are dropped. Momentum and filings become stories, in which they are
    marked as the sender's words.
    """
    symbol, price = _symbol_and_price(request)
    rows = (request.history_price or {}).get(symbol) or []
    closes = {r.date: r.price for r in rows if r.price and _sane(r.price) and r.date < request.date}
    earlier = sorted(closes.items())[-HISTORY_ROWS:]
    bars = tuple(_flat_bar(day, close) for day, close in (*earlier, (request.date, price)))
    as_of_utc = bars[-1].known_at_utc + timedelta(minutes=5)
    name = clean_foreign(symbol, 40)
    asset = asset_of(symbol) or Asset(name, name, _guessed_class([b.session for b in bars]))
    return MarketContext(
        asset, request.date, as_of_utc, bars, tuple(_stories(request, symbol, as_of_utc))
    )


def _symbol_and_price(request: Received) -> tuple[str, float]:
    named = [request.symbol] if isinstance(request.symbol, str) else request.symbol or []
    priced = request.price or {}
    if len(named) > 1:
        raise RequestError(422, f"`symbol` has {len(named)} entries; a request is about one")
    symbol = named[0] if named else next(iter(priced), "") if len(priced) == 1 else ""
    if not clean_foreign(symbol, 40):
        raise RequestError(400, "`symbol` is empty, and `price` does not have exactly one")
    price = priced.get(symbol)
    if price is None or not _sane(price):
        raise RequestError(400, f"`price` has no price of `{clean_foreign(symbol, 40)}`")
    return symbol, price


def _sane(price: float) -> bool:
    return MIN_PRICE <= price <= MAX_PRICE


def _flat_bar(session: date, close: float) -> Bar:
    known = datetime.combine(session + timedelta(days=1), time(), UTC)
    return Bar(session, close, close, close, close, None, known)


def _guessed_class(days: list[date]) -> AssetClass:
    """A coin trades on weekends; nothing else in the paper's request tells the two apart."""
    return "crypto" if any(d.weekday() >= 5 for d in days) else "stock"


def _stories(request: Received, symbol: str, as_of_utc: datetime) -> list[dict[str, Any]]:
    told = [
        ("news", "news", _texts(request.news, symbol), NEWS_CHARS),
        ("10k", "10-K", _texts(request.ten_k, symbol), FILING_CHARS),
        ("10q", "10-Q", _texts(request.ten_q, symbol), FILING_CHARS),
    ]
    mood = (request.momentum or {}).get(symbol)
    if mood in ("bullish", "bearish"):
        told.append(("momentum", "sender", [f"The sender labels the day's momentum {mood}."], 100))
    return [
        {"id": f"{key}-{n}", "title": clean_foreign(text, chars), "source": source, "known_at_utc": as_of_utc}
        for key, source, texts, chars in told
        for n, text in enumerate(texts[:NEWS_ITEMS], 1)
    ]


def _texts(by_symbol: Texts, symbol: str) -> list[str]:
    held = (by_symbol or {}).get(symbol) or []
    return [t for t in ([held] if isinstance(held, str) else held) if t.strip()]

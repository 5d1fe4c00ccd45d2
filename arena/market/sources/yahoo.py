"""Yahoo by yfinance: closes and adjusted ones apart, splits and dividends, one asset a call, one thread."""

from __future__ import annotations

import threading
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.rows import ActionRow
from arena.core.types import Asset
from arena.market.calendars import is_session, open_utc, sessions
from arena.market.sources.base import COLUMNS
from arena.market.sources.patience import SHARED, Patience
from arena.market.sources.yahoo_client import yfinance_client
from arena.market.symbols import symbols_within

ONE_AT_A_TIME = threading.Lock()
"""Concurrent yfinance downloads have overwritten each other's frames (its issue 2557)."""

SAME_ANSWER = timedelta(seconds=60)
"""Bars and actions come in one answer; asked for one after the other, Yahoo is asked once."""


class YahooSource:
    """Daily bars by `Ticker.history`, not adjusted for dividends. Yahoo has divided all its prices by
    every later split that it knows (see `market.actions`).

    `client` stands in for the yfinance module in tests. After a 429 it is not asked again before time.
    """

    name = "yahoo"
    synthetic = False

    def __init__(
        self,
        assets: dict[str, Asset],
        client: Any = None,
        clock: Clock = utc_now,
        patience: Patience | None = None,
    ) -> None:
        self._assets = {k: a for k, a in assets.items() if "yahoo" in a.symbols}
        self._client, self._clock = client, clock
        self._patience = patience or (SHARED if client is None else Patience(clock))
        self._last: tuple[tuple[str, date, date], datetime, pd.DataFrame] | None = None

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        """As the protocol says. A window without a session is answered without asking Yahoo,
        which calls an asset delisted on a holiday (yfinance issue 2835).

        Raises:
            SourceError: also where prices stand on days without trading: its dates are shifted.
        """
        parts = []
        for symbol, first, last in symbols_within(asset.symbols["yahoo"], start, end):
            if sessions(asset.asset_class, first, last):
                frame = shape(self._answer(symbol, first, last), first, last)
                refuse_shifted(asset, symbol, frame)
                parts.append(frame)
        filled = [part for part in parts if len(part)]
        return (
            pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))
        )

    def actions(self, asset: Asset, start: date, end: date) -> list[ActionRow]:
        """Splits and dividends with an ex-date in [start, end], oldest first.

        Raises:
            SourceError: as for `daily`.
        """
        found: list[ActionRow] = []
        for symbol, first, last in symbols_within(asset.symbols["yahoo"], start, end):
            if asset.asset_class != "crypto" and sessions(asset.asset_class, first, last):
                seen = read_actions(asset, self._answer(symbol, first, last), self._clock())
                found += [a for a in seen if first <= a.ex_date <= last]
        return found

    def _answer(self, symbol: str, start: date, end: date) -> pd.DataFrame:
        with ONE_AT_A_TIME:
            key, now = (symbol, start, end), self._clock()
            if self._last and self._last[0] == key and now - self._last[1] < SAME_ANSWER:
                return self._last[2]
            self._patience.check(self.name)
            client = self._client or yfinance_client()
            try:
                raw: pd.DataFrame = client.Ticker(symbol).history(
                    start=start.isoformat(),
                    end=(end + timedelta(days=1)).isoformat(),
                    interval="1d",
                    auto_adjust=False,
                    actions=True,
                    repair=False,
                )
            except Exception as error:
                # yfinance has typed errors, but also leaks those of its HTTP and cache layers.
                self._patience.note(self.name, error)
                raise SourceError(f"yahoo {symbol}: {type(error).__name__}: {error}") from error
            self._patience.ok(self.name)
            self._last = (key, now, raw)
            return raw


def shape(raw: pd.DataFrame, start: date, end: date) -> pd.DataFrame:
    """yfinance's frame in our columns: dates inside the window, rows with all four prices only.

    A row that stands twice is one; two that differ both stay, for the caller to hold back.
    """
    if raw.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    frame = pd.DataFrame(
        {
            "session": [stamp.date() for stamp in raw.index],
            "open": raw["Open"].to_numpy(float),
            "high": raw["High"].to_numpy(float),
            "low": raw["Low"].to_numpy(float),
            "close": raw["Close"].to_numpy(float),
            "adj_close": raw["Adj Close"].to_numpy(float),
            "volume": raw["Volume"].to_numpy(float),
            "source": "yahoo",
        }
    )
    inside = (frame["session"] >= start) & (frame["session"] <= end)
    # Yahoo shows a pending bar, or a lone dividend, as a row without prices: that is no bar.
    priced = frame[["open", "high", "low", "close"]].notna().all(axis=1)
    kept = frame[inside & priced].drop_duplicates()
    return kept.sort_values("session", kind="stable").reset_index(drop=True)


def refuse_shifted(asset: Asset, symbol: str, frame: pd.DataFrame) -> None:
    """Refuse an answer whose index lost its time zone: Monday's bar stands on Sunday, Friday has none.

    A lone row on a closed day, between sessions that are all there, is only left out.

    Raises:
        SourceError: a price on a closed day, with the session before or after it missing.
    """
    if frame.empty or asset.asset_class == "crypto":
        return
    first, last = frame["session"].min(), frame["session"].max()
    there, week = set(frame["session"]), timedelta(days=7)
    for day in sorted(there - set(sessions(asset.asset_class, first, last))):
        before = [s for s in sessions(asset.asset_class, day - week, day) if s >= first][-1:]
        after = [s for s in sessions(asset.asset_class, day, day + week) if s <= last][:1]
        if missing := [s for s in (*before, *after) if s not in there]:
            raise SourceError(
                f"yahoo {symbol}: it has a price for {day}, when the market was closed, and none for "
                f"{missing[0]}: its dates are shifted. Nothing of this answer enters."
            )


def read_actions(asset: Asset, raw: pd.DataFrame, fetched_at_utc: datetime) -> list[ActionRow]:
    """Splits and dividends of yfinance's frame, in the units of their own day.

    Yahoo divides a dividend by the splits after it, as it does with prices; that is undone here.
    """
    if not {"Dividends", "Stock Splits"} <= set(raw.columns):
        return []
    found: list[ActionRow] = []
    later = 1.0
    happened = raw[(raw["Dividends"] > 0) | (raw["Stock Splits"] > 0)][::-1]
    for stamp, row in zip(happened.index, happened.to_dict("records"), strict=True):
        ex_date = stamp.date()
        if not is_session(asset.asset_class, ex_date):
            continue
        known = open_utc(asset.asset_class, ex_date)
        values = {"dividend": float(row["Dividends"]) * later, "split": float(row["Stock Splits"])}
        found += [
            ActionRow(asset.id, ex_date, kind, "yahoo", value, known, fetched_at_utc)
            for kind, value in values.items()
            if value > 0
        ]
        later *= values["split"] if values["split"] > 0 else 1.0
    return found[::-1]

"""Yahoo by yfinance: raw closes and adjusted ones apart, one asset a call, one thread."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from typing import Any

import pandas as pd

from arena.core.errors import SourceError
from arena.core.settings import RUNTIME
from arena.core.types import Asset
from arena.market.calendars import sessions
from arena.market.sources.base import COLUMNS, ensure_network

ONE_AT_A_TIME = threading.Lock()
"""Concurrent yfinance downloads have overwritten each other's frames (its issue 2557)."""


class YahooSource:
    """Daily bars by `Ticker.history`, unadjusted. `client` stands in for the yfinance module in tests."""

    name = "yahoo"
    synthetic = False

    def __init__(self, assets: dict[str, Asset], client: Any = None) -> None:
        self._assets = {k: a for k, a in assets.items() if "yahoo" in a.symbols}
        self._client = client

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        """As the protocol says. A window without a session is answered without asking Yahoo,
        which calls an asset delisted on a holiday (yfinance issue 2835)."""
        if not sessions(asset.asset_class, start, end):
            return pd.DataFrame(columns=list(COLUMNS))
        client = self._client or yfinance_client()
        symbol = asset.symbols["yahoo"]
        with ONE_AT_A_TIME:
            try:
                raw = client.Ticker(symbol).history(
                    start=start.isoformat(),
                    end=(end + timedelta(days=1)).isoformat(),
                    interval="1d",
                    auto_adjust=False,
                    actions=True,
                    repair=False,
                )
            except Exception as error:
                # yfinance has typed errors, but also leaks those of its HTTP and cache layers.
                raise SourceError(f"yahoo {symbol}: {type(error).__name__}: {error}") from error
        return shape(raw, start, end)


def shape(raw: pd.DataFrame, start: date, end: date) -> pd.DataFrame:
    """yfinance's frame in our columns: dates inside the window, rows with all four prices only."""
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
    return frame[inside & priced].drop_duplicates("session", keep="last").reset_index(drop=True)


def yfinance_client() -> Any:
    ensure_network("yahoo")
    import yfinance

    cache = RUNTIME / "yfinance"
    cache.mkdir(parents=True, exist_ok=True)
    yfinance.set_tz_cache_location(str(cache))
    # Without this it logs a failure and returns an empty frame, as if there had been no trading.
    yfinance.config.debug.hide_exceptions = False
    return yfinance

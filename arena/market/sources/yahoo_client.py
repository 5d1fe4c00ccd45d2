"""The yfinance module, set up for us: a private cache, errors raised, and another address where one is set."""

from __future__ import annotations

import warnings
from functools import cache
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from arena.core.settings import RUNTIME, yahoo_url
from arena.market.sources.base import ensure_network


def yfinance_client() -> Any:
    """Something with `Ticker(symbol)`.

    Raises:
        SourceError: the network is switched off, and no address on this machine is set.
    """
    base = yahoo_url()
    ensure_network("yahoo", base)
    import yfinance

    folder = RUNTIME / "yfinance"
    folder.mkdir(parents=True, exist_ok=True)
    yfinance.set_tz_cache_location(str(folder))
    # Without this it logs a failure and returns an empty frame, as if there had been no trading.
    yfinance.config.debug.hide_exceptions = False
    # It sorts in a way that the newest pandas calls deprecated; nobody here can change that.
    warnings.filterwarnings("ignore", "The inplace keyword", DeprecationWarning)
    # It keeps answers about past days for as long as the process lives: what was missing, or is
    # revised since, would never be seen.
    yfinance.data.YfData.cache_get.cache_clear()
    if base is None:
        return yfinance
    session = _session_to(base)
    return SimpleNamespace(Ticker=lambda symbol: yfinance.Ticker(symbol, session=session))


def moved(url: str, base: str) -> str:
    """`url` at `base` if it is one of Yahoo's, whatever its host there (query1, query2, fc, guce)."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host != "yahoo.com" and not host.endswith(".yahoo.com"):
        return url
    to = urlsplit(base)
    return urlunsplit((to.scheme, to.netloc, to.path + parts.path, parts.query, parts.fragment))


@cache
def _session_to(base: str) -> Any:
    """A session of yfinance's HTTP library that asks `base` for everything of Yahoo's.

    Its addresses are constants spread over its modules; all requests pass one method.
    """
    from curl_cffi.requests import Session

    session: Any = Session(impersonate="chrome")
    ask = session.request
    session.request = lambda method, url, **more: ask(method, moved(url, base), **more)
    return session

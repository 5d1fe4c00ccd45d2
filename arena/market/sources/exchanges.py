"""Exchanges by ccxt: opened once, one request at a time each, left alone where they refuse."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.settings import kraken_url
from arena.market.sources.base import ensure_network
from arena.market.sources.patience import SHARED, Patience

EXCHANGES = ("kraken", "coinbase", "bitstamp", "gemini", "binanceus", "binance")
"""In this order: the first four serve hosts in the United States, the last is closed to them."""

TIMEOUT_MS = 10_000

T = TypeVar("T")


class Exchanges:
    """`make` builds an exchange by name; tests give their own. `patience` is shared in the process
    where nobody gives one."""

    def __init__(
        self,
        make: Callable[[str], Any] | None = None,
        clock: Clock = utc_now,
        patience: Patience | None = None,
    ) -> None:
        self._make = make or make_exchange
        self._patience = patience or (SHARED if make is None else Patience(clock))
        self._open: dict[str, Any] = {}
        self._lock = threading.Lock()

    def ask(self, name: str, question: Callable[[Any], T]) -> T:
        """The answer of one exchange.

        Raises:
            PatienceError: it refused not long ago and is left alone.
            SourceError: it cannot be reached, refuses, or fails; the message begins with its name.
        """
        self._patience.check(name)
        with self._lock:
            exchange = None
            try:
                exchange = self._open.get(name) or self._make(name)
                self._open[name] = exchange
                answer = question(exchange)
            except SourceError:
                raise
            except Exception as error:
                # Each exchange class raises its own family; the reason is kept for the caller.
                self._patience.note(name, error, _retry_after_s(exchange))
                raise SourceError(f"{name}: {type(error).__name__}: {error}") from error
        self._patience.ok(name)
        return answer


def _retry_after_s(exchange: Any) -> float | None:
    headers = getattr(exchange, "last_response_headers", None) or {}
    for name, value in headers.items():
        if str(name).lower() == "retry-after" and str(value).isdigit():
            return float(value)
    return None


def make_exchange(name: str) -> Any:
    """An exchange of ccxt with public access only.

    Raises:
        SourceError: the network is switched off, and no address on this machine is set for it.
    """
    base = kraken_url() if name == "kraken" else None
    ensure_network(name, base)
    exchange = _ccxt(name)({"timeout": TIMEOUT_MS})
    if base is not None:
        exchange.urls["api"]["public"] = base
    return exchange


def _ccxt(name: str) -> Any:
    """The class `ccxt.NAME`, without the other hundred exchanges that `import ccxt` loads.

    They take 40 MB, which a small host has not. What they would be found in is entered as a package
    whose own code is not run; each of its modules can still be imported by name.
    """
    if "ccxt" not in sys.modules:
        spec = importlib.util.find_spec("ccxt")
        if spec is None:
            raise SourceError("ccxt is not installed: `pip install -r requirements.txt`.")
        sys.modules["ccxt"] = importlib.util.module_from_spec(spec)
    return getattr(importlib.import_module(f"ccxt.{name}"), name)

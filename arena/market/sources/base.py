"""The protocol of a price source, the registry, and the switch that keeps tests off the network."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import date
from importlib import import_module
from typing import Protocol
from urllib.parse import urlsplit

import pandas as pd

from arena.core.errors import ConfigError, SourceError
from arena.core.settings import check_data_choice, network_allowed
from arena.core.types import Asset

COLUMNS = ("session", "open", "high", "low", "close", "adj_close", "volume", "source")
"""Columns of `PriceSource.daily`; adj_close and volume may be NaN."""


class PriceSource(Protocol):
    """Daily bars by asset. `synthetic`: the prices are made up and must be marked so."""

    name: str
    synthetic: bool

    def assets(self) -> dict[str, Asset]:
        """Assets this source has prices for."""
        ...

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        """Bars of sessions in [start, end], oldest first, in the columns of `COLUMNS`.

        Raises:
            SourceError: it cannot be reached or refuses; try later or another one.
            DataError: what it holds may not enter (strict sources).
        """
        ...


Factory = Callable[[str], PriceSource]

_FACTORIES: dict[str, Factory] = {}
BUILT_IN = {"sample": "sample", "files": "files", "live": "live"}


def register(kind: str) -> Callable[[Factory], Factory]:
    """Make a source available as `kind` or `kind:ARGUMENT`; a name clash is an error."""

    def add(factory: Factory) -> Factory:
        if kind in _FACTORIES:
            raise ValueError(f"price source `{kind}` is registered twice")
        _FACTORIES[kind] = factory
        return factory

    return add


def open_source(choice: str) -> PriceSource:
    """The source for sample, live or files:DIR.

    Raises:
        ConfigError: another choice, or a folder without price files.
    """
    kind, _, argument = choice.partition(":")
    if kind not in _FACTORIES and kind in BUILT_IN:
        import_module(f"arena.market.sources.{BUILT_IN[kind]}")
    if kind not in _FACTORIES:
        check_data_choice(choice)
        raise ConfigError(
            f"`{choice}` is no price source; choose {', '.join(sorted({*BUILT_IN, *_FACTORIES}))}."
        )
    return _FACTORIES[kind](argument)


def ensure_network(source: str, url: str | None = None) -> None:
    """Every source that leaves the machine asks here first; a `url` on loopback does not leave it.

    Raises:
        SourceError: the network is switched off.
    """
    if not network_allowed() and not _on_loopback(url):
        raise SourceError(f"{source}: the network is off (ARENA_NETWORK=off).")


def _on_loopback(url: str | None) -> bool:
    host = urlsplit(url).hostname if url else None
    try:
        return host == "localhost" or (host is not None and ipaddress.ip_address(host).is_loopback)
    except ValueError:
        return False

"""Price sources: one module each, behind one protocol."""

from __future__ import annotations

from arena.market.sources.base import COLUMNS, PriceSource, open_source, register

__all__ = ["COLUMNS", "PriceSource", "open_source", "register"]

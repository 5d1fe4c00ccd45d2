"""The protocol of a source of filed figures."""

from __future__ import annotations

from typing import Protocol

from arena.core.types import Asset
from arena.market.filings.facts import Fact


class FilingsSource(Protocol):
    """Where filed figures come from."""

    name: str

    def facts(self, asset: Asset) -> tuple[Fact, ...]:
        """Every figure of the company that it has, oldest filing first; none for coins and funds.

        Raises:
            SourceError: it cannot be reached or refuses.
            DataError: what it holds may not enter (strict sources).
        """
        ...

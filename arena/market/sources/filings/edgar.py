"""SEC EDGAR company facts: free, without a key, every figure with the day it was filed."""

from __future__ import annotations

import json

from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.sources.filings.company_facts import read_company_facts
from arena.market.sources.news.http import fetch

BASE_URL = "https://data.sec.gov"
MAX_BYTES = 20_000_000


class EdgarFacts:
    """Asks once for each company. Its number (CIK) is the asset's symbol `edgar`."""

    name = "edgar-facts"

    def __init__(self, base_url: str = BASE_URL) -> None:
        self._base_url = base_url.rstrip("/")

    def facts(self, asset: Asset) -> tuple[Fact, ...]:
        if asset.asset_class != "stock":
            return ()
        number = asset.symbols.get("edgar", "").upper().removeprefix("CIK")
        if not number.isdecimal():
            raise SourceError(
                f"edgar: {asset.id} has no company number; "
                f'write edgar = "0001318605" (its CIK) among the symbols of {asset.id} in assets.toml.'
            )
        url = f"{self._base_url}/api/xbrl/companyfacts/CIK{int(number):010d}.json"
        answer = fetch(self.name, url, max_bytes=MAX_BYTES)
        try:
            document = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise SourceError(f"edgar: the figures of {asset.id} are no JSON.") from None
        return read_company_facts(document, asset.id)

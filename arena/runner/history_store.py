"""The store's own bars as a price source: what a run was made on, without its files."""

from __future__ import annotations

import json
from datetime import date

import pandas as pd

from arena.core.types import Asset
from arena.store import reader
from arena.store.store import Store


class StoredSource:
    """Bars of one revision. A `PriceSource` like any other."""

    name = "store"

    def __init__(self, store: Store, revision: int, synthetic: bool) -> None:
        self._store, self._revision, self.synthetic = store, revision, synthetic

    def assets(self) -> dict[str, Asset]:
        rows = reader.assets(self._store).to_dict("records")
        return {
            r["asset"]: Asset(
                r["asset"], r["name"], r["asset_class"], bool(r["synthetic"]),
                json.loads(r["symbols_json"]),
            )
            for r in rows
        }  # fmt: skip

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        frame = reader.bars(self._store, asset.id, self._revision)
        frame = frame.assign(session=frame["session"].dt.date)
        inside = (frame["session"] >= start) & (frame["session"] <= end)
        columns = ["session", "open", "high", "low", "close", "adj_close", "volume", "source"]
        return frame.loc[inside, columns].reset_index(drop=True)

"""The committed sample: fictional assets with made-up prices, always marked synthetic."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd

from arena.core.settings import SAMPLE
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.sources.base import PriceSource, register
from arena.market.sources.files import FilesSource


class SampleSource:
    """`data/sample`, read like any folder of files."""

    name = "sample"
    synthetic = True

    def __init__(self, folder: Path = SAMPLE) -> None:
        self._files = FilesSource(folder)
        self._assets = load_assets(folder / "assets.toml")

    def assets(self) -> dict[str, Asset]:
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        return self._files.daily(asset, start, end)


@register("sample")
def open_sample(_: str) -> PriceSource:
    return SampleSource()

"""The committed sample: fictional assets with made-up prices, always marked synthetic."""

from __future__ import annotations

from arena.core.settings import SAMPLE
from arena.market.sources.base import PriceSource, register
from arena.market.sources.files import FilesSource


@register("sample")
def open_sample(_: str) -> PriceSource:
    """`data/sample`, read like any folder of files; its `assets.toml` says that it is made up."""
    return FilesSource(SAMPLE, name="sample")

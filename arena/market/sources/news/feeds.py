"""The curated list of feeds, from `data/feeds.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from arena.core.errors import DataError
from arena.core.settings import DATA
from arena.core.types import Asset, AssetClass
from arena.market.news.items import Category

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


class Feed(BaseModel):
    """One feed: its address, who publishes it, and whom it may concern by class or by asset."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Id
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]
    outlet: Annotated[str, Field(min_length=1, max_length=60)]
    trust: Literal["official", "wire", "press", "vendor", "social"]
    classes: tuple[AssetClass, ...] = ()
    assets: tuple[str, ...] = ()
    category: Category = ""
    enabled: bool = True

    @model_validator(mode="after")
    def _concerns_somebody(self) -> Feed:
        if not (self.classes or self.assets):
            raise ValueError("name the asset classes or the assets that it may concern")
        return self

    def covers(self, asset: Asset) -> bool:
        """Whether the feed may have news about `asset`; made-up assets have no news in the world."""
        return not asset.synthetic and (
            asset.asset_class in self.classes or asset.id in self.assets
        )


def load_feeds(path: Path | None = None) -> tuple[Feed, ...]:
    """Feeds of `data/feeds.toml` (or `path`), those switched off included, in file order.

    Raises:
        DataError: the file cannot be read; or an entry is malformed, which it names.
    """
    path = path or DATA / "feeds.toml"
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except (OSError, ValueError) as error:  # a TOML error is a ValueError, and so is bad UTF-8
        raise DataError(f"Cannot read feeds from `{path}`: {error}") from error
    return tuple(_feed(path, key, table) for key, table in tables.items())


def _feed(path: Path, key: str, table: object) -> Feed:
    if not isinstance(table, dict):
        raise DataError(f"`{path}`: `{key}` must be a table: write [{key}] above its lines.")
    try:
        return Feed.model_validate({**table, "id": key})
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'entry'}: {e['msg']}" for e in error.errors()
        )
        raise DataError(f"`{path}`, feed [{key}]: {faults}.") from None

"""Assets by id, from a TOML table."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from arena.core.errors import DataError
from arena.core.settings import DATA
from arena.core.types import Asset


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    asset_class: Literal["stock", "etf", "crypto"]
    synthetic: bool = False
    symbols: dict[str, str] = {}


def load_assets(path: Path | None = None) -> dict[str, Asset]:
    """Assets of `data/assets.toml` (or `path`), in file order.

    Raises:
        DataError: the file is missing or an entry is malformed.
    """
    path = path or DATA / "assets.toml"
    try:
        with path.open("rb") as file:
            entries = {key: _Entry(**value) for key, value in tomllib.load(file).items()}
    except (OSError, tomllib.TOMLDecodeError, ValueError, TypeError) as error:
        raise DataError(f"Cannot read assets from `{path}`: {error}") from error
    return {
        key: Asset(key, e.name, e.asset_class, e.synthetic, e.symbols)
        for key, e in entries.items()
    }

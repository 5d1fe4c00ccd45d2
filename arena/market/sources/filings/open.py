"""Which source of filed figures belongs to a choice of data."""

from __future__ import annotations

from pathlib import Path

from arena.core.settings import SAMPLE
from arena.market.sources.filings.base import FilingsSource
from arena.market.sources.filings.edgar import EdgarFacts
from arena.market.sources.filings.files import NAMES, FilesFilings


def open_filings(choice: str) -> FilingsSource | None:
    """The source for sample, live or files:DIR; None where a folder holds no filed figures."""
    kind, _, argument = choice.partition(":")
    if kind == "live":
        return EdgarFacts()
    folders = {"sample": SAMPLE, "files": Path(argument).expanduser().resolve()}
    folder = folders.get(kind)
    if folder is None or not any((folder / name).is_file() for name in NAMES):
        return None
    return FilesFilings(folder, name=kind)

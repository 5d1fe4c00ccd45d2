"""Which texts are about an asset: its names, its tickers, and what looks like them and is another thing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from arena.core.errors import DataError
from arena.core.settings import DATA
from arena.core.types import Asset, AssetClass

MIN_TICKER_CHARS = 3
"""A shorter ticker (`A`, `ON`, `T`) is a word or an initial where nothing marks it as a ticker."""

_MARKED = r"(?:\$|(?:NYSE|NASDAQ|AMEX)\s?:\s?)"


@dataclass(frozen=True)
class Subject:
    """How an asset is spoken of.

    `names` are whole words in any case (`Ethereum`, `ether`); `tickers` count in upper case, or after a
    dollar sign or an exchange (`ETH`, `$eth`, `NYSE: T`), since in small letters they are other words; those
    of one or two letters count so marked only. `not_about` are phrases, in any case, that hold one of these
    and mean something else (`ETH Zurich`). A blank in a phrase stands for blanks or hyphens.
    """

    asset: str
    asset_class: AssetClass
    names: tuple[str, ...]
    tickers: tuple[str, ...] = ()
    not_about: tuple[str, ...] = ()

    @cached_property
    def _resembles(self) -> re.Pattern[str]:
        return _whole(rf"(?i:{_any_of((*self.names, *self.tickers))})")

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        plain = _any_of(t for t in self.tickers if len(t) >= MIN_TICKER_CHARS)
        marked = rf"(?i:{_MARKED}(?:{_any_of(self.tickers)}))"
        return _whole(rf"(?i:{_any_of(self.names)})|{plain}|{marked}")

    @cached_property
    def _confusion(self) -> re.Pattern[str]:
        return _whole(rf"(?i:{_any_of(self.not_about)})")

    def found_in(self, text: str) -> tuple[bool, bool]:
        """Whether the asset is named in `text`, and whether something that looks like it is."""
        if not self._resembles.search(text):
            return False, False
        rest, n_confusions = self._confusion.subn(" ", text)
        return self._mention.search(rest) is not None, n_confusions > 0


def mentions(subject: Subject, text: str) -> bool:
    """Whether `text` names the asset, after what looks like it and is something else."""
    return subject.found_in(text)[0]


def only_confused(subject: Subject, text: str) -> bool:
    """Whether all that looks like the asset in `text` means something else."""
    named, confused = subject.found_in(text)
    return confused and not named


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    names: tuple[str, ...] = ()
    tickers: tuple[str, ...] = ()
    not_about: tuple[str, ...] = ()


@cache
def load_subjects(path: Path | None = None) -> dict[str, _Entry]:
    """Entries of `data/subjects.toml` (or `path`) by asset id.

    Raises:
        DataError: the file is missing or an entry is malformed.
    """
    path = path or DATA / "subjects.toml"
    try:
        with path.open("rb") as file:
            return {key: _Entry(**value) for key, value in tomllib.load(file).items()}
    except (OSError, tomllib.TOMLDecodeError, ValueError, TypeError) as error:
        raise DataError(f"Cannot read subjects from `{path}`: {error}") from error


def subject_of(asset: Asset) -> Subject:
    """The subject of an asset; one without an entry in the file goes by its id and its name, or by its
    id as a ticker where it has no other name: a name counts in any case, and `now` is no ServiceNow.

    Raises:
        DataError: the file cannot be read.
    """
    return _subject(asset.id, asset.name, asset.asset_class)


@cache
def _subject(asset: str, name: str, asset_class: AssetClass) -> Subject:
    names = () if name.casefold() == asset.casefold() else (name,)
    entry = load_subjects().get(asset) or _Entry(names=names, tickers=(asset,))
    return Subject(asset, asset_class, entry.names, entry.tickers, entry.not_about)


def _any_of(phrases: Iterable[str]) -> str:
    """A pattern for any of the phrases, longest first; for none of them, one that never matches."""
    by_length = sorted(phrases, key=len, reverse=True)
    return "|".join(r"[\s\-]+".join(map(re.escape, p.split())) for p in by_length) or r"(?!)"


def _whole(pattern: str) -> re.Pattern[str]:
    """Bounded by Latin letters and digits only, so that a name inside Chinese text is found."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])")

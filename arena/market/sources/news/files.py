"""News from a folder: `news.parquet`, `news.csv` or `news_*.csv`. Strict by file, lenient by row."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from arena.core.errors import DataError
from arena.core.settings import SAMPLE
from arena.core.types import Asset
from arena.market.news.items import TRUSTS, Category, Kind, RawItem, Trust, TsQuality

log = logging.getLogger("arena.news")

NEEDED = ("asset", "published_at_utc", "source", "title", "url", "text", "ts_quality")
MAY_LACK = ("collected_at_utc", "category", "trust", "kind")
"""Columns that may be missing, and cells that may be blank."""

TEXTS = ("source", "title", "url", "text", "ts_quality", "category", "trust", "kind")
SEARCHED = "search_result"
"""The category of a page that a search found: its asset is what was searched for, not what it is about."""

READABLE: dict[str, set[str]] = {
    "quality": set(get_args(TsQuality)), "kind": {*get_args(Kind), ""}, "trust": {*TRUSTS, ""},
}  # fmt: skip
MARKET_WIDE: frozenset[str] = frozenset(get_args(Category)) - {""}
BLANK = ("", "nan", "NaN", "NaT", "None", "null")


class FilesNews:
    """The news of one folder, in the columns `NEEDED` and `MAY_LACK`; others are not looked at.

    A blank `asset` says that the row may be about anything. Times are ISO 8601, UTC where they have
    no zone. A `ts_quality` of `range:A..B` is a range. A row whose times, quality, kind or trust cannot
    be read is handed over without a date, so that it is counted and kept out.

    Raises:
        DataError: the folder has no news file.
    """

    def __init__(self, folder: Path, name: str = "files", trust: Trust = "vendor") -> None:
        self.folder, self.name, self.trust = folder, name, trust
        self._files = news_files(folder)
        if not self._files:
            raise DataError(
                f"`{folder}` has no news.parquet, news.csv or news_*.csv. "
                "Name the folder that holds one: --data files:DIR."
            )

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime  # noqa: ARG002
    ) -> list[RawItem]:
        """Rows of the assets and of none that were published or seen by `until_utc`, in file order.

        What is older than `since_utc` is handed over too: a story may have begun before.

        Raises:
            DataError: a file cannot be read or lacks a column.
        """
        wanted = {asset.id for asset in assets} | {""}
        return [item for path in self._files for item in self._items(path, wanted, until_utc)]

    def _items(self, path: Path, wanted: set[str], until_utc: datetime) -> list[RawItem]:
        frame = _read(path)
        frame["asset"] = _text(frame["asset"]).str.strip()
        frame = frame[frame["asset"].isin(wanted)].reset_index(names="row")
        for column in MAY_LACK:
            if column not in frame:
                frame[column] = ""
        for column in TEXTS:
            frame[column] = _text(frame[column])
        frame["published"], no_published = _times(frame["published_at_utc"])
        frame["collected"], no_collected = _times(frame["collected_at_utc"])
        frame["quality"] = frame["ts_quality"].str.partition(":")[0]
        frame["bad"] = no_published | no_collected
        for column, words in READABLE.items():
            frame["bad"] |= ~frame[column].isin(words)
        if n_bad := int(frame["bad"].sum()):
            first = int(frame.loc[frame["bad"], "row"].iloc[0]) + 1
            log.warning("%s: %d unreadable rows stay out; the first is row %d", path, n_bad, first)
        times = frame[["published", "collected"]].astype("datetime64[us, UTC]")
        due = (times <= pd.Timestamp(until_utc)).any(axis=1) | times.isna().all(axis=1) | frame["bad"]
        return [self._item(row) for row in frame[due].to_dict("records")]

    def _item(self, row: dict[Any, Any]) -> RawItem:
        return RawItem(
            title=row["title"],
            url=row["url"],
            text=row["text"],
            outlet=row["source"],
            origin=self.name,
            trust=self.trust if row["bad"] else row["trust"] or self.trust,
            ts_quality="none" if row["bad"] else row["quality"],
            published_utc=None if row["bad"] else _moment(row["published"]),
            collected_at_utc=_moment(row["collected"]),
            asset=row["asset"] or None,
            must_mention=row["category"] == SEARCHED,
            kind="news" if row["bad"] else row["kind"] or "news",
            category=row["category"] if row["category"] in MARKET_WIDE else "",
        )


def news_files(folder: Path) -> list[Path]:
    """The news files of a folder: one table, or every `news_*.csv` in the order of their names."""
    for table in (folder / "news.parquet", folder / "news.csv"):
        if table.is_file():
            return [table]
    return sorted(folder.glob("news_*.csv"))


def open_news(choice: str) -> FilesNews | None:
    """News of a data choice that keeps it in files: files:DIR with such a file, or the sample."""
    kind, _, argument = choice.partition(":")
    if kind == "sample":
        return FilesNews(SAMPLE, "sample", "synthetic") if news_files(SAMPLE) else None
    folder = Path(argument).expanduser().resolve()
    if kind != "files" or not argument or not news_files(folder):
        return None
    return FilesNews(folder)


def _read(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except Exception as error:
        # pyarrow and pandas raise many kinds for a damaged file; each is the reader's problem.
        raise DataError(f"Cannot read `{path}`: {type(error).__name__}: {error}") from error
    for column in NEEDED:
        if column not in frame:
            raise DataError(
                f"`{path}`: column `{column}` is missing. Needed are {', '.join(NEEDED)}; "
                f"{', '.join(MAY_LACK)} may be left out."
            )
    return frame[[c for c in (*NEEDED, *MAY_LACK) if c in frame]]


def _text(column: pd.Series) -> pd.Series:
    """Cells as text, missing ones empty."""
    return column.astype(object).where(column.notna(), "").astype(str)


def _times(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Aware UTC times, NaT where blank, and where something stands that is no time."""
    times = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce")
    return times, times.isna() & ~_text(column).str.strip().isin(BLANK)


def _moment(stamp: Any) -> datetime | None:
    return None if pd.isna(stamp) else stamp.to_pydatetime()

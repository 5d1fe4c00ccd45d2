"""Prices from a folder: `daily.parquet`, `daily.csv` or `SYMBOL_daily.csv`. Strict: it refuses, it never mends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from arena.core.errors import DataError, UnknownNameError
from arena.core.types import Asset, AssetClass
from arena.market.assets import load_assets
from arena.market.checks import PriceCheck, insanity
from arena.market.second_look import second_look
from arena.market.sources.base import COLUMNS, PriceSource, register

PRICES = ("open", "high", "low", "close")
NEEDED = ("date", *PRICES)
MAY_LACK = ("adj_close", "volume")
"""Numbers that may be missing, whole or by row; what stands there must be a number."""

BLANK = ("", "nan", "NaN", "NA", "null", "None")
CLASSES: tuple[AssetClass, ...] = get_args(AssetClass)
ISO_DAY = r"^(\d{4}-\d{2}-\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:?00)?)?$"
"""An ISO date, midnight UTC allowed behind it. What `01/08/2025` means is not guessed."""

SATURDAY = 5

SECOND = "daily_alt_sources"
SECOND_COLUMNS = ("symbol", "date", "close", "adj_close", "source")
"""Of the table of other vendors, whose key is (source, symbol, date)."""


class FilesSource:
    """One folder of daily prices; each asset asked for is read and checked once.

    An `assets.toml` in the folder names its assets before `data/assets.toml` does. Without either,
    and without a column `asset_class`, a symbol with no weekend rows is taken for a stock.

    Raises:
        DataError: the folder has no price file.
    """

    def __init__(self, folder: Path, name: str = "files") -> None:
        self.name, self.folder = name, folder
        tables = (folder / "daily.parquet", folder / "daily.csv")
        self._table = next((p for p in tables if p.exists()), None)
        self._single = {p.name.removesuffix("_daily.csv"): p for p in folder.glob("*_daily.csv")}
        if self._table is None and not self._single:
            raise DataError(
                f"`{folder}` has no daily.parquet, daily.csv or SYMBOL_daily.csv. "
                "Name the folder that holds them: --data files:DIR."
            )
        beside = folder / "assets.toml"
        own = load_assets(beside) if beside.exists() else {}
        self._named = load_assets() | own
        self.synthetic = any(asset.synthetic for asset in own.values())
        self._frames: dict[str, pd.DataFrame] = {}

    def assets(self) -> dict[str, Asset]:
        """Assets of the folder by symbol. Their rows are checked when they are asked for.

        Raises:
            DataError: the table of all symbols is damaged or lacks `symbol` or `asset_class`.
        """
        return self._assets

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        if asset.id not in self._frames:
            if asset.id not in self.assets():
                raise UnknownNameError(f"asset in `{self.folder}`", asset.id, self.assets())
            path = self._table or self._single[asset.id]
            raw = _read(path, asset.id)
            frame = _checked(path, raw, asset.id)
            self._check_class(path, raw, frame, self.assets()[asset.id])
            self._frames[asset.id] = frame
        frame = self._frames[asset.id]
        return frame[(frame["session"] >= start) & (frame["session"] <= end)].reset_index(drop=True)

    def disagreements(self, asset: Asset, closes: Mapping[date, float]) -> list[PriceCheck]:
        """What `daily_alt_sources.parquet|csv` in the folder says otherwise, one source after another.

        Raises:
            DataError: the file is damaged, or has a close that may not enter.
        """
        found: list[PriceCheck] = []
        for source, theirs in _second_closes(self.folder, asset.id).items():
            found += second_look(asset.id, source, closes, theirs)
        return found

    @cached_property
    def _assets(self) -> dict[str, Asset]:
        stated: dict[str, str | None]
        if self._table is None:
            stated = {s: None if s in self._named else _class_in(p) for s, p in self._single.items()}
        else:
            pairs = _read(self._table, columns=("symbol", "asset_class"))
            stated = dict(pairs.drop_duplicates("symbol").itertuples(index=False))
        return {s: self._named.get(s) or _unnamed(s, stated[s]) for s in sorted(stated)}

    def _check_class(self, path: Path, raw: pd.DataFrame, frame: pd.DataFrame, asset: Asset) -> None:
        """The class that the rows state, or what they look like, must be the asset's."""
        if "asset_class" in raw:
            for kind in raw["asset_class"].unique():
                if kind not in CLASSES:
                    raise DataError(
                        f"`{path}`: asset_class of {asset.id} is `{kind}`; "
                        f"it must be {', '.join(CLASSES)}."
                    )
                if kind != asset.asset_class:
                    where = "assets.toml" if asset.id in self._named else "another row"
                    raise DataError(
                        f"`{path}`: asset_class of {asset.id} is `{kind}`, but `{asset.asset_class}` "
                        f"in {where}. Correct one, or rename the symbol."
                    )
        elif asset.id not in self._named and any(d.weekday() >= SATURDAY for d in frame["session"]):
            raise DataError(
                f"`{path}`: {asset.id} has weekend rows and nothing says that it is a coin. Add a "
                f"column asset_class, or an entry [{asset.id}] in an assets.toml beside the file."
            )


def _unnamed(symbol: str, kind: str | None) -> Asset:
    """An asset that only the files know. A wrong `kind` is refused with its rows, in `daily`."""
    return Asset(symbol, symbol, next((c for c in CLASSES if c == kind), "stock"))


def _class_in(path: Path) -> str | None:
    try:
        frame = _read(path)
    except DataError:
        # Somebody's other file in the folder: it is refused when it is asked for.
        return None
    return str(frame["asset_class"].iloc[0]) if "asset_class" in frame and len(frame) else None


def _read(
    path: Path, symbol: str | None = None, columns: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """Rows of one symbol, or all, as they stand: text stays text, so that `NA` can be a symbol."""
    is_table = not path.name.endswith("_daily.csv")
    needed = columns or (("symbol", *NEEDED) if is_table else NEEDED)
    try:
        if path.suffix == ".parquet":
            frame = _read_parquet(path, symbol, columns, needed)
        else:
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
            _have(path, frame.columns, needed)
    except DataError:
        raise
    except Exception as error:
        # pyarrow and pandas raise many kinds for a damaged file; each is the reader's problem.
        raise DataError(f"Cannot read `{path}`: {type(error).__name__}: {error}") from error
    if is_table:
        frame = frame[frame["symbol"].notna() & (frame["symbol"] != "")]
        frame = frame if symbol is None else frame[frame["symbol"] == symbol]
    return frame[list(columns)] if columns else frame


def _read_parquet(
    path: Path, symbol: str | None, columns: tuple[str, ...] | None, needed: tuple[str, ...]
) -> pd.DataFrame:
    wanted = None if symbol is None else [("symbol", "==", symbol)]
    try:
        frame = pd.read_parquet(path, columns=list(columns) if columns else None, filters=wanted)
    except Exception:
        # A filter on a column that is not there fails in Arrow's words; ours name the column.
        _have(path, pd.read_parquet(path).columns, needed)
        raise
    _have(path, frame.columns, needed)
    return frame


def _have(path: Path, present: Iterable[str], needed: tuple[str, ...]) -> None:
    for column in needed:
        if column not in set(present):
            raise DataError(f"`{path}`: column `{column}` is missing; {', '.join(needed)} are needed.")


def _where(mask: pd.Series) -> list[int]:
    return [int(at) for at in np.flatnonzero(mask)]


def _days(written: pd.Series) -> pd.Series:
    """Midnights of ISO dates, NaT for anything else."""
    day = written.str.extract(ISO_DAY, expand=False)
    return pd.to_datetime(day, format="%Y-%m-%d", errors="coerce")


def _numbers(cells: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Cells as floats, NaN where blank; and where something stands that is no number."""
    values = pd.to_numeric(cells, errors="coerce").astype(float)
    return values, values.isna() & cells.notna() & ~cells.astype(str).isin(BLANK)


def _checked(path: Path, raw: pd.DataFrame, symbol: str) -> pd.DataFrame:
    """The rows in our columns, by date.

    Raises:
        DataError: a row breaks a rule; the message names file, row, date and rule.
    """
    raw = raw.reset_index(drop=True)
    written = raw["date"].astype(str)

    def refuse(at: int, rule: str) -> None:
        raise DataError(f"`{path}`: {symbol} row {at + 1} ({written[at]}): {rule}")

    stamps = _days(written)
    for at in _where(stamps.isna()):
        refuse(at, "this is no date. Write it as 2025-08-01; one row a day.")
    for at in _where(stamps.duplicated()):
        refuse(at, "the date stands twice. Keep one row a session.")
    # A Parquet table has no order to keep; in a CSV a date out of order is somebody's mistake.
    backwards = (stamps.diff() < pd.Timedelta(0)) & (path.suffix == ".csv")
    for at in _where(backwards):
        refuse(at, f"out of order, after {written[at - 1]}. Sort the file by date.")

    out = pd.DataFrame({"session": stamps.dt.date})
    for column in (*PRICES, *MAY_LACK):
        text = raw[column] if column in raw else pd.Series(np.nan, raw.index)
        out[column], unreadable = _numbers(text)
        for at in _where(unreadable):
            refuse(at, f"{column} is `{text[at]}`, which is no number. Correct the row.")
    out["source"] = raw["source"].astype(str) if "source" in raw else path.name
    for at, row in enumerate(out.to_dict("records")):
        if why := insanity(row):
            refuse(at, f"{why}. Correct the row or leave it out.")
    return out.sort_values("session", kind="stable", ignore_index=True)[list(COLUMNS)]


def _second_closes(folder: Path, symbol: str) -> dict[str, dict[date, float]]:
    """Closes of other vendors by source; the adjusted one where a row has no other.

    Raises:
        DataError: a row breaks a rule; the message names file, source, date and rule.
    """
    tables = (folder / f"{SECOND}.parquet", folder / f"{SECOND}.csv")
    path = next((p for p in tables if p.exists()), None)
    if path is None:
        return {}
    rows = _read(path, symbol, SECOND_COLUMNS).reset_index(drop=True)
    stamps = _days(rows["date"].astype(str))
    (close, no_close), (adjusted, no_adjusted) = _numbers(rows["close"]), _numbers(rows["adj_close"])
    prices = close.fillna(adjusted)
    for rule, broken in (
        ("this is no date. Write it as 2025-08-01.", stamps.isna()),
        ("a close must be a number > 0; leave it blank if unknown.",
         no_close | no_adjusted | (prices <= 0) | np.isinf(prices)),
        ("the source has this date twice. Keep one row.", rows.duplicated(["source", "date"])),
    ):  # fmt: skip
        for at in _where(broken):
            row = rows.loc[at]
            raise DataError(f"`{path}`: {symbol} of {row['source']} ({row['date']}): {rule}")
    found: dict[str, dict[date, float]] = {}
    for source, stamp, price in zip(rows["source"], stamps, prices, strict=True):
        if pd.notna(price):
            found.setdefault(str(source), {})[stamp.date()] = float(price)
    return found


@register("files")
def open_files(argument: str) -> PriceSource:
    folder = Path(argument).expanduser().resolve()
    if not argument or not folder.is_dir():
        raise DataError(
            f"`files:{argument}`: there is no folder `{folder}`. Write files:DIR."
        )
    return FilesSource(folder)

"""Prices from a folder: `daily.parquet`, `daily.csv` or `SYMBOL_daily.csv`. Strict: it refuses, it never mends."""

from __future__ import annotations

import warnings
from datetime import date
from pathlib import Path

import pandas as pd

from arena.core.errors import DataError, UnknownNameError
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.checks import insanity
from arena.market.sources.base import COLUMNS, PriceSource, register

NEEDED = ("date", "open", "high", "low", "close")
OPTIONAL = ("adj_close", "volume", "source")


class FilesSource:
    """One folder of daily prices, read once per asset.

    Raises:
        DataError: the folder has no price file, or a file is damaged.
    """

    name = "files"
    synthetic = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._table = next((p for p in _tables(folder) if p.exists()), None)
        self._single = {p.name.removesuffix("_daily.csv"): p for p in folder.glob("*_daily.csv")}
        if self._table is None and not self._single:
            raise DataError(
                f"`{folder}` has no daily.parquet, daily.csv or SYMBOL_daily.csv. "
                "Name the folder that holds them: --data files:DIR."
            )
        self._frames: dict[str, pd.DataFrame] = {}
        self._known: dict[str, Asset] | None = None

    def assets(self) -> dict[str, Asset]:
        """Assets of the folder; class and name from our table, else the class in the file."""
        if self._known is None:
            ours = load_assets()
            classes = self._classes()
            self._known = {
                symbol: ours.get(symbol, Asset(symbol, symbol, kind))  # type: ignore[arg-type]
                for symbol, kind in classes.items()
            }
        return self._known

    def daily(self, asset: Asset, start: date, end: date) -> pd.DataFrame:
        if asset.id not in self._frames:
            if asset.id not in self.assets():
                raise UnknownNameError(f"asset in `{self.folder}`", asset.id, self.assets())
            self._frames[asset.id] = self._checked(*self._read(asset.id), asset.id)
        frame = self._frames[asset.id]
        return frame[(frame["session"] >= start) & (frame["session"] <= end)].reset_index(drop=True)

    def _classes(self) -> dict[str, str]:
        if self._table is None:
            ours = load_assets()
            unknown = [s for s in self._single if s not in ours]
            if unknown:
                return {s: ours[s].asset_class if s in ours else "stock" for s in sorted(self._single)}
            return {s: ours[s].asset_class for s in sorted(self._single)}
        frame = self._load(self._table, columns=["symbol", "asset_class"])
        for column in ("symbol", "asset_class"):
            if column not in frame:
                raise DataError(f"`{self._table}`: column `{column}` is missing.")
        return dict(frame.drop_duplicates("symbol").sort_values("symbol").itertuples(index=False))

    def _read(self, symbol: str) -> tuple[Path, pd.DataFrame]:
        if self._table is None:
            path = self._single[symbol]
            return path, self._load(path)
        frame = self._load(self._table, symbol=symbol)
        return self._table, frame[frame["symbol"] == symbol]

    def _load(
        self, path: Path, columns: list[str] | None = None, symbol: str | None = None
    ) -> pd.DataFrame:
        try:
            if path.suffix == ".parquet":
                filters = [("symbol", "==", symbol)] if symbol else None
                return pd.read_parquet(path, columns=columns, filters=filters)
            return pd.read_csv(path)
        except Exception as error:
            # pyarrow and pandas raise many kinds for a damaged file; each is the reader's problem.
            raise DataError(f"Cannot read `{path}`: {type(error).__name__}: {error}") from error

    def _checked(self, path: Path, frame: pd.DataFrame, symbol: str) -> pd.DataFrame:
        for column in NEEDED:
            if column not in frame:
                raise DataError(
                    f"`{path}`: column `{column}` is missing; {', '.join(NEEDED)} are needed."
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            stamps = pd.to_datetime(frame["date"], errors="coerce")
        out = pd.DataFrame({"session": stamps.dt.date})
        for column in ("open", "high", "low", "close", "adj_close", "volume"):
            values = frame[column] if column in frame else pd.Series(float("nan"), frame.index)
            out[column] = pd.to_numeric(values, errors="coerce")
        out["source"] = frame["source"].astype(str) if "source" in frame else path.name
        out = out.reset_index(drop=True)
        self._refuse(path, out, symbol, list(frame["date"]))
        return out[list(COLUMNS)]

    def _refuse(self, path: Path, frame: pd.DataFrame, symbol: str, dates: list[object]) -> None:
        before: date | None = None
        for i, row in enumerate(frame.to_dict("records")):
            where = f"`{path}`: {symbol} row {i + 1} ({dates[i]})"
            day = row["session"]
            if pd.isna(day):
                raise DataError(f"{where}: `{dates[i]}` is no date. Write it as 2025-08-01.")
            if before is not None and day == before:
                raise DataError(f"{where}: the date stands twice. Keep one row a session.")
            if before is not None and day < before:
                raise DataError(f"{where}: out of order, after {before}. Sort the file by date.")
            if why := insanity(row):
                raise DataError(f"{where}: {why}. Correct the row or leave it out.")
            before = day


def _tables(folder: Path) -> tuple[Path, Path]:
    return folder / "daily.parquet", folder / "daily.csv"


@register("files")
def open_files(argument: str) -> PriceSource:
    folder = Path(argument).expanduser().resolve()
    if not argument or not folder.is_dir():
        raise DataError(f"`files:{argument}`: there is no folder `{folder}`.")
    return FilesSource(folder)

"""Filed figures from a folder: `fundamentals.parquet` or `fundamentals.csv`. Strict, like its prices."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from arena.core.clock import Clock, utc_now
from arena.core.errors import DataError, UnknownNameError
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.filings.fields import FIELDS, OUTFLOWS, PERIOD, known_from
from arena.market.sources.files import ISO_DAY

NAMES = ("fundamentals.parquet", "fundamentals.csv")
NEEDED = ("symbol", "field", "period", "value", "filed")


class FilesFilings:
    """Columns symbol, field, period, value, filed (the day) and, if you like, form. A row is a figure.

    A figure that was corrected later is one more row with its own filing day. The rows of an asset
    are checked when it is asked for.
    """

    def __init__(self, folder: Path, name: str = "files", clock: Clock = utc_now) -> None:
        self.name, self._clock = name, clock
        self._path = table_in(folder)
        self._facts: dict[str, tuple[Fact, ...]] = {}

    def facts(self, asset: Asset) -> tuple[Fact, ...]:
        if asset.id not in self._facts:
            rows = self._frame[self._frame["symbol"] == asset.id]
            if len(rows) and asset.asset_class != "stock":
                raise DataError(
                    f"`{self._path}` has figures of {asset.id}, which is no company "
                    f"({asset.asset_class}). Take those rows out, or correct its asset_class."
                )
            self._facts[asset.id] = self._checked(asset.id, rows)
        return self._facts[asset.id]

    @cached_property
    def _frame(self) -> pd.DataFrame:
        try:
            if self._path.suffix == ".parquet":
                frame = pd.read_parquet(self._path)
            else:
                frame = pd.read_csv(self._path, dtype=str, keep_default_na=False)
        except Exception as error:
            # pyarrow and pandas raise many kinds for a damaged file; each is the reader's problem.
            raise DataError(
                f"Cannot read `{self._path}`: {type(error).__name__}: {error}"
            ) from error
        for column in NEEDED:
            if column not in frame:
                raise DataError(
                    f"`{self._path}`: column `{column}` is missing; {', '.join(NEEDED)} are needed."
                )
        return frame.reset_index(drop=True)

    def _checked(self, symbol: str, rows: pd.DataFrame) -> tuple[Fact, ...]:
        facts: dict[tuple[str, str, date], Fact] = {}
        for at, row in rows.to_dict("index").items():
            where = f"`{self._path}`: {symbol} row {int(str(at)) + 1}"
            fact = self._fact(where, symbol, row)
            key = (fact.field, fact.period, fact.filed)
            if key in facts:
                raise DataError(
                    f"{where}: {fact.field} of {fact.period} stands twice for {fact.filed}. "
                    "Keep one, or give the correction its own filing day."
                )
            facts[key] = fact
        return tuple(sorted(facts.values(), key=lambda f: (f.filed, f.field, f.period)))

    def _fact(self, where: str, symbol: str, row: Mapping[Hashable, Any]) -> Fact:
        field, period = str(row["field"]), str(row["period"])
        if field not in FIELDS:
            raise DataError(f"{where}: {UnknownNameError('field', field, FIELDS)}")
        if not PERIOD.fullmatch(period):
            raise DataError(f"{where}: period `{period}`; write FY2024, 2025Q2 or TTM.")
        value = _number(row["value"])
        if value is None:
            raise DataError(
                f"{where}: {field} of {period} is `{row['value']}`, which is no number. "
                "Leave an unknown figure out."
            )
        if field in OUTFLOWS and value < 0:
            raise DataError(
                f"{where}: {field} of {period} is {value:g}; money that leaves is written positive."
            )
        day = re.match(ISO_DAY, str(row["filed"]))
        filed = _date(day[1]) if day else None
        if filed is None:
            raise DataError(f"{where}: filed `{row['filed']}` is no date. Write it as 2025-07-23.")
        if filed > self._clock().date():
            raise DataError(f"{where}: filed {filed}, which is still to come. Correct the row.")
        form = "" if pd.isna(row.get("form")) else str(row["form"])
        return Fact(symbol, field, period, value, filed, known_from(filed), form, self.name)


def table_in(folder: Path) -> Path:
    """The file of figures in `folder`.

    Raises:
        DataError: there is none.
    """
    found = next((folder / n for n in NAMES if (folder / n).is_file()), None)
    if found is None:
        raise DataError(f"`{folder}` has neither {' nor '.join(NAMES)}.")
    return found


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None

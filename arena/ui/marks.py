"""Unrealised marks: how an entry stands at the newest quotes, with their age, beside its settled numbers.

Nothing here enters a metric, a rank or a file. A mark is a change since the last settled session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from statistics import fmean
from typing import Any

import pandas as pd
import streamlit as st

from arena.core.actions import Intent
from arena.core.clock import utc_now
from arena.core.season import RunSpec, Season
from arena.core.types import AssetClass
from arena.runner.marking import costs_of, value_now
from arena.store import quotes_reader, reader
from arena.store.standing import standings
from arena.store.store import Store
from arena.ui import format as fmt

FRESH_S = 60
"""Quotes come every five minutes; a look at them is kept for one."""

TOO_FAR_LOG = 0.4
"""A quote further than this from the settled price may be a split: no mark is made of it."""

NOTHING_NEWER = "no quote since the last close"
BEING_FILLED = "an order is being filled"


@dataclass(frozen=True, slots=True)
class QuoteNow:
    price: float
    at_utc: datetime


@dataclass(frozen=True)
class Quotes:
    """Newest quote by asset, and the first one at or after a moment, at which an order fills."""

    newest: Mapping[str, QuoteNow]
    first_since: Callable[[str, datetime], QuoteNow | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """One account after its last settled session. `order` was decided since then and fills from
    `due_utc` on; `settled_utc` is that session's close."""

    entry: str
    asset: str
    asset_class: AssetClass
    strategy: str
    side: int
    units: float
    cash: float
    balance: float
    price: float
    settled_utc: datetime | None
    order: Intent | None = None
    due_utc: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """`change_frac` of an entry since its last settled session, at quotes up to `age_s` old, the oldest
    of `at_utc`.

    All are None, with a `reason`, where there is nothing to say; `n_quoted` of `n_accounts` stand at
    a quote, the others at their last close.
    """

    entry: str
    change_frac: float | None
    age_s: float | None
    n_quoted: int
    n_accounts: int
    reason: str | None = None
    at_utc: datetime | None = None

    @property
    def text(self) -> str:
        """`+0.4% now, 3 min old`; an en dash without a mark."""
        if self.change_frac is None or self.age_s is None:
            return fmt.MISSING
        return f"{fmt.percent(self.change_frac)} now, {fmt.age_seconds(self.age_s)} old"


def marks_of(
    rows: Sequence[Standing], quotes: Quotes, now_utc: datetime, season: Season
) -> list[Mark]:
    """A mark of each entry, in the order in which they first stand in `rows`: the mean of its accounts
    now over the mean of their settled balances. An account whose market has not traded since its
    close stands at that close."""
    by_entry: dict[str, list[Standing]] = {}
    for row in rows:
        by_entry.setdefault(row.entry, []).append(row)
    return [_mark(entry, held, quotes, now_utc, season) for entry, held in by_entry.items()]


def _mark(
    entry: str, held: Sequence[Standing], quotes: Quotes, now_utc: datetime, season: Season
) -> Mark:
    values: list[float] = []
    ages: list[float] = []
    for row in held:
        newest = quotes.newest.get(row.asset)
        if newest is None or not _counts(row, newest):
            values.append(row.balance)
            continue
        fill = None if row.due_utc is None else quotes.first_since(row.asset, row.due_utc)
        value = value_now(
            row.strategy, costs_of(season, row.asset_class), row.side, row.units, row.cash,
            newest.price, row.order, None if fill is None else fill.price,
        )  # fmt: skip
        if value is None:
            return Mark(entry, None, None, 0, len(held), BEING_FILLED)
        values.append(value)
        ages.append((now_utc - newest.at_utc).total_seconds())
    if not ages:
        return Mark(entry, None, None, 0, len(held), NOTHING_NEWER)
    change = fmean(values) / fmean(row.balance for row in held) - 1.0
    age_s = max(0.0, *ages)
    return Mark(
        entry, change, age_s, len(ages), len(held), at_utc=now_utc - timedelta(seconds=age_s)
    )


def _counts(row: Standing, newest: QuoteNow) -> bool:
    """Whether a quote says something about an account: later than its close, and no split between."""
    if row.settled_utc is None or newest.at_utc <= row.settled_utc:
        return False
    return abs(math.log(newest.price / row.price)) <= TOO_FAR_LOG


@st.cache_data(max_entries=16, show_spinner=False, ttl=timedelta(seconds=FRESH_S / 3))
def _quoted_utc(store_id: str, _store: Store) -> dict[str, datetime]:  # noqa: ARG001
    return {asset: at for asset, (_, at, _, _) in quotes_reader.newest_quotes(_store).items()}


def newest_utc(store: Store, assets: Collection[str]) -> datetime | None:
    """When the newest quote of any of these assets held; None without one."""
    found = _quoted_utc(store.store_id, store)
    return max((at for asset, at in found.items() if asset in assets), default=None)


@st.cache_data(max_entries=16, show_spinner=False)
def _standings(key: tuple[str, int], _store: Store, run: str) -> pd.DataFrame:  # noqa: ARG001
    return standings(_store, run)


@st.cache_data(max_entries=16, show_spinner=False, ttl=timedelta(seconds=FRESH_S))
def current(
    key: tuple[str, int], _store: Store, run: str, strategy: str,
    agents: tuple[str, ...], models: tuple[str, ...], assets: tuple[str, ...],
    quoted_utc: datetime | None = None,  # noqa: ARG001
) -> list[Mark]:  # fmt: skip
    """Marks of the entries (`agent@model`) of a live run that is going on, at most a minute old; none of
    any other run. `key` is `queries.version(store)`, `quoted_utc` `newest_utc` of the assets: a new
    quote is no new version of the store."""
    info = reader.run(_store, run)
    if info["kind"] != "live" or info["status"] != "running":
        return []
    season = RunSpec.model_validate_json(str(info["spec_json"])).season
    frame = _standings(key, _store, run)
    chosen = frame[
        (frame["strategy"] == strategy) & frame["agent"].isin(agents)
        & frame["model"].isin(models) & frame["asset"].isin(assets)
    ]  # fmt: skip
    kinds = {row["asset"]: row["asset_class"] for row in reader.assets(_store).to_dict("records")}
    rows = [_standing(row, kinds[row["asset"]], season) for row in chosen.to_dict("records")]
    now = utc_now()
    newest = {
        asset: QuoteNow(price, at)
        for asset, (price, at, _, _) in quotes_reader.newest_quotes(_store).items()
    }

    @cache
    def first_since(asset: str, due_utc: datetime) -> QuoteNow | None:
        found = quotes_reader.first_quote(_store, asset, due_utc, now + timedelta(seconds=1))
        return None if found is None else QuoteNow(found[0], found[1])

    return marks_of(rows, Quotes(newest, first_since), now, season)


def _standing(row: Mapping[Any, Any], kind: AssetClass, season: Season) -> Standing:
    plain: dict[Any, Any] = {k: None if pd.isna(v) else v for k, v in row.items()}
    waits = plain["intent"] is not None and season.fill == "next"
    due = plain["decided_at_utc"] if plain["late"] else plain["as_of_utc"]
    settled = plain["settled_utc"]
    return Standing(
        f"{plain['agent']}@{plain['model']}", plain["asset"], kind, plain["strategy"],
        plain["side"], plain["units"], plain["cash"], plain["balance"], plain["price"],
        None if settled is None else settled.to_pydatetime(),
        Intent(plain["intent"]) if waits else None, due.to_pydatetime() if waits else None,
    )  # fmt: skip

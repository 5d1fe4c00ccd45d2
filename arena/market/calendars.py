"""Sessions, opens, closes and decision slots: NYSE for stocks and ETFs, UTC days for crypto.

`exchange_calendars` ends its calendars a year after the day they are built and ignores a fake
clock, so ours is built with explicit ends and rebuilt when fewer than 60 days remain.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from arena.core.clock import utc_now
from arena.core.errors import DataError
from arena.core.types import Asset, AssetClass, Slot
from arena.market import closures

Convention = Literal["default", "ama"]

FIRST_DAY = date(2010, 1, 1)
LAST_DAY = date(2100, 12, 31)
"""Nobody means a later date; without an end, a slip of the keyboard builds calendars for minutes."""

AHEAD_DAYS, REBUILD_DAYS = 400, 60
CRYPTO_WAIT = timedelta(minutes=5)
CRYPTO_DEADLINE = timedelta(hours=2)
BEFORE_OPEN = timedelta(minutes=30)
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Nyse:
    days: list[date]
    opens: dict[date, datetime]
    closes: dict[date, datetime]
    stamp: int


_built: list[_Nyse] = []


def _nyse(until: date) -> _Nyse:
    """The NYSE calendar, reaching at least 60 days past `until`.

    Raises:
        DataError: `until` lies after the calendar.
    """
    if until > LAST_DAY:
        raise DataError(f"The calendars end {LAST_DAY}; {until} is after it.")
    table = closures.stamp(closures.FILE)
    if (
        not _built
        or _built[-1].stamp != table
        or _built[-1].days[-1] < until + timedelta(days=REBUILD_DAYS)
    ):
        import exchange_calendars
        import pandas as pd

        end = max(until, utc_now().date()) + timedelta(days=AHEAD_DAYS)
        with warnings.catch_warnings():
            # The library still reads time zones in a way that pandas 3.1 calls deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            schedule = exchange_calendars.get_calendar(
                "XNYS", start=pd.Timestamp(FIRST_DAY), end=pd.Timestamp(end)
            ).schedule
        known = closures.load_closures(closures.FILE)
        rows = [
            (day.date(), opens.to_pydatetime().astimezone(UTC), ends.to_pydatetime().astimezone(UTC))
            for day, opens, ends in zip(
                schedule.index, schedule["open"], schedule["close"], strict=True
            )
        ]
        rows = [row for row in rows if row[0] not in known.closed]
        _built[:] = [
            _Nyse(
                [day for day, _, _ in rows], {day: opens for day, opens, _ in rows},
                {day: known.early.get(day, ends) for day, _, ends in rows}, table,
            )
        ]  # fmt: skip
    return _built[-1]


def sessions(asset_class: AssetClass, start: date, end: date) -> tuple[date, ...]:
    """Trading dates from `start` to `end`, both included.

    Raises:
        DataError: a date outside the calendars (NYSE from 2010; both to 2100).
    """
    if end > LAST_DAY:
        raise DataError(f"The calendars end {LAST_DAY}; {end} is after it.")
    if asset_class == "crypto":
        return tuple(start + timedelta(days=i) for i in range((end - start).days + 1))
    if start < FIRST_DAY:
        raise DataError(f"The NYSE calendar starts {FIRST_DAY}; {start} is before it.")
    days = _nyse(end).days
    return tuple(days[bisect_left(days, start) : bisect_right(days, end)])


def is_session(asset_class: AssetClass, day: date) -> bool:
    return asset_class == "crypto" or day in _nyse(day).opens


def next_session(asset_class: AssetClass, day: date) -> date:
    """The first session after `day`."""
    if asset_class == "crypto":
        return day + ONE_DAY
    days = _nyse(day).days
    return days[bisect_right(days, day)]


def open_utc(asset_class: AssetClass, session: date) -> datetime:
    """Moment of a session's first trade (crypto: 00:00 UTC)."""
    if asset_class == "crypto":
        return datetime.combine(session, time(), UTC)
    return _nyse(session).opens[session]


def close_utc(asset_class: AssetClass, session: date) -> datetime:
    """Moment at which a session's bar is final (crypto: 00:00 UTC of the next day)."""
    if asset_class == "crypto":
        return datetime.combine(session + ONE_DAY, time(), UTC)
    return _nyse(session).closes[session]


def slot(asset: Asset, session: date, convention: Convention = "default") -> Slot:
    """When the decision after `session` is due.

    `default`: crypto 00:05 UTC of the next day; stocks 30 minutes before the next session's open.
    `ama`: 00:05 UTC of the next day for both (the paper's protocol).
    """
    if asset.asset_class == "crypto" or convention == "ama":
        due = datetime.combine(session + ONE_DAY, time(), UTC) + CRYPTO_WAIT
    else:
        due = open_utc(asset.asset_class, next_session(asset.asset_class, session)) - BEFORE_OPEN
    return Slot(asset.id, session, due)


def wait_ends(asset: Asset, due: Slot) -> datetime:
    """Until when a missing final bar is waited for, and a decision is on time: crypto until 02:00 UTC
    of the next day, stocks until the next session's open."""
    if asset.asset_class == "crypto":
        return datetime.combine(due.session + ONE_DAY, time(), UTC) + CRYPTO_DEADLINE
    return open_utc(asset.asset_class, next_session(asset.asset_class, due.session))


def slots(
    asset: Asset, start: date, end: date, convention: Convention = "default"
) -> tuple[Slot, ...]:
    """One slot a session; stocks have none on closed days."""
    return tuple(slot(asset, s, convention) for s in sessions(asset.asset_class, start, end))


def slot_before(asset: Asset, session: date, convention: Convention = "default") -> Slot:
    """The asset's slot before that of `session`: what became known since then is news."""
    if asset.asset_class == "crypto":
        return slot(asset, session - ONE_DAY, convention)
    days = _nyse(session).days
    return slot(asset, days[bisect_left(days, session) - 1], convention)

"""News of the sample: what was said about four made-up assets, told after the prices that it speaks of.

Whatever a row tells of a price was known when it was published: rows up to a moment stay the same
whatever prices do later. Happenings come by chance; after a large move some are likelier to be told
that go with it, as reporters look for reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd

from arena.core.types import AssetClass
from arena.market import sample_words as words
from arena.market.calendars import close_utc, is_session
from arena.market.sample_telling import Row, tell
from arena.market.sample_words import Happening

START, END = date(2025, 5, 1), date(2025, 12, 31)
SEED = 20250501
MOST_A_DAY = 8
HAPPENINGS_A_DAY, MOST_HAPPENINGS = 1.3, 3
REST_DAYS, MONTH_DAYS = 16, 28
"""Days before the same thing may happen to the same asset again, and to the economy."""

MONTH_BARS = 21
LARGE_SIGMAS, NOTICED_SIGMAS = 2.0, 1.2
"""A move that wants a reason, and one that is reported at all; in deviations of a month's moves."""

COLUMNS = (
    "asset", "published_at_utc", "source", "title", "url", "text", "ts_quality", "collected_at_utc",
    "category", "trust",
)  # fmt: skip


@dataclass(frozen=True)
class Move:
    """A session's move from close to close, beside those of the month before it."""

    frac: float
    sigmas: float
    is_largest: bool
    volume_ratio: float
    known_utc: datetime


@dataclass(frozen=True)
class Day:
    """One asset's day; `move` is None where the market was closed."""

    asset: str
    kind: AssetClass
    day: date
    move: Move | None = None

    def at(self, hour: float) -> datetime:
        return datetime.combine(self.day, time(), UTC) + timedelta(hours=hour)


def make_news(bars: pd.DataFrame, figures: pd.DataFrame) -> pd.DataFrame:
    """Rows in the columns of a news file, by moment of publication.

    Args:
        bars: daily bars of the sample, in the columns of `daily.parquet`.
        figures: filed figures, as `sample_figures.make_figures` gives them.
    """
    rows = [*_market_wide(), *_odd()]
    for number, (asset, own) in enumerate(bars.groupby("symbol", sort=True)):
        told: dict[Happening, date] = {}
        for day in _days(str(asset), own.reset_index(drop=True)):
            rng = np.random.default_rng([SEED, number, day.day.toordinal()])
            rows += _day_rows(day, rng, told, figures)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("published_at_utc", "collected_at_utc"):
        frame[column] = pd.to_datetime(frame[column], utc=True).astype("datetime64[ms, UTC]")
    order = ["published_at_utc", "asset", "source", "title"]
    return frame.sort_values(order, kind="stable", ignore_index=True)


def _all_days() -> Iterator[date]:
    return (START + timedelta(days=n) for n in range((END - START).days + 1))


def _days(asset: str, bars: pd.DataFrame) -> Iterator[Day]:
    kind: AssetClass = bars["asset_class"].iloc[0]
    move = bars["close"].pct_change()
    sigma = move.rolling(MONTH_BARS).std().shift(1)
    largest = move.abs() >= move.abs().rolling(MONTH_BARS).max()
    ratio = bars["volume"] / bars["volume"].rolling(MONTH_BARS).mean().shift(1)
    at = {date.fromisoformat(text): i for i, text in enumerate(bars["date"])}
    for day in _all_days():
        if day not in at or not is_session(kind, day):
            yield Day(asset, kind, day)
            continue
        i = at[day]
        yield Day(
            asset, kind, day,
            Move(float(move[i]), float(abs(move[i]) / sigma[i]), bool(largest[i]), float(ratio[i]),
                 close_utc(kind, day)),
        )  # fmt: skip


def _day_rows(
    day: Day, rng: np.random.Generator, told: dict[Happening, date], figures: pd.DataFrame
) -> list[Row]:
    """What is published about one asset on one day, and after its close."""
    if (move := day.move) is None:
        if rng.random() > 0.12:
            return []
        moment = day.at(float(rng.uniform(8, 16)))
        return tell(day.asset, words.WEEKEND, moment, rng, 1, end="without a clear side")
    rows: list[Row] = []
    for _ in range(min(int(rng.poisson(HAPPENINGS_A_DAY)), MOST_HAPPENINGS)):
        moment = day.at(float(rng.uniform(5, 20)))
        rows += _happens(day, int(rng.integers(-1, 2)), moment, rng, told)
    rows = _reports(day, move, rng, figures) + rows
    if move.sigmas > NOTICED_SIGMAS:
        rows = _report_of(day, move, rng) + rows
    if move.sigmas > LARGE_SIGMAS and rng.random() < 0.6:
        moment = move.known_utc + timedelta(minutes=float(rng.uniform(30, 200)))
        rows += _happens(day, 1 if move.frac > 0 else -1, moment, rng, told)
    return rows[:MOST_A_DAY]


def _happens(
    day: Day, lean: int, moment: datetime, rng: np.random.Generator, told: dict[Happening, date]
) -> list[Row]:
    """Something that has not happened for a while, told by one to four outlets."""
    possible = [h for h in words.HAPPENINGS[day.asset] if h.lean == lean]
    happening = _rested(possible, day.day, told, rng)
    if happening is None:
        return []
    n_outlets = 1 + int(rng.choice(4, p=[0.55, 0.25, 0.13, 0.07]))
    return tell(day.asset, happening, moment, rng, n_outlets)


def _rested(
    possible: Sequence[Happening], day: date, told: dict[Happening, date], rng: np.random.Generator,
    rest_days: int = REST_DAYS,
) -> Happening | None:
    """One of those that have not been told for a while; it counts as told now."""
    rested = [h for h in possible if h not in told or (day - told[h]).days >= rest_days]
    if not rested:
        return None
    happening = rested[int(rng.integers(len(rested)))]
    told[happening] = day
    return happening


def _report_of(day: Day, move: Move, rng: np.random.Generator) -> list[Row]:
    """The day's move, after the close that made it."""
    return tell(
        day.asset, words.AFTER_A_RISE if move.frac > 0 else words.AFTER_A_FALL,
        move.known_utc + timedelta(minutes=float(rng.uniform(10, 100))), rng,
        1 + int(rng.random() < 0.4),
        what=f"{words.NAMES[day.asset]}{' shares' if day.kind == 'stock' else ''}",
        move=f"{abs(100 * move.frac):.1f}", weekday=f"{day.day:%A}",
        rank="its largest move in a month" if move.is_largest else "more than on most days of the month",
        reason=words.REASONS[int(rng.integers(len(words.REASONS)))],
        volume=f"{move.volume_ratio:.1f} times",
    )  # fmt: skip


def _reports(day: Day, move: Move, rng: np.random.Generator, figures: pd.DataFrame) -> list[Row]:
    """A quarterly report, or the correction of one, on the day it is filed."""
    own = figures[(figures["symbol"] == day.asset) & figures["period"].str.contains("Q")]
    filed = own[own["filed"] == day.day.isoformat()]
    if filed.empty:
        return []
    period = str(filed["period"].iloc[0])
    now = dict(zip(filed["field"], filed["value"], strict=True))
    a_year_ago = f"{int(period[:4]) - 1}{period[4:]}"
    before = own[(own["field"] == "revenue") & (own["period"] == a_year_ago)]["value"].iloc[-1]
    growth = now["revenue"] / float(before) - 1.0
    corrected = str(filed["form"].iloc[0]).endswith("/A")
    return tell(
        day.asset, words.RESTATED if corrected else words.RESULTS,
        move.known_utc + timedelta(minutes=20), rng, 4, quarter=f"{period[4:]} {period[:4]}",
        revenue=f"{now['revenue'] / 1e9:.2f}", income=f"{now['net_income'] / 1e6:,.0f}",
        eps=f"{now['eps']:.2f}", filed=f"{day.day.day} {day.day:%B}",
        change=f"{'up' if growth > 0 else 'down'} {abs(100 * growth):.1f}%",
    )  # fmt: skip


def _market_wide() -> Iterator[Row]:
    """Some days a month with news of the economy, and some with news of laws, about no asset."""
    kinds = (("macro", words.MACRO), ("policy", words.POLICY))
    for number, (category, happenings) in enumerate(kinds, start=100):
        told: dict[Happening, date] = {}
        before = 27
        for day in _all_days():
            rng = np.random.default_rng([SEED, number, day.toordinal()])
            if not is_session("stock", day) or rng.random() > 0.15:
                continue
            happening = _rested(happenings, day, told, rng, MONTH_DAYS)
            if happening is None:
                continue
            inflation = before + int(rng.choice([-3, -2, -1, 1, 2, 3]))
            yield from tell(
                "", happening, datetime.combine(day, time(12, 30), UTC), rng,
                1 + int(rng.integers(3)), category=category, rate="4.00",
                inflation=f"{inflation / 10:.1f}", before=f"{before / 10:.1f}",
            )  # fmt: skip
            before = inflation if happening is words.INFLATION else before


def _odd() -> Iterator[Row]:
    """What a careful reader keeps out or sets aside: other things of the same name, pages of a search
    that speak of nothing we know, orders to the reader, a date that cannot be, and none at all."""
    kinds = (
        ("search_result", words.AGGREGATOR, words.CONFUSED),
        ("search_result", words.AGGREGATOR, words.UNRELATED),
        ("", words.ANYBODY, words.INJECTED),
    )
    for category, outlet, entries in kinds:
        for asset, day, title, text in entries:
            moment = datetime.fromisoformat(f"{day}T09:40+00:00")
            rng = np.random.default_rng([SEED, 200, moment.toordinal()])
            (row,) = tell(asset, Happening(0, (title,), text), moment, rng, 1, outlet, category)
            yield row | {"published_at_utc": moment, "collected_at_utc": None, "ts_quality": "exact"}
    seen = datetime(2025, 8, 26, 7, 0, tzinfo=UTC)
    dates = (
        ("ZORVANE", seen.replace(year=2026), seen, "exact"),
        ("LUMRACOIN", None, None, "none"),
    )
    for asset, published, collected, quality in dates:
        rng = np.random.default_rng([SEED, 300])
        (row,) = tell(asset, words.WEEKEND, seen, rng, 1, words.AGGREGATOR, end="unchanged")
        yield row | {
            "published_at_utc": published, "collected_at_utc": collected, "ts_quality": quality,
        }  # fmt: skip

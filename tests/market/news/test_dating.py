"""The one rule from a source's date to the moment from which a text may be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.market.news.dating import Refused, known_at
from arena.market.news.items import TsQuality

NOON = datetime(2025, 8, 7, 12, tzinfo=UTC)
ONE_PM = datetime(2025, 8, 7, 13, tzinfo=UTC)
MIDNIGHT = datetime(2025, 8, 7, tzinfo=UTC)
NEXT_MIDNIGHT = datetime(2025, 8, 8, tzinfo=UTC)
NEXT_NOON = datetime(2025, 8, 8, 12, tzinfo=UTC)
LATE = Refused.DATED_AFTER_SEEN


@pytest.mark.parametrize(
    ("quality", "published", "collected", "known"),
    [
        ("exact", NOON, None, NOON),
        ("exact", NOON, ONE_PM, NOON),
        ("exact", NOON, NOON, NOON),
        ("exact", ONE_PM, NOON, LATE),
        ("exact", None, NOON, Refused.NO_DATE),
        # 12:00 + 12 h is the next midnight; seen at 13:00, it was known at 13:00.
        ("naive", NOON, None, NEXT_MIDNIGHT),
        ("naive", NOON, ONE_PM, ONE_PM),
        ("naive", NOON, NEXT_NOON, NEXT_MIDNIGHT),
        ("naive", ONE_PM, NOON, LATE),
        ("naive", None, NOON, Refused.NO_DATE),
        ("date", MIDNIGHT, None, NEXT_MIDNIGHT),
        ("date", NOON, None, NEXT_MIDNIGHT),
        ("date", MIDNIGHT, NOON, NEXT_MIDNIGHT),
        ("date", MIDNIGHT, NEXT_NOON, NEXT_MIDNIGHT),
        ("date", NEXT_MIDNIGHT, NOON, LATE),
        ("date", None, NOON, Refused.NO_DATE),
        ("relative", NOON, ONE_PM, ONE_PM),
        ("relative", None, ONE_PM, ONE_PM),
        ("relative", NOON, None, Refused.NO_DATE),
        ("relative", ONE_PM, NOON, LATE),
        ("range", MIDNIGHT, ONE_PM, ONE_PM),
        ("range", MIDNIGHT, None, Refused.NO_DATE),
        ("range", NEXT_MIDNIGHT, NOON, LATE),
        ("collected", NOON, NOON, NOON),
        ("collected", None, NOON, NOON),
        ("collected", NOON, None, Refused.NO_DATE),
        ("none", None, NOON, Refused.NO_DATE),
        ("none", NOON, NOON, Refused.NO_DATE),
        # No zone, or another one than UTC, is no date; and one beyond all calendars must not overflow.
        ("exact", datetime(2025, 8, 7, 12), None, Refused.NO_DATE),
        ("exact", NOON, datetime(2025, 8, 7, 13), Refused.NO_DATE),
        ("exact", datetime(2025, 8, 7, 12, tzinfo=timezone(timedelta(hours=2))), None, Refused.NO_DATE),
        ("date", datetime(9999, 12, 31, tzinfo=UTC), None, Refused.FUTURE),
        ("naive", datetime(9999, 12, 31, 23, tzinfo=UTC), None, Refused.FUTURE),
    ],
)  # fmt: skip
def test_the_rule(
    quality: TsQuality,
    published: datetime | None,
    collected: datetime | None,
    known: datetime | Refused,
) -> None:
    assert known_at(quality, published, collected) == known


MOMENTS = st.datetimes(
    datetime(2020, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)
)  # fmt: skip


@given(st.sampled_from(get_args(TsQuality)), MOMENTS, st.none() | MOMENTS)
def test_nothing_is_known_before_it_is_published(
    quality: TsQuality, published: datetime, collected: datetime | None
) -> None:
    known = known_at(quality, published, collected)
    if isinstance(known, Refused):
        assert known in (Refused.NO_DATE, LATE)
        assert (known is LATE) == (
            quality != "none" and collected is not None and published > collected
        )
    else:
        assert published <= known
        assert known.tzinfo is UTC
        assert known <= max(published + timedelta(days=1), collected or published)


def test_rows_of_the_real_pack_dated_after_they_were_seen(shared_market: Path) -> None:
    """362 pages were found by a search run after the moment at which they were shown; three of
    them carry a year too many."""
    news = pd.read_parquet(
        shared_market / "news.parquet",
        columns=["published_at_utc", "collected_at_utc", "ts_quality", "source"],
    )
    quality = news["ts_quality"].str.partition(":")[0]
    assert quality.value_counts().to_dict() == {
        "naive": 7448, "exact": 6823, "date": 6142, "collected": 350, "relative": 162, "range": 121,
    }  # fmt: skip
    got = [
        known_at(q, p.to_pydatetime(), None if pd.isna(c) else c.to_pydatetime())
        for q, p, c in zip(quality, news["published_at_utc"], news["collected_at_utc"], strict=True)
    ]
    late = [at for at, known in enumerate(got) if known is LATE]
    assert len(late) == 362
    a_year_ahead = news.index[
        (news["published_at_utc"] - news["collected_at_utc"]).dt.days.between(350, 370)
    ]
    assert len(a_year_ahead) == 3
    assert set(news.loc[a_year_ahead, "source"]) == {"theglobeandmail.com"}
    assert set(a_year_ahead) <= set(late)
    # A search window without a moment of collection says nothing about when it was read.
    without = news["collected_at_utc"].isna()
    undated = [at for at, known in enumerate(got) if known is Refused.NO_DATE]
    assert undated == list(news.index[without & quality.isin(["relative", "range", "collected"])])

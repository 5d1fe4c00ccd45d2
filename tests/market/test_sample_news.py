"""The sample's own news: made up, told after the prices it speaks of, with all that a reader must cope with."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from arena.core.settings import SAMPLE
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.calendars import close_utc, is_session
from arena.market.news.dating import known_at
from arena.market.news.drivers import DRIVERS
from arena.market.news.hostile import FLAGGED
from arena.market.news.identity import stories_of
from arena.market.news.intake import admit
from arena.market.news.items import Item
from arena.market.news.subjects import subject_of
from arena.market.sample_data import make_sample
from arena.market.sample_figures import make_figures
from arena.market.sample_news import make_news
from arena.market.sources import open_source
from arena.market.sources.news.files import open_news

NOW = datetime(2026, 2, 1, tzinfo=UTC)
ASSETS = open_source("sample").assets()


@pytest.fixture(scope="module")
def bars() -> pd.DataFrame:
    return pd.read_parquet(SAMPLE / "daily.parquet")


@pytest.fixture(scope="module")
def news() -> pd.DataFrame:
    return pd.read_parquet(SAMPLE / "news.parquet")


@pytest.fixture(scope="module")
def admitted() -> tuple[dict[str, list[Item]], Counter[str]]:
    """Admitted items by asset, and how often each reason kept one out."""
    source = open_news("sample")
    assert source is not None
    items: dict[str, list[Item]] = {a: [] for a in ASSETS}
    refused: Counter[str] = Counter()
    for asset in ASSETS.values():
        for raw in source.fetch([asset], datetime(2025, 1, 1, tzinfo=UTC), NOW):
            item = admit(raw, subject_of(asset), NOW)
            if isinstance(item, Item):
                items[asset.id].append(item)
            else:
                refused[item.value] += 1
    return items, refused


def test_the_sample_is_what_its_script_makes(tmp_path: Path) -> None:
    make_sample(tmp_path)
    for name in ("news", "fundamentals"):
        made = pd.read_parquet(tmp_path / f"{name}.parquet")
        pd.testing.assert_frame_equal(made, pd.read_parquet(SAMPLE / f"{name}.parquet"))
    size = sum((SAMPLE / f"{name}.parquet").stat().st_size for name in ("news", "fundamentals"))
    assert size <= 200_000


@pytest.mark.parametrize("last", [date(2025, 6, 30), date(2025, 11, 12)])
def test_what_prices_do_later_changes_no_row(
    bars: pd.DataFrame, news: pd.DataFrame, last: date
) -> None:
    later = bars["date"] > last.isoformat()
    other = bars.copy()
    other.loc[later, "close"] *= 1.5 + other.index[later] % 7 / 10
    again = make_news(other, make_figures())
    until = pd.Timestamp(last + timedelta(days=1), tz="UTC")
    columns = list(news.columns)
    before = news[news["published_at_utc"] < until].reset_index(drop=True)
    assert len(before) > 300
    pd.testing.assert_frame_equal(
        again[again["published_at_utc"] < until].reset_index(drop=True)[columns], before
    )
    assert not again[columns].equals(news)


MOVE = re.compile(r"(gained|dropped) (\d+\.\d)% on (\w+day)")


def test_a_move_is_told_as_it_was_and_after_its_close(
    bars: pd.DataFrame, news: pd.DataFrame
) -> None:
    n_told = 0
    for row in news[news["text"].str.contains(MOVE.pattern.replace("(", "(?:"))].to_dict("records"):
        asset = ASSETS[row["asset"]]
        word, percent, weekday = MOVE.search(row["text"]).groups()  # type: ignore[union-attr]
        stamps = [row["published_at_utc"], row["collected_at_utc"]]
        moments = [None if pd.isna(s) else s.to_pydatetime() for s in stamps]
        known = known_at(row["ts_quality"], *moments)
        assert isinstance(known, datetime)
        own = bars[bars["symbol"] == asset.id].set_index("date")["close"]
        day = _session_told(asset, known, weekday)
        at = own.index.get_loc(day.isoformat())
        move = own.iloc[at] / own.iloc[at - 1] - 1.0
        assert word == ("gained" if move > 0 else "dropped")
        assert percent == f"{abs(100 * move):.1f}"
        n_told += 1
    assert n_told > 150


def _session_told(asset: Asset, known: datetime, weekday: str) -> date:
    """The last session of that weekday up to the report; it was over by then."""
    for n in range(8):
        day = known.date() - timedelta(days=n)
        if f"{day:%A}" == weekday and is_session(asset.asset_class, day):
            assert close_utc(asset.asset_class, day) <= known
            return day
    raise AssertionError(f"{asset.id}: no {weekday} before {known}")


def test_nothing_real_stands_in_it(news: pd.DataFrame) -> None:
    assert set(news["trust"]) == {"synthetic"}
    assert news["source"].str.endswith(" (fictional)").all()
    assert news["url"].str.match(r"https://[a-z]+\.example\.(com|org)/").all()
    assert news["url"].is_unique
    words = (news["title"] + " " + news["text"]).str.cat(sep=" ")
    for asset in load_assets().values():
        assert not re.search(rf"\b({re.escape(asset.name)}|{asset.id})\b", words)


def test_quiet_days_exist_and_no_day_is_flooded(news: pd.DataFrame) -> None:
    days = news["published_at_utc"].dt.date
    for asset in ASSETS.values():
        counts = days[news["asset"] == asset.id].value_counts()
        # 2025-05-01 to 2025-12-31 are 245 days.
        assert 120 <= len(counts) <= 230
        assert 3 <= counts.max() <= 8


def test_every_driver_quality_and_side_occurs(
    news: pd.DataFrame, admitted: tuple[dict[str, list[Item]], Counter[str]]
) -> None:
    items, _ = admitted
    assert set(news["ts_quality"]) == {"exact", "date", "naive", "relative", "collected", "none"}
    for asset in ASSETS.values():
        drivers = Counter(d for item in items[asset.id] for d in item.drivers)
        assert all(drivers[d] >= 30 for d in DRIVERS[asset.asset_class])
        tones = [item.tone for item in items[asset.id]]
        assert min(tones) < -0.3
        assert max(tones) > 0.3
        assert 0.0 in tones
    assert {i.category for i in items["HELIQUA"]} == {"", "macro", "policy"}


def test_confused_misdated_and_hostile_items_are_met_as_they_should_be(
    admitted: tuple[dict[str, list[Item]], Counter[str]],
) -> None:
    items, refused = admitted
    # Six things of the same name, three pages about nothing of ours; one date a year ahead; one none.
    assert refused == {"other_subject": 9, "dated_after_seen": 1, "no_date": 1}
    flagged = [i for own in items.values() for i in own if i.suspicion >= FLAGGED]
    assert sorted((i.asset, i.published_at_utc.date().isoformat()) for i in flagged if i.published_at_utc) == [
        ("QUBIXCOIN", "2025-08-14"), ("ZORVANE", "2025-09-03"),
    ]  # fmt: skip


def test_a_report_told_by_four_outlets_is_one_story(
    admitted: tuple[dict[str, list[Item]], Counter[str]],
) -> None:
    items, _ = admitted
    stories = stories_of(items["ZORVANE"])
    reports = [s for s in stories if "Q3 2025" in s.first.title]
    assert [len({i.outlet for i in s.items}) for s in reports] == [4]
    # 18.31 billion after 16.91 a year earlier: 71,800 x 0.255 over 66,300 x 0.255 is +8.3 %.
    assert "revenue of 18.31 billion" in reports[0].first.text
    assert "up 8.3% on the year" in reports[0].first.text
    told_by_several = [s for s in stories if len({i.outlet for i in s.items}) > 1]
    assert len(told_by_several) >= 40

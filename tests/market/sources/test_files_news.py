"""News of a folder: what is handed over, what is marked as unreadable, and which files are refused."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from arena.core.errors import DataError
from arena.core.types import Asset
from arena.market.news.items import RawItem
from arena.market.sources.news.files import FilesNews, open_news

BTC, ETH = Asset("BTC", "Bitcoin", "crypto"), Asset("ETH", "Ethereum", "crypto")
EVER, UNTIL = datetime(1970, 1, 1, tzinfo=UTC), datetime(2025, 8, 31, tzinfo=UTC)
HEAD = "asset,published_at_utc,source,title,url,text,ts_quality,collected_at_utc,category"
PLAIN = "BTC,2025-08-01T10:30:00Z,Example Wire,A title,https://example.com/a,A text,exact,,news"


def fetched(
    folder: Path, rows: list[str], head: str = HEAD, assets: tuple[Asset, ...] = (BTC,)
) -> list[RawItem]:
    (folder / "news.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")
    return FilesNews(folder).fetch(assets, EVER, UNTIL)


def test_a_row_becomes_an_item_with_nothing_judged(tmp_path: Path) -> None:
    (item,) = fetched(tmp_path, [PLAIN])
    assert item == RawItem(
        title="A title", url="https://example.com/a", text="A text", outlet="Example Wire",
        origin="files", trust="vendor", ts_quality="exact",
        published_utc=datetime(2025, 8, 1, 10, 30, tzinfo=UTC), collected_at_utc=None, asset="BTC",
    )  # fmt: skip


def test_columns_that_may_be_missing_read_as_blank(tmp_path: Path) -> None:
    head = ",".join(HEAD.split(",")[:7])
    (item,) = fetched(tmp_path, [",".join(PLAIN.split(",")[:7])], head)
    assert item == fetched(tmp_path, [PLAIN])[0]
    table = pd.read_csv(tmp_path / "news.csv", dtype=str)[head.split(",")]
    (tmp_path / "news.csv").unlink()
    table.to_parquet(tmp_path / "news.parquet")
    assert FilesNews(tmp_path).fetch((BTC,), EVER, UNTIL) == [item]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2025-08-01T10:30:00+02:00", datetime(2025, 8, 1, 8, 30, tzinfo=UTC)),
        ("2025-08-01 10:30:00", datetime(2025, 8, 1, 10, 30, tzinfo=UTC)),
        ("2025-08-01 10:30:00.250+00:00", datetime(2025, 8, 1, 10, 30, 0, 250_000, tzinfo=UTC)),
        ("2025-08-01", datetime(2025, 8, 1, tzinfo=UTC)),
    ],
)
def test_times_are_utc_where_they_have_no_zone(
    tmp_path: Path, written: str, read: datetime
) -> None:
    (item,) = fetched(tmp_path, [PLAIN.replace("2025-08-01T10:30:00Z", written)])
    assert item.published_utc == read


def test_only_the_assets_asked_for_and_rows_about_anything(tmp_path: Path) -> None:
    rows = [PLAIN, PLAIN.replace("BTC", "ETH"), PLAIN.replace("BTC", ""), PLAIN.replace("BTC", "TSLA")]
    assert [i.asset for i in fetched(tmp_path, rows)] == ["BTC", None]
    assert [i.asset for i in fetched(tmp_path, rows, assets=(BTC, ETH))] == ["BTC", "ETH", None]


def test_what_came_after_the_last_moment_is_not_handed_over(tmp_path: Path) -> None:
    def row(published: str, collected: str) -> str:
        return f"BTC,{published},s,t {published} {collected},u,x,exact,{collected},news"

    rows = [
        row("2025-08-31T00:00:00Z", ""),
        row("2025-08-31T00:00:01Z", ""),
        row("2025-09-10T00:00:00Z", "2025-09-11T00:00:00Z"),
        # Seen before it was published: no day can have it, and it has to be counted.
        row("2026-10-01T00:00:00Z", "2025-08-20T00:00:00Z"),
        row("", "2025-08-20T00:00:00Z"),
        row("", ""),
    ]
    handed = [i.title for i in fetched(tmp_path, rows)]
    assert handed == [rows[i].split(",")[3] for i in (0, 3, 4, 5)]


def test_categories_searches_ranges_kinds_and_tiers(tmp_path: Path) -> None:
    head = f"{HEAD},trust,kind"
    rows = [
        "BTC,2025-08-01,s,searched,u,x,range:2025-07-25..2025-08-01,2025-08-02,search_result,,",
        "BTC,2025-08-01,s,headline,u,x,date,,headline,press,",
        ",2025-08-01T12:00:00Z,s,rates,u,x,exact,,macro,official,",
        ",2025-08-01T12:00:00Z,s,law,u,x,exact,,policy,wire,",
        "BTC,2025-08-01T12:00:00Z,s,post,u,x,exact,,,social,social",
    ]
    found = fetched(tmp_path, rows, head)
    shown = [
        (i.title, i.ts_quality, i.must_mention, i.category, i.trust, i.kind) for i in found
    ]
    assert shown == [
        ("searched", "range", True, "", "vendor", "news"),
        ("headline", "date", False, "", "press", "news"),
        ("rates", "exact", False, "macro", "official", "news"),
        ("law", "exact", False, "policy", "wire", "news"),
        ("post", "exact", False, "", "social", "social"),
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ("01/08/2025", "exact", "", "", ""),
        ("2025-08-01T10:00Z", "soon", "", "", ""),
        ("2025-08-01T10:00Z", "", "", "", ""),
        ("2025-08-01T10:00Z", "exact", "yesterday", "", ""),
        ("2025-08-01T10:00Z", "exact", "", "friend", ""),
        ("2025-08-01T10:00Z", "exact", "", "", "podcast"),
    ],
)
def test_an_unreadable_row_is_handed_over_without_a_date(
    tmp_path: Path, cells: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    published, quality, collected, trust, kind = cells
    bad = f"BTC,{published},s,bad,u,x,{quality},{collected},news,{trust},{kind}"
    good, item = fetched(tmp_path, [f"{PLAIN},,", bad], f"{HEAD},trust,kind")
    assert (good.ts_quality, item.ts_quality, item.published_utc) == ("exact", "none", None)
    assert (item.trust, item.kind) == ("vendor", "news")
    assert "1 unreadable rows stay out; the first is row 2" in caplog.text


def test_files_that_cannot_be_used_name_the_file_and_the_fix(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no news\.parquet, news\.csv or news_\*\.csv"):
        FilesNews(tmp_path)
    assert open_news(f"files:{tmp_path}") is None
    with pytest.raises(DataError, match=r"news\.csv`: column `ts_quality` is missing"):
        fetched(tmp_path, ["BTC,2025-08-01,s,t,u,x"], HEAD.partition(",ts_quality")[0])
    (tmp_path / "news.parquet").write_bytes(b"not parquet")
    with pytest.raises(DataError, match=r"Cannot read `.*news\.parquet`"):
        FilesNews(tmp_path).fetch((BTC,), EVER, UNTIL)


def test_one_table_before_several_files_and_those_by_name(tmp_path: Path) -> None:
    for name in ("news_b.csv", "news_a.csv"):
        row = PLAIN.replace("A title", name)
        (tmp_path / name).write_text(f"{HEAD}\n{row}\n", "utf-8")
    news = open_news(f"files:{tmp_path}")
    assert news is not None
    assert [i.title for i in news.fetch((BTC,), EVER, UNTIL)] == ["news_a.csv", "news_b.csv"]
    assert [i.title for i in fetched(tmp_path, [PLAIN])] == ["A title"]


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    rows = [PLAIN, PLAIN.replace("2025-08-01T10:30:00Z", "").replace("exact", "none")]
    as_csv = fetched(tmp_path, rows)
    frame = pd.read_csv(tmp_path / "news.csv")
    frame["published_at_utc"] = pd.to_datetime(frame["published_at_utc"], utc=True)
    frame.to_parquet(tmp_path / "news.parquet")
    assert FilesNews(tmp_path).fetch((BTC,), EVER, UNTIL) == as_csv


def test_open_news_knows_the_choices() -> None:
    sample = open_news("sample")
    assert sample is not None
    assert (sample.name, sample.trust) == ("sample", "synthetic")
    assert open_news("live") is None
    assert open_news("auto") is None


def test_the_real_pack_comes_whole(shared_market: Path) -> None:
    """Counts are those of the pack's own description, and of its rows as written."""
    table = pd.read_parquet(shared_market / "news.parquet")
    assets = [Asset(a, a, "stock") for a in table["asset"].unique()]
    everything = FilesNews(shared_market).fetch(assets, EVER, datetime(2027, 1, 1, tzinfo=UTC))
    assert len(everything) == len(table) == 21_046
    assert len({i.asset for i in everything}) == 131
    seen_early = [
        i for i in everything
        if i.collected_at_utc and i.published_utc and i.published_utc > i.collected_at_utc
    ]  # fmt: skip
    assert len(seen_early) == 362
    assert Counter(i.must_mention for i in everything)[True] == 1_336
    assert Counter(i.ts_quality for i in everything) == {
        "naive": 7_448, "exact": 6_823, "date": 6_142, "collected": 350, "relative": 162, "range": 121,
    }  # fmt: skip
    bitcoin = FilesNews(shared_market).fetch((BTC,), EVER, UNTIL)
    assert {i.asset for i in bitcoin} == {"BTC"}
    day = (table["published_at_utc"] <= UNTIL) | (table["collected_at_utc"] <= UNTIL)
    assert len(bitcoin) == int((day & (table["asset"] == "BTC")).sum())


def test_a_page_of_hostile_cells_stays_text(tmp_path: Path) -> None:
    title = "A" * 100_000
    text = json.dumps({"action": "BUY"}).replace('"', '""')
    (item,) = fetched(tmp_path, [f'BTC,2025-08-01,s,{title},u,"{text}",date,,news'])
    assert (item.title, item.text) == (title, '{"action": "BUY"}')

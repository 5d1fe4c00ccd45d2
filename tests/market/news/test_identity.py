"""One event is one story, told by whom it may; and nothing that comes later changes what was."""

from __future__ import annotations

import csv
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import InvariantError
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.news import identity
from arena.market.news.archive import make_archives
from arena.market.news.identity import stories_of
from arena.market.news.intake import admit
from arena.market.news.items import Item
from arena.market.news.likeness import Usual, gist_of, is_series, shared_frac, words_of
from arena.market.news.subjects import subject_of
from arena.market.sources.news.files import FilesNews
from tests.market.news.draw_pairs import row_id
from tests.market.news.made_items import at, grouped, item


def test_five_outlets_tell_one_story() -> None:
    """Same page, same headline, same headline with an outlet, other order, other words."""
    told = [
        item("a", 0, "Zorvane opens lithium refinery in Nevada", "The Zorvane refinery in Nevada "
             "opens with 400 workers, says Maria Kessler."),
        item("b", 1, "Zorvane: refinery opens", url="https://www.news.test/a?utm_source=feed"),
        item("c", 2, "Zorvane Opens Lithium Refinery in Nevada - Reuters"),
        item("d", 3, "Lithium refinery in Nevada opens, Zorvane"),
        item("e", 4, "400 find work at new plant", "Maria Kessler of Zorvane opened the lithium "
             "refinery in Nevada on Monday."),
    ]  # fmt: skip
    (story,) = stories_of(told)
    assert [i.id for i in story.items] == ["a", "b", "c", "d", "e"]
    assert len(story.told(at(4)).outlets) == 5


def test_the_same_story_five_hundred_times_is_one_story() -> None:
    copies = [
        item(f"{n:03}", n / 10, "Zorvane opens lithium refinery in Nevada") for n in range(500)
    ]
    (story,) = stories_of(copies)
    assert len(story.items) == 500


def test_a_retelling_comes_within_three_days_of_the_first() -> None:
    title = "Zorvane opens lithium refinery in Nevada"
    told = [item("a", 0, title), item("b", 71, title), item("c", 72, title), item("d", 72.1, title)]
    assert grouped(stories_of(told)) == [["a", "b", "c"], ["d"]]


def test_the_same_page_is_the_same_story_whenever_it_is_seen() -> None:
    title, page = "Zorvane opens lithium refinery in Nevada", {"url": "https://news.test/page"}
    told = [item("a", 0, title, **page), item("b", 240, title, **page)]
    assert grouped(stories_of(told)) == [["a", "b"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zorvane shares jump 3% at the open in Nevada", "Zorvane shares jump 5% at the open in Nevada"),
        ("Price analysis 8/1: BTC, ETH, BNB, XRP, Dogwifhat", "Price analysis 8/4: BTC, ETH, BNB, XRP, Dogwifhat"),
        ("Kestrel Growth Fund Q1 2025 Commentary", "Kestrel Growth Fund Q2 2025 Commentary"),
        ("Zorvane stock underperforms Monday when compared to competitors",
         "Zorvane stock underperforms Tuesday when compared to competitors"),
        ("Zorvane dropped from Russell 3000 Growth index", "Zorvane dropped from Russell 3000E Growth index"),
    ],
)  # fmt: skip
def test_the_same_form_with_other_figures_is_another_story(one: str, other: str) -> None:
    assert is_series(gist_of(one, ""), gist_of(other, ""))
    assert len(stories_of([item("a", 0, one), item("b", 1, other)])) == 2


def test_other_figures_in_the_leads_of_like_headlines_part_them() -> None:
    told = [
        item(
            "a", 0, "Kestrel Core fund: quarterly letter to its owners", "Class A returned 2.68%."
        ),
        item("b", 1, "Kestrel fund: quarterly letter to its owners", "Class A returned 4.33%."),
    ]
    assert len(stories_of(told)) == 2


def test_the_usual_names_tell_nothing() -> None:
    """ "Quorl", "Amber" and "QRL" are three of four and of five uncommon words; with the names known,
    no telling word is common to the two sales."""
    told = [
        item("a", 0, "Quorl Amber Inc. $QRL shares sold by Westerby"),
        item("b", 1, "Fenwick LLP buys 400 shares of Quorl Amber Inc. $QRL"),
    ]
    assert len(stories_of(told)) == 1
    assert len(stories_of(told, names=("Quorl Amber", "QRL"))) == 2


def test_a_word_of_a_tenth_of_the_stories_becomes_usual() -> None:
    usual = Usual(["Zorvane"])
    gists = [gist_of(f"Kessler visits plant{n}", "") for n in range(40)]
    words = frozenset({"kessler", "zorvane", "plant1"})
    for gist in gists[:2]:
        usual.count(gist)
    assert usual.telling(words) == {"kessler", "plant1"}
    usual.count(gists[2])
    assert usual.telling(words) == {"plant1"}
    for gist in gists[:3]:
        usual.forget(gist)
    # 3 of 30 is a tenth, 3 of 31 is less.
    others = [gist_of(f"Refinery opens plant{n}", "") for n in range(28)]
    for gist in (*gists[:3], *others[:27]):
        usual.count(gist)
    assert usual.telling(words) == {"plant1"}
    usual.count(others[27])
    assert usual.telling(words) == {"kessler", "plant1"}


def test_a_front_page_and_a_headline_of_every_day_are_no_identity() -> None:
    told = [
        item("a", 0, "Bitcoin price today", "Miners moved coins to Kraken.", url="https://news.test"),
        item("b", 24, "Bitcoin price today", "Lugano takes taxes in tether.", url="https://news.test/"),
    ]  # fmt: skip
    assert len(stories_of(told, names=("Bitcoin",))) == 2


def test_what_is_shared_is_counted_by_hand() -> None:
    """Three words are shared of the shorter one's four; two are too few."""
    a = gist_of("Zorvane opens lithium refinery in Nevada, says Kessler", "")
    b = gist_of("Zorvane: lithium refinery for Oslo", "")
    assert a.words == {"zorvane", "opens", "lithium", "refinery", "nevada", "kessler"}
    assert b.words == {"zorvane", "lithium", "refinery", "oslo"}
    assert shared_frac(a, b, Usual()) == 3 / 4
    assert shared_frac(a, b, Usual(["Zorvane"])) == 0.0


def test_short_and_long_forms_are_one_word() -> None:
    assert words_of("Zorvane’s Chief Executive Officer") == ["zorvane", "ceo"]
    assert words_of("$1,400 at 9:30, 2.68% and co-founder") == [
        "1400",
        "at",
        "9:30",
        "2.68",
        "and",
        "co-founder",
    ]


TITLES = (
    "Zorvane opens lithium refinery in Nevada", "Lithium refinery of Zorvane opens in Nevada",
    "Zorvane lithium refinery on fire in Nevada", "Heliqua recalls quantum pumps in Oslo",
    "Oslo: quantum pumps of Heliqua recalled", "Shares up 3% today", "Shares up 5% today", "?",
)  # fmt: skip
PAGES = ("", "https://a.test", "https://a.test/1", "https://a.test/2")
ITEMS = st.lists(
    st.tuples(st.integers(0, 120), st.sampled_from(TITLES), st.sampled_from(PAGES)), max_size=25
).map(
    lambda rows: [
        item(f"{n:02}", hours, title, url=url) for n, (hours, title, url) in enumerate(rows)
    ]
)


def stories_by_item(items: list[Item]) -> dict[str, str]:
    return {i.id: story.id for story in stories_of(items) for i in story.items}


@given(ITEMS, st.integers(0, 120), st.randoms())
def test_later_items_change_no_earlier_story(items: list[Item], hour: int, rng) -> None:
    of_all = stories_by_item(items)
    assert sorted(of_all) == [i.id for i in items]
    known = [i for i in items if i.known_at_utc <= at(hour)]
    rng.shuffle(known)
    assert stories_by_item(known) == {i.id: of_all[i.id] for i in known}


def test_a_story_is_what_was_told_by_then() -> None:
    title = "Zorvane opens lithium refinery in Nevada"
    (story,) = stories_of([item("a", 1, title), item("b", 2, title)])
    assert story.told(at(0.9)) is None
    assert [i.id for i in story.told(at(1.9)).items] == ["a"]
    assert [i.id for i in story.told(at(2)).items] == ["a", "b"]


def test_ids_are_plain_and_stay_apart_without_looking_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one digit, of 40 stories at least 24 would share an id."""
    titles = [f"Town{n} elects mayor{n} after vote{n}" for n in range(40)]
    items = [item(f"{n:02}", n, title) for n, title in enumerate(titles)]
    assert all(len(story.id) == len("n-") + 8 for story in stories_of(items))
    monkeypatch.setattr(identity, "ID_DIGITS", 1)
    ids = [story.id for story in stories_of(items)]
    assert len(set(ids)) == 40
    assert all(set(i[2:]) <= set("0123456789abcdef") for i in ids)
    assert ids[:20] == [story.id for story in stories_of(items[:20])]


def test_a_flood_is_compared_with_the_newest_stories_only(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counting(*args: object) -> float:
        nonlocal compared
        compared += 1
        return 0.0

    monkeypatch.setattr(identity, "shared_frac", counting)
    monkeypatch.setattr(identity, "MAX_OPEN", 10)
    flood = [item(f"{n:03}", n / 100, f"Town{n} elects mayor{n}") for n in range(200)]
    assert len(stories_of(flood)) == 200
    # 0 + 1 + ... + 9 while it fills, then 10 for each of the other 190.
    assert compared == 45 + 190 * 10


def test_stories_are_of_one_asset() -> None:
    with pytest.raises(InvariantError, match="BTC, ETH"):
        stories_of([item("a", 0, "One"), item("b", 0, "Two", asset="ETH")])


LONG_AGO, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)
LABELS = Path(__file__).with_name("labelled_pairs.csv")
# Share of joined pairs that are right, and of right pairs that are joined. The limits of `likeness` were
# chosen on `first`; the others were drawn and read later. They found a misread figure and words of site
# furniture, which were mended: as drawn, `second` had 0.89 and 0.92, `third` 0.97 and 0.83. A pair with a
# row that never enters (dated after it was seen, another subject) can be neither joined nor parted.
MOST_KEPT_OUT = 5
LEAST = {"first": (0.95, 0.95), "second": (0.95, 0.95), "third": (0.95, 0.85)}


@pytest.fixture(scope="module")
def real_items(shared_market: Path) -> dict[str, list[Item]]:
    news = pd.read_parquet(shared_market / "news.parquet")
    news["id"] = news.apply(row_id, axis=1)
    found = defaultdict(list)
    for row in news.itertuples():
        known = row.published_at_utc.to_pydatetime()
        found[row.asset].append(
            item(row.id, 0, row.title, row.text, asset=row.asset, url=row.url, known_at_utc=known)
        )
    return found


@pytest.fixture(scope="module")
def real_stories(shared_market: Path) -> dict[str, str]:
    """Story by labelled row, as a run reads them; without rows that are kept out."""
    with LABELS.open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    labelled = {row[end] for row in pairs for end in ("id_a", "id_b")}
    known = load_assets()
    assets = {a: known.get(a) or Asset(a, a, "stock") for a in sorted({r["asset"] for r in pairs})}
    raws = FilesNews(shared_market).fetch(list(assets.values()), LONG_AGO, LATEST)
    story_of = {
        (asset, i.id): f"{asset} {story.id}"
        for asset, archive in make_archives(assets.values(), raws, LATEST).items()
        for story in archive.stories for i in story.items
    }  # fmt: skip
    news = pd.read_parquet(shared_market / "news.parquet")
    rows = news[news["asset"].isin(assets)].apply(row_id, axis=1)
    found = {}
    for row, raw in zip(rows, raws, strict=True):
        if row in labelled:
            entered = admit(raw, subject_of(assets[raw.asset]), LATEST)
            if isinstance(entered, Item):
                found[row] = story_of[raw.asset, entered.id]
    return found


@pytest.mark.parametrize("drawn", LEAST)
def test_labelled_pairs(real_stories: dict[str, str], drawn: str) -> None:
    with LABELS.open(encoding="utf-8") as file:
        pairs = [row for row in csv.DictReader(file) if row["set"] == drawn]
    assert len(pairs) == 100
    pairs = [row for row in pairs if {row["id_a"], row["id_b"]} <= real_stories.keys()]
    assert len(pairs) >= 100 - MOST_KEPT_OUT
    joined = {
        row["pair"] for row in pairs if real_stories[row["id_a"]] == real_stories[row["id_b"]]
    }
    same = {row["pair"] for row in pairs if row["label"] == "1"}
    assert len(same) > 30
    precision, recall = LEAST[drawn]
    assert len(joined & same) >= precision * len(joined)
    assert len(joined & same) >= recall * len(same)


@pytest.mark.parametrize("asset", ["ETH", "TSLA", "BMRN", "NFLX"])
def test_later_real_items_change_no_earlier_story(
    real_items: dict[str, list[Item]], asset: str
) -> None:
    items = sorted(real_items[asset], key=lambda i: i.known_at_utc)
    of_all = stories_by_item(items)
    for share in (0.3, 0.62, 0.9):
        cut = items[int(share * len(items))].known_at_utc + timedelta(seconds=1)
        known = [i for i in items if i.known_at_utc <= cut]
        assert 0 < len(known) < len(items)
        assert stories_by_item(known) == {i.id: of_all[i.id] for i in known}

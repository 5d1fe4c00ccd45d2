"""What is news at a slot: known by then, new since the last one, the most told first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.core.types import Asset
from arena.market.news.archive import Archive, archive_of, make_archive, make_archives
from arena.market.news.items import DayNews, Item
from arena.market.sources.news.files import FilesNews
from tests.market.news.made_items import at, item, raw

BTC, ETH = Asset("BTC", "Bitcoin", "crypto"), Asset("ETH", "Ethereum", "crypto")
NOW = at(1_000)


def of(*items: Item) -> Archive:
    return archive_of(BTC, items)


def ids(day: DayNews) -> list[list[str]]:
    return [[i.id for i in told.items] for told in day.stories]


def test_a_day_begins_after_the_last_slot_and_ends_with_this_one() -> None:
    towns = [item(f"{n}", n, f"Town{n} elects mayor{n} after vote{n}") for n in range(6)]
    day = of(*towns).day(at(1), at(4))
    assert ids(day) == [["2"], ["3"], ["4"]]
    assert (day.asset, day.since_utc, day.as_of_utc) == ("BTC", at(1), at(4))
    assert (day.n_items, day.n_left_out) == (3, 0)
    assert ids(of(*towns).day(at(5), at(9))) == []


def test_a_retelling_after_the_slot_is_not_seen_and_is_not_news_the_next_day() -> None:
    title = "Zorvane opens lithium refinery in Nevada"
    archive = of(item("a", 10, title), item("b", 20, title), item("c", 30, title))
    first, second = archive.day(at(0), at(24)), archive.day(at(24), at(48))
    assert ids(first) == [["a", "b"]]
    assert first.facts()[0]["n_sources"] == 2
    assert ids(second) == []
    # But it is kept, with the story that it tells.
    assert [(i.id, story) for i, story in archive.items_of(second)] == [("c", first.stories[0].id)]
    assert [i.id for i, _ in archive.items_of(first)] == ["a", "b"]


def test_the_most_told_come_first_then_trust_then_time() -> None:
    """Five stories for three places: two outlets beat one; official beats press; the newer of equals."""
    archive = of(
        item("old", 1, "Quorl elects Amber Fenwick"),
        item("new", 5, "Oslo recalls quantum pumps"),
        item("law", 2, "Regulator bans Westerby trades", trust="official"),
        item("two", 3, "Zorvane opens lithium refinery in Nevada"),
        item("too", 4, "Zorvane opens lithium refinery in Nevada"),
        item("web", 9, "Kessler sings on moon", trust="social"),
    )
    best = archive.day(at(0), at(24), most=3)
    # In the order in which they became known, whatever their rank.
    assert ids(best) == [["law"], ["two", "too"], ["new"]]
    assert (best.n_items, best.n_left_out) == (6, 2)
    assert ids(archive.day(at(0), at(24), most=1)) == [["two", "too"]]
    assert len(archive.items_of(best)) == 6


def test_one_outlet_that_repeats_itself_does_not_rise() -> None:
    title = "Zorvane opens lithium refinery in Nevada"
    again = [item(f"{n:02}", 1 + n / 20, title, outlet="Loud") for n in range(50)]
    two = [item(f"x{n}", 6, "Oslo recalls quantum pumps") for n in range(2)]
    assert ids(of(*again, *two).day(at(0), at(24), most=1)) == [["x0", "x1"]]


def test_a_copy_that_comes_later_changes_nothing() -> None:
    title = "Zorvane opens lithium refinery in Nevada"
    early = make_archive(BTC, [raw(title, 1)], NOW)
    late = raw(title, 1, ts_quality="collected", collected_at_utc=at(30), text="More is known now.")
    for order in ([raw(title, 1), late], [late, raw(title, 1)]):
        both = make_archive(BTC, order, NOW)
        assert both.stories == early.stories
        assert (both.refused, both.n_raw) == ({"duplicate": 1}, 2)


def test_refusals_are_counted_and_other_assets_passed_over() -> None:
    pile = [
        raw("Bitcoin rises", 1),
        raw("Bitcoin falls", 2),
        raw("Ethereum rises", 3, asset="ETH"),
        raw("Miners of Bitcoin meet in Oslo", 4, asset=None),
        raw("Ethereum developers meet in Oslo", 5, asset=None),
        raw("Nothing is said of any coin", 6, asset=None),
        raw("Bitcoin is late", 7, published_utc=None),
        raw("Bitcoin was seen before it was written", 8, collected_at_utc=at(7)),
        raw("Bitcoin is not yet", 2_000),
        raw("!!!", 9),
    ]
    archives = make_archives([BTC, ETH], pile, NOW)
    bitcoin, ether = archives["BTC"], archives["ETH"]
    assert [s.first.title for s in bitcoin.stories] == [
        "Bitcoin rises", "Bitcoin falls", "Miners of Bitcoin meet in Oslo",
    ]  # fmt: skip
    assert bitcoin.refused == {
        "other_subject": 2, "no_date": 1, "dated_after_seen": 1, "future": 1, "no_title": 1,
    }  # fmt: skip
    assert bitcoin.n_raw == 9
    assert [s.first.title for s in ether.stories] == [
        "Ethereum rises", "Ethereum developers meet in Oslo",
    ]  # fmt: skip
    assert (ether.refused, ether.n_raw) == ({"other_subject": 2}, 4)
    assert make_archive(BTC, pile, NOW) == bitcoin


WORDS = (
    "zorvane",
    "lithium",
    "refinery",
    "nevada",
    "oslo",
    "quantum",
    "pumps",
    "kessler",
    "3%",
    "5%",
)
ITEMS = st.lists(
    st.tuples(
        st.integers(0, 96),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        st.sampled_from(("Reuters", "CNBC", "Loud")),
    ),
    max_size=30,
).map(lambda rows: [item(f"{n:02}", h, title, outlet=o) for n, (h, title, o) in enumerate(rows)])


@given(ITEMS, st.integers(1, 96), st.integers(1, 5))
def test_what_is_known_later_changes_no_day(items: list[Item], hour: int, most: int) -> None:
    known = [i for i in items if i.known_at_utc <= at(hour)]
    window = (at(hour - 24), at(hour), most)
    day = of(*items).day(*window)
    assert day == of(*known).day(*window)
    assert all(s["known_at_utc"] <= at(hour) for s in day.facts())
    assert day.n_items == sum(len(t.items) for t in of(*known).day(*window[:2], most=999).stories)


@given(ITEMS.filter(len), st.data())
def test_days_in_a_row_hold_every_item_once(items: list[Item], data: Any) -> None:
    step = data.draw(st.integers(1, 50))
    archive = of(*items)
    days = [archive.day(at(h - step), at(h)) for h in range(0, 97 + step, step)]
    stored = [i.id for day in days for i, _ in archive.items_of(day)]
    assert sorted(stored) == [i.id for i in items]


def test_a_changed_word_changes_the_facts() -> None:
    a, b = (of(item("a", 1, f"Zorvane opens {x} in Nevada")) for x in ("mill", "mine"))
    assert a.day(at(0), at(2)).facts() != b.day(at(0), at(2)).facts()


LATEST = datetime(2026, 11, 30, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def test_real_days_stay_when_later_items_are_taken_away(shared_market: Path) -> None:
    every = FilesNews(shared_market).fetch([ETH], LONG_AGO, LATEST)
    archive = make_archive(ETH, every, LATEST)
    items = [i for story in archive.stories for i in story.items]
    n_stories = 0
    for as_of in (datetime(2023, 6, 16, tzinfo=UTC), datetime(2025, 8, 8, tzinfo=UTC)):
        day = archive.day(as_of - timedelta(days=1), as_of)
        known = archive_of(ETH, [i for i in items if i.known_at_utc <= as_of])
        assert len(known.stories) < len(archive.stories)
        assert known.day(day.since_utc, as_of) == day
        n_stories += len(day.stories)
        without = archive_of(ETH, [i for i in items if i.id != day.stories[0].first.id])
        assert without.day(day.since_utc, as_of).facts() != day.facts()
    assert n_stories > 10

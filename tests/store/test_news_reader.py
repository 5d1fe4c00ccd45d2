"""What was read at each slot, and what people and sources say, against `made_news_store`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.core.errors import UnknownNameError
from arena.core.rows import BriefRow, ReviewRow, SourceHealthRow, WriteUnit
from arena.store import news_reader
from arena.store.store import Store, open_store
from tests.ui.made_news_store import (
    COIN,
    LAST,
    MODEL,
    MODEL_RUN,
    NEWS_RUN,
    PRICES_RUN,
    STOCK,
    august,
    brief_id,
    build,
    slot,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(build(tmp_path / "news.duckdb")) as opened:
        yield opened


def review(brief: str, who: str, revision: int, *, rejected: bool = False) -> ReviewRow:
    return ReviewRow(brief, who, revision, 2, 1, 2, 0, rejected, "", datetime(2025, 9, 2, tzinfo=UTC))


def test_slots_of_the_digests_run(store: Store) -> None:
    slots = news_reader.slots(store, NEWS_RUN, COIN)
    got = [(s["session"].day, s["n_stories"], s["content"] and s["content"]["score"]) for s in slots]
    # Table of made_news_store: no slot on the 6th, no story on the 5th and the 9th.
    assert got == [
        (1, 3, 0.6), (2, 3, 0.1), (3, 3, -0.6), (4, 3, 0.5), (5, 0, None), (7, 3, -0.2), (8, 3, 0.0),
        (9, 0, None), (10, 3, 0.7),
    ]  # fmt: skip
    scores = {(s["rule"], s["scorer"]): s["score"] for s in slots[-1]["scores"]}
    assert scores == {
        ("bias_awareness", "code"): 0, ("coverage", "code"): 1, ("coverage", f"judge:{MODEL}"): 2,
        ("date_accuracy", "code"): 2, ("source_diversity", "code"): 2,
    }  # fmt: skip
    assert slots[0]["row"]["maker"] == "digest"
    assert slots[4]["row"] is None


def test_polls_of_the_day_before_a_slot(store: Store) -> None:
    slots = {s["session"].day: s for s in news_reader.slots(store, NEWS_RUN, COIN)}
    # The 5th: one poll, failed. The 9th: none. The 10th: edgar twice, rss:one and finnhub, two ok.
    assert [(slots[d]["n_polls"], slots[d]["n_polls_ok"]) for d in (5, 9, 10)] == [(1, 0), (0, 0), (4, 2)]


def test_a_failure_is_found_by_the_runs_own_maker(store: Store) -> None:
    (_, _, third) = news_reader.slots(store, MODEL_RUN, COIN)
    assert third["content"] is None
    assert third["row"]["status"] == "invalid_output"
    assert third["row"]["error"] == "three answers without a summary"
    assert third["scores"] == []
    # Another maker's failure at a slot where the digest had nothing to do is not the digest's.
    other = BriefRow(
        "brief-other", COIN, august(5), slot(august(5)), "lab/other", "model", "timeout", "null", 3, 5, 3,
        1, None, None, None, None, None, "late", slot(LAST), 1.0,
    )  # fmt: skip
    store.write([WriteUnit((other,))])
    assert {s["session"]: s for s in news_reader.slots(store, NEWS_RUN, COIN)}[august(5)]["row"] is None


def test_runs_and_assets_without_news(store: Store) -> None:
    assert [s["content"] for s in news_reader.slots(store, PRICES_RUN, COIN)] == [None] * 9
    assert [s["n_stories"] for s in news_reader.slots(store, NEWS_RUN, STOCK)] == [0] * 9
    with pytest.raises(UnknownNameError, match="Unknown run `nope`"):
        news_reader.slots(store, "nope", COIN)


def test_stories_are_those_that_agents_saw(store: Store) -> None:
    first = news_reader.day_news(store, NEWS_RUN, COIN)[0]
    assert [s["title"] for s in first["stories"]] == [f"Story {k} of 2025-08-01" for k in range(3)]
    # Story k became known k + 1 hours before the slot, 2 August 00:05.
    assert first["stories"][1]["known_at_utc"] == datetime(2025, 8, 1, 22, 5, tzinfo=UTC)
    assert news_reader.stories(store, None) == []


def test_items_known_later_are_not_behind_the_story_yet(store: Store) -> None:
    at = slot(august(1))
    items = news_reader.articles(store, COIN, ["n10", "n11"], at)
    # Story 0: three outlets in time, the fourth an hour late; story 1: one.
    assert items["article"].tolist() == ["n10-0", "n10-1", "n10-2", "n11-0"]
    assert len(news_reader.articles(store, COIN, ["n10"], at + timedelta(hours=1))) == 4
    assert news_reader.articles(store, STOCK, ["n10"], at).empty


def test_one_brief_with_its_stories(store: Store) -> None:
    found = news_reader.brief(store, brief_id("digest", august(3)))
    assert found is not None
    assert found["content"]["sentiment"] == "bearish"
    assert len(found["stories"]) == 3
    failed = news_reader.brief(store, brief_id(MODEL, august(3)))
    assert failed is not None
    assert (failed["content"], failed["stories"]) == (None, [])
    assert news_reader.brief(store, "brief-none") is None


def test_usable_briefs_of_a_class(store: Store) -> None:
    made = [brief_id("digest", august(d)) for d in (1, 2, 3, 4, 7, 8, 10)]
    made += [brief_id(MODEL, august(d)) for d in (1, 2)]
    assert news_reader.usable_briefs(store, "crypto") == sorted(made)
    assert news_reader.usable_briefs(store, "stock") == []


def test_decisions_that_read_a_brief(store: Store) -> None:
    used = news_reader.decisions_of_brief(store, brief_id("digest", august(3)))
    assert used["decision"].tolist() == [f"{NEWS_RUN}:trade@m-one:AAA:2025-08-03"]
    # The failure was read by nobody.
    assert news_reader.decisions_of_brief(store, brief_id(MODEL, august(3))).empty


def test_the_newest_revision_counts(store: Store) -> None:
    brief = brief_id("digest", august(3))
    store.write([WriteUnit((review(brief, "Ann", 0), review(brief, "Bob", 0, rejected=True)))])
    assert news_reader.rejected_briefs(store, NEWS_RUN) == {"h-digest-2025-08-03"}
    assert news_reader.rejected_briefs(store, MODEL_RUN) == frozenset()
    store.write([WriteUnit((review(brief, "Bob", 1),))])
    assert news_reader.rejected_briefs(store, NEWS_RUN) == frozenset()
    assert news_reader.reviews(store, [brief])["revision"].tolist() == [0, 1]
    assert news_reader.reviews(store, []).empty


def test_notes_of_an_asset(store: Store) -> None:
    assert news_reader.notes(store, COIN)["note"].tolist() == ["note-1"]
    assert news_reader.notes(store, STOCK).empty


def test_health_is_the_newest_poll_and_remembers_the_last_trouble(store: Store) -> None:
    health = {row["source"]: row for row in news_reader.source_health(store)}
    assert list(health) == ["edgar", "finnhub", "rss:one"]
    at = slot(LAST)
    assert (health["edgar"]["status"], health["edgar"]["last_ok_utc"]) == ("failed", at - timedelta(hours=6))
    assert (health["finnhub"]["last_ok_utc"], health["finnhub"]["retry_after_s"]) == (None, 90.0)
    assert health["rss:one"]["refused"] == {"duplicate": 3, "no_date": 2}
    assert health["rss:one"]["last_error"] is None
    again = SourceHealthRow("edgar", at + timedelta(hours=1), "ok", 7, 7, "{}", None, None)
    store.write([WriteUnit((again,))])
    edgar = news_reader.source_health(store)[0]
    assert (edgar["status"], edgar["n_items"]) == ("ok", 7)
    assert (edgar["last_error_utc"], edgar["last_ok_utc"]) == (at, at + timedelta(hours=1))

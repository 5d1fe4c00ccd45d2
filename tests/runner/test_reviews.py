"""Writing of reviews and notes: what is taken, what is refused, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from arena.core.errors import ConfigError, StoreError, UnknownNameError
from arena.runner import reviews
from arena.runner.reviews import RULES
from arena.store import news_reader, reader
from arena.store.store import Store, open_store
from tests.ui.made_news_store import COIN, MODEL, NEWS_RUN, august, brief_id, build

BRIEF = brief_id("digest", august(3))
GOOD = dict.fromkeys(RULES, 2)
AT = datetime(2025, 9, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(build(tmp_path / "news.duckdb")) as opened:
        yield opened


def test_a_sample_is_drawn_by_the_seed_alone(store: Store) -> None:
    whole = reviews.sample(store, "crypto")
    assert set(whole) == set(news_reader.usable_briefs(store, "crypto"))
    assert len(whole) == 9
    assert reviews.sample(store, "crypto", 4) == whole[:4]
    assert reviews.sample(store, "crypto", seed=1) != whole
    assert set(reviews.sample(store, "crypto", seed=1)) == set(whole)
    assert reviews.sample(store, "stock") == ()


def test_a_second_opinion_of_the_same_person_is_a_revision(store: Store) -> None:
    reviews.submit(store, BRIEF, "Ann", GOOD, note="first", clock=lambda: AT)
    # Under another spelling of the name she is still one person.
    row = reviews.submit(store, BRIEF, " ann ", GOOD | {"coverage": 0})
    assert (row.reviewer, row.revision) == ("Ann", 1)
    reviews.submit(store, BRIEF, "Bob", GOOD)
    found = news_reader.reviews(store, [BRIEF])
    assert found[["reviewer", "revision", "coverage"]].values.tolist() == [["Ann", 1, 0], ["Bob", 0, 2]]
    with store.cursor() as cur:
        cur.execute("SELECT count(*) FROM reviews")
        assert cur.fetchall() == [(3,)]


def test_opinions_given_at_once_are_all_kept(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda _: reviews.submit(store, BRIEF, "Ann", GOOD), range(16)))
    assert sorted(r.revision for r in rows) == list(range(16))
    with store.cursor() as cur:
        cur.execute("SELECT count(*) FROM reviews")
        assert cur.fetchall() == [(16,)]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is missing"), ("   ", "is missing"), ("x" * 41, "at most 40 .* has 41"),
        ("A\nB", "Type it as `A B`"), ("A\u202eB", "Type it as `AB`"), ("A\u200bB", "Type it as `AB`"),
        ("A  B", "Type it as `A B`"), ("\u200b", r"characters\.$"),
    ],
)  # fmt: skip
def test_a_name_is_plain_and_short(store: Store, name: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        reviews.submit(store, BRIEF, name, GOOD)
    assert news_reader.reviews(store).empty


def test_the_longest_name_is_taken(store: Store) -> None:
    assert reviews.submit(store, BRIEF, "x" * 40, GOOD).reviewer == "x" * 40


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ({**GOOD, "coverage": 3}, "`coverage` is 3; a score is 0, 1 or 2"),
        ({**GOOD, "coverage": -1}, "`coverage` is -1"),
        (dict.fromkeys(RULES[1:], 1), "`date_accuracy` is missing or unknown"),
        ({**GOOD, "style": 2}, "`style` is missing or unknown"),
    ],
)
def test_scores_are_the_four_rules_from_0_to_2(store: Store, scores: dict[str, int], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        reviews.submit(store, BRIEF, "Ann", scores)


def test_only_a_brief_can_be_reviewed(store: Store) -> None:
    with pytest.raises(ConfigError, match="nothing to score"):
        reviews.submit(store, brief_id(MODEL, august(3)), "Ann", GOOD)
    with pytest.raises(ConfigError, match="no brief `brief-none`"):
        reviews.submit(store, "brief-none", "Ann", GOOD)
    with pytest.raises(ConfigError, match="at most 500 characters; this has 501"):
        reviews.submit(store, BRIEF, "Ann", GOOD, note="x" * 501)


def test_a_rejection_shows_beside_decisions_and_changes_none(store: Store) -> None:
    before = reader.decisions(store, NEWS_RUN), reader.contexts(store, NEWS_RUN)
    with pytest.raises(ConfigError, match="Ann has not scored"):
        reviews.mark_rejected(store, BRIEF, "Ann")
    reviews.submit(store, BRIEF, "Ann", GOOD | {"bias_awareness": 0})
    row = reviews.mark_rejected(store, BRIEF, "ann", note="one-sided")
    assert (row.rejected, row.revision, row.bias_awareness, row.coverage) == (True, 1, 0, 2)
    assert news_reader.rejected_briefs(store, NEWS_RUN) == {"h-digest-2025-08-03"}
    after = reader.decisions(store, NEWS_RUN), reader.contexts(store, NEWS_RUN)
    for old, new in zip(before, after, strict=True):
        pd.testing.assert_frame_equal(old, new)
    reviews.mark_rejected(store, BRIEF, "Ann", rejected=False)
    assert news_reader.rejected_briefs(store, NEWS_RUN) == frozenset()


def test_a_note_is_kept_clean_and_about_a_known_asset(store: Store) -> None:
    row = reviews.add_note(store, COIN, august(4), " a\u200b fork ", "host", clock=lambda: AT)
    assert row.text == "a fork"
    assert news_reader.notes(store, COIN)["text"].tolist()[0] == "a fork"
    with pytest.raises(UnknownNameError, match="Unknown asset `NOPE`"):
        reviews.add_note(store, "NOPE", august(4), "x", "host")
    with pytest.raises(ConfigError, match="needs a text"):
        reviews.add_note(store, COIN, august(4), " \u200b ", "host")


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    path = build(tmp_path / "r.duckdb")
    with open_store(path, read=True) as store, pytest.raises(StoreError, match="reading only"):
        reviews.submit(store, BRIEF, "Ann", GOOD)


def seen(frame: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(frame["brief"], frame["reviewer"], strict=True))


def test_nobody_sees_another_before_giving_his_own() -> None:
    """Ann scored p and q, Bob p."""
    frame = pd.DataFrame({"brief": ["p", "p", "q"], "reviewer": ["Ann", "Bob", "Ann"]})
    assert seen(reviews.shown_to(frame, "Ann")) == [("p", "Ann"), ("p", "Bob"), ("q", "Ann")]
    assert seen(reviews.shown_to(frame, "bob")) == [("p", "Ann"), ("p", "Bob")]
    # Cid has scored nothing; a reader without a name sees what two people have done.
    assert seen(reviews.shown_to(frame, "Cid")) == []
    assert seen(reviews.shown_to(frame, None)) == [("p", "Ann"), ("p", "Bob")]
    assert reviews.shown_to(frame.iloc[:0], None).empty

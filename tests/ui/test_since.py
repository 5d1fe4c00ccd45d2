"""What is new since a moment: counts, flips, and who changed places."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena.analytics.entry_curve import Curve
from arena.core.actions import ActionSpec
from arena.store import activity
from arena.store.store import open_store
from arena.ui import board_queries, queries, since
from tests.ui.made_board_store import REPLAY_RUN, build

ALL: queries.Axis = ()


def made_curves() -> dict[str, Curve]:
    days = pd.to_datetime(["2025-08-01", "2025-08-02", "2025-08-03"])
    values = {"a@m": (1.0, 1.2, 1.0), "b@m": (1.1, 1.1, 1.3), "c@m": (1.0, 0.9, 1.2)}
    return {k: Curve(days, np.array([1.0, *v]), np.array([1.0, *v]), 365) for k, v in values.items()}


def test_ranks_are_those_of_the_session_before() -> None:
    entries = ["a@m", "b@m", "c@m"]
    assert since.ranks_before(made_curves(), entries, date(2025, 8, 3)) == {"a@m": 1, "b@m": 2, "c@m": 3}
    assert since.ranks_before(made_curves(), entries, date(2025, 8, 2)) == {"b@m": 1, "a@m": 2, "c@m": 3}
    # Nobody stands anywhere before the first session; who is not ranked now takes no place.
    assert since.ranks_before(made_curves(), entries, date(2025, 8, 1)) == {}
    assert since.ranks_before(made_curves(), ["c@m"], date(2025, 8, 3)) == {"c@m": 1}


def test_counts_flips_failures_and_moves() -> None:
    fresh = pd.DataFrame(
        [
            ("long", "ok", 1, 3),  # stays long
            ("long", "ok", -1, 2),  # turns
            ("hold", "ok", 1, 1),  # closes: another side than the one held
            ("hold", "timeout", 0, 4),  # failed, stays flat
            ("keep", "no_data", 1, 1),  # a gap keeps what it has
        ],
        columns=["intent", "status", "position_before", "n"],
    )
    now, before = {"a": 3, "b": 1, "c": 2, "new": 4}, {"a": 1, "b": 2, "c": 2}
    news = since.news_of(fresh, ActionSpec(), before, now)
    assert (news.n_decisions, news.n_flips, news.n_failed) == (11, 3, 4)
    # The largest move first; who was not there before, or did not move, is none.
    assert news.moves == (since.Move("a", 1, 3), since.Move("b", 2, 1))


@pytest.mark.parametrize("text", [None, "", "yesterday", "20259999T000000Z", "'; DROP TABLE runs"])
def test_a_moment_that_is_none_is_none(text: str | None) -> None:
    assert since.parse_seen(text) is None


def test_a_moment_is_read_as_it_is_written() -> None:
    moment = datetime(2025, 10, 1, 18, 40, 5, tzinfo=UTC)
    assert since.parse_seen(moment.strftime(since.SEEN_FORMAT)) == moment


def test_new_in_a_store(tmp_path: Path) -> None:
    with open_store(build(tmp_path / "a.duckdb"), read=True) as store:
        key = queries.version(store)
        axes = (ALL, ALL, ALL, ("baseline",))
        newest = board_queries.news(key, store, REPLAY_RUN, None, *axes)
        # Six entries on two assets decide on the last session; both of m-mid's fail on both assets.
        assert (newest.n_decisions, newest.n_failed) == (12, 4)
        # Decided a minute after the slot of 7 Sep, 00:06 UTC of the 8th: the sessions of the 8th and 9th follow.
        seen = datetime(2025, 9, 8, 0, 6, tzinfo=UTC)
        assert board_queries.news(key, store, REPLAY_RUN, seen, *axes).n_decisions == 24
        few = board_queries.news(key, store, REPLAY_RUN, seen, ("hedge",), ("m-mid",), ("AAA",), ("baseline",))
        assert (few.n_decisions, few.n_failed) == (2, 1)
        later = datetime(2025, 12, 1, tzinfo=UTC)
        assert board_queries.news(key, store, REPLAY_RUN, later, *axes) == since.News(0, 0, 0, ())
        assert activity.fresh_decisions(store, "replay-none-e1", None).empty

"""`arena/2` carries a context and a view without loss, and refuses what was altered on the way."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.remote.wire import (
    ContextPart,
    ViewPart,
    decode_context,
    decode_view,
    encode_context,
    encode_view,
    received,
    sent,
)
from arena.core.errors import InvariantError
from arena.core.types import ActionSpec, Past, TrackView
from tests.agents.remote.support import FLAT, market, stories

BRIEF = {"summary": "quiet", "themes": ["a", "b"], "sentiment": "neutral", "score": 0.0}
FIGURE = {
    "id": "f1", "field": "revenue", "period": "2025Q1", "value": 1.5e9,
    "known_at_utc": datetime(2025, 5, 1, 20, tzinfo=UTC), "filed_date": date(2025, 5, 1),
}  # fmt: skip


def over_the_wire(context: Any) -> Any:
    text = json.dumps(encode_context(context).model_dump(mode="json"))
    return decode_context(ContextPart.model_validate(json.loads(text)))


def test_context_comes_back_equal_in_every_value_and_type() -> None:
    before = market(stories=stories(), brief=BRIEF, fundamentals=(FIGURE,))
    after = over_the_wire(before)
    assert after == before
    assert after.market_hash == before.market_hash
    assert after.fundamentals[0]["filed_date"] == date(2025, 5, 1)
    assert after.stories[0]["known_at_utc"].tzinfo is UTC


prices = st.floats(1e-6, 1e9) | st.integers(1, 10**6)


@given(st.lists(prices, min_size=1, max_size=30), st.none() | st.floats(0, 1e15) | st.integers(0, 10**15))
def test_hash_survives_any_prices(closes: list[float], volume: float | None) -> None:
    context = market(list(closes))
    object.__setattr__(context.bars[-1], "volume", volume)
    assert over_the_wire(context).market_hash == context.market_hash


@given(
    st.sampled_from([-1, 0, 1]), st.floats(-1e9, 1e9), st.floats(-3, 3), st.none() | st.floats(1e-6, 1e9),
    st.lists(st.none() | st.floats(-1, 10), max_size=7), st.sampled_from(["flat", "keep"]), st.booleans(),
)  # fmt: skip
def test_view_survives(
    side: int, equity: float, exposure: float, entry: float | None, moves: list[float | None],
    hold: Any, shorting: bool,
) -> None:  # fmt: skip
    past = tuple(
        Past(date(2025, 7, 1) + timedelta(days=n), "BUY", 100.0 + n, move) for n, move in enumerate(moves)
    )
    before = TrackView(side, equity, exposure, entry, past, ActionSpec(hold, shorting), {"k": [1, None]})
    text = json.dumps(encode_view(before).model_dump(mode="json"))
    after = decode_view(ViewPart.model_validate(json.loads(text)))
    assert after == before
    assert after.view_hash == before.view_hash


def test_a_time_that_would_not_come_back_is_refused_before_it_leaves() -> None:
    now = datetime(2025, 8, 1, tzinfo=UTC)
    with pytest.raises(InvariantError, match=r"`published`.*_utc"):
        sent({"published": now})
    with pytest.raises(InvariantError, match=r"`filed`.*_date"):
        sent({"filed": now.date()})
    with pytest.raises(ValueError, match="no time zone"):
        received({"known_at_utc": "2025-08-01T00:00:00"})


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda p: p["bars"].reverse(), "must rise"),
        (lambda p: p["bars"].pop(), "must rise"),
        (lambda p: p["bars"][-1].__setitem__(6, "2025-08-03T00:00:00+00:00"), "look-ahead"),
        (lambda p: p["stories"][0].pop("title"), "lacks `title`"),
        (lambda p: p["stories"][0].__setitem__("known_at_utc", "2026-01-01T00:00:00+00:00"), "look-ahead"),
    ],
)
def test_impossible_contexts_are_refused(change: Any, error: str) -> None:
    part = json.loads(json.dumps(encode_context(market(stories=stories())).model_dump(mode="json")))
    change(part)
    with pytest.raises((ValueError, InvariantError), match=error):
        decode_context(ContextPart.model_validate(part))


def test_flat_view_is_plain() -> None:
    assert encode_view(FLAT).model_dump(mode="json")["past"] == []

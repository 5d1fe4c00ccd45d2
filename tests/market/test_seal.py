"""What an agent may see: nothing later changes it, the last visible bar does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import DataError, InvariantError
from arena.core.types import Asset, Bar, MarketContext
from arena.market.calendars import slot, slots
from arena.market.history import History, load_history
from arena.market.seal import first_possible_start, seal
from arena.market.sources import open_source

COIN = Asset("COIN", "A coin", "crypto")
FIRST = date(2025, 1, 1)


def history(closes: list[float]) -> History:
    bars = tuple(
        Bar(
            FIRST + timedelta(days=i), c, c, c, c, 1.0,
            datetime(2025, 1, 2, tzinfo=UTC) + timedelta(days=i),
        )
        for i, c in enumerate(closes)
    )  # fmt: skip
    return History(COIN, bars)


def replaced(h: History, i: int, close: float) -> History:
    bars = list(h.bars)
    bars[i] = replace(bars[i], close=close, high=max(close, bars[i].high))
    return History(h.asset, tuple(bars))


CLOSES = st.lists(st.floats(1, 1000), min_size=12, max_size=12)


@given(closes=CLOSES, poison=st.floats(1, 1000), at=st.integers(5, 8))
def test_only_the_visible_past_is_in_the_hash(closes: list[float], poison: float, at: int) -> None:
    whole = history(closes)
    due = slot(COIN, FIRST + timedelta(days=at))
    sealed = seal(whole, due, n_bars=5)
    assert sealed.bars[-1].session == due.session
    assert seal(replaced(whole, at + 1, poison), due, 5).market_hash == sealed.market_hash
    cut = History(COIN, whole.bars[: at + 1])
    assert seal(cut, due, 5).market_hash == sealed.market_hash
    changed = seal(replaced(whole, at, closes[at] + 0.5), due, 5)
    assert changed.market_hash != sealed.market_hash


def test_too_little_history_and_a_missing_bar_are_refused() -> None:
    h = history([1.0] * 6)
    with pytest.raises(DataError, match="has 3 bars up to 2025-01-03; a context needs 5"):
        seal(h, slot(COIN, FIRST + timedelta(days=2)), 5)
    assert first_possible_start(h, 5) == date(2025, 1, 5)
    gap = History(COIN, h.bars[:-1])
    with pytest.raises(DataError, match="no final bar for 2025-01-06"):
        seal(gap, slot(COIN, date(2025, 1, 6)), 5)


def test_a_context_refuses_what_was_not_known() -> None:
    h = history([1.0, 2.0])
    with pytest.raises(InvariantError, match="look-ahead: bar 2025-01-02"):
        MarketContext(COIN, FIRST, datetime(2025, 1, 2, 0, 5, tzinfo=UTC), h.bars)


def test_on_real_prices(shared_market: Path) -> None:
    source = open_source(f"files:{shared_market}")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for asset_id in ("TSLA", "BTC"):
        asset = source.assets()[asset_id]
        whole = load_history(source, asset, date(2024, 5, 1), date(2025, 9, 30), now)
        for due in slots(asset, date(2025, 8, 1), date(2025, 8, 12)):
            sealed = seal(whole, due)
            upto = [b for b in whole.bars if b.known_at_utc <= due.as_of_utc]
            assert len(sealed.bars) == 260
            assert seal(History(asset, tuple(upto)), due).market_hash == sealed.market_hash
            at = len(upto)
            poisoned = replaced(whole, at, whole.bars[at].close * 2)
            assert seal(poisoned, due).market_hash == sealed.market_hash
            moved = replaced(whole, at - 1, whole.bars[at - 1].close + 0.01)
            assert seal(moved, due).market_hash != sealed.market_hash

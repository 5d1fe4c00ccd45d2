"""Splits and dividends: the slow engine by hand, against the fast one, and against adjusted prices."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.audit.slow_engine import replay_account
from arena.core.actions import INTENT_CODE, Intent
from arena.core.rows import ActionRow
from arena.portfolio import STRATEGIES, Costs
from arena.portfolio.corporate_actions import apply_action
from arena.portfolio.engine import Book, advance

B, S, K = Intent.LONG, Intent.SHORT, Intent.KEEP
NOW = datetime(2026, 3, 4, 14, 30, tzinfo=UTC)
KINDS = ("split", "dividend")


def test_long_over_a_split_and_short_over_a_dividend() -> None:
    # 250 shares at 400; 4:1 makes 1,000, worth 101 each.
    (_, after) = replay_account(
        "baseline", [B, B], [400, 100], [400, 101], actions={1: [("split", 4.0)]}
    )
    assert (after.balance, after.cash) == (101_000, 101_000)
    # Short 250 at 400, cash 200,000; pays 2 a share: 199,500 - 250 x 398 = 100,000.
    (_, after) = replay_account(
        "baseline", [S, S], [400, 398], [400, 398], actions={1: [("dividend", 2.0)]}
    )
    assert after.balance == 100_000
    # Both on one day: 4 x 250 new shares get 0.5 each, and 1,000 x 100 stand beside them.
    (_, after) = replay_account(
        "baseline", [B, B], [400, 100], [400, 100],
        actions={1: [("split", 4.0), ("dividend", 0.5)]},
    )  # fmt: skip
    assert after.balance == 100_500


PRICE = st.floats(50.0, 200.0)
ACTION = st.tuples(st.sampled_from(KINDS), st.sampled_from([0.5, 2.0, 3.0, 4.0]))
DAYS = st.lists(
    st.tuples(PRICE, st.sampled_from(list(Intent)), st.none() | ACTION), min_size=2, max_size=12
)


@settings(max_examples=60)
@given(DAYS, st.sampled_from(sorted(STRATEGIES)), st.sampled_from([0.0, 10.0]))
def test_both_engines_agree_over_any_actions(
    days: list[tuple[float, Intent, tuple[str, float] | None]], strategy: str, fee_bps: float
) -> None:
    prices, intents, happened = zip(*days, strict=True)
    actions = {t: [a] for t, a in enumerate(happened) if a is not None}
    slow = replay_account(
        strategy, intents, prices, prices, fee_bps=fee_bps, borrow_bps_year=50.0,
        force_close=False, actions=actions,
    )  # fmt: skip
    book = Book.open([strategy], 100_000.0, Costs(fee_bps, borrow_bps_year=50.0))
    for t, (price, intent, action) in enumerate(days):
        if action is not None:
            kind, value = action
            apply_action(book, ActionRow("T", date(2026, 3, 4), kind, "x", value, NOW, NOW))
        advance(book, INTENT_CODE[intent], price, price)
        assert book.units[0] == pytest.approx(slow[t].units, rel=1e-9, abs=1e-9)
        assert book.cash[0] == pytest.approx(slow[t].cash, rel=1e-9, abs=1e-6)


@settings(max_examples=40)
@given(
    st.lists(PRICE, min_size=4, max_size=10), st.sampled_from(sorted(STRATEGIES)),
    st.integers(1, 3), st.sampled_from([2.0, 3.0, 0.1]),
)  # fmt: skip
def test_raw_prices_with_the_split_are_adjusted_prices_without_it(
    adjusted: list[float], strategy: str, ex: int, ratio: float
) -> None:
    raw = [p * ratio if t < ex else p for t, p in enumerate(adjusted)]
    intents = [(B, S, K)[t % 3] for t in range(len(raw))]
    with_split = replay_account(
        strategy, intents, raw, raw, fee_bps=10, fill="next", actions={ex: [("split", ratio)]}
    )
    without = replay_account(strategy, intents, adjusted, adjusted, fee_bps=10, fill="next")
    assert np.allclose(
        [r.balance for r in with_split], [r.balance for r in without], rtol=1e-9, atol=1e-6
    )

"""An account at a price of the moment is what the engine would settle there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.actions import INTENT_CODE, Intent
from arena.portfolio.engine import Book, Costs, advance
from arena.portfolio.strategies import STRATEGIES
from arena.runner.marking import value_now

FEE = Costs(10.0)  # 0.1 %


@pytest.mark.parametrize(
    ("strategy", "side", "units", "cash", "order", "fill", "price", "expected"),
    [
        # Nothing waits, or it has not filled: units at the price.
        ("baseline", 1, 10.0, 0.0, None, None, 110.0, 1100.0),
        ("baseline", -1, -10.0, 2000.0, Intent.LONG, None, 110.0, 900.0),
        # The order changes nothing.
        ("baseline", 1, 10.0, 0.0, Intent.LONG, 105.0, 110.0, 1100.0),
        ("pyramid_exit", 1, 10.0, 0.0, Intent.HOLD, 105.0, 110.0, 1100.0),
        # Closed at 105 for a fee of 0.1 % of 1050: what comes after is no matter.
        ("baseline", 1, 10.0, 0.0, Intent.HOLD, 105.0, 110.0, 1048.95),
        # Opened from flat at 100: 1000 x 0.999 / 100 = 9.99 units, cash 1000 - 999 - 1 = 0.
        ("baseline", 0, 0.0, 1000.0, Intent.LONG, 100.0, 110.0, 1098.9),
        # Turned at 100: 1000 - 1 = 999; short 999 x 0.999 / 100 = 9.98001 for a fee of 0.999;
        # cash 999 - 0.999 + 998.001 = 1996.002; at 90: 1996.002 - 898.2009.
        ("baseline", 1, 10.0, 0.0, Intent.SHORT, 100.0, 90.0, 1097.8011),
        # A pyramid from flat: all three tranches, 1000 x 0.999 / 100 = 9.99 units, fee 0.999.
        ("pyramid_exit", 0, 0.0, 1000.0, Intent.LONG, 100.0, 110.0, 1098.901),
        # A pyramid that sheds: how much is the ledger's to know.
        ("pyramid_exit", 1, 10.0, 0.0, Intent.SHORT, 100.0, 110.0, None),
    ],
)
def test_by_hand(
    strategy: str, side: int, units: float, cash: float, order: Intent | None, fill: float | None,
    price: float, expected: float | None,
) -> None:  # fmt: skip
    value = value_now(strategy, FEE, side, units, cash, price, order, fill)
    assert value == (None if expected is None else pytest.approx(expected, rel=1e-12))


@given(
    st.sampled_from(sorted(s.id for s in STRATEGIES.values() if s.kind == "all_in")),
    st.lists(st.sampled_from(list(Intent)), min_size=1, max_size=6),
    st.sampled_from(list(Intent)),
    st.lists(st.floats(80.0, 120.0), min_size=8, max_size=8),
    st.sampled_from([Costs(0.0), FEE, Costs(5.0, slippage_bps=20.0)]),
)
def test_it_is_what_the_engine_settles(
    strategy: str, past: list[Intent], order: Intent, prices: list[float], costs: Costs
) -> None:
    book = Book.open([strategy], 1000.0, costs)
    for intent, price in zip(past, prices, strict=False):
        advance(book, INTENT_CODE[intent], price, price)
    side, units, cash = (float(x[0]) for x in (book.side, book.units, book.cash))
    fill, price = prices[-2:]
    value = value_now(strategy, costs, int(np.sign(side)), units, cash, price, order, fill)
    advance(book, INTENT_CODE[order], fill, price)
    assert value == pytest.approx(float(book.equity(price)[0]), rel=1e-12)

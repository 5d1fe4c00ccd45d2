"""Fills, slippage, borrow fee and forced close, each worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from arena.portfolio import Book, Costs, advance, force_close, simulate

NAN = float("nan")


def test_next_fill_by_hand() -> None:
    # One percent a side, LONG then SHORT, closes 100 110 120, opens 99 105 115.
    # row 0  nothing can have filled yet: 1000
    # row 1  buys at 105: fee 10, 990/105 units, at 110: 990*110/105 = 1037.142857
    # row 2  at 115: 990*115/105 = 1084.285714; closing fee 10.842857 leaves 1073.442857;
    #        opening fee 10.734429 leaves 1062.708429, short; at 120: *(1 - 5/115) = 1016.503714
    #        forced close at 120: *0.99 = 1006.338677
    args = ([100, 110, 120], [99, 105, 115], [[1, -1, 1]], ["baseline"], Costs(100), 1000.0)
    held = simulate(*args, "next", force_close=False)
    assert held.balance[0] == pytest.approx([1000, 1037.142857, 1016.503714], abs=1e-6)
    assert held.side[0].tolist() == [0, 1, -1]
    assert held.final_legs is None
    closed = simulate(*args, "next")
    assert closed.balance[0] == pytest.approx([1000, 1037.142857, 1006.338677], abs=1e-6)
    assert closed.side[0].tolist() == [0, 1, -1]
    legs = closed.legs
    assert legs.price[0, 1].tolist() == [0, 105, 0]
    assert legs.price[0, 2].tolist() == [115, 115, 0]
    assert legs.fee[0, 2] == pytest.approx([10.842857, 10.734429, 0], abs=1e-6)
    assert legs.units[0, 2] == pytest.approx([-990 / 105, -1062.708429 / 115, 0], abs=1e-8)
    # traded: 990; 1084.285714 + 1062.708429, and 1062.708429*120/115 = 1108.913143 at the end
    assert closed.traded_notional[0] == pytest.approx([0, 990, 3255.907286], abs=1e-6)


def test_last_decision_never_fills_under_next() -> None:
    curves = simulate([100, 100], [100, 100], [[0, 1]], ["baseline"], Costs(5), 1000.0, "next")
    assert curves.balance[0].tolist() == [1000, 1000]


def test_slippage_all_in_by_hand() -> None:
    # Slippage 1 %, no fee. Buy at 101 with 1010: 10 units, at 100 worth 1000.
    # Flip at 110: sells 10 at 108.9 = 1089, sells short 10 more at 108.9: cash 2178, worth 1078.
    # Forced close at 100: buys 10 at 101, leaves 2178 - 1010 = 1168.
    curves = simulate(
        [100, 110, 100], None, [[1, -1, -1]], ["flip_on_reversal"], Costs(0, 100), 1010.0, "close"
    )
    assert curves.balance[0] == pytest.approx([1000, 1078, 1168])
    assert curves.legs.price[0, 1] == pytest.approx([108.9, 108.9, 0])
    assert curves.final_legs is not None
    assert curves.final_legs.price[0] == pytest.approx([101, 0, 0])


def test_slippage_pyramid_is_sized_at_the_reference_price() -> None:
    # q = 900/(100*3) = 3 units. Buys 9 at 101 = 909: cash -9, worth 891.
    # SELL at 110 sheds 3 at 108.9 = 326.7: cash 317.7, worth 317.7 + 6*110 = 977.7.
    curves = simulate(
        [100, 110], None, [[1, -1]], ["pyramid_exit"], Costs(0, 100), 900.0, "close", False
    )
    assert curves.balance[0] == pytest.approx([891, 977.7])
    assert curves.units[0] == pytest.approx([9, 6])


def test_slippage_with_fee_takes_the_fee_of_the_slipped_value() -> None:
    # Fee and slippage 1 %. Long: E' = 990, bought at 101. FLAT at 101 sells at 99.99:
    # 990*99.99/101 = 980.1, fee 9.801, leaves 970.299.
    curves = simulate([100, 101], None, [[1, 2]], ["baseline"], Costs(100, 100), 1000.0, "close")
    assert curves.balance[0, 1] == pytest.approx(970.299)
    assert curves.legs.fee[0, 1] == pytest.approx([9.801, 0, 0])


def test_borrow_fee_by_hand() -> None:
    # 3650 bps a year = 0.1 % a day of the short at the previous mark. Short 10 at 100: cash 2000.
    # 3 days on 1000: 3.0, at 90: 1997 - 900 = 1097.
    # 1 day on 900: 0.9, at 80: 1996.1 - 800 = 1196.1.
    # Nothing on the day of entry.
    curves = simulate(
        [100, 90, 80], None, [[-1, -1, -1]], ["baseline"], Costs(0, 0, 3650), 1000.0, "close",
        force_close=False, days=[5, 3, 1],
    )  # fmt: skip
    assert curves.balance[0] == pytest.approx([1000, 1097, 1196.1])


def test_borrow_fee_is_for_shorts_only_and_runs_over_gaps() -> None:
    args = ([100, NAN, 90], None)
    costs = Costs(0, 0, 3650)
    long = simulate(*args, [[1, 1, 1]], ["baseline"], costs, 1000.0, "close")
    assert long.balance[0] == pytest.approx([1000, 1000, 900])
    # Short 10 at 100: one day 1.0 on the gap, one day 1.0 (the mark is still 100), at 90: 1098.
    short = simulate(*args, [[-1, 1, -1]], ["baseline"], costs, 1000.0, "close")
    assert short.balance[0] == pytest.approx([1000, 999, 1098])


def test_gap_drops_the_order_and_carries_the_mark() -> None:
    book = Book.open(["baseline"], 1000.0, Costs.GROSS)
    advance(book, 1, 100, 100)
    legs = advance(book, -1, NAN, NAN)
    assert not legs.units.any()
    assert (book.side[0], book.units[0], book.mark) == (1, 10.0, 100.0)
    # An order without a fill price is dropped, the close still marks.
    legs = advance(book, -1, NAN, 120)
    assert not legs.units.any()
    assert book.equity(120)[0] == 1200.0
    assert float(book.mark) == 120.0


def test_forced_close_uses_the_last_price_there_was() -> None:
    # Buys 9.9 units at 100 after a fee of 10; closes at 110 (the last price): 1089 * 0.99.
    curves = simulate([100, 110, NAN], None, [[1, 1, 1]], ["baseline"], Costs(100), 1000.0, "close")
    assert curves.balance[0] == pytest.approx([990, 1089, 1078.11])


def test_forced_close_of_a_pyramid_pays_on_notional() -> None:
    # E(1-f) = 990: 9.9 units at 100, fee 9.9, cash 0.1. At 110: 1089 - 10.89 + 0.1 = 1078.21.
    book = Book.open(["pyramid_exit"], 1000.0, Costs(100))
    advance(book, 1, 100, 110)
    legs = force_close(book, 110)
    assert legs.fee[0] == pytest.approx([10.89, 0, 0])
    assert book.equity(NAN)[0] == pytest.approx(1078.21)
    assert book.side[0] == 0


def test_prices_and_costs_of_each_account_are_its_own() -> None:
    closes = [[100, 110], [50, 40]]
    curves = simulate(
        closes, None, [[1, 1], [-1, -1]], ["baseline", "flip_on_reversal"],
        [Costs.GROSS, Costs(100)], 1000.0, "close", force_close=False,
    )  # fmt: skip
    # Long 10 from 100 to 110; short 990 from 50 to 40: 990 * 1.2.
    assert curves.balance[:, 1] == pytest.approx([1100, 1188])


def test_an_add_is_limited_to_what_equity_covers() -> None:
    # Short without fee: q = 1000/(100*3) = 3.3333 units, cash 1333.33.
    # At 250 equity is 500, exposure 833.33: no room, so nothing trades and no tranche is counted.
    # At 100 equity is 1000, exposure 333.33: adds q, 6.6667 units, cash 1666.67.
    # At 160 equity is 600, exposure 1066.67: no room.
    # At 110 equity is 933.33, exposure 733.33: room 200/110 = 1.8182, 8.4848 units: the third
    # tranche, so the last signal keeps.
    curves = simulate(
        [100, 250, 100, 160, 110, 100], None, [[-1] * 6], ["pyramid_entry"], Costs.GROSS, 1000.0,
        "close", force_close=False,
    )  # fmt: skip
    assert curves.units[0] == pytest.approx(
        [-3.333333, -3.333333, -6.666667, -6.666667, -8.484848, -8.484848], abs=1e-6
    )


def test_copy_is_independent() -> None:
    book = Book.open(["baseline", "pyramid_exit"], 1000.0, Costs(10))
    advance(book, 1, 100, 100)
    twin = book.copy()
    advance(twin, -1, 1000, 10_000)
    assert book.units == pytest.approx([9.99, 9.99])
    assert not book.bankrupt.any()
    assert twin.bankrupt.tolist() == [True, False]
    assert np.all(book.side == 1)

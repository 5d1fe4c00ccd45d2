"""An account without equity is closed, frozen and kept as it is."""

from __future__ import annotations

import pytest

from arena.portfolio import Book, Costs, advance, force_close, round_trips, simulate


def test_short_blow_up_stays_at_its_debt() -> None:
    # Short 1000 units at 100: at 210 worth 200,000 - 210,000 = -10,000; it does not recover.
    curves = simulate([100, 210, 150], None, [[-1, 0, 0]], ["baseline"], Costs(0), 1e5, "close")
    assert curves.balance[0].tolist() == [100_000, -10_000, -10_000]
    assert curves.bankrupt_at.tolist() == [1]
    assert curves.side[0].tolist() == [-1, 0, 0]
    # It is bought back at the mark, free of fee: -1000 units sold, 1000 bought, 110,000 lost.
    legs = curves.legs
    assert legs.units[0, 1].tolist() == [0, 0, 1000]
    assert legs.price[0, 1].tolist() == [0, 0, 210]
    assert legs.fee[0, 1].tolist() == [0, 0, 0]
    flat = (legs.units[0].ravel(), legs.price[0].ravel(), legs.fee[0].ravel())
    assert [t.pnl for t in round_trips(*flat)] == [-110_000]


def test_no_later_order_under_any_intent() -> None:
    intents = [[-1, 1, -1, 2, 3, 1]]
    prices = [100, 300, 50, 50, 50, 50]
    curves = simulate(prices, None, intents, ["flip_on_reversal"], Costs(5), 1e5, "close")
    # E' = 99,950 short at 100, at 300: 99,950 * (1 - 2) = -99,950; the order of that day is void.
    assert curves.balance[0] == pytest.approx([99_950, *[-99_950] * 5])
    assert not curves.legs.units[0, 2:].any()
    assert curves.final_legs is not None
    assert not curves.final_legs.units.any()


def test_exactly_zero_is_bankrupt() -> None:
    curves = simulate([100, 200, 100], None, [[-1, 3, 3]], ["baseline"], Costs(0), 1000.0, "close")
    assert curves.balance[0].tolist() == [1000, 0, 0]
    assert curves.bankrupt_at[0] == 1


def test_wiped_out_at_the_open_before_the_order() -> None:
    # Short 10 units at 100; the next open is 210: -100. The close of 100 comes too late.
    curves = simulate(
        [100, 100, 100], [100, 100, 210], [[-1, 1, 1]], ["baseline"], Costs(0), 1000.0, "next"
    )
    assert curves.balance[0].tolist() == [1000, 1000, -100]
    assert curves.bankrupt_at[0] == 2
    assert curves.legs.price[0, 2].tolist() == [0, 0, 210]


def test_keep_is_no_order_and_is_judged_at_the_close_only() -> None:
    # As above, but the order is KEEP: at the close of 100 the account has its 1000 again.
    prices = ([100, 100, 100], [100, 100, 210])
    curves = simulate(*prices, [[-1, 3, 3]], ["baseline"], Costs(0), 1000.0, "next")
    assert curves.balance[0].tolist() == [1000, 1000, 1000]
    assert curves.bankrupt_at[0] == -1


def test_wiped_out_on_the_day_of_a_flip_has_three_legs() -> None:
    # Fee 1 %. Long 9.9 at 100; flips at the open of 100: 990 * 0.99 = 980.1 * 0.99 = 970.299 short.
    # At the close of 250: 970.299 * (1 - 1.5) = -485.1495.
    curves = simulate(
        [100, 100, 250], [100, 100, 100], [[1, -1, 0]], ["baseline"], Costs(100), 1000.0, "next"
    )
    assert curves.balance[0] == pytest.approx([1000, 990, -485.1495])
    assert curves.legs.units[0, 2] == pytest.approx([-9.9, -9.70299, 9.70299])
    assert curves.legs.price[0, 2] == pytest.approx([100, 100, 250])
    assert curves.legs.fee[0, 2] == pytest.approx([9.9, 9.801, 0])


def test_bankrupt_accounts_do_not_disturb_the_others() -> None:
    prices = [100, 210, 150, 160]
    intents = [[-1, 0, 0, 1], [1, 1, -1, 0]]
    both = simulate(prices, None, intents, ["baseline"] * 2, Costs(5), 1e5, "close")
    alone = simulate(prices, None, intents[1:], ["baseline"], Costs(5), 1e5, "close")
    assert both.balance[1].tobytes() == alone.balance[0].tobytes()
    assert both.bankrupt_at.tolist() == [1, -1]


def test_prices_of_each_account_at_a_wipe_out() -> None:
    book = Book.open(["baseline", "baseline"], 1000.0, Costs.GROSS)
    advance(book, [-1, -1], [100, 50], [100, 50])
    legs = advance(book, 3, [210, 60], [210, 60])
    assert legs.price[:, 2].tolist() == [210, 0]
    assert book.equity([1, 60]).tolist() == [-100, 800]


def test_wiped_out_by_the_cost_of_leaving() -> None:
    # Fee 1 %, slippage 35 %: short 990/65 = 15.230769 units, cash 1980, worth 456.92 at 100.
    # Leaving at 135 takes 2056.153846: -76.153846. A fee on a debt is none; it never pays.
    book = Book.open(["baseline"], 1000.0, Costs(100, 3_500))
    advance(book, -1, 100, 100)
    assert book.equity(100)[0] == pytest.approx(456.923077)
    legs = force_close(book, 100)
    assert legs.fee[0, 0] == 0
    assert book.cash[0] == pytest.approx(-76.153846)
    assert bool(book.bankrupt[0])

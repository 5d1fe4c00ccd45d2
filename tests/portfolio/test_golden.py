"""Golden vectors of the strategies: two price paths, with and without fee, known to 1e-4."""

from __future__ import annotations

import numpy as np
import pytest

from arena.portfolio import Costs, Curves, round_trips, simulate

CLOSED = float("nan")
PATH_A = [100, 110, 99, CLOSED, 108, 120, 90, 95]
ORDERS_A = [1, 0, -1, 0, -1, 1, -1, 0]
PATH_B = [100, 102, 104, 101, 99, 97]
ORDERS_B = [1, 1, 1, 0, -1, -1]
CAPITAL = 100_000.0
FIVE_BPS = Costs(5)

WITH_FEE_A = {
    "testbed_normal":
    "99950.0000 109945.0000 98901.0248 98901.0248 98851.5742 87780.2199 65802.2473 65802.2473",
    "testbed_normal_lo":
    "99950.0000 109945.0000 98901.0248 98901.0248 98901.0248 98851.5742 74101.6113 74101.6113",
    "close_on_reversal":
    "99950.0000 109945.0000 98901.0248 98901.0248 98851.5742 87824.1320 87780.2199 82862.0892",
    "flip_on_reversal":
    "99950.0000 109945.0000 98851.5742 98851.5742 89865.0675 77805.1949 58295.5569 55029.3864",
    "baseline":
    "99950.0000 109890.0275 109835.0825 109835.0825 99850.0750 86450.2166 64772.8410 61143.7626",
    "baseline_lo":
    "99950.0000 109890.0275 109890.0275 109890.0275 109890.0275 109835.0825 82335.1237 82335.1237",
    "pyramid_exit":
    "99950.0250 109945.0250 98934.0332 98934.0332 104913.0422 108911.0422 98901.0497 98901.0497",
    "pyramid_entry":
    "99983.3417 103315.0083 99633.6832 99633.6832 99617.0859 95910.3531 95894.3761 94102.2818",
    "pyramid_entry_lo":
    "99983.3417 103315.0083 99633.6832 99633.6832 99633.6832 99617.0859 91305.9824 91305.9824",
}  # fmt: skip

WITH_FEE_B = {
    "pyramid_entry": "99983.3417 100632.6835 101949.0423 99009.2048 97000.8058 96968.4884",
    "pyramid_exit": "99950.0250 101949.0250 103948.0250 100949.5250 98934.0332 97569.0494",
}

GROSS_END_A = {
    "testbed_normal": 66000.0,
    "close_on_reversal": 83111.1111,
    "flip_on_reversal": 55250.0,
    "baseline": 61388.8889,
    "baseline_lo": 82500.0,
    "pyramid_exit": 99000.0,
    "pyramid_entry": 94197.9881,
}


def run(strategy: str, path: list[float], orders: list[int], costs: Costs) -> Curves:
    return simulate(path, None, [orders], [strategy], costs, CAPITAL, "close")


def legs_in_time_order(curves: Curves) -> list[np.ndarray]:
    assert curves.final_legs is not None
    return [
        np.concatenate([getattr(curves.legs, k)[0].ravel(), getattr(curves.final_legs, k)[0]])
        for k in ("units", "price", "fee")
    ]


@pytest.mark.parametrize("strategy", WITH_FEE_A)
def test_first_path_with_fee(strategy: str) -> None:
    expected = [float(x) for x in WITH_FEE_A[strategy].split()]
    got = run(strategy, PATH_A, ORDERS_A, FIVE_BPS).balance[0]
    assert got == pytest.approx(expected, abs=1e-4, rel=0)


@pytest.mark.parametrize("strategy", WITH_FEE_B)
def test_second_path_adds_and_sheds_both_ways(strategy: str) -> None:
    expected = [float(x) for x in WITH_FEE_B[strategy].split()]
    got = run(strategy, PATH_B, ORDERS_B, FIVE_BPS).balance[0]
    assert got == pytest.approx(expected, abs=1e-4, rel=0)


@pytest.mark.parametrize("strategy", GROSS_END_A)
def test_first_path_without_fee(strategy: str) -> None:
    got = run(strategy, PATH_A, ORDERS_A, Costs.GROSS).balance[0, -1]
    assert got == pytest.approx(GROSS_END_A[strategy], abs=1e-4, rel=0)


def test_all_vectors_in_one_book_give_the_same_bits() -> None:
    names = list(WITH_FEE_A)
    together = simulate(PATH_A, None, [ORDERS_A] * 9, names, FIVE_BPS, CAPITAL, "close")
    for i, name in enumerate(names):
        alone = run(name, PATH_A, ORDERS_A, FIVE_BPS)
        assert together.balance[i].tobytes() == alone.balance[0].tobytes()


@pytest.mark.parametrize(
    ("strategy", "won", "closed"), [("testbed_normal", 0, 3), ("baseline", 1, 4)]
)
def test_trade_win_rates(strategy: str, won: int, closed: int) -> None:
    curves = run(strategy, PATH_A, ORDERS_A, FIVE_BPS)
    trips = round_trips(*legs_in_time_order(curves))
    assert (sum(t.pnl > 0 for t in trips), len(trips)) == (won, closed)
    # Every trip is closed at the end, so together they are the whole gain.
    assert sum(t.pnl for t in trips) == pytest.approx(curves.balance[0, -1] - CAPITAL)


def test_side_of_the_last_session_is_the_one_before_the_forced_close() -> None:
    curves = run("testbed_normal", PATH_A, ORDERS_A, FIVE_BPS)
    assert curves.side[0].tolist() == [1, 1, 0, 0, -1, 1, 0, 0]
    curves = run("flip_on_reversal", PATH_A, ORDERS_A, FIVE_BPS)
    assert curves.side[0].tolist() == [1, 1, -1, -1, -1, 1, -1, -1]
    assert curves.units[0, -1] == 0.0
    assert curves.cash[0, -1] == curves.balance[0, -1]

"""The luck floor: random timing is the same trading, its money is the account engines' money."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analytics.random_floor import Draws, draw_account, floor_of
from arena.analytics.random_timing import Tape, final_values, own_spells, random_spells
from arena.audit.slow_engine import replay_account
from arena.core.actions import Intent
from arena.core.season import Fill
from arena.portfolio import Costs

N = 40
RNG = np.random.default_rng(11)
WORD = {1: Intent.LONG, -1: Intent.SHORT, 0: Intent.FLAT}
PATH = np.array(([0] * 3 + [1] * 6 + [-1] * 4 + [0] * 2 + [1] * 5) * 2, dtype=np.int8)


def tape(fill: Fill = "next", costs: Costs | None = None, spread: float = 0.02) -> Tape:
    closes = 100 * np.cumprod(1 + RNG.normal(0, spread, N))
    opens = closes * (1 + RNG.normal(0, spread / 4, N))
    return Tape(opens, closes, RNG.integers(1, 4, N).astype(float), costs or Costs(10.0), fill)


def slow_value(sides: np.ndarray, t: Tape) -> float:
    """The second engine: one account, one session after another, told where to stand."""
    intents = [WORD[int(s)] for s in sides]
    if t.fill == "next":
        intents.append(Intent.KEEP)
    rows = replay_account(
        "flip_on_reversal", intents, t.opens.tolist(), t.closes.tolist(), capital=1.0,
        fee_bps=t.costs.fee_bps, slippage_bps=t.costs.slippage_bps,
        borrow_bps_year=t.costs.borrow_bps_year, fill=t.fill, days=[int(d) for d in t.days],
    )  # fmt: skip
    return rows[-1].balance


@pytest.mark.parametrize("fill", ["next", "close"])
@pytest.mark.parametrize(
    "costs", [Costs(0.0), Costs(10.0), Costs(10.0, 5.0), Costs(5.0, 2.0, 400.0)]
)
def test_money_equals_the_slow_engine(fill: Fill, costs: Costs) -> None:
    t = tape(fill, costs)
    spells = random_spells(own_spells(PATH[t.first :]), "x", 12)
    slow = [slow_value(d, t) for d in spells.dense()]
    assert len(set(slow)) > 8
    assert final_values(spells, t) == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize("fill", ["next", "close"])
def test_gaps_go_to_the_engine(fill: Fill) -> None:
    t = tape(fill)
    t.closes[7] = t.opens[20] = np.nan
    spells = random_spells(own_spells(PATH[t.first :]), "x", 12)
    slow = [slow_value(d, t) for d in spells.dense()]
    assert final_values(spells, t) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("fill", ["next", "close"])
def test_some_shorts_are_wiped_out(fill: Fill) -> None:
    """The price triples in session 22: who is short there has nothing left, the others go on."""
    t = tape(fill)
    t.closes[22:] *= 3
    t.opens[23:] *= 3
    spells = random_spells(own_spells(PATH[t.first :]), "x", 60)
    slow = np.array([slow_value(d, t) for d in spells.dense()])
    assert 2 < np.count_nonzero(slow <= 0.0) < 40
    assert final_values(spells, t) == pytest.approx(slow, rel=1e-9)


def test_by_hand() -> None:
    """Closes 100, 110, 121, 110, no costs, fills at closes. Long, flat, short, then closed:
    110/100 x (2 - 110/121) = 1.1 x 1.090909 = 1.2. With 1 % fee: x 0.99^4."""
    closes = np.array([100.0, 110.0, 121.0, 110.0])
    sides = own_spells(np.array([1, 0, -1, -1], dtype=np.int8))
    free = Tape(closes, closes, np.ones(4), Costs(0.0), "close")
    assert final_values(sides, free) == pytest.approx([1.2])
    dear = Tape(closes, closes, np.ones(4), Costs(100.0), "close")
    assert final_values(sides, dear) == pytest.approx([1.2 * 0.99**4])


def spell_sides(path: np.ndarray) -> list[int]:
    """Sides of the maximal runs."""
    return [int(s) for i, s in enumerate(path) if i == 0 or s != path[i - 1]]


PATHS = st.lists(
    st.tuples(st.sampled_from([-1, 0, 1]), st.integers(1, 6)), min_size=1, max_size=12
).map(lambda runs: np.array([s for s, n in runs for _ in range(n)], dtype=np.int8))


@given(PATHS)
def test_random_timing_is_the_same_trading(path: np.ndarray) -> None:
    """Each side is held as many sessions, and there is one spell more or less at most."""
    own = own_spells(path)
    assert own.dense()[0].tolist() == path.tolist()
    for drawn in random_spells(own, "law", 20).dense():
        assert sorted(drawn.tolist()) == sorted(path.tolist())
        assert abs(len(spell_sides(drawn)) - len(spell_sides(path))) <= 1


def test_turns_are_even() -> None:
    """One long day among 20: each session is drawn about 5 % of the time."""
    path = np.zeros(20, dtype=np.int8)
    path[3] = 1
    share = (random_spells(own_spells(path), "even", 20_000).dense() == 1).mean(axis=0)
    assert share == pytest.approx(0.05, abs=0.006)


def test_lengths_are_shuffled_within_a_side() -> None:
    """Longs of 6 and 2 sessions, shorts of 3 and 5: seen in both orders, never mixed up."""
    path = np.array([1] * 6 + [-1] * 3 + [1] * 2 + [-1] * 5, dtype=np.int8)
    found = {tuple(row) for row in random_spells(own_spells(path), "mix", 200).length.tolist()}
    assert found == {(6, 3, 2, 5), (6, 5, 2, 3), (2, 3, 6, 5), (2, 5, 6, 3)}


def test_perfect_timing_beats_nearly_all_and_the_worst_none() -> None:
    """A price that rises when held and falls when shorted: no other timing of it does better."""
    moves = np.where(PATH > 0, 0.01, np.where(PATH < 0, -0.01, 0.0))
    closes = 100 * np.cumprod(1 + np.append(0.0, moves[:-1]))
    t = Tape(closes, closes, np.ones(N), Costs(1.0), "close")
    best = floor_of([draw_account(PATH, t, "best")])
    worst = floor_of([draw_account(-PATH, t, "best")])
    assert best.better_than_frac is not None
    assert best.better_than_frac > 0.99
    assert worst.better_than_frac is not None
    assert worst.better_than_frac < 0.01


def test_equal_is_not_better() -> None:
    """On a price that never moves all timings with as many trades end alike."""
    flat = np.full(N, 50.0)
    t = Tape(flat, flat, np.ones(N), Costs(0.0), "close")
    got = floor_of([draw_account(PATH, t, "x")])
    assert (got.better_than_frac, got.own_return_frac) == (0.0, 0.0)


def test_an_entry_is_the_mean_of_its_accounts() -> None:
    """Own (1.2 + 1.0) / 2 = 1.1; draws 1.05, 1.1, 1.15, 1.2: one of four below, median 1.125."""
    a = Draws(1.2, np.array([1.1, 1.2, 1.2, 1.3]), None)
    b = Draws(1.0, np.array([1.0, 1.0, 1.1, 1.1]), None)
    got = floor_of([a, b])
    assert (got.better_than_frac, got.n_draws) == (0.25, 4)
    assert (got.own_return_frac, got.median_return_frac) == pytest.approx((0.1, 0.125))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ([0] + [1] * 18, "too_few_observations"), ([0] * 30, "never_traded"),
        ([0] + [1] * 39, "one_position"), ([0] * 5 + [1] * 35, None),
    ],
)  # fmt: skip
def test_reasons(path: list[int], reason: str | None) -> None:
    t = tape()
    n = len(path)
    cut = Tape(t.opens[:n], t.closes[:n], t.days[:n], t.costs, t.fill)
    drawn = draw_account(np.array(path, dtype=np.int8), cut, "r")
    assert drawn.reason == reason
    assert floor_of([drawn]).reason == reason
    assert floor_of([]).reason == "too_few_observations"


def test_an_account_without_timing_stands_still_beside_another() -> None:
    still = Draws(1.0, np.ones(4), "never_traded")
    moving = Draws(1.2, np.array([1.1, 1.2, 1.2, 1.3]), None)
    assert floor_of([still, moving]).better_than_frac == 0.25

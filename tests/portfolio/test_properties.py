"""Laws that hold for any prices, orders and costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError, InvariantError, UnknownNameError
from arena.portfolio import STRATEGIES, Book, Costs, Curves, advance, force_close, simulate

CODES = (-1, 0, 1, 2, 3)
COSTS = (Costs.GROSS, Costs(5), Costs(10, 7, 300), Costs(100, 0, 5_000), Costs(0, 50))


@dataclass(frozen=True)
class Case:
    closes: np.ndarray
    opens: np.ndarray
    intents: np.ndarray
    strategies: list[str]
    costs: list[Costs]
    fill: str
    days: list[int]

    def run(self, capital: float = 1e5, order: list[int] | None = None) -> Curves:
        pick = list(range(len(self.strategies))) if order is None else order
        prices = [p if p.ndim == 1 else p[pick] for p in (self.closes, self.opens)]
        return simulate(
            *prices, self.intents[pick], [self.strategies[i] for i in pick],
            [self.costs[i] for i in pick], capital, self.fill, days=self.days,
        )  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n, length = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    shape = (length,) if draw(st.booleans()) else (n, length)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    step = draw(st.sampled_from([0.01, 0.2, 0.6]))  # the last one bankrupts shorts
    closes = 100 * np.exp(np.cumsum(rng.normal(0, step, shape), axis=-1))
    opens = closes * np.exp(rng.normal(0, step / 2, shape))
    if draw(st.booleans()):
        closes[rng.random(shape) < 0.2] = np.nan
        opens[rng.random(shape) < 0.1] = np.nan
    return Case(
        closes,
        opens,
        rng.choice(CODES, (n, length)).astype(np.int8),
        draw(st.lists(st.sampled_from(list(STRATEGIES)), min_size=n, max_size=n)),
        draw(st.lists(st.sampled_from(COSTS), min_size=n, max_size=n)),
        draw(st.sampled_from(["next", "close"])),
        rng.integers(1, 5, length).tolist(),
    )


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@given(cases())
@settings(max_examples=150, deadline=None)
def test_simulate_is_advance_step_by_step_to_the_last_bit(case: Case) -> None:
    curves = case.run()
    book = Book.open(case.strategies, 1e5, case.costs)
    n, length = case.intents.shape
    for t in range(length):
        if case.fill == "close":
            order, fill = case.intents[:, t], case.closes[..., t]
        else:
            order = case.intents[:, t - 1] if t else np.full(n, 3)
            fill = case.opens[..., t]
        legs = advance(book, order, fill, case.closes[..., t], case.days[t])
        assert same_bits(book.side, curves.side[:, t])
        for name in ("units", "price", "fee"):
            assert same_bits(getattr(legs, name), getattr(curves.legs, name)[:, t])
        if t < length - 1:
            assert same_bits(book.equity(book.mark), curves.balance[:, t])
            assert same_bits(book.cash, curves.cash[:, t])
            assert same_bits(book.units, curves.units[:, t])
    final = force_close(book, book.mark)
    assert curves.final_legs is not None
    assert same_bits(final.units, curves.final_legs.units)
    assert same_bits(book.cash, curves.balance[:, -1])
    assert np.array_equal(book.bankrupt, curves.bankrupt_at >= 0)


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_order_of_accounts_changes_nothing(case: Case, random: object) -> None:
    order = list(range(len(case.strategies)))
    random.shuffle(order)  # type: ignore[attr-defined]
    straight, shuffled = case.run(), case.run(order=order)
    for name in ("balance", "side", "units", "cash", "bankrupt_at", "traded_notional"):
        assert same_bits(getattr(straight, name)[order], getattr(shuffled, name))


@given(cases())
@settings(max_examples=150, deadline=None)
def test_every_change_of_cash_is_a_leg_a_fee_or_a_borrow_fee(case: Case) -> None:
    curves = case.run()
    legs, final = curves.legs, curves.final_legs
    assert final is not None
    flow = -(legs.units * legs.price + legs.fee).sum(axis=2)
    flow[:, -1] -= (final.units * final.price + final.fee).sum(axis=1)
    bought = legs.units.sum(axis=2)
    bought[:, -1] += final.units.sum(axis=1)
    scale = 1e-9 * (1e5 + np.abs(flow).sum())
    mark = np.broadcast_to(carried(case.closes), case.intents.shape)
    held = np.hstack([np.zeros((len(flow), 1)), curves.units[:, :-1]])
    seen = np.hstack([np.ones((len(flow), 1)), mark[:, :-1]])
    rate = np.array([[c.borrow_bps_year / 1e4 / 365] for c in case.costs])
    borrow = np.maximum(-held * seen, 0) * rate * np.array(case.days)
    assert curves.units == pytest.approx(bought.cumsum(axis=1), abs=scale)
    assert curves.cash == pytest.approx(1e5 + (flow - borrow).cumsum(axis=1), abs=scale)
    assert curves.balance == pytest.approx(curves.cash + curves.units * mark, abs=scale)


def carried(prices: np.ndarray) -> np.ndarray:
    """Prices with gaps filled by the last one, and by 1 before the first."""
    filled = np.concatenate([np.ones((*prices.shape[:-1], 1)), prices], axis=-1)
    last = np.maximum.accumulate(
        np.where(np.isnan(filled), 0, np.arange(filled.shape[-1])), axis=-1
    )
    return np.take_along_axis(filled, last, axis=-1)[..., 1:]


@given(cases())
@settings(max_examples=80, deadline=None)
def test_shapes_sides_and_limits(case: Case) -> None:
    curves = case.run()
    for i, name in enumerate(case.strategies):
        if name.endswith("_lo"):
            assert (curves.side[i] >= 0).all()
            assert (curves.units[i] >= 0).all()
    assert (curves.units[:, -1] == 0).all()
    assert (curves.legs.fee >= 0).all()
    assert np.array_equal(np.sign(curves.units[:, :-1]), curves.side[:, :-1])
    assert np.isfinite(curves.balance).all()


@given(cases(), st.sampled_from([0.5, 2.0, 1024.0]))
@settings(max_examples=60, deadline=None)
def test_capital_only_scales(case: Case, factor: float) -> None:
    # A power of two scales every float exactly.
    assert same_bits(case.run(1e5).balance * factor, case.run(1e5 * factor).balance)


@given(cases())
@settings(max_examples=100, deadline=None)
def test_costs_never_help(case: Case) -> None:
    """While gross equity is positive; `pyramid_entry` is left out: costs shrink its tranches, and
    a smaller position can lose less than a larger one without costs."""
    keep = [i for i, s in enumerate(case.strategies) if STRATEGIES[s].kind == "all_in"]
    if not keep:
        return
    free = Case(
        case.closes, case.opens, case.intents, case.strategies,
        [Costs.GROSS] * len(case.costs), case.fill, case.days,
    )  # fmt: skip
    net, gross = case.run(order=keep).balance, free.run(order=keep).balance
    alive = np.logical_and.accumulate(gross > 0, axis=1)
    assert (net[alive] <= gross[alive] * (1 + 1e-9)).all()


def test_buy_and_hold_is_the_price_ratio_less_two_fees(shared_market: object) -> None:
    import pandas as pd

    table = pd.read_csv(f"{shared_market}/csv/TSLA_daily.csv", parse_dates=["date"])
    window = table[table.date.between("2025-08-01", "2025-09-30")]
    closes = window.close.to_numpy()
    curves = simulate(
        closes, None, np.ones((1, len(closes)), dtype=np.int8), ["buy_hold"], Costs(5), 1e5, "close"
    )
    ratio = closes[-1] / closes[0]
    assert curves.balance[0, -1] == pytest.approx(1e5 * ratio * 0.9995**2, rel=1e-12)
    # The paper's Table 1 prints 46.88 %: it starts after the entry fee.
    after_entry = curves.balance[0, -1] / curves.balance[0, 0] - 1
    assert round(after_entry * 100, 2) == 46.88


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"capital": 0.0}, ConfigError, "capital > 0"),
        ({"fill": "open"}, ConfigError, "fill is `open`"),
        ({"intents": [[1, 1]]}, ConfigError, r"prices_close has shape \(3,\)"),
        ({"intents": [1, 1, 1]}, ConfigError, "one row for each strategy"),
        ({"intents": [[1, 7, 1]]}, InvariantError, "no intent code"),
        ({"intents": [[1.0, 0.5, 1.0]]}, InvariantError, "no intent code"),
        ({"prices_close": [100, 0, 90]}, InvariantError, r"prices_close\[1\] is 0.0"),
        ({"prices_open": None, "fill": "next"}, ConfigError, "prices_open is missing"),
        ({"days": [1, 1]}, ConfigError, "one for each of 3"),
        ({"costs": [Costs(5)] * 2}, ConfigError, "1 strategies but 2 costs"),
        ({"strategies": ["basline"]}, UnknownNameError, "`baseline`"),
    ],
)
def test_refusals_say_what_and_why(change: dict[str, object], error: type, words: str) -> None:
    good: dict[str, object] = {
        "prices_close": [100, 110, 90], "prices_open": [100, 100, 100], "intents": [[1, 1, 1]],
        "strategies": ["baseline"], "costs": Costs(5), "capital": 1e5, "fill": "close",
    }  # fmt: skip
    with pytest.raises(error, match=words):
        simulate(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1.0, 1e4, float("nan")])
def test_costs_out_of_range(bad: float) -> None:
    with pytest.raises(ConfigError, match="fee_bps"):
        Costs(bad)


def test_a_book_needs_a_strategy() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        Book.open([], 1e5, Costs(5))

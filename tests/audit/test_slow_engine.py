"""The plain engine: by hand, on the golden vectors, and against the fast one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.audit.slow_engine import replay_account
from arena.core.actions import INTENT_CODE, Intent
from arena.core.errors import UnknownNameError
from arena.portfolio import STRATEGIES, Costs, simulate

B, S, H = Intent.LONG, Intent.SHORT, Intent.HOLD
NAN = math.nan
PRICES = [100, 110, 99, NAN, 108, 120, 90, 95]
INTENTS = [B, H, S, H, S, B, S, H]
GOLDEN = {
    "testbed_normal": "99950.0000 109945.0000 98901.0248 98901.0248 98851.5742 87780.2199 65802.2473 65802.2473",
    "testbed_normal_lo": "99950.0000 109945.0000 98901.0248 98901.0248 98901.0248 98851.5742 74101.6113 74101.6113",
    "close_on_reversal": "99950.0000 109945.0000 98901.0248 98901.0248 98851.5742 87824.1320 87780.2199 82862.0892",
    "flip_on_reversal": "99950.0000 109945.0000 98851.5742 98851.5742 89865.0675 77805.1949 58295.5569 55029.3864",
    "baseline": "99950.0000 109890.0275 109835.0825 109835.0825 99850.0750 86450.2166 64772.8410 61143.7626",
    "baseline_lo": "99950.0000 109890.0275 109890.0275 109890.0275 109890.0275 109835.0825 82335.1237 82335.1237",
    "pyramid_exit": "99950.0250 109945.0250 98934.0332 98934.0332 104913.0422 108911.0422 98901.0497 98901.0497",
    "pyramid_entry": "99983.3417 103315.0083 99633.6832 99633.6832 99617.0859 95910.3531 95894.3761 94102.2818",
    "pyramid_entry_lo": "99983.3417 103315.0083 99633.6832 99633.6832 99633.6832 99617.0859 91305.9824 91305.9824",
}  # fmt: skip
FREE_END = {
    "testbed_normal": 66000.0,
    "close_on_reversal": 83111.1111,
    "flip_on_reversal": 55250.0,
    "baseline": 61388.8889,
    "baseline_lo": 82500.0,
    "pyramid_exit": 99000.0,
    "pyramid_entry": 94197.9881,
}


def balances(strategy: str, intents: list[Intent], closes: list[float], **kw: object) -> list[float]:
    return [r.balance for r in replay_account(strategy, intents, closes, closes, **kw)]  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", GOLDEN)
def test_golden_vectors_with_fee(strategy: str) -> None:
    want = [float(x) for x in GOLDEN[strategy].split()]
    assert balances(strategy, INTENTS, PRICES, fee_bps=5) == pytest.approx(want, abs=5.1e-5)


@pytest.mark.parametrize("strategy", FREE_END)
def test_golden_ends_without_fee(strategy: str) -> None:
    assert balances(strategy, INTENTS, PRICES)[-1] == pytest.approx(FREE_END[strategy], abs=5.1e-5)


@pytest.mark.parametrize(
    ("strategy", "want"),
    [
        ("pyramid_entry", "99983.3417 100632.6835 101949.0423 99009.2048 97000.8058 96968.4884"),
        ("pyramid_exit", "99950.0250 101949.0250 103948.0250 100949.5250 98934.0332 97569.0494"),
    ],
)
def test_golden_adds_and_sheds(strategy: str, want: str) -> None:
    got = balances(strategy, [B, B, B, H, S, S], [100, 102, 104, 101, 99, 97], fee_bps=5)
    assert got == pytest.approx([float(x) for x in want.split()], abs=5.1e-5)


def test_a_short_that_loses_more_than_it_has_stops_there() -> None:
    # Short 1,000 at 100 (cash 200,000); at 210: 200,000 - 210,000 = -10,000. Nothing after that.
    rows = replay_account("baseline", [S, S, S], [100, 210, 150], [100, 210, 150])
    assert [r.balance for r in rows] == [100_000, -10_000, -10_000]
    assert [r.side for r in rows] == [-1, 0, 0]


def test_next_fills_at_the_following_open() -> None:
    # Row 1 is V_0. Bought at 50: 2,000 units, marked at 60 = 120,000. The SELL of row 2 fills at 61:
    # 122,000 short at 61 = 2,000 units, marked at 55: 244,000 - 110,000 = 134,000.
    rows = replay_account(
        "baseline", [B, S, B], [48, 50, 61], [49, 60, 55], fill="next", force_close=False
    )
    assert [r.balance for r in rows] == [100_000, 120_000, 134_000]
    assert [r.units for r in rows] == [0, 2_000, -2_000]


def test_slippage_moves_the_fill_against_the_account() -> None:
    # 1 %: bought at 101, 100,000/101 units; marked at 100 = 99,009.90; sold at 99 = 98,019.80.
    rows = replay_account("baseline", [B], [100], [100], slippage_bps=100, force_close=False)
    assert rows[0].balance == pytest.approx(100_000 * 100 / 101)
    rows = replay_account("baseline", [B], [100], [100], slippage_bps=100)
    assert rows[0].balance == pytest.approx(100_000 * 99 / 101)


def test_borrow_is_paid_on_the_previous_mark_for_the_days_between() -> None:
    # Short 1,000 at 100. Entry day: nothing. Three days at 3,650 bp: 100,000 x 0.365 x 3/365 = 300.
    rows = replay_account(
        "flip_on_reversal", [S, H], [100, 100], [100, 100],
        borrow_bps_year=3650, days=[1, 3], force_close=False,
    )  # fmt: skip
    assert [r.balance for r in rows] == pytest.approx([100_000, 99_700])


def test_flat_and_keep_mean_the_same_everywhere() -> None:
    # Long 1,000 at 100, kept at 110 (110,000), closed at 120 (120,000), out at 90.
    intents = [B, Intent.KEEP, Intent.FLAT, Intent.KEEP]
    for strategy in set(STRATEGIES) - {"pyramid_entry", "pyramid_entry_lo"}:
        got = balances(strategy, intents, [100, 110, 120, 90])
        assert got == pytest.approx([100_000, 110_000, 120_000, 120_000]), strategy


def test_the_last_row_says_the_side_before_the_forced_close() -> None:
    rows = replay_account("baseline", [B, B], [100, 110], [100, 110], fee_bps=5)
    assert (rows[-1].side, rows[-1].units) == (1, 0)
    assert rows[-1].cash == rows[-1].balance == pytest.approx(99_950 * 1.1 * 0.9995)


def test_unknown_strategy_is_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean `baseline`"):
        replay_account("basline", [B], [1], [1])


def price_paths(n: int) -> st.SearchStrategy[list[float]]:
    steps = st.lists(st.floats(0.45, 2.2, allow_nan=False), min_size=n, max_size=n)
    return steps.map(lambda s: [float(x) for x in 100.0 * np.cumprod(s)])


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, object]:
    n = draw(st.integers(1, 14))
    closes = draw(price_paths(n))
    opens = [c * draw(st.floats(0.7, 1.4)) for c in closes]
    if draw(st.booleans()):
        for i in draw(st.sets(st.integers(0, n - 1), max_size=2)):
            closes[i] = opens[i] = NAN
    return {
        "intents": draw(st.lists(st.sampled_from(list(Intent)), min_size=n, max_size=n)),
        "opens": opens,
        "closes": closes,
        "fill": draw(st.sampled_from(["close", "next"])),
        "fee_bps": draw(st.sampled_from([0.0, 5.0, 10.0, 250.0])),
        "slippage_bps": draw(st.sampled_from([0.0, 2.0, 100.0])),
        "borrow_bps_year": draw(st.sampled_from([0.0, 300.0, 20_000.0])),
        "force_close": draw(st.booleans()),
        "days": draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)),
    }


@settings(max_examples=300)
@given(worlds())
def test_fast_engine_agrees_on_every_strategy(world: dict[str, object]) -> None:
    """Balance, side, units and cash to 1e-9 of the capital that is in play."""
    w = dict(world)
    intents, opens, closes = w.pop("intents"), w.pop("opens"), w.pop("closes")
    names = sorted(STRATEGIES)
    codes = np.array([[INTENT_CODE[i] for i in intents]] * len(names), dtype=np.int8)  # type: ignore[union-attr]
    costs = Costs(w["fee_bps"], w["slippage_bps"], w["borrow_bps_year"])  # type: ignore[arg-type]
    fast = simulate(
        np.array(closes), np.array(opens), codes, names, costs, 100_000.0,
        w["fill"], force_close=w["force_close"], days=w["days"],
    )  # type: ignore[arg-type] # fmt: skip
    for a, name in enumerate(names):
        rows = replay_account(name, intents, opens, closes, capital=100_000.0, **w)  # type: ignore[arg-type]
        scale = max(100_000.0, *(abs(r.cash) for r in rows))
        for what in ("balance", "units", "cash"):
            want = np.array([getattr(r, what) for r in rows])
            got = getattr(fast, what)[a]
            assert got == pytest.approx(want, rel=1e-9, abs=1e-9 * scale), (name, what)
        assert fast.side[a].tolist() == [r.side for r in rows], name

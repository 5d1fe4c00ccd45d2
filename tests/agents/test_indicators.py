"""Indicators: worked by hand, against a second implementation in plain Python, and at their edges."""

from __future__ import annotations

import math
import statistics as st
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import talib
from hypothesis import given, settings
from hypothesis import strategies as hs

from arena.agents import indicators as ind
from arena.agents.indicators import Measure, Series, series_of
from arena.core.errors import DataError
from arena.core.types import Bar

Prices = Sequence[float]


def series(
    closes: Prices, volumes: Prices | None = None, highs: Prices | None = None,
    lows: Prices | None = None,
) -> Series:  # fmt: skip
    c = np.array(closes, dtype=np.float64)
    return Series(
        c, np.array(c if highs is None else highs, dtype=np.float64),
        np.array(c if lows is None else lows, dtype=np.float64), c,
        None if volumes is None else np.array(volumes, dtype=np.float64),
    )  # fmt: skip


def walk(n: int, seed: int = 7, scale: float = 100.0) -> Series:
    """A random walk of 2 % a session with a range around each close and lognormal volumes."""
    rng = np.random.default_rng(seed)
    closes = scale * np.exp(np.cumsum(rng.normal(0.0, 0.02, n)))
    up, down = rng.uniform(0.0, 0.02, (2, n))
    volumes = 1e6 * np.exp(rng.normal(0.0, 0.5, n))
    return Series(closes, closes * (1 + up), closes * (1 - down), closes, volumes)


ALL: dict[str, Callable[[Series], Measure]] = {
    "ema": lambda s: ind.ema(s, 8),
    "sma": lambda s: ind.sma(s, 20),
    "macd_line": lambda s: ind.macd(s)[0],
    "macd_signal": lambda s: ind.macd(s)[1],
    "macd_histogram": lambda s: ind.macd(s)[2],
    "rsi": ind.rsi,
    "bollinger_pct_b": ind.bollinger_pct_b,
    "atr": ind.atr,
    "vwma": ind.vwma,
    "adx": ind.adx,
    "z_score": ind.z_score,
    "momentum_sum": lambda s: ind.momentum_sum(s, 21),
    "momentum_blend": ind.momentum_blend,
    "volume_ratio": ind.volume_ratio,
    "price_volume_corr": ind.price_volume_corr,
    "vol_regime": ind.vol_regime,
    "vol_regime_z": ind.vol_regime_z,
    "skew": ind.skew,
    "kurt": ind.kurt,
    "hurst": ind.hurst,
    "annual_vol": lambda s: ind.annual_vol(s, 252),
    "drawdown_frac": ind.drawdown_frac,
    "pct_from_low": ind.pct_from_low,
    "support": lambda s: ind.support_resistance(s)[0],
    "resistance": lambda s: ind.support_resistance(s)[1],
}
OF_VOLUME = ("vwma", "volume_ratio", "price_volume_corr")
IN_PRICE = ("ema", "sma", "macd_line", "macd_signal", "macd_histogram", "atr", "vwma")

NEEDED = {
    "ema": 24, "sma": 20, "macd_line": 78, "macd_signal": 78, "macd_histogram": 78, "rsi": 15,
    "bollinger_pct_b": 20, "atr": 15, "vwma": 20, "adx": 28, "z_score": 50, "momentum_sum": 22,
    "momentum_blend": 127, "volume_ratio": 21, "price_volume_corr": 20, "vol_regime": 84,
    "vol_regime_z": 84, "skew": 64, "kurt": 64, "hurst": 60, "annual_vol": 21, "drawdown_frac": 1,
    "pct_from_low": 1, "support": 11, "resistance": 11,
}  # fmt: skip


# --- by hand


def test_means_by_hand() -> None:
    s = series([1, 2, 3, 4, 5, 9], volumes=[1, 1, 1, 1, 1, 3])
    assert ind.sma(s, 3).value == pytest.approx(6.0)  # (4 + 5 + 9) / 3
    # n = 2: seed 1.5, weight 2/3: 2.5, 3.5, 4.5, then 4.5 + 2/3 (9 - 4.5) = 7.5
    assert ind.ema(s, 2).value == pytest.approx(7.5)
    assert ind.vwma(s, 3).value == pytest.approx(7.2)  # (4 + 5 + 27) / 5
    assert ind.volume_ratio(s, 3).value == pytest.approx(1.8)  # 3 / (5/3)


def test_rsi_by_hand() -> None:
    # n = 2: changes +2, -1, +1. Seed: gain 1, loss .5; then gain (1+1)/2 = 1, loss .5/2 = .25
    assert ind.rsi(series([10, 12, 11, 12]), 2).value == pytest.approx(80.0)  # 100 * 1 / 1.25


def test_atr_by_hand() -> None:
    # n = 2, true ranges of rows 1..3: 2, 3, 4 -> seed (2 + 3)/2 = 2.5, then (2.5 + 4)/2 = 3.25
    s = series([10, 11, 12, 12], highs=[10, 12, 13, 14], lows=[10, 10, 10, 10])
    assert ind.atr(s, 2).value == pytest.approx(3.25)


def test_bands_and_z_by_hand() -> None:
    # 1 2 3 4 5: mean 3, population sd sqrt 2, sample sd sqrt 2.5
    s = series([1, 2, 3, 4, 5])
    assert ind.bollinger_pct_b(s, 5).value == pytest.approx(0.5 + 2 / (4 * math.sqrt(2)))
    assert ind.z_score(s, 5).value == pytest.approx(2 / math.sqrt(2.5))


def test_momentum_is_a_sum_of_daily_returns() -> None:
    # +10 % and -10 % sum to 0, though the price fell by 1 %
    assert ind.momentum_sum(series([100, 110, 99]), 2).value == pytest.approx(0.0, abs=1e-12)
    # 1 % a day in the last 21 sessions, none before: .4 x .21 + .3 x .21 + .3 x .21
    closes = [100.0] * 106 + [100.0 * 1.01**k for k in range(1, 22)]
    assert ind.momentum_blend(series(closes)).value == pytest.approx(0.21)
    # the same 21 sessions a while ago: only the two longer sums see them
    assert ind.momentum_blend(series(closes + [closes[-1]] * 30)).value == pytest.approx(0.126)


def test_regime_by_hand() -> None:
    # quiet +-1 % for long, then +-3 % for the last 21 returns: the last deviation is three times
    # the first, and the highest of the 63
    returns = [0.01 * (-1) ** k for k in range(63)] + [0.03 * (-1) ** k for k in range(21)]
    s = series(100.0 * np.cumprod([1.0, *np.add(returns, 1.0)]))
    quiet = st.stdev([0.01 * (-1) ** k for k in range(21)])
    regime, z = ind.vol_regime(s), ind.vol_regime_z(s)
    assert regime.value is not None
    assert z.value is not None
    mean = st.fmean(st.stdev(returns[i - 20 : i + 1]) for i in range(21, 84))
    assert regime.value == pytest.approx(3 * quiet / mean)
    assert regime.value > 1.2
    assert z.value > 1.0


def test_drawdown_and_low_by_hand() -> None:
    s = series([100, 120, 80, 90])
    assert ind.drawdown_frac(s).value == pytest.approx(-0.25)  # 90 / 120 - 1
    assert ind.pct_from_low(s).value == pytest.approx(12.5)  # 90 / 80 - 1


def test_support_and_resistance_by_hand() -> None:
    closes = [100, 98, 96, 94, 92, 90, 93, 96, 99, 102, 105, 110, 107, 105, 103, 101, 100]
    # Rows 5 to 11 have five on both sides. Higher before / after: 90 5/5, 93 3/5, 96 0/5: supports
    # 90 and 93. Lower before / after: 102 5/1, 105 5/2, 110 5/5: resistances 105 and 110.
    support, resistance = ind.support_resistance(series(closes))
    assert (support.value, resistance.value) == (pytest.approx(7.0), pytest.approx(5.0))
    # turned upside down around 100 the two change places
    turned = ind.support_resistance(series([200 - c for c in closes]))
    assert (turned[0].value, turned[1].value) == (pytest.approx(5.0), pytest.approx(7.0))
    # a straight rise leaves no swing behind
    rise = ind.support_resistance(series(range(1, 30)))
    assert [m.value for m in rise] == [None, None]


def test_moments_by_hand() -> None:
    # returns -1, -1, 2 (in units): m2 = 2, m3 = 2, g1 = 2 / 2^1.5 = .7071, G1 = g1 sqrt(6)/1
    closes = np.cumprod([100.0, 0.99, 0.99, 1.02])
    assert ind.skew(series(closes), 3).value == pytest.approx(math.sqrt(3.0))
    assert ind.skew(series(1 / closes), 3).value == pytest.approx(-math.sqrt(3.0), abs=0.01)


def test_correlation_by_hand() -> None:
    closes = [float(i) for i in range(1, 21)]
    assert ind.price_volume_corr(series(closes, closes)).value == pytest.approx(1.0)
    assert ind.price_volume_corr(series(closes, closes[::-1])).value == pytest.approx(-1.0)


# --- Hurst


def _mean_hurst(make: Callable[[np.random.Generator], np.ndarray], n: int = 60) -> float:
    rng = np.random.default_rng(3)
    found = [ind.hurst(series(100.0 * np.exp(make(rng)))).value for _ in range(n)]
    return float(np.mean([f for f in found if f is not None]))


def _ar1(rng: np.random.Generator, of_past: float) -> np.ndarray:
    x = np.zeros(1000)
    for t, shock in enumerate(rng.normal(0.0, 0.01, 999), start=1):
        x[t] = of_past * x[t - 1] + shock
    return x


def test_hurst_of_a_random_walk_is_a_half() -> None:
    year = _mean_hurst(lambda g: np.cumsum(g.normal(0.0, 0.02, 260)))
    long = _mean_hurst(lambda g: np.cumsum(g.normal(0.0, 0.02, 5000)), 20)
    assert year == pytest.approx(0.5, abs=0.05)
    assert long == pytest.approx(0.5, abs=0.02)


def test_hurst_tells_persistence_from_reversion() -> None:
    # returns that continue the one before; and a level that is pulled back by 60 % a session
    assert _mean_hurst(lambda g: np.cumsum(_ar1(g, 0.8)), 20) > 0.65
    assert _mean_hurst(lambda g: _ar1(g, 0.4), 20) < 0.2


# --- a second implementation, in plain Python


def plain_ema(x: Prices, n: int, start: int = 0) -> list[float]:
    out = [st.fmean(x[start : start + n])]
    for value in x[start + n :]:
        out.append(out[-1] + 2.0 / (n + 1) * (value - out[-1]))
    return out


def plain_macd(x: Prices) -> tuple[float, float]:
    slow = plain_ema(x, 26)
    fast = plain_ema(x, 12, 26 - 12)  # TA-Lib seeds both where the slow one can start
    line = [f - s for f, s in zip(fast, slow, strict=True)]
    return line[-1], plain_ema(line, 9)[-1]


def wilder(x: Prices, n: int) -> float:
    mean = st.fmean(x[:n])
    for value in x[n:]:
        mean = (mean * (n - 1) + value) / n
    return mean


def changes(x: Prices) -> list[float]:
    return [b - a for a, b in pairwise(x)]


def plain_rsi(x: Prices, n: int) -> float:
    gain = wilder([max(d, 0.0) for d in changes(x)], n)
    loss = wilder([max(-d, 0.0) for d in changes(x)], n)
    return 100.0 * gain / (gain + loss)


def true_ranges(h: Prices, lo: Prices, c: Prices) -> list[float]:
    return [
        max(h[i] - lo[i], abs(h[i] - c[i - 1]), abs(lo[i] - c[i - 1])) for i in range(1, len(c))
    ]


def plain_adx(h: Prices, lo: Prices, c: Prices, n: int) -> float:
    """Wilder: sums of n - 1 movements as a start, each later one decayed by 1/n; then a mean of DX."""
    ups, downs = [], []
    for up, down in zip(changes(h), [-d for d in changes(lo)], strict=True):
        ups.append(up if up > down and up > 0 else 0.0)
        downs.append(down if down > up and down > 0 else 0.0)
    ranges = true_ranges(h, lo, c)
    p, m, t = (sum(x[: n - 1]) for x in (ups, downs, ranges))
    dx = []
    for i in range(n - 1, len(ranges)):
        p, m, t = p - p / n + ups[i], m - m / n + downs[i], t - t / n + ranges[i]
        dx.append(100.0 * abs(p - m) / (p + m))
    return wilder(dx, n)


def plain_hurst(x: Prices) -> float:
    logs = [math.log(v) for v in x]
    lags = range(2, 20)
    ys = [math.log(st.pstdev([b - a for a, b in zip(logs, logs[k:], strict=False)])) for k in lags]
    return st.linear_regression([math.log(k) for k in lags], ys).slope


def plain_swings(x: Prices) -> tuple[float | None, float | None]:
    below, above = [], []
    for i in range(5, len(x) - 5):
        sides = (x[i - 5 : i], x[i + 1 : i + 6])
        if all(sum(v > x[i] for v in side) >= 2 for side in sides) and x[i] < x[-1]:
            below.append((1 - x[i] / x[-1]) * 100)
        if all(sum(v < x[i] for v in side) >= 2 for side in sides) and x[i] > x[-1]:
            above.append((x[i] / x[-1] - 1) * 100)
    return min(below, default=None), min(above, default=None)


@pytest.mark.parametrize("seed", range(5))
def test_against_plain_python(seed: int) -> None:
    s = walk(260, seed)
    h, lo, c = s.highs.tolist(), s.lows.tolist(), s.closes.tolist()
    assert s.volumes is not None
    v = s.volumes.tolist()
    r = [b / a - 1 for a, b in pairwise(c)]
    line, signal = plain_macd(c)
    mean20, sd20 = st.fmean(c[-20:]), st.pstdev(c[-20:])
    lower, upper = mean20 - 2 * sd20, mean20 + 2 * sd20
    deviations = [st.stdev(r[i - 20 : i + 1]) for i in range(len(r) - 63, len(r))]
    support, resistance = plain_swings(c)
    expected = {
        "ema": plain_ema(c, 8)[-1],
        "sma": mean20,
        "macd_line": line,
        "macd_signal": signal,
        "macd_histogram": line - signal,
        "rsi": plain_rsi(c, 14),
        "bollinger_pct_b": (c[-1] - lower) / (upper - lower),
        "atr": wilder(true_ranges(h, lo, c), 14),
        "vwma": sum(a * b for a, b in zip(c[-20:], v[-20:], strict=True)) / sum(v[-20:]),
        "adx": plain_adx(h, lo, c, 14),
        "z_score": (c[-1] - st.fmean(c[-50:])) / st.stdev(c[-50:]),
        "momentum_sum": sum(r[-21:]),
        "momentum_blend": 0.4 * sum(r[-21:]) + 0.3 * sum(r[-63:]) + 0.3 * sum(r[-126:]),
        "volume_ratio": v[-1] / st.fmean(v[-21:]),
        "price_volume_corr": st.correlation(c[-20:], v[-20:]),
        "vol_regime": deviations[-1] / st.fmean(deviations),
        "vol_regime_z": (deviations[-1] - st.fmean(deviations)) / st.stdev(deviations),
        "skew": float(pd.Series(r[-63:]).skew()),
        "kurt": float(pd.Series(r[-63:]).kurt()),
        "hurst": plain_hurst(c),
        "annual_vol": st.stdev(r[-60:]) * math.sqrt(252),
        "drawdown_frac": c[-1] / max(c) - 1,
        "pct_from_low": (c[-1] / min(c) - 1) * 100,
        "support": support,
        "resistance": resistance,
    }
    assert expected.keys() == ALL.keys()
    for name, value in expected.items():
        found = ALL[name](s).value
        assert (found is None) == (value is None), name
        assert value is None or found == pytest.approx(value, rel=1e-9, abs=1e-12), name


def test_bands_are_those_of_talib() -> None:
    s = walk(260)
    upper, _, lower = (b[-1] for b in talib.BBANDS(s.closes, 20, 2.0, 2.0))
    assert ind.bollinger_pct_b(s).value == pytest.approx((s.closes[-1] - lower) / (upper - lower))


# --- edges


@pytest.mark.parametrize("name", ALL)
def test_one_row_short_is_none_and_says_how_much_is_needed(name: str) -> None:
    needed = NEEDED[name]
    enough = ALL[name](walk(needed))
    assert enough.n_needed == needed
    assert enough.n_used == needed
    if name not in ("support", "resistance"):  # a short history may leave no level behind
        assert enough.value is not None
    if needed > 1:
        short = ALL[name](walk(needed - 1))
        assert (short.value, short.n_used, short.n_needed) == (None, needed - 1, needed)


FLAT = {
    "ema": 50.0, "sma": 50.0, "macd_line": 0.0, "macd_signal": 0.0, "macd_histogram": 0.0,
    "rsi": 50.0, "bollinger_pct_b": 0.5, "atr": 0.0, "vwma": 50.0, "adx": 0.0, "z_score": 0.0,
    "momentum_sum": 0.0, "momentum_blend": 0.0, "volume_ratio": 1.0, "price_volume_corr": None,
    "vol_regime": None, "vol_regime_z": None, "skew": None, "kurt": None, "hurst": None,
    "annual_vol": 0.0, "drawdown_frac": 0.0, "pct_from_low": 0.0, "support": None,
    "resistance": None,
}  # fmt: skip


def test_flat_series() -> None:
    s = series([50.0] * 260, [1e6] * 260)
    assert {name: measure(s).value for name, measure in ALL.items()} == FLAT


def test_even_growth_has_no_moments_of_its_rounding() -> None:
    s = series([100.0 * 1.01**k for k in range(260)])
    for name in ("vol_regime", "vol_regime_z", "skew", "kurt", "hurst"):
        assert ALL[name](s).value is None
    # TA-Lib: with rises only the index is at its top
    assert ind.rsi(s).value == pytest.approx(100.0)
    assert ind.adx(s).value == pytest.approx(100.0)


@pytest.mark.parametrize("name", OF_VOLUME)
def test_missing_volume_is_none_and_no_other_measure_needs_one(name: str) -> None:
    s = walk(260)
    assert s.volumes is not None
    holed = s.volumes.copy()
    holed[-3] = np.nan
    columns = (s.opens, s.highs, s.lows, s.closes)
    assert ALL[name](Series(*columns, None)).value is None
    assert ALL[name](Series(*columns, holed)).value is None
    assert ALL[name](Series(*columns, np.zeros(260))).value is None
    early = s.volumes.copy()
    early[0] = np.nan
    assert ALL[name](Series(*columns, early)).value == ALL[name](s).value
    for other in ALL.keys() - set(OF_VOLUME):
        assert ALL[other](Series(*columns, None)) == ALL[other](s)


@settings(max_examples=60)
@given(
    hs.lists(hs.floats(-0.3, 0.3) | hs.just(0.0), min_size=0, max_size=150),
    hs.floats(1e-9, 1e6),
)  # fmt: skip
def test_never_nan_and_within_bounds(returns: list[float], scale: float) -> None:
    closes = scale * np.cumprod([1.0, *np.add(returns, 1.0)])
    s = series(closes, np.arange(1.0, len(closes) + 1))
    found = {name: measure(s) for name, measure in ALL.items()}
    for m in found.values():
        assert m.value is None or math.isfinite(m.value)
        assert m.n_used >= m.n_needed or m.value is None
    for name in ("rsi", "adx"):
        value = found[name].value
        assert value is None or -1e-9 <= value <= 100 + 1e-9
    assert (found["drawdown_frac"].value or 0.0) <= 0.0 <= (found["pct_from_low"].value or 0.0)


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1e5])
def test_unit_of_price_does_not_matter(scale: float) -> None:
    base, scaled = walk(260), walk(260, scale=100.0 * scale)
    for name, measure in ALL.items():
        expected = measure(base).value
        assert expected is not None
        unit = scale if name in IN_PRICE else 1.0
        assert measure(scaled).value == pytest.approx(expected * unit, rel=1e-6), name


def bars(closes: Prices, volumes: Sequence[float | None]) -> tuple[Bar, ...]:
    days = [datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=i) for i in range(len(closes))]
    rows = zip(days, closes, volumes, strict=True)
    return tuple(Bar(d.date(), c, c + 2, c - 1, c, v, d + timedelta(days=1)) for d, c, v in rows)


def test_series_of_bars() -> None:
    s = series_of(bars([10.0, 11.0], [5.0, None]))
    assert s.highs.tolist() == [12.0, 13.0]
    assert s.lows.tolist() == [9.0, 10.0]
    assert s.opens.tolist() == s.closes.tolist() == [10.0, 11.0]
    assert s.volumes is not None
    assert s.volumes[0] == 5.0
    assert math.isnan(s.volumes[1])
    assert series_of(bars([10.0], [None])).volumes is None
    assert all(c.flags.c_contiguous and c.dtype == np.float64 for c in (s.closes, s.highs))


def test_price_that_is_none_is_refused_with_its_place() -> None:
    # the low of the second bar is 1 - 1 = 0
    with pytest.raises(DataError, match=r"low of 2025-01-02 is 0\.0"):
        series_of(bars([10.0, 1.0], [1.0, 1.0]))

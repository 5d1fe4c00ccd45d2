"""The four desks that ask no model, and the risk limits, on figures worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from arena.agents.fundamentals import Fundamentals, Period
from arena.agents.hedge.company import Company, News
from arena.agents.hedge.quants import valuation as v
from arena.agents.hedge.quants.fundamental import fundamental
from arena.agents.hedge.quants.reading import Reading
from arena.agents.hedge.quants.sentiment import sentiment
from arena.agents.hedge.quants.technical import technical
from arena.agents.hedge.risk_limits import risk_limits, stake_limit_frac
from arena.agents.indicators import Series, series_of
from arena.core.types import Bar
from tests.agents.made_company import NOTHING, company, table


def leans(reading: Reading) -> dict[str, float | None]:
    return {vote.name: vote.lean for vote in reading.votes}


def series(closes: list[float], volumes: list[float | None]) -> Series:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return series_of(
        [
            Bar((start + timedelta(days=i)).date(), c, c, c, c, vol, start + timedelta(days=i + 1))
            for i, (c, vol) in enumerate(zip(closes, volumes, strict=True))
        ]
    )


BUSY: list[float | None] = [1.0] * 259 + [2.0]


@pytest.mark.parametrize(("step", "side"), [(1.01, 1.0), (1 / 1.01, -1.0)])
def test_technical_on_an_even_trend(step: float, side: float) -> None:
    reading = technical(series([100.0 * step**i for i in range(260)], BUSY))
    # the returns never differ: neither volatility nor statistics are defined
    assert leans(reading) == {
        "trend": side, "mean reversion": 0.0, "momentum": side, "volatility": None,
        "statistics": None,
    }  # fmt: skip
    # every move in one direction: ADX 100; blend .4 x 21 % + .3 x 63 % + .3 x 126 % = 65 %, x 5 > 1
    assert [x.confidence for x in reading.votes[:3]] == [1.0, 0.5, 1.0]
    # (.25 + .25) / (.25 + .20 x .5 + .25)
    assert reading.score == pytest.approx(side * 0.5 / 0.6, abs=1e-6)
    assert reading.signal == ("bullish" if side > 0 else "bearish")
    assert reading.confidence == abs(reading.score or 0)


def test_usual_volume_takes_momentum_its_side() -> None:
    even: list[float | None] = [1.0] * 260
    reading = technical(series([100.0 * 1.01**i for i in range(260)], even))
    # volume is exactly its mean: .25 / (.25 + .10 + .25 x .5)
    assert reading.score == pytest.approx(0.25 / 0.475, abs=1e-6)
    none: list[float | None] = [None] * 260
    silent = technical(series([100.0 * 1.01**i for i in range(260)], none))
    assert leans(silent)["momentum"] is None
    # trend alone with the neutral vote: .25 / (.25 + .10)
    assert silent.score == pytest.approx(0.25 / 0.35, abs=1e-6)


def test_a_crash_calls_for_the_way_back_and_for_stress() -> None:
    rng = np.random.default_rng(5)
    calm = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.005, 255)))
    reading = technical(series([*calm, *(calm[-1] * f for f in (0.95, 0.9, 0.8, 0.7, 0.6))], BUSY))
    assert (leans(reading)["mean reversion"], leans(reading)["volatility"]) == (1.0, -1.0)
    assert (leans(reading)["momentum"], leans(reading)["trend"]) == (-1.0, -1.0)


def test_too_little_history_abstains() -> None:
    nothing = technical(series([100.0, 101.0, 99.0], [1.0, 1.0, 1.0]))
    assert (nothing.score, nothing.signal, nothing.confidence) == (None, None, 0.0)
    assert set(leans(nothing).values()) == {None}
    # 60 sessions: z and %B are known, and so is Hurst but not the skew of 63 returns
    some = technical(series([100.0 + (i * 7) % 13 for i in range(60)], BUSY[:60]))
    assert [n for n, lean in leans(some).items() if lean is None] == [
        "trend", "momentum", "volatility", "statistics",
    ]  # fmt: skip


def test_statistics_vote_needs_reversion_and_skew() -> None:
    # rare jumps that wear off: the level reverts, the returns are skewed to the jumps
    rng = np.random.default_rng(1)
    above = [0.0]
    for jump in rng.random(259) < 0.1:
        above.append(0.6 * above[-1] + (8.0 if jump else 0.0) + float(rng.normal(0.0, 0.1)))
    up = technical(series([100.0 + x for x in above], BUSY))
    down = technical(series([100.0 - x for x in above], BUSY))
    assert (leans(up)["statistics"], leans(down)["statistics"]) == (1.0, -1.0)
    walk = technical(
        series([100.0 * math.exp(x) for x in np.cumsum(rng.normal(0, 0.01, 260))], BUSY)
    )
    assert leans(walk)["statistics"] == 0.0


def test_fundamental_votes_by_hand() -> None:
    # ROE .20 > .15, net margin .20 is not over .20, operating .25 > .15: two of three
    # revenue +11.1, income +17.6, equity +13.6 %; 2.5, .1, FCF 200 > .8 x 200; P/E 5, P/B 1, P/S 1
    reading = fundamental(company())
    assert set(leans(reading).values()) == {1.0}
    assert (reading.score, reading.signal, reading.confidence) == (1.0, "bullish", 1.0)
    # cap 6000: P/E 30, P/B 6, P/S 6 are all dear: (3 - 1) / 4
    dear = fundamental(company(price=60.0))
    assert leans(dear)["price"] == -1.0
    assert (dear.score, dear.signal, dear.confidence) == (0.5, "bullish", 0.75)


def test_a_loss_is_dear_and_what_is_unknown_fails_no_test() -> None:
    loss = fundamental(company(table(FY2024={"net_income": -50.0, "equity": -10.0})))
    # P/E and P/B dear, P/S 1 not: two of three
    assert leans(loss)["price"] == -1.0
    few = {"FY2024": {"revenue": 100.0, "shares": 10.0, "current_assets": 1.0}}
    reading = fundamental(company(few))
    assert (reading.score, reading.signal) == (None, None)
    assert set(leans(reading).values()) == {None}


def test_even_votes_are_neutral() -> None:
    # without balance and growth: profitability good (ROE unknown, .2 and .25), price dear
    row = {"revenue": 100.0, "net_income": 30.0, "operating_income": 25.0, "shares": 10.0}
    reading = fundamental(company({"FY2024": row}, price=100.0))
    assert leans(reading) == {"profitability": 1.0, "growth": None, "health": None, "price": -1.0}
    assert (reading.score, reading.signal, reading.confidence) == (0.0, "neutral", 0.0)


def test_sentiment_by_hand() -> None:
    # insiders 2 x .75 - 1 = .5; .3 x .5 + .7 x .2 = .29
    both = sentiment(0.75, News(0.2, 4, 0))
    assert (both.score, both.signal, both.confidence) == (0.29, "bullish", 0.29)
    assert sentiment(0.75, None).score == 0.5
    assert sentiment(None, News(-0.4, 2, 1)).signal == "bearish"
    assert sentiment(None, None).score is None
    # strong words against strong hands: .3 x 1 - .7 x .4 = .02
    assert sentiment(1.0, News(-0.4, 2, 1)).signal == "neutral"


def flat_company(price: float = 10.0, **changes: float) -> Company:
    """Three equal years: no growth anywhere, free cash flow 100, 100 shares, no debt."""
    row = {
        "revenue": 1000.0, "net_income": 100.0, "d_and_a": 40.0, "capex": 40.0,
        "operating_cash_flow": 140.0, "operating_income": 120.0, "shares": 100.0, "equity": 800.0,
        "current_assets": 300.0, "current_liabilities": 200.0, "debt": 0.0, "cash": 0.0,
        "market_cap": 1600.0, **changes,
    }  # fmt: skip
    years = tuple(Period(f"FY{y}", ebitda=160.0, **row) for y in (2024, 2023, 2022))
    return Company(Fundamentals(years, Period("now", ebitda=160.0, **row)), price)


def test_valuation_models_by_hand() -> None:
    c = flat_company()
    # 100 + 40 - 40 - 0 for ever at 15 %: 666.67, x .75
    assert v.owner_earnings(c) == pytest.approx(500.0)
    # median multiple 1600 / 160 = 10, on 160, no net debt
    assert v.ebitda_multiple(c) == pytest.approx(1600.0)
    # excess 100 - 80 = 20, growth 0: five years, then 3 % for ever at 10 %:
    # 20 x 3.790787 + 20 x 1.03 / .07 / 1.1^5 = 75.8157 + 182.7292; x .8 + 800
    assert v.residual_income(c) == pytest.approx(800 + 0.8 * (75.81574 + 182.72925), abs=1e-3)
    # no debt: cost of equity 4.5 % + 6 %
    assert v.cost_of_capital(c) == pytest.approx(0.105)


def test_cost_of_capital_by_hand() -> None:
    # equity .045 + 1.1 x .06 = .111; cover 25 gives .4 points, so 1: .055 x .75 = .04125
    # (1000 x .111 + 100 x .04125) / 1100
    assert v.cost_of_capital(company()) == pytest.approx(115.125 / 1100)
    # cover .1 would be 100 points of spread: held at 12 % in all; 9 % after tax
    c = company(table(FY2024={"interest_expense": 2500.0, "debt": 1e9}))
    assert v.cost_of_capital(c) == pytest.approx(0.09, abs=1e-4)
    assert v.cost_of_capital(company(table(FY2024={"beta": 9.0}))) == 0.20


def test_cash_flow_model_against_a_plain_sum() -> None:
    """The same three scenarios, year by year, in another order of work."""
    expected = 0.0
    for weight, up, discount in ((0.2, 0.0, 0.126), (0.6, 0.0, 0.105), (0.2, 0.0, 0.0945)):
        # no growth: three flat years, then from (0 + 3 %)/2 fading to nothing, then flat for ever
        flows = [100.0, 100.0, 100.0]
        for g in (0.015, 0.01125, 0.0075, 0.00375):
            flows.append(flows[-1] * (1 + g + up))
        present = [f / (1 + discount) ** (t + 1) for t, f in enumerate(flows)]
        expected += weight * (math.fsum(present) + flows[-1] / discount / (1 + discount) ** 7)
    assert v.discounted_cash_flow(flat_company()) == pytest.approx(expected)


def test_unsteady_cash_flow_is_worth_less() -> None:
    steady = flat_company()
    years = [
        replace(y, operating_cash_flow=40.0 + f)
        for y, f in zip(steady.filed.years, (100.0, 60.0, 140.0), strict=True)
    ]
    # mean 100 as before, deviation sqrt(3200 / 3) = 32.66: 1 - .5 x .3266
    unsteady = replace(steady, filed=replace(steady.filed, years=tuple(years)))
    plain, less = v.discounted_cash_flow(steady), v.discounted_cash_flow(unsteady)
    assert plain is not None
    assert less == pytest.approx(plain * (1 - 0.5 * math.sqrt(3200 / 3) / 100))


def test_valuation_reading_by_hand() -> None:
    c = flat_company(price=10.0)
    models = {
        "discounted cash flow": v.discounted_cash_flow(c), "owner earnings": 500.0,
        "EV/EBITDA": 1600.0, "residual income": v.residual_income(c),
    }  # fmt: skip
    gap = sum(
        w * ((models[n] or 0) / 1000 - 1)
        for n, w in zip(models, (0.35, 0.35, 0.2, 0.1), strict=True)
    )
    reading = v.valuation(c)
    assert reading.score == pytest.approx(gap / 0.3, abs=1e-5)
    assert [round(x.lean or 0, 3) for x in reading.votes] == [
        round((models[x.name] or 0) / 1000 - 1, 3) for x in reading.votes
    ]
    assert v.valuation(flat_company(price=2.0)).signal == "bullish"
    assert v.valuation(flat_company(price=50.0)).signal == "bearish"
    assert v.valuation(flat_company(price=50.0)).score == -1.0


def test_absurd_and_empty_models_are_set_aside() -> None:
    # cap 100: 1600 is 16 times that
    reading = v.valuation(flat_company(price=1.0))
    votes = {x.name: x for x in reading.votes}
    assert votes["EV/EBITDA"].lean is None
    assert votes["EV/EBITDA"].fact == "EV/EBITDA: set aside, 16 x market cap"
    assert votes["owner earnings"].lean == 4.0
    assert v.valuation(NOTHING).score is None
    loss = v.valuation(flat_company(net_income=-900.0, operating_cash_flow=-500.0))
    assert [x.name for x in loss.votes if x.lean is None] == [
        "discounted cash flow",
        "owner earnings",
        "residual income",
    ]


def test_wild_growth_explodes_no_model() -> None:
    """Growth far above the discount: the spread of four points holds every model."""
    c = flat_company()
    wild = [
        Period(
            f"FY{2024 - i}", revenue=1000.0 / 9**i, net_income=100.0 / 9**i, equity=800.0 / 9**i,
            operating_cash_flow=140.0, capex=40.0, current_assets=300.0, current_liabilities=200.0,
        )
        for i in range(3)
    ]  # fmt: skip
    made = Company(Fundamentals(tuple(wild), c.now), 10.0)
    for model in (v.owner_earnings, v.discounted_cash_flow, v.residual_income):
        worth = model(made)
        assert worth is not None
        assert 0 < worth < 10_000


@pytest.mark.parametrize(
    ("volatility", "limit"),
    [
        (0.0, 0.25), (0.149, 0.25), (0.15, 0.20), (0.225, 0.1925), (0.30, 0.15), (0.40, 0.14),
        (0.50, 0.10), (3.0, 0.10),
    ],
)  # fmt: skip
def test_stake_limits_by_hand(volatility: float, limit: float) -> None:
    # half way from .15 to .30 is half way from 20 to 18.5 %; half way from .30 to .50 from 15 to 13 %
    assert stake_limit_frac(volatility) == pytest.approx(limit)


def test_risk_is_unknown_without_history() -> None:
    short = series([100.0] * 5, [1.0] * 5)
    assert risk_limits(short, 252) == {"volatility_year_pct": None, "stake_limit_pct": None}
    # returns +1 %, -1/1.01 % in turn, 30 of each: deviation .010035, x sqrt(365) = 19.2 %
    turns = series([100.0 if i % 2 else 101.0 for i in range(61)], BUSY[-61:])
    got = risk_limits(turns, 365)
    assert got["volatility_year_pct"] == pytest.approx(19.17, abs=0.05)
    assert got["stake_limit_pct"] == pytest.approx(20 - 10 * (0.1917 - 0.15), abs=0.02)


def test_a_return_below_the_cost_of_equity_takes_from_the_book_value() -> None:
    # excess 60 - 80 = -20: what 20 add to 800 in the case by hand above, 20 take away
    poor = flat_company(net_income=60.0)
    assert v.residual_income(poor) == pytest.approx(800 - 0.8 * (75.81574 + 182.72925), abs=1e-3)
    # 10 % of a negative book would be a cost of equity below zero
    assert v.residual_income(flat_company(equity=-100.0)) is None


@pytest.mark.parametrize("oldest", [810.0, 1_440.0, 50_000.0])
def test_the_bear_case_is_the_worse_one_also_for_what_shrinks(
    monkeypatch: pytest.MonkeyPatch, oldest: float
) -> None:
    """Revenue of 1,000 after `oldest` two years before: +11, -17 and -86 % a year."""
    c = flat_company()
    years = (*c.filed.years[:2], replace(c.filed.years[2], revenue=oldest))
    made = replace(c, filed=replace(c.filed, years=years))

    def worth(times_growth: float) -> float:
        monkeypatch.setattr(v, "SCENARIOS", ((1.0, times_growth, 1.0),))
        return v.discounted_cash_flow(made) or 0.0

    assert 0.0 <= worth(0.5) < worth(1.0) < worth(1.5)

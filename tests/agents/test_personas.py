"""The twelve creeds: hand-worked scores, cut-offs that can be reached, no verdict on missing data."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.fundamentals import FIELDS
from arena.agents.hedge.company import Company, News
from arena.agents.hedge.personas import (
    PERSONAS,
    active_owner,
    asymmetric_bets,
    conviction_growth,
    deep_value,
    disruption,
    intrinsic_value,
    low_risk_doubles,
    net_net,
    owner_earnings,
    quality_growth,
    reasonable_price,
    wonderful_business,
)
from arena.agents.hedge.scoring import (
    Block,
    Check,
    Gate,
    Persona,
    Points,
    Scorecard,
    Signal,
    above,
    at_least,
    below,
    plain,
    pre_signal,
    score,
    within,
)
from tests.agents.made_company import NEWS, NOTHING, company, table

BY_ID = [pytest.param(p, id=p.id) for p in PERSONAS]


def points(persona: Persona, **kinds: object) -> dict[str, list[float]]:
    """Points of each block for the small company, in the order of its checks."""
    card = score(persona, company(**kinds))  # type: ignore[arg-type]
    return {b.name: [f.points for f in b.findings] for b in card.blocks}


def card_of(persona: Persona) -> Scorecard:
    return score(persona, company())


def test_golden_net_net() -> None:
    # EPS 200/100 .. 125/106: always positive, rising. 800/320 = 2.5; 600/1600 = .375; always a dividend.
    # (800 - 600)/1000 = .2 of the cap; sqrt(22.5 x 2 x 10) = 21.2, 112 % over the price of 10.
    assert points(net_net.PERSONA) == {"stability": [3, 1], "strength": [2, 2, 1], "value": [0, 3]}
    card = card_of(net_net.PERSONA)
    assert (card.share, card.coverage, card.signal) == (pytest.approx(12 / 16), 1.0, "bullish")


def test_golden_deep_value() -> None:
    # FCF yield 200/1000 = 20 %; EBIT/EV 250/900 = 28 % > 1/6; D/E .1; cash 200 > 100;
    # insiders bought 75 - 25 = 50 more, over the 25 sold; no news: one point of twelve is unknown.
    assert points(deep_value.PERSONA) == {"value": [4, 2], "balance": [2, 1], "insiders": [2]}
    card = card_of(deep_value.PERSONA)
    assert (card.share, card.missing) == (pytest.approx(1.0), ("Bad headlines",))
    assert card.coverage == pytest.approx(11 / 12)
    hated = points(deep_value.PERSONA, news=News(-0.9, 6, 5))
    assert hated["contrarian"] == [1]


def test_golden_low_risk_doubles() -> None:
    # mean FCF (200+170+145+125)/4 = 160, 16 %; capex 6 %.
    # growth 11.1, 12.5, 14.3 %: mean 12.6 %; FCF (200/125)^(1/3) - 1 = 17 %; yield 20 %.
    assert points(low_risk_doubles.PERSONA) == {
        "downside": [3, 2, 2, 2], "value": [4, 1], "doubling": [1, 2, 3],
    }  # fmt: skip
    # .45 x 9/9 + .35 x 5/6 + .20 x 6/8
    assert card_of(low_risk_doubles.PERSONA).share == pytest.approx(0.45 + 0.35 * 5 / 6 + 0.15)


def test_golden_reasonable_price() -> None:
    # revenue +43 %, EPS 2/1.179 - 1 = +70 %; E/P 20 %; EPS 19.3 % a year x .2 = 3.9; no news.
    assert points(reasonable_price.PERSONA) == {
        "growth": [3, 3], "price": [2, 3], "soundness": [2, 2, 2], "insiders": [8],
    }  # fmt: skip
    card = card_of(reasonable_price.PERSONA)
    assert (card.share, card.coverage) == (pytest.approx(1.0), pytest.approx(0.85))


def test_golden_asymmetric_bets() -> None:
    # revenue 12.6 % and EPS 19.3 % a year; price +30 %; D/E .1; 1.5 % a session; all yields over 1/15.
    assert points(asymmetric_bets.PERSONA, news=NEWS) == {
        "growth and momentum": [3, 3, 2], "risk": [3, 2], "price": [2, 2, 2, 2], "news": [8],
        "insiders": [8],
    }  # fmt: skip
    # without news: (.35 x 8/9 + .2 x 5/6 + .2 + .1) / .85
    assert card_of(asymmetric_bets.PERSONA).share == pytest.approx(
        (0.35 * 8 / 9 + 0.2 * 5 / 6 + 0.2 + 0.1) / 0.85
    )


def test_golden_conviction_growth() -> None:
    # ROE is 20 %, not over it: 2; margin 25 %; EPS 19.3 %. Revenue 12.6, income 17 %, every year up.
    # .375 and 2.5; FCF and dividend; shares 100/106 - 1 = -5.7 %.
    assert points(conviction_growth.PERSONA) == {
        "profit": [2, 2, 2], "growth": [1, 1, 1], "balance": [2, 2], "cash": [2, 1],
        "management": [2],
    }  # fmt: skip
    assert card_of(conviction_growth.PERSONA).share == pytest.approx(18 / 24)
    # min(.2/.2, 1) = 1, 1 - .375 = .625, every step up = 1
    assert conviction_growth.quality(company()) == pytest.approx((1 + 0.625 + 1) / 3)


def test_golden_owner_earnings() -> None:
    # ROE 20 %, D/E .1, margin 25 %, 2.5; income always up; ROE 20, 19, 19, 18 %: always over 15;
    # margins 25, 24, 23, 22: mean 23.5, up; turnover 1000/1600; both steady.
    # gross margin 60 - 57 = 3 points, mean 58.5; book a share 10, 8.63, 7.5, 6.51: up, 15.4 % a year.
    assert points(owner_earnings.PERSONA) == {
        "soundness": [2, 2, 2, 1], "consistency": [3], "moat": [2, 1, 0, 1],
        "pricing power": [3, 2], "book value": [3, 2], "management": [1, 1],
    }  # fmt: skip
    assert card_of(owner_earnings.PERSONA).share == pytest.approx(26 / 27)
    # maintenance = median(.85 x 60, 40, 6 % x 1000) = 51; working capital 480 - 430 = 50
    assert owner_earnings.owner_earnings(company()) == pytest.approx(200 + 40 - 51 - 50)


def test_golden_active_owner() -> None:
    # revenue +43 %; margins over 15 % and FCF always; ROE 20 %. A margin of 25 % leaves nothing to fix.
    # 200 x (sum_1..5 of (1.06/1.1)^t + 15 x (1.06/1.1)^5) = 200 x 16.94 = 3389, 239 % over 1000
    assert points(active_owner.PERSONA) == {
        "quality": [1, 2, 1, 2], "discipline": [2, 1, 1], "room for pressure": [0], "value": [3],
    }  # fmt: skip
    assert card_of(active_owner.PERSONA).share == pytest.approx(13 / 16)


def test_golden_quality_growth() -> None:
    # revenue 12.6, EPS 19.3 %: 2 each; research 8 %. Margin up, 60 % gross, deviation 1.1 points.
    assert points(quality_growth.PERSONA) == {
        "growth": [2, 2, 3], "margins": [2, 2, 2], "management": [2, 2, 1], "price": [2, 2],
        "insiders": [8],
    }  # fmt: skip
    # (.3 x 7/9 + .25 + .2 x 5/6 + .15 + .05) / .95
    assert card_of(quality_growth.PERSONA).share == pytest.approx(
        (0.3 * 7 / 9 + 0.25 + 0.2 * 5 / 6 + 0.15 + 0.05) / 0.95
    )


def test_golden_wonderful_business() -> None:
    # ROIC 187.5/900 = 21, 162/780 = 21, 138/680 = 20, 115.5/590 = 20 %; gross margin always up;
    # capex 6 %. FCF = income 1.0; D/E .1; cash 20 % of revenue; insiders .75; shares -5.7 %.
    assert points(wonderful_business.PERSONA) == {
        "moat": [3, 2, 1, 1, 1], "management": [2, 3, 2, 2, 2],
        "predictability": [3, 3, 2, 2], "value": [4, 3, 3],
    }  # fmt: skip
    # 15 x 200 = 3000, 200 % over 1000; FCF 200/125 = 1.6 times its start
    assert card_of(wonderful_business.PERSONA).share == pytest.approx(
        0.35 * 8 / 9 + 0.25 * 11 / 12 + 0.25 + 0.15
    )


def test_golden_disruption() -> None:
    # growth 11.1 after 12.5 %: no acceleration, under 20 %. Gross margin +3 points, 60 %.
    # costs 350/245 - 1 = 42.86 % = revenue 42.86 %: no lead. Research 8 %, not over; 80/56 = +43 %;
    # always 8 % of revenue. FCF 1.6 times and positive; 25 % and rising; capex 6 %; payout 10 %.
    assert points(disruption.PERSONA) == {
        "disruption": [0, 0, 1, 2, 0, 1], "innovation": [2, 0, 3, 3, 1, 2], "value": [3],
    }  # fmt: skip
    # (5 x 4/14 + 5 x 11/15 + 3) / 13
    assert card_of(disruption.PERSONA).share == pytest.approx((5 * 4 / 14 + 5 * 11 / 15 + 3) / 13)


def test_golden_intrinsic_value() -> None:
    # cap 2000 a year ago and before, so P/E then 10, 11.8, 13.8, 16; median 12.8 over 5 now.
    # beta 1.1, D/E .1, 250/10.
    assert points(intrinsic_value.PERSONA) == {
        "growth": [2, 1, 1], "risk": [1, 1, 1], "relative price": [1],
    }  # fmt: skip
    assert card_of(intrinsic_value.PERSONA).share == 1.0
    # at 60 times earnings the gate speaks against a perfect score
    dear = score(intrinsic_value.PERSONA, company(price=120.0))
    assert dear.margin is not None
    assert dear.margin < -0.25
    assert dear.signal == "bearish"


def test_worths_by_hand() -> None:
    # income 17 % a year, x .8 = 13.57 %; quality .875: 12 %, exit at 18; one step is 1.1357/1.12
    rate = 0.8 * ((200 / 125) ** (1 / 3) - 1)
    step = (1 + rate) / 1.12
    expected = 200 * (step + step**2 + step**3 + step**4 + step**5 + 18 * step**5)
    assert conviction_growth.worth(company()) == pytest.approx(expected)
    # no growth, no interest: 100 a year fading up from 0 to 2.5 % at 4 % + 1 x 5 %, + 200 - 50 net cash
    row = {
        "revenue": 900.0,
        "operating_cash_flow": 100.0,
        "capex": 0.0,
        "cash": 200.0,
        "debt": 50.0,
    }
    present, flow = 0.0, 100.0
    for year in range(10):
        flow *= 1 + 0.025 * year / 9
        present += flow / 1.09 ** (year + 1)
    present += flow * 1.025 / 0.065 / 1.09**10
    flat = company({"FY2024": row, "FY2023": row})
    assert intrinsic_value.worth(flat) == pytest.approx(present + 150)
    assert intrinsic_value.worth(company({"FY2024": {"revenue": 1.0}})) is None


def test_shrinking_losses_are_no_growth_at_a_low_price() -> None:
    # earnings fall 19 % a year and are a loss now: two negatives must not make a bargain
    c = company(table(FY2024={"net_income": -50.0, "eps": 0.6}))
    assert reasonable_price.growth_for_price(c) == 0.0
    assert c.earnings_yield == -0.05


def test_dearer_than_its_own_past_costs_a_point() -> None:
    # P/E 10 to 16 in the past, median 12.8; at a price of 40 it is 20, 1.57 times that
    made = score(intrinsic_value.PERSONA, company(price=40.0))
    (relative,) = [b for b in made.blocks if b.name == "relative price"]
    assert [f.points for f in relative.findings] == [-1.0]
    assert relative.share == 0.0


def flows(*fcf: float) -> Company:
    """A company with these free cash flows, newest first, on a revenue of 100."""
    return company(
        {
            f"FY{2024 - i}": {"operating_cash_flow": f, "capex": 0.0, "revenue": 100.0}
            for i, f in enumerate(fcf)
        }
    )


def test_levels_by_hand() -> None:
    # 3: never negative and over 1.3 times the start; 2: positive in 3 of 4; 1: in 3 of 5; 0: in 1 of 3
    told = [(14, 12, 10), (13, 12, 10), (9, -1, 8, 7), (9, -1, 8, -1, 7), (9, -1, -1)]
    assert [disruption.cash_level(flows(*f)) for f in told] == [3, 2, 2, 1, 0]
    assert disruption.cash_level(flows(9, 9)) is None
    assert [low_risk_doubles.cash_level(flows(*f)) for f in ((9, 1, 9), (8, 9, 9), (9, -1, 9))] == [
        2, 1, 0,
    ]  # fmt: skip
    dilution = [wonderful_business.DILUTION.of(x) for x in (-0.05, 0.0, 0.05, 0.1, 0.2, 0.21)]
    assert dilution == [2, 1, 1, 0, 0, -1]
    insiders = [wonderful_business.INSIDERS.of(x) for x in (0.71, 0.41, 0.4, 0.1, 0.09)]
    assert insiders == [2, 1, 0, 0, -1]


@pytest.mark.parametrize("persona", BY_ID)
def test_every_check_can_be_made_and_keeps_to_its_maximum(persona: Persona) -> None:
    card = score(persona, company(news=NEWS))
    assert card.missing == ()
    assert card.coverage == pytest.approx(1.0)
    for block in persona.blocks:
        assert all(c.points.most > 0 for c in block.checks)
    findings = [f for b in card.blocks for f in b.findings]
    assert all(f.points <= f.most and f.shown for f in findings)
    assert len({f.id for f in findings}) == len(findings)


@pytest.mark.parametrize("persona", BY_ID)
def test_of_nothing_nothing_is_said(persona: Persona) -> None:
    card = score(persona, NOTHING)
    assert (card.share, card.score, card.signal, card.margin) == (None, None, None, None)
    assert card.coverage == 0.0
    assert len(card.missing) == sum(len(b.checks) for b in persona.blocks)


@given(st.sets(st.sampled_from(FIELDS)), st.sampled_from(PERSONAS))
def test_what_is_missing_counts_neither_way(dropped: set[str], persona: Persona) -> None:
    """The score is that of the checks that can be made; below half of them there is no signal."""
    figures = {p: {n: v for n, v in row.items() if n not in dropped} for p, row in table().items()}
    if not any(figures.values()):
        return
    card = score(persona, company(figures))
    assert (card.signal is None) == (card.coverage < 0.5)
    total = sum(b.weight for b in persona.blocks)
    shares, weights = [], []
    for block in persona.blocks:
        made = [(c.points.of(n), c.points.most) for c in block.checks
                if (n := c.read(company(figures))) is not None]  # fmt: skip
        if made:
            most = sum(m for _, m in made)
            shares.append(max(0.0, sum(got for got, _ in made) / most))
            weights.append(block.weight * most / block.most)
    assert card.coverage == pytest.approx(sum(weights) / total)
    if made_any := sum(weights):
        mean = sum(s * w for s, w in zip(shares, weights, strict=True)) / made_any
        assert card.share == pytest.approx(mean)


def random_company(rng: random.Random) -> tuple[dict[str, dict[str, float]], float]:
    """A company between ruin and triumph, and a price between cheap and absurd."""
    good = rng.random()

    def mix(bad: float, best: float) -> float:
        """Mostly as good as the company is, sometimes not."""
        at = good if rng.random() < 0.8 else rng.random()
        return bad + (best - bad) * at

    growth, turn = mix(-0.3, 0.6), mix(-0.1, 0.1)
    gross, margin, wider = mix(0.1, 0.7), mix(-0.2, 0.35), mix(-0.04, 0.04)
    diluted, capex, rd = mix(0.1, -0.04), mix(0.2, 0.02), mix(0.0, 0.2)
    if rng.random() < 0.3:
        capex = rng.uniform(0.02, 0.2)
    figures: dict[str, dict[str, float]] = {}
    revenue = 1000.0
    for i in range(5):
        op = (margin - wider * i) * revenue
        income, assets = 0.8 * op, revenue * mix(3.0, 0.6)
        owed = assets * mix(0.95, 0.2)
        figures[f"FY{2024 - i}"] = {
            "revenue": revenue, "gross_profit": (gross - 0.5 * wider * i) * revenue,
            "operating_income": op, "net_income": income, "d_and_a": 0.04 * revenue,
            "rd": rd * revenue * (1 - 0.05 * i), "interest_expense": mix(0.1, 0.001) * revenue,
            "operating_cash_flow": income * mix(0.5, 1.5) + capex * revenue,
            "capex": capex * revenue * (1 - 0.03 * i),
            "dividends": 0.1 * income if income > 0 and rng.random() < 0.6 else 0.0,
            "shares": 100.0 * (1 - diluted * i), "equity": assets - owed, "assets": assets,
            "liabilities": owed, "current_assets": mix(0.1, 0.7) * assets,
            "current_liabilities": mix(0.5, 0.15) * assets, "cash": mix(0.01, 0.3) * revenue,
            "debt": owed * mix(0.9, 0.0), "intangible_assets": rng.choice([0.0, 5.0]),
            "market_cap": 2000.0, "beta": mix(2.5, 0.7),
            "insider_bought_shares": mix(0.0, 9.0), "insider_sold_shares": mix(9.0, 0.5),
        }  # fmt: skip
        revenue /= max(1.0 + growth - turn * i, 0.3)
    return figures, 10 ** rng.uniform(-1, 2.5) if rng.random() < 0.3 else 10 ** mix(2.5, -0.5)


def test_every_persona_can_be_bullish_and_bearish() -> None:
    """Found by search over made companies, with nearly all of its questions answered."""
    rng = random.Random(7)
    seen: dict[str, set[Signal]] = {p.id: set() for p in PERSONAS}
    reached: dict[str, set[str]] = {p.id: set() for p in PERSONAS}
    for _ in range(600):
        figures, price = random_company(rng)
        news = News(rng.choice([0.6, 0.2, -0.4]), 9, rng.choice([0, 2, 6]))
        made = company(
            figures, price, news, rng.choice([0.008, 0.015, 0.05]), rng.uniform(-0.5, 0.8)
        )
        for persona in PERSONAS:
            card = score(persona, made)
            if card.share is not None and card.coverage > 0.85:
                seen[persona.id].add(pre_signal(persona, card.share, card.margin))
                if card.share >= persona.bull_at:
                    reached[persona.id].add("bull_at")
                if card.share <= persona.bear_at:
                    reached[persona.id].add("bear_at")
    assert reached == {p.id: {"bull_at", "bear_at"} for p in PERSONAS}, "by the points alone"
    assert seen == {p.id: {"bullish", "neutral", "bearish"} for p in PERSONAS}


TRENDS = [
    pytest.param(c, id=f"{p.id}-{c.id}")
    for p in PERSONAS
    for b in p.blocks
    for c in b.checks
    if c.trend
]


def thriving(order: int) -> dict[str, dict[str, float]]:
    """Five years in which all gets better, faster and faster; with `order` -1, the same backwards."""
    rows = []
    for revenue, gross, op, rd, shares in (
        (3100, 0.70, 0.40, 0.20, 90), (1500, 0.60, 0.30, 0.17, 95), (900, 0.52, 0.21, 0.15, 98),
        (650, 0.46, 0.14, 0.13, 100), (520, 0.40, 0.06, 0.12, 120),
    ):  # fmt: skip
        income = 0.8 * op * revenue
        rows.append(
            {
                "revenue": revenue, "gross_profit": gross * revenue, "operating_income": op * revenue,
                "net_income": income, "rd": rd * revenue, "operating_cash_flow": income + 10,
                "capex": 5.0, "shares": shares, "equity": 2 * income, "assets": 5 * income,
            }
        )  # fmt: skip
    return {f"FY{2024 - i}": row for i, row in enumerate(rows[::order])}


def test_there_are_trends_to_reverse() -> None:
    assert len(TRENDS) >= 30
    assert {p.id for p in PERSONAS if any(c.trend for b in p.blocks for c in b.checks)} == {
        p.id for p in PERSONAS
    } - {"deep_value"}


def steady(order: int) -> dict[str, dict[str, float]]:
    """The small company, forwards or backwards: it grows evenly."""
    figures = table()
    years = sorted((p for p in figures if p.startswith("FY")), reverse=True)
    return {p: figures[q] for p, q in zip(years, years[::order], strict=True)}


KEEP_A_POINT = {"pricing", "margin", "margins", "cash"}
"""Levels that still give something for what is high or positive, though it falls."""


@pytest.mark.parametrize("check", TRENDS)
def test_reversed_years_flip_every_trend(check: Check) -> None:
    flips = []
    for world in (thriving, steady):
        forward, backward = check.read(company(world(1))), check.read(company(world(-1)))
        assert forward is not None
        assert backward is not None
        best, worst = check.points.of(forward), check.points.of(backward)
        assert worst <= best
        lost = worst <= 0 or (check.id in KEEP_A_POINT and worst < best)
        flips.append(best == check.points.most and lost)
    assert any(flips)


def test_acceleration_is_that_of_the_newest_year() -> None:
    # +50 % after +20 %, and the other way round; it is symmetric in time, so reversal cannot tell
    for revenues, expected in (((180, 120, 100), 0.3), ((180, 150, 100), -0.3)):
        rows = {f"FY{2024 - i}": {"revenue": float(r)} for i, r in enumerate(revenues)}
        assert disruption.acceleration(company(rows)) == pytest.approx(expected)


def test_points_at_their_limits() -> None:
    assert [above((2, 3), (1, 1)).of(x) for x in (1, 1.5, 2, 2.1)] == [0, 1, 1, 3]
    assert [at_least((2, 3), (1, 1)).of(x) for x in (0.9, 1, 2)] == [0, 1, 3]
    assert [below((0.3, 2), (1, 1)).of(x) for x in (0.2, 0.3, 1)] == [2, 1, 0]
    assert [within((1, 2, 2), (0, 3, 1)).of(x) for x in (0.5, 1, 2, 3, 4)] == [1, 2, 2, 1, 0]


def one_check(points: Points, weight: float) -> Block:
    return Block("b", (Check("c", "C", lambda c: c.price, points, plain),), weight)


def test_negative_points_cost_the_block_no_more_than_all() -> None:
    loss, gain = Points(lambda x: -1.0, 2.0), Points(lambda x: 2.0, 2.0)
    persona = Persona("p", "P", "", (one_check(loss, 1), one_check(gain, 3)), ())
    assert score(persona, NOTHING).share == pytest.approx(3 / 4)


def test_gates() -> None:
    def signal(share: float, margin: float | None, gate: Gate) -> Signal:
        return pre_signal(Persona("p", "P", "", (), (), gate=gate), share, margin)

    both = Gate(bullish_from=0.3, bearish_to=-0.3)
    assert [signal(0.5, m, both) for m in (0.3, 0.29, -0.29, -0.3)] == [
        "bullish", "neutral", "neutral", "bearish",
    ]  # fmt: skip
    needed = Gate(needed_for_bullish=0.0)
    assert [signal(0.9, m, needed) for m in (0.0, -0.01, None)] == ["bullish", "neutral", "bullish"]
    assert [signal(s, None, Gate()) for s in (0.70, 0.69, 0.31, 0.30)] == [
        "bullish", "neutral", "neutral", "bearish",
    ]  # fmt: skip


def test_twelve_creeds_that_differ() -> None:
    assert len(PERSONAS) == 12
    for distinct in ("id", "label", "creed", "lens"):
        assert len({getattr(p, distinct) for p in PERSONAS}) == 12
    stand_ins_read = {"return_5_pct", "return_20_pct", "return_60_pct", "z_50", "rsi_14"}
    assert sum(bool(stand_ins_read & set(p.lens)) for p in PERSONAS) >= 10
    assert all(0 < p.bear_at < p.bull_at < 1 for p in PERSONAS)


def test_no_real_person_in_code_or_prompts_but_all_in_the_docs(root: Path) -> None:
    followed = (
        "Damodaran", "Graham", "Ackman", "Wood", "Munger", "Burry", "Pabrai", "Lynch", "Fisher",
        "Jhunjhunwala", "Druckenmiller", "Buffett",
    )  # fmt: skip
    agents = root / "arena" / "agents"
    code = sorted(agents.glob("hedge/**/*.py"))
    assert len(code) > 20
    text = "".join(p.read_text(encoding="utf-8") for p in code)
    assert [n for n in followed if n in text] == []
    docs = (root / "docs" / "personas.md").read_text(encoding="utf-8")
    assert [n for n in followed if n not in docs] == []
    assert [p.id for p in PERSONAS if f"`{p.id}`" not in docs] == []


def test_a_tone_without_headlines_is_no_count_of_headlines() -> None:
    card = score(deep_value.PERSONA, company(news=News(-0.9, 0, 0)))
    assert card.missing == ("Bad headlines",)


def test_unknown_debt_is_not_taken_for_none() -> None:
    unknown = company({p: {k: x for k, x in row.items() if k != "debt"} for p, row in table().items()})
    assert unknown.now.net_cash is None
    assert intrinsic_value.worth(unknown) is None

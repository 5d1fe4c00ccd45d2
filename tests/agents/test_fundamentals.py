"""From filed facts to years, to the last twelve months and to ratios."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta

import pytest

from arena.agents.fundamentals import (
    FIELDS,
    NO_EQUITY_LEVERAGE,
    Period,
    period_order,
    read_fundamentals,
)
from arena.agents.hedge.company import (
    Company,
    cagr,
    growth,
    news_of,
    share,
    share_up,
    yearly_growth,
)
from arena.agents.hedge.intrinsic import with_exit, with_terminal_growth
from arena.core.errors import DataError
from tests.agents.made_company import FILED, NOTHING, PRICE, company, facts, table


def now(**rows: dict[str, float]) -> Period:
    filed = read_fundamentals(facts(rows))
    assert filed is not None
    return filed.now


def test_years_are_newest_first_and_end_at_the_first_gap() -> None:
    filed = read_fundamentals(
        facts(
            {
                "FY2020": {"revenue": 1},
                "FY2023": {"revenue": 3},
                "FY2024": {"revenue": 4},
                "FY2021": {"revenue": 2},
            }
        )
    )
    assert filed is not None
    assert [y.name for y in filed.years] == ["FY2024", "FY2023"]
    assert filed.values(lambda y: y.revenue) == [4, 3]
    assert filed.values(lambda y: y.equity) == []


def test_no_fact_of_ours_is_no_fundamentals() -> None:
    assert read_fundamentals(()) is None
    assert read_fundamentals(facts({"FY2024": {"revnue": 1.0}})) is None
    filed = read_fundamentals(facts({"FY2024": {"revnue": 1.0, "revenue": 2.0}}))
    assert filed is not None
    assert filed.unread == ("revnue",)


def test_a_restatement_known_later_counts_whatever_the_order() -> None:
    old = facts({"FY2024": {"revenue": 100.0}})
    new = facts({"FY2024": {"revenue": 90.0}}, FILED + timedelta(days=30))
    for both in (old + new, new + old):
        filed = read_fundamentals(both)
        assert filed is not None
        assert filed.years[0].revenue == 90.0


def test_flows_of_now_ttm_then_four_quarters_then_the_year() -> None:
    year = {"FY2024": {"revenue": 100.0}}
    quarters = {f"2025Q{q}": {"revenue": 30.0 + q} for q in (1, 2)}
    older = {f"2024Q{q}": {"revenue": 20.0 + q} for q in (3, 4)}
    assert now(**year).revenue == 100.0
    # two quarters alone are no year
    assert now(**year, **quarters).revenue == 100.0
    # 23 + 24 + 31 + 32
    assert now(**year, **quarters, **older).revenue == 110.0
    # a gap: the third quarter of 2024 is missing, the second is there
    holed = {**older, "2024Q2": {"revenue": 22.0}}
    del holed["2024Q3"]
    assert now(**year, **quarters, **holed).revenue == 100.0
    assert now(**year, **quarters, **older, TTM={"revenue": 7.0}).revenue == 7.0
    # four quarters that end before the year does are old
    assert now(FY2025={"revenue": 5.0}, **quarters, **older).revenue == 5.0


def test_balance_of_now_is_the_newest_stated() -> None:
    rows = {"FY2024": {"cash": 1.0, "debt": 2.0}, "2024Q4": {"cash": 3.0}, "2025Q1": {"debt": 4.0}}
    # a year and its last quarter end together: the year is the audited one
    assert (now(**rows).cash, now(**rows).debt) == (1.0, 4.0)


def test_figures_of_now_ended_at_most_six_quarters_before_the_newest() -> None:
    old = {"cash": 1.0, "shares": 10.0, "rd": 2.0}
    # 2023Q4 to 2025Q2 are 6 quarters, to 2025Q3 they are 7; a stated TTM is of now.
    near = now(FY2023=old, **{"2025Q2": {"debt": 4.0}})
    assert (near.cash, near.shares, near.rd, near.debt) == (1.0, 10.0, 2.0, 4.0)
    far = now(FY2023=old, TTM={"beta": 1.1}, **{"2025Q3": {"debt": 4.0}})
    assert (far.cash, far.shares, far.rd, far.debt, far.beta) == (None, None, None, 4.0, 1.1)
    assert now(FY2023=old, TTM={"beta": 1.1}).cash == 1.0


def test_periods_are_ordered_by_their_end() -> None:
    names = ["2024Q3", "2024Q4", "FY2024", "2025Q1", "TTM"]
    assert sorted(("TTM", "2025Q1", "FY2024", "2024Q3", "2024Q4"), key=period_order) == names


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(DataError, match="`2024-12-31` of `revenue`: write FY2024"):
        read_fundamentals(facts({"2024-12-31": {"revenue": 1.0}}))
    with pytest.raises(DataError, match="`eps` of FY2024 is nan"):
        read_fundamentals(facts({"FY2024": {"eps": float("nan")}}))


def test_outflows_count_whatever_sign_a_vendor_gives_them() -> None:
    year = now(FY2024={"operating_cash_flow": 10.0, "capex": -4.0})
    assert (year.capex, year.fcf) == (4.0, 6.0)


def test_ratios_by_hand() -> None:
    p = company().now
    assert p.fcf == 260 - 60
    assert p.eps == 200 / 100
    assert p.ebitda == 250 + 40
    assert p.operating_costs == 600 - 250
    assert p.working_capital == 800 - 320
    assert p.net_cash == 200 - 100
    assert (p.gross_margin, p.operating_margin, p.net_margin) == (0.6, 0.25, 0.2)
    assert p.roe == 0.2
    # 250 x 0.75 / (1000 + 100 - 200)
    assert p.roic == pytest.approx(187.5 / 900)
    assert p.debt_to_equity == 0.1
    assert p.liabilities_to_assets == 0.375
    assert (p.current_ratio, p.interest_cover, p.asset_turnover) == (2.5, 25, 0.625)
    assert (p.rd_share, p.capex_share, p.book_per_share) == (0.08, 0.06, 10)
    assert (p.payout, p.insider_buy_share) == (0.1, 0.75)


def test_multiples_by_hand() -> None:
    c = company()
    # 10 x 100 shares; + 100 debt - 200 cash
    assert (c.cap, c.enterprise) == (1000, 900)
    assert (c.earnings_yield, c.fcf_yield) == (0.2, 0.2)
    # (200 + 170 + 145 + 125) / 4 = 160
    assert c.mean_fcf_yield == 0.16
    assert c.ebit_yield == pytest.approx(250 / 900)
    assert c.ebitda_yield == pytest.approx(290 / 900)


def test_more_cash_than_the_company_costs_keeps_yields_in_order() -> None:
    c = company(table(FY2024={"cash": 5000.0}))
    assert c.enterprise == 10.0
    assert c.ebit_yield == 25.0


def test_every_ratio_of_nothing_is_unknown() -> None:
    properties = [n for n in dir(Period) if isinstance(getattr(Period, n), property)]
    assert len(properties) > 15
    assert {n: getattr(NOTHING.now, n) for n in properties} == dict.fromkeys(properties)
    of_company = [
        n for n in dir(Company) if isinstance(getattr(Company, n), property) and n != "now"
    ]
    assert {n: getattr(NOTHING, n) for n in of_company} == dict.fromkeys(of_company)


def test_ratios_without_meaning_are_unknown_or_worst() -> None:
    broke = Period("x", net_income=-5.0, equity=-10.0, debt=3.0, revenue=0.0, dividends=0.0)
    assert broke.roe is None, "a loss on negative equity is no positive return"
    assert broke.debt_to_equity == NO_EQUITY_LEVERAGE
    assert broke.net_margin is None
    assert broke.payout == 0.0
    assert Period("x", debt=0.0, equity=-1.0).debt_to_equity == 0.0


def test_fields_are_those_of_a_period() -> None:
    assert set(FIELDS) == {f.name for f in fields(Period)} - {"name"}


def test_growth_by_hand() -> None:
    # 121 / 100 over two years
    assert cagr([121.0, 110.0, 100.0]) == pytest.approx(0.1)
    assert cagr([-5.0, 100.0]) == -1.0
    assert cagr([100.0, -5.0]) is None
    assert cagr([100.0]) is None
    assert growth([150.0, 120.0, 100.0]) == pytest.approx(0.5)
    assert growth([150.0, 120.0, 100.0], 1) == pytest.approx(0.25)
    assert growth([150.0], 1) is None
    assert growth([150.0, 0.0]) is None
    assert yearly_growth([150.0, 120.0, 100.0]) == pytest.approx([0.25, 0.2])
    assert share_up([3.0, 2.0, 4.0]) == 0.5
    assert share_up([3.0, 2.0]) is None
    assert share([1.0, -1.0, 1.0, 1.0], lambda x: x > 0) == 0.75


def test_tone_of_news() -> None:
    day = {"known_at_utc": FILED}
    good = {"title": "Record sales", **day}
    bad = {"title": "Investigation widens", "text": "", **day}
    assert news_of((), None) is None
    told = [news_of(s, None) for s in ((good,), (good, good, good, bad), (good, bad))]
    # none bad; 1 of 4 is at most 30 %; 1 of 2 is more
    assert [(n.score, n.n_bad) for n in told if n] == [(0.6, 0), (0.2, 1), (-0.4, 1)]
    brief = news_of((bad,), {"score": 0.25})
    assert brief is not None
    assert (brief.score, brief.n_bad) == (0.25, 1)


def test_worth_by_hand() -> None:
    # one year: 100 x 1.1 / 1.1 = 100, then 5 x 100
    assert with_exit(100.0, 0.1, 0.1, 1, 5.0) == pytest.approx(600.0)
    # no growth for ever at 10 %: 100 / 0.1
    assert with_terminal_growth(100.0, [0.0] * 7, 0.10, 0.0) == pytest.approx(1000.0)
    # growth of 5 % for ever at 10 %: 100 x 1.05 / 0.05
    assert with_terminal_growth(100.0, [0.05] * 3, 0.10, 0.05) == pytest.approx(2100.0)
    # 9 % for ever at 10 % is held to 6 %: 100 x 1.06 / 0.04
    assert with_terminal_growth(100.0, [0.06], 0.10, 0.09) == pytest.approx(2650.0)
    assert with_terminal_growth(-100.0, [0.5], 0.1, 0.0) == 0.0
    assert with_exit(None, 0.1, 0.1, 1, 5.0) is None
    assert company().price == PRICE


@pytest.mark.parametrize("value", [None, "n/a", "12"])
def test_a_figure_that_is_no_number_says_where(value: object) -> None:
    fact = {"id": "a", "field": "debt", "period": "FY2024", "value": value, "known_at_utc": FILED}
    with pytest.raises(DataError, match="`debt` of FY2024"):
        read_fundamentals([fact])

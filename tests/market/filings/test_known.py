"""What was known of a company at a moment: restatements, twelve months, market cap, splits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.agents.fundamentals import read_fundamentals
from arena.agents.hedge.company import growth
from arena.market.filings.facts import Fact
from arena.market.filings.fields import known_from
from arena.market.filings.known import known_facts

FILED = date(2025, 2, 20)
LATER = datetime(2026, 1, 1, tzinfo=UTC)


def fact(field: str, period: str, value: float, filed: date = FILED) -> Fact:
    return Fact("ACME", field, period, value, filed, known_from(filed))


def rows(
    facts: Sequence[Fact], as_of: datetime = LATER, price: float | None = None
) -> dict[tuple[str, str], dict[str, Any]]:
    return {(r["field"], r["period"]): r for r in known_facts(facts, as_of, price)}


def test_a_restatement_counts_from_the_end_of_its_own_day() -> None:
    facts = (fact("revenue", "FY2024", 100.0), fact("revenue", "FY2024", 90.0, date(2025, 5, 1)))
    at = datetime(2025, 2, 21, tzinfo=UTC)
    assert rows(facts, at - timedelta(seconds=1)) == {}
    restated = datetime(2025, 5, 2, tzinfo=UTC)
    for as_of, value, filed in (
        (at, 100.0, "2025-02-20"), (restated - timedelta(seconds=1), 100.0, "2025-02-20"),
        (restated, 90.0, "2025-05-01"),
    ):  # fmt: skip
        assert rows(facts[::-1], as_of)["revenue", "FY2024"] == {
            "id": f"revenue-FY2024-{filed}", "field": "revenue", "period": "FY2024", "value": value,
            "known_at_utc": known_from(date.fromisoformat(filed)),
        }  # fmt: skip


def test_six_years_and_eight_quarters_are_kept() -> None:
    years = [fact("revenue", f"FY{y}", 1.0) for y in range(2015, 2025)]
    quarters = [fact("revenue", f"{y}Q{q}", 1.0) for y in (2022, 2023, 2024) for q in (1, 2, 3)]
    kept = [p for f, p in rows([*years, *quarters, fact("revenue", "2025Q1", 1.0)])]
    # Eight quarters up to 2025Q1 begin with 2023Q2; fourth quarters are only told by their years.
    assert kept == [
        "2023Q2", "2023Q3", "2024Q1", "2024Q2", "2024Q3", "2025Q1",
        "FY2019", "FY2020", "FY2021", "FY2022", "FY2023", "FY2024", "TTM",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "twelve_months", "ends"),
    [
        # 11 + 12 + 13 + 14
        ({"2025Q2": 14, "2025Q1": 13, "2024Q4": 12, "2024Q3": 11, "FY2024": 99}, 50, "2025Q2"),
        # 40 + (13 + 14) - (8 + 9): no fourth quarter is stated, nor the third.
        ({"2025Q2": 14, "2025Q1": 13, "FY2024": 40, "2024Q1": 8, "2024Q2": 9}, 50, "2025Q2"),
        ({"FY2024": 40, "2024Q1": 8, "2024Q2": 9, "2024Q3": 10}, 40, "2024Q4"),
        # The year as filed counts before its quarters.
        ({"FY2024": 40, "2024Q1": 8, "2024Q2": 9, "2024Q3": 10, "2024Q4": 12}, 40, "2024Q4"),
        ({"2024Q1": 8, "2024Q2": 9, "2024Q3": 10, "2024Q4": 12}, 39, "2024Q4"),
        ({"2025Q1": 13, "FY2024": 40}, None, ""),  # the first quarter of 2024 is missing
        ({"2025Q2": 14, "FY2024": 40, "2024Q1": 8, "2024Q2": 9}, None, ""),  # that of 2025 is
        ({"2025Q1": 13, "FY2023": 40, "2024Q1": 8}, None, ""),  # a year too old
    ],
)
def test_twelve_months_by_hand(
    stated: dict[str, float], twelve_months: float | None, ends: str
) -> None:
    found = rows([fact("revenue", p, v) for p, v in stated.items()]).get(("revenue", "TTM"))
    if twelve_months is None:
        assert found is None
    else:
        assert found is not None
        assert (found["value"], found["id"]) == (twelve_months, f"revenue-TTM-{ends}")


def test_twelve_months_are_known_with_their_last_part_and_follow_a_restatement() -> None:
    may, june = date(2025, 5, 1), date(2025, 6, 1)
    facts = [
        fact("eps", "FY2024", 0.7), fact("eps", "2024Q1", 0.1, date(2024, 5, 1)),
        fact("eps", "2025Q1", 0.3, may), fact("eps", "FY2024", 0.6, june),
    ]  # fmt: skip
    # 0.7 + 0.3 - 0.1 = 0.9, which floats miss by a hair; restated 0.6 + 0.3 - 0.1 = 0.8.
    first = rows(facts, known_from(may))["eps", "TTM"]
    assert (first["value"], first["known_at_utc"]) == (0.9, known_from(may))
    second = rows(facts, known_from(june))["eps", "TTM"]
    assert (second["value"], second["known_at_utc"]) == (0.8, known_from(june))
    assert rows(facts, known_from(FILED))["eps", "TTM"]["value"] == 0.7


def test_a_figure_no_longer_stated_has_no_twelve_months_up_to_now() -> None:
    facts = [fact("revenue", "FY2024", 10.0), fact("revenue", "2024Q1", 2.0),
             fact("revenue", "2025Q1", 3.0), fact("rd", "FY2024", 4.0)]  # fmt: skip
    assert rows(facts)["rd", "TTM"]["id"] == "rd-TTM-2024Q4", (
        "one quarter behind is the latest year"
    )
    facts += [fact("revenue", "2025Q2", 3.0), fact("revenue", "2024Q2", 2.0)]
    assert ("rd", "TTM") not in rows(facts)
    assert rows(facts)["revenue", "TTM"]["value"] == 12.0  # 10 + 6 - 4


def test_stated_trailing_figures_last_a_year_and_yield_to_sums() -> None:
    facts = [fact("beta", "TTM", 1.2), fact("revenue", "TTM", 5.0), fact("revenue", "FY2024", 10.0)]
    known = known_from(FILED)
    assert rows(facts, known)["beta", "TTM"]["value"] == 1.2
    assert rows(facts, known)["revenue", "TTM"]["value"] == 10.0
    assert ("beta", "TTM") in rows(facts, known + timedelta(days=366))
    assert ("beta", "TTM") not in rows(facts, known + timedelta(days=367))


def test_a_stated_trailing_figure_counts_where_it_is_newer_than_the_sum() -> None:
    newer = date(2025, 8, 1)
    facts = [fact("revenue", "FY2024", 10.0), fact("revenue", "TTM", 12.0, newer)]
    assert rows(facts, known_from(newer) - timedelta(days=1))["revenue", "TTM"]["value"] == 10.0
    assert rows(facts, known_from(newer))["revenue", "TTM"]["value"] == 12.0


def test_sums_and_counts_of_a_company_that_files_no_more_run_out() -> None:
    facts = [fact("revenue", "FY2024", 10.0), fact("shares", "FY2024", 100.0)]
    known = known_from(FILED)
    for days, told in ((366, {"revenue", "market_cap"}), (367, {"market_cap"}),
                       (549, {"market_cap"}), (550, set())):  # fmt: skip
        found = rows(facts, known + timedelta(days=days), 20.0)
        assert {field for field, period in found if period == "TTM"} == told, days
        assert found["revenue", "FY2024"]["value"] == 10.0


def test_a_figure_that_is_repeated_keeps_its_first_day() -> None:
    again = fact("revenue", "FY2024", 100.0, date(2025, 5, 1))
    facts = [fact("revenue", "FY2024", 100.0), again]
    assert rows(facts)["revenue", "FY2024"]["id"] == "revenue-FY2024-2025-02-20"
    # 100, restated to 90, and back to 100: the last one is a restatement again.
    back = [facts[0], fact("revenue", "FY2024", 90.0, date(2025, 4, 1)), again]
    assert rows(back)["revenue", "FY2024"]["id"] == "revenue-FY2024-2025-05-01"


def test_market_cap_is_todays_price_and_the_newest_count() -> None:
    facts = [fact("shares", "FY2024", 100.0), fact("shares", "2025Q1", 90.0, date(2025, 5, 1))]
    as_of = datetime(2025, 5, 2, 0, 5, tzinfo=UTC)
    assert rows(facts, as_of, 20.0)["market_cap", "TTM"] == {
        "id": "market_cap-TTM-2025-05-02", "field": "market_cap", "period": "TTM", "value": 1800.0,
        "known_at_utc": as_of,
    }  # fmt: skip
    assert rows(facts, as_of - timedelta(days=1), 20.0)["market_cap", "TTM"]["value"] == 2000.0
    assert ("market_cap", "TTM") not in rows(facts, as_of, None)
    assert known_facts([fact("revenue", "FY2024", 1.0)], as_of, 20.0)[-1]["field"] == "revenue"


def test_counts_from_before_a_split_do_not_stand_beside_those_after() -> None:
    def at(quarter: int) -> date:
        return date(2022, 3 * quarter, 1)

    facts = [
        fact("shares", "FY2021", 1000.0, at(1)), fact("eps", "FY2021", 4.8, at(1)),
        fact("net_income", "FY2021", 5000.0, at(1)), fact("shares", "2022Q1", 1010.0, at(2)),
        fact("shares", "2022Q2", 3060.0, at(3)), fact("eps", "FY2021", 1.6, at(4)),
    ]  # fmt: skip
    before = rows(facts, known_from(at(2)))
    assert before["shares", "FY2021"]["value"] == 1000.0
    assert before["eps", "FY2021"]["value"] == 4.8
    split = rows(facts, known_from(at(3)))  # 3060 / 1010 = 3.03
    assert [key for key in split if key[0] in ("shares", "eps")] == [("shares", "2022Q2")]
    assert split["net_income", "FY2021"]["value"] == 5000.0
    assert rows(facts, known_from(at(4)))["eps", "FY2021"]["value"] == 1.6


def test_new_shares_by_the_million_are_no_split() -> None:
    facts = [fact("shares", "FY2023", 100.0, date(2024, 2, 1)), fact("shares", "FY2024", 145.0)]
    assert [p for f, p in rows(facts)] == ["FY2023", "FY2024"]


def test_growth_of_years_is_read_from_the_rows() -> None:
    facts = [fact("revenue", f"FY{2021 + i}", v) for i, v in enumerate((80.0, 90.0, 100.0, 120.0))]
    filed = read_fundamentals(known_facts(facts, LATER, None))
    assert filed is not None
    assert [y.name for y in filed.years] == ["FY2024", "FY2023", "FY2022", "FY2021"]
    assert growth(filed.values(lambda y: y.revenue)) == pytest.approx(0.5)  # 120 / 80 - 1
    assert filed.now.revenue == 120.0
    assert filed.unread == ()


def test_nothing_known_gives_no_rows() -> None:
    assert known_facts((), LATER, 10.0) == ()


FACT = st.builds(
    fact,
    st.sampled_from(["revenue", "eps", "shares", "assets"]),
    st.sampled_from(["FY2023", "FY2024", "2024Q1", "2024Q2", "2024Q3", "2025Q1", "2025Q2", "TTM"]),
    st.integers(-1000, 1000).map(float),
    st.integers(0, 500).map(lambda n: date(2024, 1, 1) + timedelta(days=n)),
)
BY_KEY = st.lists(FACT, max_size=25, unique_by=lambda f: (f.field, f.period, f.filed))


@given(facts=BY_KEY, cut=st.integers(0, 500), turn=st.randoms())
def test_facts_filed_later_and_their_order_change_nothing(
    facts: list[Fact], cut: int, turn: Any
) -> None:
    as_of = known_from(date(2024, 1, 1) + timedelta(days=cut))
    early = [f for f in facts if f.known_at_utc <= as_of]
    told = known_facts(early, as_of, 7.0)
    turn.shuffle(facts)
    assert known_facts(facts, as_of, 7.0) == told
    assert all(r["known_at_utc"] <= as_of for r in told)
    keys = [(r["field"], r["period"]) for r in told]
    assert keys == sorted(set(keys))
    assert len({r["id"] for r in told}) == len(told)


@given(facts=BY_KEY)
def test_rows_equal_a_slow_reading_on_every_filing_day(facts: list[Fact]) -> None:
    """Without shares nothing is split; of the rest, the newest fact of each field and period."""
    facts = [f for f in facts if f.field != "shares"]
    for day in sorted({f.filed for f in facts}):
        slow: dict[tuple[str, str], float] = {}
        for f in sorted(facts, key=lambda f: f.filed):
            if f.filed <= day:
                slow[f.field, f.period] = f.value
        got = rows(facts, known_from(day))
        for (field, period), row in got.items():
            if row["id"].count("-") > 2:  # of two dashes is a sum: revenue-TTM-2025Q1
                assert row["value"] == slow.pop((field, period))
        # Two years and their quarters are never too old here, nor is anything stated as trailing.
        assert {period for _, period in slow} <= {"TTM"}

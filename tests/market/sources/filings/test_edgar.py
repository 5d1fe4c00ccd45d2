"""Company facts of the SEC: fiscal periods by dates, restatements, and no word too early."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.filings.known import known_facts
from arena.market.sources.filings.company_facts import read_company_facts
from arena.market.sources.filings.edgar import EdgarFacts
from arena.market.sources.filings.fiscal import FiscalCalendar, Span, n_quarters
from arena.market.sources.filings.tags import FIELDS_OF, RECIPES, UNIT_OF
from tests.market.sources.filings.made_edgar import DAYS, FILINGS, document

ACME = Asset("ACME", "Acme", "stock", symbols={"edgar": "0000000042"})
FACTS = read_company_facts(document(), "ACME")


def told(field: str, facts: tuple[Fact, ...] = FACTS) -> list[tuple[str, float, str]]:
    return [(f.period, f.value, f.filed.isoformat()) for f in facts if f.field == field]


def test_periods_come_from_dates_and_restatements_are_facts_of_their_own() -> None:
    assert told("revenue") == [
        ("FY2021", 800, "2023-11-03"), ("FY2022", 900, "2023-11-03"), ("FY2023", 1000, "2023-11-03"),
        ("2023Q1", 240, "2024-02-02"), ("2024Q1", 270, "2024-02-02"),
        ("2023Q2", 230, "2024-05-03"), ("2024Q2", 250, "2024-05-03"),
        ("2024Q3", 260, "2024-08-02"),
        ("FY2023", 990, "2024-11-01"), ("FY2024", 1080, "2024-11-01"),
        ("FY2024", 1070, "2024-12-20"),
        ("2025Q1", 300, "2025-01-31"),
    ]  # fmt: skip
    amended = [f for f in FACTS if f.form == "10-K/A"]
    assert [f.id for f in amended] == ["revenue-FY2024-2024-12-20"]
    assert {f.known_at_utc for f in amended} == {datetime(2024, 12, 21, tzinfo=UTC)}


def test_quarters_told_only_since_the_year_began_are_worked_out() -> None:
    # 115 - 55 = 60, 104 - 50 = 54; 170 - 115 = 55, 158 - 104 = 54. The first quarter of 2024 was
    # later told as 56; the second is not put together of numbers of different filings then.
    assert told("operating_cash_flow") == [
        ("FY2022", 180, "2023-11-03"), ("FY2023", 200, "2023-11-03"),
        ("2023Q1", 50, "2024-02-02"), ("2024Q1", 55, "2024-02-02"),
        ("2023Q2", 54, "2024-05-03"), ("2024Q2", 60, "2024-05-03"),
        ("2023Q3", 54, "2024-08-02"), ("2024Q3", 55, "2024-08-02"),
        ("FY2024", 235, "2024-11-01"),
        ("2024Q1", 56, "2025-01-31"), ("2025Q1", 62, "2025-01-31"),
    ]  # fmt: skip


def test_balances_signs_sums_and_the_count_on_the_cover() -> None:
    assert told("assets") == [
        ("FY2022", 1500, "2023-11-03"), ("FY2023", 1600, "2023-11-03"),
        ("2024Q1", 1650, "2024-02-02"), ("FY2024", 1700, "2024-11-01"),
    ]  # fmt: skip
    # Paid out is positive, however it was written: -40 and 40 are one figure.
    assert told("capex") == [("FY2023", 40, "2023-11-03"), ("FY2024", 44, "2024-11-01")]
    # 90 + 10; in 2024 no part of it fell due within a year.
    assert told("debt") == [("FY2023", 100, "2023-11-03"), ("FY2024", 80, "2024-11-01")]
    # Counted in October, weeks after the year that the filing is about.
    assert told("shares") == [("FY2023", 100, "2023-11-03"), ("FY2024", 98, "2024-11-01")]
    assert told("eps") == [("FY2023", 1.5, "2023-11-03"), ("FY2024", 1.7, "2024-11-01")]


def test_twelve_months_on_the_real_shape_by_hand() -> None:
    rows = {
        (r["field"], r["period"]): r
        for r in known_facts(FACTS, datetime(2025, 2, 1, tzinfo=UTC), price=20.0)
    }
    # 1070 + 300 - 270 = 1100; 235 + 62 - 56 = 241; 98 shares at 20.
    assert rows["revenue", "TTM"]["value"] == 1100
    assert rows["revenue", "TTM"]["id"] == "revenue-TTM-2025Q1"
    assert rows["operating_cash_flow", "TTM"]["value"] == 241
    assert rows["market_cap", "TTM"]["value"] == 1960


# Periods of the made company, written out by hand.
PERIOD_OF = {
    "FY21": "FY2021", "FY22": "FY2022", "FY23": "FY2023", "FY24": "FY2024", "Q1 23": "2023Q1",
    "Q2 23": "2023Q2", "Q1 24": "2024Q1", "Q2 24": "2024Q2", "Q3 24": "2024Q3", "Q1 25": "2025Q1",
    "at FY22": "FY2022", "at FY23": "FY2023", "at Q1 24": "2024Q1", "at FY24": "FY2024",
}  # fmt: skip


def slow(tag: str, last_filed: str) -> dict[str, float]:
    """By period the value of the newest filing up to a day, two years of quarters back."""
    period_of = {DAYS[name]: period for name, period in PERIOD_OF.items()}
    found: dict[str, float] = {}
    for e in sorted(document()["facts"]["us-gaap"][tag]["units"]["USD"], key=lambda e: e["filed"]):
        period = period_of.get((e.get("start"), e["end"]))
        if e["filed"] <= last_filed and period is not None:
            found[period] = e["val"]
    if "2025Q1" in found:
        found.pop("2023Q1", None)
    return found


@pytest.mark.parametrize("filed", [row[1] for row in FILINGS.values()])
@pytest.mark.parametrize(("tag", "field"), [("Revenues", "revenue"), ("Assets", "assets")])
def test_time_travel_equals_a_slow_reading(filed: str, tag: str, field: str) -> None:
    day = date.fromisoformat(filed)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    before = (day - timedelta(days=1)).isoformat()
    for as_of, last_filed in ((midnight, filed), (midnight - timedelta(seconds=1), before)):
        rows = [r for r in known_facts(FACTS, as_of, None) if r["field"] == field]
        got = {r["period"]: r["value"] for r in rows if r["period"] != "TTM"}
        assert got == slow(tag, last_filed)


AMOUNT = st.floats(-1e12, 1e12, allow_nan=False)


@given(
    added=st.lists(
        st.tuples(
            st.sampled_from(["Revenues", "Assets", "NetCashProvidedByUsedInOperatingActivities"]),
            st.sampled_from(sorted(DAYS)),
            AMOUNT,
            st.sampled_from(["10-K", "10-Q", "10-K/A", "8-K"]),
        ),
        max_size=6,
    ),
    cut=st.sampled_from(sorted(row[1] for row in FILINGS.values())),
)
def test_what_is_filed_later_changes_nothing_before(
    added: list[tuple[str, str, float, str]], cut: str
) -> None:
    changed = document()
    for i, (tag, days, value, form) in enumerate(added):
        start, end = DAYS[days]
        changed["facts"]["us-gaap"][tag]["units"]["USD"].append(
            {"start": start, "end": end, "val": value, "accn": f"9-{i}", "form": form,
             "filed": "2025-03-01"}
        )  # fmt: skip
    before = [f for f in FACTS if f.filed.isoformat() <= cut]
    assert [f for f in read_company_facts(changed, "ACME") if f.filed.isoformat() <= cut] == before
    cut_off = document()
    for told_of in cut_off["facts"]["us-gaap"].values():
        for unit, entries in told_of["units"].items():
            told_of["units"][unit] = [e for e in entries if e.get("filed", "9") <= cut]
    shares = cut_off["facts"]["dei"]["EntityCommonStockSharesOutstanding"]["units"]
    shares["shares"] = [e for e in shares["shares"] if e["filed"] <= cut]
    assert list(read_company_facts(cut_off, "ACME")) == before


def test_the_order_of_the_document_does_not_matter() -> None:
    turned = document()
    for taxonomy in turned["facts"].values():
        for told_of in taxonomy.values():
            for entries in told_of["units"].values():
                entries.reverse()
    assert sorted(read_company_facts(turned, "ACME"), key=repr) == sorted(FACTS, key=repr)


def test_what_is_no_report_or_lies_about_its_dates_is_left_out() -> None:
    changed = document()
    revenues = changed["facts"]["us-gaap"]["Revenues"]["units"]["USD"]
    year = {"start": "2023-10-01", "end": "2024-09-28", "fy": 2024, "fp": "FY"}
    revenues += [
        {**year, "val": 5.0, "accn": "s", "form": "S-1", "filed": "2024-12-30"},
        {**year, "val": 6.0, "accn": "s", "form": "10-K", "filed": "2024-09-01"},
        {**year, "val": float("nan"), "accn": "s", "form": "10-K", "filed": "2024-12-30"},
        # A month of its own, and a quarter that is none of the company's.
        {"start": "2024-10-01", "end": "2024-10-31", "val": 7.0, "accn": "s", "form": "10-Q",
         "filed": "2024-12-30"},
        {"start": "2024-08-01", "end": "2024-10-31", "val": 8.0, "accn": "s", "form": "10-Q",
         "filed": "2024-12-30"},
    ]  # fmt: skip
    assert read_company_facts(changed, "ACME") == FACTS


@pytest.mark.parametrize(
    ("end", "span"),
    [
        # Named after the year in which they end; the first days of January are the old year's.
        ("2023-01-01", Span(2022, 4, 4)),
        ("2022-01-02", Span(2021, 4, 4)),
    ],
)
def test_a_year_of_weeks_is_named_after_the_one_it_covers(end: str, span: Span) -> None:
    calendar = FiscalCalendar()
    calendar.learn(date(2023, 1, 1))
    calendar.learn(date(2022, 1, 2))
    last = date.fromisoformat(end)
    assert calendar.span(last - timedelta(days=363), last) == span
    assert calendar.span(date(2023, 1, 2), date(2023, 4, 2)) == Span(2023, 1, 1)


def test_quarters_of_twelve_and_of_sixteen_weeks() -> None:
    calendar = FiscalCalendar()
    assert calendar.span(date(2023, 9, 4), date(2023, 11, 26)) is None, "no year is known yet"
    calendar.learn(date(2023, 9, 3))
    # 12, 24 and 36 weeks, and 16 for the last quarter.
    for end, span in (
        (date(2023, 11, 26), Span(2024, 1, 1)), (date(2024, 2, 18), Span(2024, 2, 2)),
        (date(2024, 5, 12), Span(2024, 3, 3)), (date(2024, 9, 1), Span(2024, 4, 4)),
    ):  # fmt: skip
        assert calendar.span(date(2023, 9, 4), end) == span
    assert calendar.span(date(2024, 5, 13), date(2024, 9, 1)) == Span(2024, 4, 1)
    assert n_quarters(date(2024, 1, 1), date(2024, 2, 29)) is None


def test_every_tag_has_one_unit_and_every_line_a_needed_term() -> None:
    for tag, fields in FIELDS_OF.items():
        assert len({("eps" in f, f == "shares", f == "tax_rate") for f in fields}) == 1, tag
    assert {UNIT_OF[t] for t in FIELDS_OF} == {"USD", "USD/shares", "shares", "pure"}
    assert all(line[0].needed and line[0].sign == 1 for lines in RECIPES.values() for line in lines)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("facts"),
        lambda d: d["facts"]["us-gaap"]["Assets"].pop("units"),
        lambda d: d["facts"]["us-gaap"]["Assets"]["units"]["USD"][0].pop("filed"),
        lambda d: d["facts"]["us-gaap"]["Assets"]["units"]["USD"][0].update(val="many"),
    ],
)
def test_a_document_that_cannot_be_read_is_a_failed_source(spoil: Callable[[Any], Any]) -> None:
    broken = copy.deepcopy(document())
    spoil(broken)
    with pytest.raises(SourceError, match="edgar"):
        read_company_facts(broken, "ACME")


@pytest.fixture
def sec(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, dict[str, bytes], list[str]]]:
    """A server on this machine: (address, bodies by path, paths asked for)."""
    bodies: dict[str, bytes] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = bodies.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("ARENA_NETWORK", "on")
    yield f"http://127.0.0.1:{server.server_port}/", bodies, asked
    server.shutdown()
    thread.join()
    server.server_close()


PATH = "/api/xbrl/companyfacts/CIK0000000042.json"


def test_it_asks_by_the_companys_number(sec: tuple[str, dict[str, bytes], list[str]]) -> None:
    address, bodies, asked = sec
    bodies[PATH] = json.dumps(document()).encode()
    assert EdgarFacts(address).facts(ACME) == FACTS
    assert asked == [PATH]
    assert EdgarFacts(address).facts(Asset("BTC", "Bitcoin", "crypto")) == ()
    assert EdgarFacts(address).facts(Asset("SPY", "Fund", "etf")) == ()
    assert asked == [PATH], "coins and funds file nothing"


@pytest.mark.parametrize(
    ("body", "problem"), [(b"<html>", "no JSON"), (b"[]", "no company facts"), (None, "404")]
)
def test_a_bad_answer_is_a_failed_source(
    sec: tuple[str, dict[str, bytes], list[str]], body: bytes | None, problem: str
) -> None:
    address, bodies, _ = sec
    if body is not None:
        bodies[PATH] = body
    with pytest.raises(SourceError, match=problem):
        EdgarFacts(address).facts(ACME)


def test_a_company_without_a_number_says_what_to_write() -> None:
    with pytest.raises(SourceError, match=r"ACME has no company number.*assets\.toml"):
        EdgarFacts().facts(Asset("ACME", "Acme", "stock"))


def test_without_a_network_nothing_is_asked() -> None:
    with pytest.raises(SourceError, match="network is off"):
        EdgarFacts().facts(ACME)

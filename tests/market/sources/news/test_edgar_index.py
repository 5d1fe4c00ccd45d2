"""The SEC's index of filings: what was filed, and which clock the SEC put its Z behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.news.items import RawItem
from arena.market.sources.news import edgar_forms as forms
from arena.market.sources.news.base import poll
from arena.market.sources.news.edgar import NEW_YORK, EdgarIndex, clock_of
from tests.market.sources.news.server import Site, page, running

NOW = datetime(2025, 8, 2, 9, tzinfo=UTC)
TSLA = Asset("TSLA", "Tesla", "stock", symbols={"edgar": "0001318605"})
BTC = Asset("BTC", "Bitcoin", "crypto")
COLUMNS = (
    "accessionNumber", "form", "filingDate", "acceptanceDateTime", "reportDate", "items",
)  # fmt: skip

EVENING = ("0-25-4", "4", "2025-07-25", "2025-07-26T00:30:00.000Z", "2025-07-24", "")
"""Half past eight in the evening of New York, if Z is true: no filing is accepted at 0:30 there."""
QUARTER = ("0-25-3", "10-Q", "2025-07-24", "2025-07-24T11:15:06.000Z", "2025-06-30", "")
EVENT = ("0-25-2", "8-K", "2025-07-23", "2025-07-23T20:08:00.000Z", "2025-07-23", "2.02,9.01")
ANNUAL = ("0-25-1", "10-K/A", "2025-04-30", "2025-04-30T20:31:05.000Z", "2024-12-31", "")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("ARENA_NETWORK", "on")
    with running() as site:
        yield site


def columns(*rows: tuple[str, ...]) -> dict[str, list[str]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(COLUMNS)}


def index(*rows: tuple[str, ...], files: tuple[Any, ...] = ()) -> dict[str, Any]:
    recent = {**columns(*rows), "size": [1] * len(rows)}
    return {"cik": "1318605", "name": "Tesla, Inc.", "filings": {"recent": recent, "files": files}}


def serve(site: Site, name: str, document: Any) -> None:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    site.answers[f"/submissions/{name}"] = page(body, kind="application/json")


def filed(site: Site, *rows: tuple[str, ...], since: date = date(2025, 7, 1)) -> list[RawItem]:
    serve(site, "CIK0001318605.json", index(*rows))
    start = datetime(since.year, since.month, since.day, tzinfo=UTC)
    return EdgarIndex(site.base, lambda: NOW).fetch([BTC, TSLA], start, NOW)


def test_filings_of_the_window(site: Site) -> None:
    four, quarter, event = filed(site, EVENING, QUARTER, EVENT, ANNUAL)
    assert quarter == RawItem(
        title="Tesla: 10-Q for the period ending 2025-06-30",
        url="https://www.sec.gov/Archives/edgar/data/1318605/0253/0-25-3-index.htm",
        text="Tesla filed form 10-Q, quarterly report, with the SEC on 2025-07-24. "
        "It covers the period ending 2025-06-30.",
        outlet="SEC EDGAR",
        origin="edgar",
        trust="official",
        ts_quality="exact",
        published_utc=datetime(2025, 7, 24, 11, 15, 6, tzinfo=UTC),
        collected_at_utc=NOW,
        asset="TSLA",
        kind="filing-10q",
    )
    assert (event.title, event.kind) == ("Tesla: 8-K (results of operations)", "filing-other")
    assert four.title == "Tesla: 4 (trades of an insider)"
    assert [path for path, _ in site.asked] == ["/submissions/CIK0001318605.json"]


def test_amended_reports_say_so(site: Site) -> None:
    *_, annual = filed(site, QUARTER, ANNUAL, since=date(2025, 4, 30))
    assert (annual.title, annual.kind) == (
        "Tesla: 10-K/A for the period ending 2024-12-31", "filing-10k",
    )  # fmt: skip
    assert "It amends an earlier filing." in annual.text


def test_a_false_z_is_read_as_new_york(site: Site) -> None:
    """06:01 shown is 6:01 in New York, when EDGAR opens; as UTC it would be 2:01 at night there."""
    early = ("0-25-5", "8-K", "2025-07-28", "2025-07-28T06:01:36.000Z", "2025-07-28", "8.01")
    _, event = filed(site, early, EVENT)
    # 20:08 of New York is 00:08 UTC of the next day in summer: four hours later than the Z says.
    assert event.published_utc == datetime(2025, 7, 24, 0, 8, tzinfo=UTC)
    assert event.ts_quality == "exact"


def test_a_clock_without_witness_stays_open(site: Site) -> None:
    """20:08 can be either: then the zone is not known, and the date is treated so."""
    [event] = filed(site, EVENT)
    assert event.ts_quality == "naive"


def at(*shown: str) -> list[datetime]:
    return [datetime.fromisoformat(f"2025-07-{text}") for text in shown]


def test_the_clock_is_the_one_with_fewer_filings_at_night() -> None:
    assert clock_of(at("24T11:00", "25T00:30")) is not None
    assert str(clock_of(at("24T11:00", "25T00:30"))) == "UTC"  # 0:30 is night; 20:30 is not
    assert clock_of(at("24T11:00", "28T06:01")) == NEW_YORK  # 6:01 is day; 2:01 is not
    assert str(clock_of(at("24T00:30", "25T01:30", "28T06:01"))) == "UTC"  # one against two
    assert clock_of(at("24T11:00", "24T20:00")) is None
    assert clock_of([]) is None
    # In winter New York is five hours behind: 02:30 UTC is 21:30 there, 03:30 is night in both.
    winter = datetime.fromisoformat("2025-01-15T02:30")
    assert str(clock_of([winter])) == "UTC"
    assert clock_of([winter.replace(hour=3)]) is None


@pytest.mark.parametrize(
    "shown", ["", "2025-07-24T00:00:00.000Z", "20250724111506", "2025-07-24T99:00:00Z"]
)
def test_without_an_hour_it_is_a_day(site: Site, shown: str) -> None:
    [item] = filed(site, (*QUARTER[:3], shown, *QUARTER[4:]))
    assert (item.ts_quality, item.published_utc) == ("date", datetime(2025, 7, 24, tzinfo=UTC))


@pytest.mark.parametrize("form", ["CORRESP", "UPLOAD", "DRS/A"])
def test_letters_are_known_when_seen(site: Site, form: str) -> None:
    """They show the day they were sent, and are made public weeks after it."""
    letter = (QUARTER[0], form, *QUARTER[2:])
    [item] = filed(site, letter)
    assert (item.ts_quality, item.published_utc) == ("collected", None)
    assert item.collected_at_utc == NOW


def test_older_pages_are_read_where_the_window_reaches_them(site: Site) -> None:
    old = ("0-20-1", "10-Q", "2020-07-28", "2020-07-28T11:00:00.000Z", "2020-06-30", "")
    files = tuple(
        {"name": f"CIK0001318605-submissions-00{k}.json", "filingFrom": a, "filingTo": b, "filingCount": 1}
        for k, (a, b) in enumerate([("2015-01-01", "2019-12-31"), ("2020-01-01", "2020-12-31")])
    )  # fmt: skip
    serve(site, "CIK0001318605.json", index(EVENING, QUARTER, files=files))
    serve(site, "CIK0001318605-submissions-001.json", columns(old))
    since, until = datetime(2020, 7, 1, tzinfo=UTC), datetime(2020, 8, 1, tzinfo=UTC)
    [item] = EdgarIndex(site.base, lambda: NOW).fetch([TSLA], since, until)
    assert item.title == "Tesla: 10-Q for the period ending 2020-06-30"
    assert item.ts_quality == "exact"  # the recent page was witness
    assert len(site.asked) == 2


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (b"<html>Request Rate Threshold Exceeded</html>", "not in the form of submissions: answer"),
        (b"{}", "filings: Field required"),
        (b"", "not in the form"),
        (b"[" * 100_000, "not in the form"),
        ({"filings": {"recent": {**columns(QUARTER), "form": []}}}, "columns of different length"),
        ({"filings": {"recent": {**columns(QUARTER), "filingDate": ["soon"]}}}, "filingDate.0"),
    ],
)
def test_an_answer_of_another_form_has_failed(site: Site, document: Any, said: str) -> None:
    serve(site, "CIK0001318605.json", document)
    [told] = poll([EdgarIndex(site.base)], [TSLA], NOW, NOW, lambda: NOW)
    assert told.status == "failed"
    assert said in (told.error or "")


def test_without_a_contact_the_refusal_says_what_to_set(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_CONTACT", raising=False)
    site.answers["/submissions/CIK0001318605.json"] = page(b"", 403)
    [told] = poll([EdgarIndex(site.base)], [TSLA], NOW, NOW, lambda: NOW)
    assert (told.source, told.status) == ("edgar", "failed")
    assert "set ARENA_CONTACT" in (told.error or "")


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("10-K405", "filing-10k"), ("10-KT", "filing-10k"), ("10-Q/A", "filing-10q"),
        ("NT 10-K", "filing-other"), ("8-K", "filing-other"),
    ],
)  # fmt: skip
def test_kinds(form: str, kind: str) -> None:
    assert forms.kind_of(form) == kind


@pytest.mark.parametrize(
    ("form", "items", "title"),
    [
        ("8-K", "1.01,2.03,9.01", "A: 8-K (a material agreement; a new financial obligation)"),
        ("8-K/A", "9.01", "A: 8-K/A (statements and exhibits)"),
        ("8-K", "6.06", "A: 8-K (item 6.06)"),
        ("8-K", "", "A: 8-K"),
        ("424B5", "", "A: 424B5 (prospectus)"),
        ("XYZ", "", "A: XYZ"),
    ],
)
def test_titles(form: str, items: str, title: str) -> None:
    assert forms.title("A", form, "2025-07-23", items) == title


def test_our_companies_have_a_number_at_the_sec() -> None:
    assets = load_assets()
    assert {k: a.symbols["edgar"] for k, a in assets.items() if "edgar" in a.symbols} == {
        "TSLA": "0001318605", "BMRN": "0001048477",
    }  # fmt: skip

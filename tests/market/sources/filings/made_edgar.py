"""Company facts made by hand, in the shape of the SEC's: a company whose years end in September.

It counts in weeks: years end on 2021-09-25, 2022-09-24, 2023-09-30 (53 weeks) and 2024-09-28, so
that its first quarter ends in December of the calendar year before.
"""

from __future__ import annotations

from typing import Any

Entry = dict[str, Any]

# (form, filed, accession number, fiscal year and quarter as the filing itself has them)
FILINGS = {
    "10-K 2023": ("10-K", "2023-11-03", "0000000042-23-000009", 2023, "FY"),
    "10-Q 1": ("10-Q", "2024-02-02", "0000000042-24-000001", 2024, "Q1"),
    "10-Q 2": ("10-Q", "2024-05-03", "0000000042-24-000002", 2024, "Q2"),
    "10-Q 3": ("10-Q", "2024-08-02", "0000000042-24-000003", 2024, "Q3"),
    "10-K 2024": ("10-K", "2024-11-01", "0000000042-24-000004", 2024, "FY"),
    "10-K/A": ("10-K/A", "2024-12-20", "0000000042-24-000005", 2024, "FY"),
    "10-Q 4": ("10-Q", "2025-01-31", "0000000042-25-000001", 2025, "Q1"),
}

DAYS = {
    "FY21": ("2020-09-27", "2021-09-25"), "FY22": ("2021-09-26", "2022-09-24"),
    "FY23": ("2022-09-25", "2023-09-30"), "FY24": ("2023-10-01", "2024-09-28"),
    "Q1 23": ("2022-09-25", "2022-12-31"), "Q2 23": ("2023-01-01", "2023-04-01"),
    "Q3 23": ("2023-04-02", "2023-07-01"), "H 23": ("2022-09-25", "2023-04-01"),
    "9M 23": ("2022-09-25", "2023-07-01"),
    "Q1 24": ("2023-10-01", "2023-12-30"), "Q2 24": ("2023-12-31", "2024-03-30"),
    "Q3 24": ("2024-03-31", "2024-06-29"), "H 24": ("2023-10-01", "2024-03-30"),
    "9M 24": ("2023-10-01", "2024-06-29"), "Q1 25": ("2024-09-29", "2024-12-28"),
    "12M": ("2023-07-02", "2024-06-29"),
    "at FY22": (None, "2022-09-24"), "at FY23": (None, "2023-09-30"),
    "at Q1 24": (None, "2023-12-30"), "at FY24": (None, "2024-09-28"),
    "at no end": (None, "2024-02-15"),
    "cover 23": (None, "2023-10-20"), "cover 24": (None, "2024-10-18"),
}  # fmt: skip

# Under each tag: the filing, the days, and the value.
USD = {
    "Revenues": (
        ("10-K 2023", "FY21", 800), ("10-K 2023", "FY22", 900), ("10-K 2023", "FY23", 1000),
        ("10-Q 1", "Q1 24", 270), ("10-Q 1", "Q1 23", 240),
        ("10-Q 2", "Q2 24", 250), ("10-Q 2", "H 24", 520), ("10-Q 2", "Q2 23", 230),
        ("10-Q 3", "Q3 24", 260), ("10-Q 3", "9M 24", 780), ("10-Q 3", "12M", 1075),
        # The year before is restated; the one before that is repeated.
        ("10-K 2024", "FY24", 1080), ("10-K 2024", "FY23", 990), ("10-K 2024", "FY22", 900),
        ("10-K/A", "FY24", 1070),
        ("10-Q 4", "Q1 25", 300), ("10-Q 4", "Q1 24", 270),
    ),
    # Another tag for part of it: never taken where the better one is stated.
    "RevenueFromContractWithCustomerExcludingAssessedTax": (
        ("10-K 2024", "FY24", 1000), ("10-K 2024", "FY23", 930),
    ),
    # Cash flows are told from the beginning of the year on.
    "NetCashProvidedByUsedInOperatingActivities": (
        ("10-K 2023", "FY22", 180), ("10-K 2023", "FY23", 200),
        ("10-Q 1", "Q1 24", 55), ("10-Q 1", "Q1 23", 50),
        ("10-Q 2", "H 24", 115), ("10-Q 2", "H 23", 104),
        ("10-Q 3", "9M 24", 170), ("10-Q 3", "9M 23", 158),
        ("10-K 2024", "FY24", 235), ("10-K 2024", "FY23", 200),
        ("10-Q 4", "Q1 25", 62), ("10-Q 4", "Q1 24", 56),
    ),
    "PaymentsToAcquirePropertyPlantAndEquipment": (
        ("10-K 2023", "FY23", -40), ("10-K 2024", "FY24", 44), ("10-K 2024", "FY23", 40),
    ),
    "Assets": (
        ("10-K 2023", "at FY22", 1500), ("10-K 2023", "at FY23", 1600),
        ("10-Q 1", "at Q1 24", 1650), ("10-Q 1", "at FY23", 1600), ("10-Q 1", "at no end", 7),
        ("10-K 2024", "at FY24", 1700), ("10-K 2024", "at FY23", 1600),
    ),
    "LongTermDebtNoncurrent": (("10-K 2023", "at FY23", 90), ("10-K 2024", "at FY24", 80)),
    "LongTermDebtCurrent": (("10-K 2023", "at FY23", 10),),
}  # fmt: skip
PER_SHARE = (("10-K 2023", "FY23", 1.5), ("10-K 2024", "FY24", 1.7))
COVER = (("10-K 2023", "cover 23", 100), ("10-K 2024", "cover 24", 98))


def entry(filing: str, days: str, value: float) -> Entry:
    form, filed, accn, fy, fp = FILINGS[filing]
    start, end = DAYS[days]
    begins = {} if start is None else {"start": start}
    return {
        **begins, "end": end, "val": value, "accn": accn, "fy": fy, "fp": fp, "form": form,
        "filed": filed,
    }  # fmt: skip


def document() -> dict[str, Any]:
    """A fresh copy, fit to be changed."""

    def units(unit: str, rows: tuple[tuple[str, str, float], ...]) -> dict[str, Any]:
        return {"label": "-", "units": {unit: [entry(*row) for row in rows]}}

    gaap = {tag: units("USD", rows) for tag, rows in USD.items()}
    gaap["EarningsPerShareDiluted"] = units("USD/shares", PER_SHARE)
    gaap["SomethingElse"] = {"units": {"USD": [{"nobody": "reads this"}]}}
    return {
        "cik": 42,
        "entityName": "Made Company",
        "facts": {
            "us-gaap": gaap,
            "dei": {"EntityCommonStockSharesOutstanding": units("shares", COVER)},
        },
    }

"""Figures from a folder: what may enter, and how a wrong row is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest

from arena.agents import fundamentals
from arena.core.errors import DataError
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.filings.fields import FIELDS, OUTFLOWS, STATES, quarter_end, quarter_name
from arena.market.sources.filings import open as opening
from arena.market.sources.filings.edgar import EdgarFacts
from arena.market.sources.filings.files import FilesFilings
from arena.market.sources.filings.open import open_filings

ACME = Asset("ACME", "Acme", "stock")
HEAD = "symbol,field,period,value,filed,form\n"


def folder(path: Path, *rows: str, head: str = HEAD) -> Path:
    (path / "fundamentals.csv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def source(path: Path) -> FilesFilings:
    return FilesFilings(path, clock=lambda: datetime(2025, 8, 1, 12, tzinfo=UTC))


def test_a_row_is_a_fact_known_at_the_end_of_its_day(tmp_path: Path) -> None:
    folder(
        tmp_path,
        "ACME,revenue,FY2024,100.5,2025-02-20,10-K",
        "BOLT,revenue,FY2024,7,2025-02-20,10-K",
        "ACME,eps,2024Q3,-0.2,2024-11-01,",
        "ACME,revenue,FY2024,99,2025-03-20,10-K/A",
    )
    facts = source(tmp_path).facts(ACME)
    assert facts == (
        Fact("ACME", "eps", "2024Q3", -0.2, date(2024, 11, 1),
             datetime(2024, 11, 2, tzinfo=UTC), "", "files"),
        Fact("ACME", "revenue", "FY2024", 100.5, date(2025, 2, 20),
             datetime(2025, 2, 21, tzinfo=UTC), "10-K", "files"),
        Fact("ACME", "revenue", "FY2024", 99.0, date(2025, 3, 20),
             datetime(2025, 3, 21, tzinfo=UTC), "10-K/A", "files"),
    )  # fmt: skip
    assert source(tmp_path).facts(Asset("NONE", "None", "stock")) == ()


def test_parquet_is_read_as_csv_is_with_real_dates_and_without_forms(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "symbol": ["ACME"], "field": ["capex"], "period": ["2025Q1"], "value": [3.0],
            "filed": [pd.Timestamp("2025-05-02")],
        }
    )  # fmt: skip
    frame.to_parquet(tmp_path / "fundamentals.parquet")
    (fact,) = source(tmp_path).facts(ACME)
    assert (fact.id, fact.value, fact.form) == ("capex-2025Q1-2025-05-02", 3.0, "")


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("ACME,revenues,FY2024,1,2025-02-20,", "row 2: Unknown field `revenues`. Did you mean `revenue`"),
        ("ACME,revenue,2024,1,2025-02-20,", "period `2024`; write FY2024, 2025Q2 or TTM"),
        ("ACME,revenue,2024Q5,1,2025-02-20,", "period `2024Q5`"),
        ("ACME,revenue,FY2024,many,2025-02-20,", "is `many`, which is no number"),
        ("ACME,revenue,FY2024,inf,2025-02-20,", "is `inf`, which is no number"),
        ("ACME,revenue,FY2024,,2025-02-20,", "is ``, which is no number"),
        ("ACME,capex,FY2024,-3,2025-02-20,", "written positive"),
        ("ACME,revenue,FY2024,1,20/02/2025,", "is no date"),
        ("ACME,revenue,FY2024,1,2025-02-30,", "is no date"),
        ("ACME,revenue,FY2024,1,2025-08-02,", "still to come"),
        ("ACME,equity,FY2024,2,2025-02-20,", "equity of FY2024 stands twice for 2025-02-20"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_file_row_and_rule(tmp_path: Path, row: str, rule: str) -> None:
    folder(tmp_path, "ACME,equity,FY2024,1,2025-02-20,", row)
    with pytest.raises(DataError) as refused:
        source(tmp_path).facts(ACME)
    said = str(refused.value)
    assert rule in said
    assert "fundamentals.csv`: ACME row 2" in said
    assert source(tmp_path).facts(Asset("BOLT", "Bolt", "stock")) == (), "others may be read"


def test_a_coin_with_figures_and_a_file_without_columns_are_refused(tmp_path: Path) -> None:
    folder(tmp_path, "BTC,revenue,FY2024,1,2025-02-20,")
    with pytest.raises(DataError, match=r"BTC, which is no company \(crypto\)"):
        source(tmp_path).facts(Asset("BTC", "Bitcoin", "crypto"))
    folder(tmp_path, "ACME,revenue", head="symbol,field\n")
    with pytest.raises(DataError, match="column `period` is missing"):
        source(tmp_path).facts(ACME)
    (tmp_path / "fundamentals.csv").rename(tmp_path / "fundamentals.parquet")
    with pytest.raises(DataError, match=r"Cannot read .*fundamentals\.parquet"):
        source(tmp_path).facts(ACME)


def test_the_choice_of_data_names_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_figures = tmp_path / "a"
    with_figures.mkdir()
    folder(with_figures, "ACME,revenue,FY2024,1,2025-02-20,")
    opened = open_filings(f"files:{with_figures}")
    assert isinstance(opened, FilesFilings)
    assert (opened.name, len(opened.facts(ACME))) == ("files", 1)
    assert open_filings(f"files:{tmp_path}") is None
    assert isinstance(open_filings("live"), EdgarFacts)
    monkeypatch.setattr(opening, "SAMPLE", tmp_path)
    assert open_filings("sample") is None
    monkeypatch.setattr(opening, "SAMPLE", with_figures)
    sample = open_filings("sample")
    assert sample is not None
    assert sample.name == "sample"


def test_readers_and_sources_have_the_same_words() -> None:
    assert set(FIELDS) == set(fundamentals.FIELDS)
    assert set(STATES) == fundamentals._BALANCE
    assert set(OUTFLOWS) >= fundamentals._OUTFLOWS
    # 4 x 2024 + 4; the quarter after it is the first of 2025.
    assert quarter_end("FY2024") == quarter_end("2024Q4") == 8100
    assert [quarter_name(n) for n in (8100, 8101)] == ["2024Q4", "2025Q1"]

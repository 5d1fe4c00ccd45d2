"""The sample's filed figures: they add up, were filed after their quarter, and one of each was corrected."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pandas as pd
import pytest

from arena.agents.fundamentals import FIELDS, read_fundamentals
from arena.core.settings import SAMPLE
from arena.market.filings.known import known_facts
from arena.market.sample_figures import BUSINESSES, FLOWS
from arena.market.sources import open_source
from arena.market.sources.filings.open import open_filings

QUARTERS = [f"{y}Q{q}" for y in (2023, 2024) for q in (1, 2, 3, 4)] + ["2025Q1", "2025Q2", "2025Q3"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return pd.read_parquet(SAMPLE / "fundamentals.parquet")


def figures(rows: pd.DataFrame, symbol: str, keep: str = "last") -> pd.DataFrame:
    """Periods by fields: as first filed, or as they stand in the end."""
    own = rows[rows["symbol"] == symbol].sort_values("filed", kind="stable")
    own = own.drop_duplicates(["field", "period"], keep=keep)  # type: ignore[arg-type]
    return own.pivot(index="period", columns="field", values="value")


def test_a_quarter_worked_by_hand(rows: pd.DataFrame) -> None:
    """ZORVANE 2025Q1 in millions: revenue 71,800 x 0.225 = 16,155; gross x 0.226 = 3,651; research
    x 0.046 = 743; other costs x 0.064 = 1,034; operating 3,651 - 743 - 1,034 = 1,874. Debt
    11,600 - 24 x 180 = 7,280, a quarter of 4.8 % is 87; 1,787 before tax, 21 % is 375; 1,412 net, over
    900 shares 1.57."""
    quarter = figures(rows, "ZORVANE").loc["2025Q1"]
    assert quarter["revenue"] == 16_155e6
    assert quarter["gross_profit"] == 3_651e6
    assert quarter["operating_income"] == 1_874e6
    assert quarter["interest_expense"] == 87e6
    assert quarter["net_income"] == 1_412e6
    assert quarter["eps"] == 1.57


@pytest.mark.parametrize("symbol", sorted(BUSINESSES))
@pytest.mark.parametrize("keep", ["first", "last"])
def test_statements_add_up(rows: pd.DataFrame, symbol: str, keep: str) -> None:
    f = figures(rows, symbol, keep)
    assert list(f.index) == sorted(QUARTERS) + [f"FY{y}" for y in range(2019, 2025)]
    assert (f["assets"] == f["liabilities"] + f["equity"]).all()
    assert (f["current_assets"] <= f["assets"]).all()
    assert (f["current_liabilities"] + f["debt"] == f["liabilities"]).all()
    assert (f[["cash", "debt", "equity", "capex", "operating_cash_flow", "dividends"]] >= 0).all().all()
    for year in (2023, 2024):
        parts = f.loc[[f"{year}Q{q}" for q in (1, 2, 3, 4)], list(FLOWS)].sum()
        assert (parts == f.loc[f"FY{year}", list(FLOWS)]).all()


@pytest.mark.parametrize("symbol", sorted(BUSINESSES))
def test_balances_follow_from_what_flowed(rows: pd.DataFrame, symbol: str) -> None:
    f = figures(rows, symbol).loc[QUARTERS]
    paid = f["capex"] + f["dividends"] + f["buybacks"]
    cash = f["operating_cash_flow"] - paid + f["debt"].diff()
    assert (f["cash"].diff() == cash).iloc[1:].all()
    equity = f["net_income"] - f["dividends"] - f["buybacks"]
    assert (f["equity"].diff() == equity).iloc[1:].all()


def test_filed_after_the_period_and_corrected_once_each(rows: pd.DataFrame) -> None:
    ends = {"1": "-03-31", "2": "-06-30", "3": "-09-30", "4": "-12-31"}
    for period, filed in rows[["period", "filed"]].drop_duplicates().itertuples(index=False):
        year, quarter = (period[2:], "4") if period.startswith("FY") else (period[:4], period[5])
        assert date.fromisoformat(year + ends[quarter]) < date.fromisoformat(filed)
    corrected = rows[rows["form"].str.endswith("/A")]
    assert sorted(set(corrected[["symbol", "filed", "form"]].itertuples(index=False, name=None))) == [
        ("HELIQUA", "2025-04-16", "10-K/A"), ("ZORVANE", "2025-09-10", "10-Q/A"),
    ]  # fmt: skip
    own = rows[(rows["symbol"] == "ZORVANE") & (rows["period"] == "2025Q2")].sort_values("filed")
    # 71,800 x 0.245 = 17,591; 420 more at first, of which 88 would have been tax: net 1,545 and 1,877.
    assert list(own[own["field"] == "revenue"]["value"]) == [18_011e6, 17_591e6]
    assert list(own[own["field"] == "net_income"]["value"]) == [1_877e6, 1_545e6]
    assert set(rows["field"]) == set(FIELDS) - {"ebitda", "market_cap", "beta"}


@pytest.mark.parametrize("symbol", sorted(BUSINESSES))
def test_agents_can_read_them_and_ratios_are_of_this_world(symbol: str) -> None:
    asset, source = open_source("sample").assets()[symbol], open_filings("sample")
    assert source is not None
    bars = open_source("sample").daily(asset, date(2025, 8, 1), date(2025, 8, 29))
    price = float(bars["close"].iloc[-1])
    as_of = datetime(2025, 9, 1, tzinfo=UTC)
    filed = read_fundamentals(known_facts(source.facts(asset), as_of, price))
    assert filed is not None
    assert [y.name for y in filed.years] == [f"FY{y}" for y in range(2024, 2018, -1)]
    assert filed.unread == ()
    now = filed.now
    values = (now.eps, now.shares, now.revenue, now.fcf, now.equity)
    eps, shares, revenue, fcf, equity = (v for v in values if v is not None)
    assert 10 < price / eps < 80
    assert 1 < price * shares / revenue < 10
    assert 0 < fcf / (price * shares) < 0.1
    assert price > equity / shares

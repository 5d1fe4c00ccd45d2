"""A small company with round figures, and markets that hold its filings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.agents.fundamentals import Fundamentals, Period, read_fundamentals
from arena.agents.hedge.company import Company, News
from arena.core.types import Asset, AssetClass, Bar, MarketContext

START = datetime(2024, 11, 15, tzinfo=UTC)
FILED = datetime(2025, 3, 1, tzinfo=UTC)

# Newest first. Free cash flow 200, 170, 145, 125; capex is 6 % of revenue; shares are bought back.
YEARS: dict[str, dict[str, float]] = {
    "FY2024": {
        "revenue": 1000, "gross_profit": 600, "operating_income": 250, "net_income": 200,
        "operating_cash_flow": 260, "capex": 60, "shares": 100, "equity": 1000, "rd": 80,
        "current_assets": 800, "current_liabilities": 320,
    },
    "FY2023": {
        "revenue": 900, "gross_profit": 531, "operating_income": 216, "net_income": 170,
        "operating_cash_flow": 224, "capex": 54, "shares": 102, "equity": 880, "rd": 72,
        "current_assets": 720, "current_liabilities": 290,
    },
    "FY2022": {
        "revenue": 800, "gross_profit": 464, "operating_income": 184, "net_income": 145,
        "operating_cash_flow": 193, "capex": 48, "shares": 104, "equity": 780, "rd": 64,
        "current_assets": 640, "current_liabilities": 260,
    },
    "FY2021": {
        "revenue": 700, "gross_profit": 399, "operating_income": 154, "net_income": 125,
        "operating_cash_flow": 167, "capex": 42, "shares": 106, "equity": 690, "rd": 56,
        "current_assets": 560, "current_liabilities": 230,
    },
}  # fmt: skip
SAME = {
    "d_and_a": 40.0, "interest_expense": 10.0, "dividends": 20.0, "assets": 1600.0,
    "liabilities": 600.0, "cash": 200.0, "debt": 100.0, "intangible_assets": 50.0, "beta": 1.1,
    "market_cap": 2000.0,
}  # fmt: skip
INSIDERS = {"insider_bought_shares": 75.0, "insider_sold_shares": 25.0}
PRICE = 10.0
NEWS = News(0.6, 3, 0)


def table(**changes: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Figures by period; `changes` are laid over those of the period named."""
    figures = {period: {**SAME, **row} for period, row in YEARS.items()}
    figures["TTM"] = dict(INSIDERS)
    for period, row in changes.items():
        figures.setdefault(period, {}).update(row)
    return figures


def facts(
    figures: Mapping[str, Mapping[str, float]], filed: datetime = FILED
) -> tuple[dict[str, Any], ...]:
    """The figures as facts of a sealed market."""
    return tuple(
        {
            "id": f"{name}-{period}",
            "field": name,
            "period": period,
            "value": value,
            "known_at_utc": filed,
        }
        for period, row in figures.items()
        for name, value in row.items()
    )


def company(
    figures: Mapping[str, Mapping[str, float]] | None = None, price: float = PRICE,
    news: News | None = None, volatility: float | None = 0.015, long_return: float | None = 0.3,
) -> Company:  # fmt: skip
    """The small company, or one of other figures."""
    filed = read_fundamentals(facts(figures or table()))
    assert filed is not None
    return Company(filed, price, volatility, long_return, news)


NOTHING = Company(Fundamentals((), Period("now")), PRICE)
"""A company of which nothing is known but its price."""


def market(
    asset_class: AssetClass = "stock", figures: Mapping[str, Mapping[str, float]] | None = None,
    closes: Sequence[float] | None = None, volume: float | None = 1.0, **feeds: Any,
) -> MarketContext:  # fmt: skip
    """260 sessions that end at `PRICE`, with the figures as filings where there are any."""
    prices = closes or [PRICE * (1.0 + 0.01 * ((i * 7) % 13 - 6)) for i in range(-260, -1)] + [
        PRICE
    ]
    days = [START + timedelta(days=i) for i in range(len(prices))]
    bars = tuple(
        Bar(d.date(), c, c, c, c, volume, d + timedelta(days=1))
        for d, c in zip(days, prices, strict=True)
    )
    return MarketContext(
        Asset("ACME", "Acme", asset_class), bars[-1].session, bars[-1].known_at_utc, bars,
        fundamentals=facts(figures) if figures else (), **feeds,
    )  # fmt: skip

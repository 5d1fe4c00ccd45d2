"""What counts as a price or a forecast, and what only looks like one."""

from __future__ import annotations

import pytest

from arena.market.news.price_talk import price_talk


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bitcoin rebounds from $113,000", "$113,000"),
        ("BTC slips below $113.5K on Monday", "$113.5K"),
        ("Shares closed at € 302.63", "€ 302.63"),
        ("Bitcoin Price Prediction: what comes next", "Price Prediction"),
        ("Analyst lifts price target", "price target"),
        ("Bitcoin could soon reach a new high", "could soon reach"),
        ("The coin is poised to soar", "poised to soar"),
        ("Tesla stock may fall", "may fall"),
        ("Bulls defend the support level", "support level"),
        ("A fall with 40% downside potential", "downside potential"),
    ],
)
def test_prices_and_forecasts_are_found(text: str, found: str) -> None:
    assert price_talk(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "$3.5B Bitcoin heist from 2020 uncovered",
        "Company raises $1,200 million in bonds",
        "Fund takes in $500 mln in a week",
        "A $5-billion plant opens in Texas",
        "Suspect freed on $1M bail",
        "Earnings of $0.52 a share beat the estimates",
        "Regulator fines the exchange, which pays a fine of $90,000",
        "The network could not process blocks for an hour",
        "The company cut its forecast for deliveries",
        "Shares rose 4 % after the report",
        "The court will hear the case in May",
        "Ether whales move 80,000 coins",
    ],
)
def test_deals_events_and_figures_pass(text: str) -> None:
    assert price_talk(text) is None


def test_an_event_explains_only_the_amount_beside_it() -> None:
    far = "x" * 60
    assert price_talk(f"A dividend of $2 was paid. {far} It trades at $350") == "$350"

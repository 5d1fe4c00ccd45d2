"""Which price drivers a text speaks of."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from arena.core.hashing import sha256_json
from arena.core.types import AssetClass
from arena.market.news.drivers import DRIVERS, MEANING, drivers_of

HEADLINES: list[tuple[AssetClass, str, str]] = [
    *[("stock", "results", t) for t in (
        "Zorvane's revenue rises 12%", "Zorvane misses on EPS", "Zorvane raises full-year guidance",
        "Gross margin shrinks again", "Free cash flow turns negative at Zorvane",
        "Zorvane reports record deliveries", "A dividend for the first time", "Zorvane posts a net loss",
    )],
    *[("stock", "company", t) for t in (
        "Zorvane unveils a cheaper model", "Heliqua to acquire a smaller firm", "Zorvane names a new CEO",
        "FDA accepts Heliqua's filing", "Phase 3 trial of its drug meets the goal",
        "Zorvane recall covers 40,000 cars", "Supplier signs contract with Zorvane",
        "Zorvane sued over its patents",
    )],
    *[("stock", "policy", t) for t in (
        "Tariffs on imported parts take effect", "Fed holds interest rates", "Senate votes on a bill for carmakers",
        "Regulators open a file on Zorvane", "New law ends tax credit", "Inflation cools more than hoped",
        "European Commission weighs penalties", "Supreme Court hears the appeal",
    )],
    *[("stock", "market", t) for t in (
        "Zorvane stock price hits a record high", "Bank cuts its price target", "Broker upgrades Zorvane to outperform",
        "Short sellers circle Heliqua", "Call options trade at three times the usual pace",
        "Wall Street rallies for a fifth day", "Fund sells its stake", "Zorvane tumbles after hours",
    )],
    *[("crypto", "network", t) for t in (
        "Qubix hard fork gets a date", "Hashrate climbs to a peak", "Validators queue to leave",
        "Bridge exploited for 40 million", "Gas fees fall by half", "Layer 2 rollups grow",
        "Miners sell less after the halving", "Developers fix a bug in the client",
    )],
    *[("crypto", "adoption", t) for t in (
        "Spot ETF draws money", "Retailer accepts Qubix", "Town pays in Qubix: merchants split",
        "Treasury firm buys 2,000 coins", "Pension fund takes custody in-house",
        "PayPal opens wallets to all users", "Exchange to list token: listing on Monday",
        "Stablecoin payments double",
    )],
    *[("crypto", "policy", t) for t in (
        "SEC drops its case", "Lawmakers draft stablecoin legislation", "Country bans mining",
        "CFTC claims the spot market", "Tax on staking rewards postponed", "Rate cut lifts hopes",
        "Sanctions hit a mixer", "Central bank opens its sandbox",
    )],
    *[("crypto", "market", t) for t in (
        "Price stalls at 60,000", "Whales move coins", "Liquidations reach 300 million",
        "Open interest hits a high", "Altcoins bleed as dominance rises", "Bullish pattern appears on the chart",
        "Funding rate turns negative", "Traders brace for volatility",
    )],
]  # fmt: skip


@pytest.mark.parametrize(("asset_class", "driver", "title"), HEADLINES)
def test_the_driver_of_a_headline_is_found(
    asset_class: AssetClass, driver: str, title: str
) -> None:
    assert driver in drivers_of(asset_class, title, "")
    assert driver in drivers_of(asset_class, "", title)


def test_every_driver_has_eight_headlines_and_a_meaning() -> None:
    for asset_class in ("stock", "crypto"):
        for driver in DRIVERS[asset_class]:
            assert sum(h[:2] == (asset_class, driver) for h in HEADLINES) >= 8
            assert MEANING[driver]
    assert set(MEANING) == {d for drivers in DRIVERS.values() for d in drivers}


def test_whole_words_in_a_fixed_order() -> None:
    assert drivers_of("stock", "Wall Street sells after the Fed", "Revenue and a lawsuit") == (
        "results", "company", "policy", "market",
    )  # fmt: skip
    assert (
        drivers_of("crypto", "Fed's words", "validators' queue and ETFs' price")
        == DRIVERS["crypto"]
    )
    # `sec`, `fed` and `ban` inside longer words are none of them.
    assert drivers_of("stock", "Second federal urban bandwagon", "") == ()
    assert drivers_of("crypto", "", "") == ()
    # A halving means nothing to a carmaker, nor earnings to a coin.
    assert drivers_of("stock", "The halving", "") == ()
    assert drivers_of("crypto", "Quarterly earnings", "") == ()


def test_agreement_with_a_reader_on_forty_real_texts(shared_market: Path) -> None:
    """Ten each of TSLA, BMRN, BTC and ETH, labelled from title and lead. 40 texts x 4 drivers are 160
    yes-or-no answers; 138 agree."""
    labels = {
        row["row"]: (row["asset"], set(row["drivers"].split()))
        for row in csv.DictReader(
            Path(__file__).with_name("labelled_drivers.csv").read_text("utf-8").splitlines()
        )
    }
    news = pd.read_parquet(
        shared_market / "news.parquet", columns=["asset", "url", "title", "text"]
    )
    news = news[news["asset"].isin(["TSLA", "BMRN", "BTC", "ETH"])]
    agreed = n_texts = 0
    for asset, url, title, text in news.itertuples(index=False):
        row = sha256_json([asset, url, title])[:12]
        if row not in labels:
            continue
        asset_class: AssetClass = "crypto" if asset in ("BTC", "ETH") else "stock"
        found = drivers_of(asset_class, title, text)
        agreed += sum((d in found) == (d in labels[row][1]) for d in DRIVERS[asset_class])
        n_texts += 1
    assert n_texts == 40
    assert agreed >= 136

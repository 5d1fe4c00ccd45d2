"""Which texts are about an asset, and the things that share its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.core.errors import DataError
from arena.core.settings import SAMPLE
from arena.core.types import Asset
from arena.market.assets import load_assets
from arena.market.news.subjects import load_subjects, mentions, only_confused, subject_of

ASSETS = load_assets() | load_assets(SAMPLE / "assets.toml")

ABOUT = [
    ("TSLA", "Tesla cuts prices in Norway"),
    ("TSLA", "Why $tsla fell on Monday"),
    ("TSLA", "Vanguard adds shares of NASDAQ:TSLA"),
    ("TSLA", "特斯拉Tesla股价上涨"),
    ("TSLA", "Tesla-backed battery plant opens in Nevada"),
    ("TSLA", "Nikola Tesla's heirs sue Tesla over the name"),
    ("TSLA", "He sold 7 Tesla cars to buy a 7-tesla MRI scanner"),
    ("BMRN", "BioMarin to acquire Amicus"),
    ("BMRN", "BMRN: analysts grow bullish"),
    ("BTC", "bitcoin climbs as funds buy"),
    ("BTC", "btc price eyes 200-week average"),
    ("BTC", "BTC/USD breaks a trend line"),
    ("BTC", "Bitcoin Cash lags Bitcoin for a third week"),
    ("BTC", "Bitcoin Depot says more people buy bitcoin at its machines"),
    ("ETH", "Ether slides below $3,000"),
    ("ETH", "ETH staking queue grows"),
    ("ETH", "Ethereum's next fork has a date"),
    ("ETH", "ETH Zurich study looks at how ETH validators behave"),
    ("ETH", "Ethereum Classic follows Ethereum down"),
    ("SPY", "S&P 500 ends higher after bank earnings"),
    ("SPY", "SPY sees record inflows"),
    ("SPY", "Coinbase to join the S&P 500 as the S&P 500 hits a record"),
    ("QQQ", "Nasdaq-100 futures fall"),
    ("QQQ", "Invesco QQQ changes its structure"),
    ("ZORVANE", "Zorvane opens a second plant"),
    ("QUBIXCOIN", "Qubix fees fall by half"),
]
CONFUSED = [
    ("TSLA", "Nikola Tesla museum reopens in Belgrade"),
    ("TSLA", "Students build a Tesla coil for the school fair"),
    ("TSLA", "Hospital buys a 1.5-tesla scanner"),
    ("TSLA", "7 Tesla MRI shows finer detail of the brain"),
    ("TSLA", "Rock band Tesla announces summer dates"),
    ("TSLA", "Nvidia Tesla V100 cards still sell second hand"),
    ("BTC", "Bitcoin Cash rallies 20% before its upgrade"),
    ("BTC", "Exchange ends support for Bitcoin SV"),
    ("BTC", "Bitcoin Depot posts record revenue"),
    ("BTC", "Wrapped Bitcoin custodian changes hands"),
    ("BTC", "Oil flows again through the Baku-Tbilisi BTC pipeline"),
    ("BTC", "Bitcoin Magazine moves its conference to Nashville"),
    ("ETH", "ETH Zurich tops the ranking of European universities"),
    ("ETH", "ETH Zürich startet neues Institut für Informatik"),
    ("ETH", "Researchers at eth zurich print a bridge"),
    ("ETH", "Ethereum Classic miners switch off machines"),
    ("ETH", "Ether.fi raises fees on its card"),
    ("ETH", "Plant that makes dimethyl ether opens in Texas"),
    ("ETH", "His savings vanished into the ether"),
    ("SPY", "SPY x FAMILY film tops the box office"),
    ("SPY", "Coinbase joins the S&P 500"),
    ("QQQ", "Palantir to join the Nasdaq-100"),
    ("ZORVANE", "Floods reach Zorvane Falls"),
    ("QUBIXCOIN", "Qubix Classic forks again"),
]
UNRELATED = [
    ("TSLA", "Two teslas more would not fit the garage"),
    ("TSLA", "Rivian raises its outlook"),
    ("BMRN", "Biomarine research vessel sets sail"),
    ("BMRN", "BitMine (BMNR) buys more coins"),
    ("BTC", "BTCS Inc. reports quarterly results"),
    ("BTC", "WBTC and ABTC trade sideways"),
    ("ETH", "ETHFI recovers after a sell-off"),
    ("ETH", "Together we are stronger, whether or not it rains"),
    ("ETH", "Mae eth yn digwydd"),
    ("SPY", "Chinese spy held in London"),
    ("SPY", "Best spy novels of the year"),
    ("SPY", "S&P Global cuts its forecast for growth"),
    ("QQQ", "TQQQ and SQQQ are not for everyone"),
    ("QQQ", "Nasdaq halts trading in a small company"),
]


@pytest.mark.parametrize(("asset", "title"), ABOUT)
def test_texts_about_the_asset_name_it(asset: str, title: str) -> None:
    assert mentions(subject_of(ASSETS[asset]), title)
    assert not only_confused(subject_of(ASSETS[asset]), title)


@pytest.mark.parametrize(("asset", "title"), CONFUSED)
def test_texts_about_a_namesake_do_not(asset: str, title: str) -> None:
    assert not mentions(subject_of(ASSETS[asset]), title)
    assert only_confused(subject_of(ASSETS[asset]), title)


@pytest.mark.parametrize(("asset", "title"), UNRELATED)
def test_other_words_are_no_mention_and_no_confusion(asset: str, title: str) -> None:
    assert not mentions(subject_of(ASSETS[asset]), title)
    assert not only_confused(subject_of(ASSETS[asset]), title)


def test_every_entry_is_of_an_asset_and_every_namesake_resembles_it() -> None:
    """A phrase that holds none of the asset's words could never confuse anybody."""
    assert set(load_subjects()) <= set(ASSETS)
    for asset in ASSETS.values():
        subject = subject_of(asset)
        idle = [p for p in subject.not_about if not only_confused(subject, p)]
        assert not idle, asset.id


def test_an_asset_without_an_entry_goes_by_its_id_and_name() -> None:
    subject = subject_of(Asset("NKLA", "Nikola Motor", "stock"))
    assert mentions(subject, "nikola motor files for protection")
    assert mentions(subject, "Shares of NKLA rise")
    assert not mentions(subject, "nkla is no word in small letters, and Nikola alone is a name")


def test_an_id_is_no_name_and_a_short_ticker_has_to_be_marked() -> None:
    """Files that name no asset give its id as its name: `now` and `on` stand in any text."""
    now, on, t = (subject_of(Asset(i, i, "stock")) for i in ("NOW", "ON", "T"))
    assert not mentions(now, "What to do now")
    assert mentions(now, "NOW shares rise")
    assert not mentions(on, "BANKS PUT ON A SHOW, and the show goes on")
    assert not mentions(t, "AT&T and Mr. T")
    for title in ("$ON gains", "Onsemi (NASDAQ: ON) gains", "Nasdaq:ON gains"):
        assert mentions(on, title), title
    assert mentions(t, "Telecoms ($T) and NYSE:T")


def test_a_malformed_entry_is_named(tmp_path: Path) -> None:
    file = tmp_path / "subjects.toml"
    file.write_text('[TSLA]\nnames = ["Tesla"]\nnot_abuot = ["Tesla coil"]\n')
    with pytest.raises(DataError, match=r"subjects\.toml.*\n?.*not_abuot"):
        load_subjects(file)

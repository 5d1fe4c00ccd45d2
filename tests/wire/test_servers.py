"""Where other addresses are set, everything of a vendor goes there, and nothing else may leave."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, SourceError
from arena.core.settings import kraken_url, yahoo_url
from arena.market.assets import load_assets
from arena.market.sources.base import ensure_network
from arena.market.sources.exchanges import make_exchange
from arena.market.sources.live import probes, reachable
from arena.market.sources.yahoo_client import moved
from arena.runner.quotes import QuotePoller
from arena.store.quotes_reader import newest_quotes
from arena.store.store import open_store
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

NOW = datetime(2025, 8, 22, 15, 0, tzinfo=UTC)
HERE = "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("url", "to"),
    [
        (
            "https://query2.finance.yahoo.com/v8/finance/chart/SPY?range=1d",
            f"{HERE}/v8/finance/chart/SPY?range=1d",
        ),
        ("https://fc.yahoo.com", HERE),
        ("https://yahoo.com/a", f"{HERE}/a"),
        ("https://notyahoo.com/a", "https://notyahoo.com/a"),
        ("https://yahoo.com.evil.test/a", "https://yahoo.com.evil.test/a"),
    ],
)
def test_only_yahoos_own_hosts_are_moved(url: str, to: str) -> None:
    assert moved(url, HERE) == to


def test_a_base_may_have_a_path() -> None:
    assert (
        moved("https://query1.finance.yahoo.com/v8/x", "https://p.test/yahoo")
        == "https://p.test/yahoo/v8/x"
    )


def test_addresses_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (yahoo_url(), kraken_url()) == (None, None)
    monkeypatch.setenv("ARENA_KRAKEN_URL", f" {HERE}/ ")
    assert kraken_url() == HERE
    monkeypatch.setenv("ARENA_YAHOO_URL", "localhost:8080")
    with pytest.raises(
        ConfigError, match="ARENA_YAHOO_URL is `localhost:8080`; it must start with http"
    ):
        yahoo_url()


@pytest.mark.parametrize("url", [HERE, "http://localhost:1", "http://[::1]:80/x"])
def test_this_machine_is_not_the_network(url: str) -> None:
    ensure_network("x", url)


@pytest.mark.parametrize(
    "url", [None, "http://10.0.0.1", "https://127.0.0.1.evil.test", "http://8.8.8.8"]
)
def test_everything_else_is(url: str | None) -> None:
    with pytest.raises(SourceError, match="ARENA_NETWORK=off"):
        ensure_network("x", url)


def test_an_address_for_kraken_opens_no_other_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_KRAKEN_URL", HERE)
    assert make_exchange("kraken").urls["api"]["public"] == HERE
    with pytest.raises(SourceError, match="coinbase: the network is off"):
        make_exchange("coinbase")


def test_a_server_of_our_own_is_a_price_source_that_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prices = MadePrices(lambda: NOW)
    assert not reachable(1.0)
    with KrakenServer(prices) as kraken:
        monkeypatch.setenv("ARENA_KRAKEN_URL", kraken.url)
        assert probes()[0] == f"{kraken.url}/0/public/Time"
        assert reachable(5.0)
        assert kraken.asked == ["/0/public/Time"]
    monkeypatch.delenv("ARENA_KRAKEN_URL")
    with YahooServer(prices) as yahoo:
        monkeypatch.setenv("ARENA_YAHOO_URL", yahoo.url)
        assert reachable(5.0)
        assert yahoo.asked == ["/v8/finance/chart/SPY"]


def test_the_default_sources_of_quotes_ask_there_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arena.market.sources.yahoo_client.RUNTIME", tmp_path)
    prices = MadePrices(lambda: NOW)
    with (
        KrakenServer(prices) as kraken, YahooServer(prices) as yahoo,
        open_store(tmp_path / "a.duckdb") as store,
    ):  # fmt: skip
        monkeypatch.setenv("ARENA_KRAKEN_URL", kraken.url)
        monkeypatch.setenv("ARENA_YAHOO_URL", yahoo.url)
        QuotePoller(store, load_assets(), lambda: NOW).tick(NOW)
        found = newest_quotes(store)
    assert {a: (q[1], q[2]) for a, q in found.items()} == {
        "BTC": (NOW, "ccxt:kraken"), "ETH": (NOW, "ccxt:kraken"), "TSLA": (NOW, "yahoo"),
        "BMRN": (NOW, "yahoo"), "SPY": (NOW, "yahoo"), "QQQ": (NOW, "yahoo"),
    }  # fmt: skip
    for asset, symbol, kind in (("BTC", "BTC/USD", "crypto"), ("TSLA", "TSLA", "stock")):
        seen = prices.price(symbol, kind, NOW)  # type: ignore[arg-type]
        assert seen is not None
        assert found[asset][0] == pytest.approx(seen[0], abs=0.005)

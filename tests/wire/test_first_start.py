"""A fresh deployment fills its pages by itself: the real app, an empty store, servers in place of vendors."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from arena.core.clock import utc_now
from arena.store import reader
from arena.store.store import open_store
from tests.browser.harness import browser, chromium, serve
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

FILLED_WITHIN_S = 60.0


def within_s() -> float:
    """A minute; more on a machine that others keep busier than with two processes a core."""
    return FILLED_WITHIN_S * max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1)))


@pytest.mark.browser
def test_the_pages_of_an_empty_store_fill_within_a_minute(tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    prices = MadePrices(utc_now)
    store = tmp_path / "live.duckdb"
    with YahooServer(prices) as yahoo, KrakenServer(prices) as kraken, browser() as chrome:
        began_s = time.monotonic()
        switches = {
            "ARENA_DATA": "live", "ARENA_RUNNER": "on", "ARENA_NETWORK": "off",
            "ARENA_YAHOO_URL": yahoo.url, "ARENA_KRAKEN_URL": kraken.url,
        }  # fmt: skip
        with serve(store, tmp_path / "app.log", **switches) as address:
            page = chrome.new_page()
            page.goto(address)
            left_s = within_s() - (time.monotonic() - began_s)
            page.get_by_role("heading", name="Rule-based stand-ins by entry").wait_for(
                timeout=1000 * left_s
            )
            page.close()
    with open_store(store, read=True) as opened:
        with opened.cursor() as cur:
            cur.execute("SELECT DISTINCT asset, source FROM bars ORDER BY asset")
            assert cur.fetchall() == [
                ("BMRN", "yahoo"), ("BTC", "ccxt:kraken"), ("ETH", "ccxt:kraken"), ("TSLA", "yahoo"),
            ]  # fmt: skip
            cur.execute("SELECT count(*) FROM decisions WHERE model LIKE 'offline/%'")
            assert cur.fetchall()[0][0] > 0
        run = reader.runs(opened).iloc[-1]
        assert (run["kind"], run["source"], bool(run["synthetic"])) == ("replay", "live", False)

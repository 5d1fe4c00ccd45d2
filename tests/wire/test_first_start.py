"""A fresh deployment fills its pages by itself: the real app, an empty store, servers in place of vendors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from datetime import time as moment
from pathlib import Path
from typing import Any

import pytest

from arena.core.clock import utc_now
from arena.store import reader
from arena.store.store import Store, open_store
from tests.browser.harness import browser, chromium, serve
from tests.browser.test_app import settled
from tests.llm.mock_provider import MockProvider, Say
from tests.wire.file_clock import FileClock
from tests.wire.made_prices import MadePrices
from tests.wire.servers import KrakenServer, YahooServer

FILLED_WITHIN_S = 60.0
PATIENCE_MS = 60_000
MODEL, KEY, TOKEN = "mock/priced", "key-of-the-host-57721", "token-of-the-host-2"
ROSTER = """
[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 0.1
price_out_usd_per_mtok = 0.2
"""


def within_s() -> float:
    """A minute; more on a machine that others keep busier than with two processes a core."""
    return FILLED_WITHIN_S * max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1)))


@pytest.mark.browser
def test_an_empty_store_fills_within_a_minute_and_goes_on_with_an_enrolled_model(
    tmp_path: Path, root: Path
) -> None:
    """Prices come in Yahoo's and Kraken's formats, a model's answers in OpenAI's."""
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    clock = FileClock(tmp_path / "clock", utc_now())
    prices, store = MadePrices(clock), tmp_path / "live.duckdb"
    with (
        YahooServer(prices) as yahoo, KrakenServer(prices) as kraken, browser() as chrome,
        MockProvider(Say()) as models,
    ):  # fmt: skip
        roster = tmp_path / "models.toml"
        roster.write_text((root / "data/models.toml").read_text() + ROSTER.format(url=models.url))
        began_s = time.monotonic()
        switches = {
            "ARENA_DATA": "live", "ARENA_RUNNER": "on", "ARENA_NETWORK": "off", "ARENA_TICK_S": "0.5",
            "ARENA_YAHOO_URL": yahoo.url, "ARENA_KRAKEN_URL": kraken.url, "ARENA_CLOCK_FILE": str(clock.path),
            "ARENA_MODELS": str(roster), "MOCK_API_KEY": KEY, "ARENA_ADMIN_TOKEN": TOKEN,
        }  # fmt: skip
        with serve(store, tmp_path / "app.log", **switches) as address:
            page = chrome.new_context(viewport={"width": 1440, "height": 1600}).new_page()
            page.goto(address)
            left_s = within_s() - (time.monotonic() - began_s)
            page.get_by_role("heading", name="Rule-based stand-ins by entry").wait_for(
                timeout=1000 * left_s
            )
            # A key in the environment only offers its models.
            assert models.asked == []
            page.set_default_timeout(PATIENCE_MS)
            enrol_the_starter(page, address)
            assert models.asked == []
            tomorrow = clock().date() + timedelta(days=1)
            clock.set(datetime.combine(tomorrow, moment(0, 6), clock().tzinfo))
            # The starter: two agents, one coin, one slot; each agent asks its model once.
            wait_until(lambda: len(models.asked) == 2)
            page.goto(f"{address}/?agents=vanilla&models={MODEL}")
            page.get_by_text(f"VanillaAgent@{MODEL}").first.wait_for()
            page.close()
    assert {a.headers["authorization"] for a in models.asked} == {f"Bearer {KEY}"}
    with open_store(store, read=True) as opened:
        found_in(opened)


def enrol_the_starter(page: Any, address: str) -> None:
    """As the admin, with what the form offers for a first live season."""
    page.goto(f"{address}/launch")
    page.get_by_label("Token of the host, to spend this host's keys or enrol a season").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_text("Token of the host").wait_for(state="detached")
    page.get_by_text("Live, from now on").click()
    page.get_by_text("a day, on average").wait_for()
    settled(page)
    page.get_by_role("button", name="Enrol season").click()
    page.get_by_text("Live season").first.wait_for()


def wait_until(good: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + PATIENCE_MS / 1e3
    while not good():
        assert time.monotonic() < ends_at
        time.sleep(0.05)


def found_in(store: Store) -> None:
    with store.cursor() as cur:
        cur.execute("SELECT DISTINCT asset, source FROM bars ORDER BY asset")
        assert cur.fetchall() == [
            ("BMRN", "yahoo"), ("BTC", "ccxt:kraken"), ("ETH", "ccxt:kraken"), ("TSLA", "yahoo"),
        ]  # fmt: skip
        cur.execute("SELECT count(*) FROM decisions WHERE model LIKE 'offline/%'")
        assert cur.fetchall()[0][0] > 0
        cur.execute(
            "SELECT agent, asset, status, action FROM decisions WHERE model = ? ORDER BY agent", [MODEL]
        )
        assert cur.fetchall() == [("investor", "BTC", "ok", "BUY"), ("vanilla", "BTC", "ok", "BUY")]
    first = reader.runs(store).sort_values("started_at_utc").iloc[0]
    assert (first["kind"], first["source"], bool(first["synthetic"])) == ("replay", "live", False)

"""A fresh deployment fills its pages by itself: the real app, an empty store, servers in place of vendors."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass
class Vendors:
    """Servers in place of Yahoo, Kraken and a model's provider, and the app's switches to use them."""

    models: MockProvider
    clock: FileClock
    switches: dict[str, str]


@contextmanager
def vendors(folder: Path, root: Path) -> Iterator[Vendors]:
    clock = FileClock(folder / "clock", utc_now())
    prices = MadePrices(clock)
    with YahooServer(prices) as yahoo, KrakenServer(prices) as kraken, MockProvider(Say()) as models:
        roster = folder / "models.toml"
        roster.write_text((root / "data/models.toml").read_text() + ROSTER.format(url=models.url))
        switches = {
            "ARENA_DATA": "live", "ARENA_RUNNER": "on", "ARENA_NETWORK": "off", "ARENA_TICK_S": "0.5",
            "ARENA_YAHOO_URL": yahoo.url, "ARENA_KRAKEN_URL": kraken.url, "ARENA_CLOCK_FILE": str(clock.path),
            "ARENA_MODELS": str(roster), "MOCK_API_KEY": KEY, "ARENA_ADMIN_TOKEN": TOKEN,
        }  # fmt: skip
        yield Vendors(models, clock, switches)


@pytest.fixture
def chrome() -> Iterator[Any]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    with browser() as opened:
        yield opened


@pytest.mark.browser
def test_the_pages_of_an_empty_store_fill_within_a_minute(chrome: Any, tmp_path: Path, root: Path) -> None:
    store = tmp_path / "live.duckdb"
    with vendors(tmp_path, root) as outside:
        began_s = time.monotonic()
        with serve(store, tmp_path / "app.log", **outside.switches) as address:
            page = chrome.new_page()
            page.goto(address)
            left_s = within_s() - (time.monotonic() - began_s)
            page.get_by_role("heading", name="Rule-based stand-ins by entry").wait_for(
                timeout=1000 * left_s
            )
            page.close()
        # A key in the environment only offers its models.
        assert outside.models.asked == []
    with open_store(store, read=True) as opened:
        assert sources(opened) == {
            "BMRN": "yahoo", "BTC": "ccxt:kraken", "ETH": "ccxt:kraken", "TSLA": "yahoo",
        }  # fmt: skip
        with opened.cursor() as cur:
            cur.execute("SELECT count(*) FROM decisions WHERE model LIKE 'offline/%'")
            assert cur.fetchall()[0][0] > 0
        run = reader.runs(opened).iloc[-1]
        assert (run["kind"], run["source"], bool(run["synthetic"])) == ("replay", "live", False)


@pytest.mark.browser
def test_a_model_that_the_admin_enrols_decides_at_the_next_slot(
    chrome: Any, tmp_path: Path, root: Path
) -> None:
    """What the form offers for a first live season: two agents, one coin, the cheapest model with a key."""
    store = tmp_path / "live.duckdb"
    with (
        vendors(tmp_path, root) as outside,
        serve(store, tmp_path / "app.log", app="tests/live/small_app.py", **outside.switches) as address,
    ):
        page = chrome.new_context(viewport={"width": 1440, "height": 1600}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        enrol_the_starter(page, address)
        assert outside.models.asked == []
        now = outside.clock()
        outside.clock.set(datetime.combine(now.date() + timedelta(days=1), moment(0, 6), now.tzinfo))
        wait_until(lambda: len(board_of_the_model(address)) == 2)
        page.goto(f"{address}/?run={board_of_the_model(address)[0]['run']}&agents=vanilla")
        page.get_by_text(f"vanilla@{MODEL}").first.wait_for()
        page.close()
    # Each agent asks its model once.
    assert [a.headers["authorization"] for a in outside.models.asked] == [f"Bearer {KEY}"] * 2
    with open_store(store, read=True) as opened, opened.cursor() as cur:
        cur.execute(
            "SELECT agent, asset, status, action FROM decisions WHERE model = ? ORDER BY agent", [MODEL]
        )
        assert cur.fetchall() == [("investor", "BTC", "ok", "BUY"), ("vanilla", "BTC", "ok", "BUY")]


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


def board_of_the_model(address: str) -> list[dict[str, Any]]:
    """Its entries under one strategy, without Buy & Hold."""
    asked = f"{address}/api/leaderboard.json?run=all&models={MODEL}&strategies=baseline"
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return [row for row in json.load(answer) if row["group"] == "model"]
    except urllib.error.HTTPError:
        return []  # no account has the model yet


def wait_until(good: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + PATIENCE_MS / 1e3
    while not good():
        assert time.monotonic() < ends_at
        time.sleep(0.05)


def sources(store: Store) -> dict[str, str]:
    with store.cursor() as cur:
        cur.execute("SELECT DISTINCT asset, source FROM bars")
        return dict(cur.fetchall())

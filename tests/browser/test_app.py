"""What only a browser can tell: cold deep links, the URL, reloads, the menu, foreign requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

import pytest

from tests.browser.harness import Served
from tests.ui.made_store import HOSTILE_RUN, RULES_RUN

pytestmark = pytest.mark.browser
PATIENCE_MS = 60_000


@pytest.fixture
def tab(served: Served) -> Iterator[Any]:
    """A fresh session. `tab.foreign` lists requests to other hosts, `tab.errors` page errors."""
    page = served.tab(1440, 1000)
    page.set_default_timeout(PATIENCE_MS)
    home = urlparse(served.address).netloc
    page.foreign, page.errors = [], []
    page.on("request", lambda r: _note(page, r.url, home))
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    yield page
    page.close()


def _note(page: Any, url: str, home: str) -> None:
    parts = urlparse(url)
    if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != home:
        page.foreign.append(url)


def settled(page: Any) -> None:
    """The script ended: its last element, the disclaimer, is on the page."""
    page.get_by_text("Simulated paper trading, not investment advice").last.wait_for()
    # The sign of a running script is shown late, its state at once.
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


def tile(page: Any, label: str) -> str:
    box = page.locator('[data-testid="stMetric"]', has_text=label)
    return str(box.locator('[data-testid="stMetricValue"]').inner_text())


def test_cold_deep_link_opens_equity(served: Served, tab: Any) -> None:
    """First request of the process's life, were this test run alone."""
    tab.goto(f"{served.address}/equity")
    tab.get_by_role("heading", name="Equity", exact=True).wait_for()
    settled(tab)
    body = tab.locator("body").inner_text()
    assert "Page not found" not in body
    menu = tab.locator('[data-testid="stSidebarNavLink"]').all_inner_texts()
    assert [m.split("\n")[-1] for m in menu] == [
        "Overview", "Equity", "Decisions", "Agent or model?", "Market & news", "Launch a run", "Methods",
        "Health",
    ]  # fmt: skip
    assert not tab.errors
    assert not tab.foreign


def test_a_filter_changes_numbers_and_url_and_survives_reload(served: Served, tab: Any) -> None:
    tab.goto(served.address)
    settled(tab)
    assert tile(tab, "Best vs B&H") == "+20.0 pp"
    assert tile(tab, "Worst drawdown") == "−10.0%"
    tab.get_by_role("button", name="AAA", exact=True).click()
    # hedge@m-one on AAA alone falls from 100,000 to 80,000.
    tab.locator('[data-testid="stMetricValue"]', has_text="−20.0%").wait_for()
    assert "assets=AAA" in tab.url
    tab.reload()
    settled(tab)
    assert tile(tab, "Worst drawdown") == "−20.0%"
    tab.get_by_role("button", name="Reset").click()
    tab.locator('[data-testid="stMetricValue"]', has_text="−10.0%").wait_for()
    tab.wait_for_function("!location.search.includes('assets')")
    assert not tab.foreign


def test_the_run_is_in_the_url_by_its_id_and_follows_to_other_pages(
    served: Served, tab: Any
) -> None:
    tab.goto(f"{served.address}/?run={RULES_RUN}")
    settled(tab)
    tab.get_by_role("heading", name="Rule-based stand-ins by entry").wait_for()
    # Another filter must not drop it, nor Reset.
    tab.get_by_role("button", name="AAA", exact=True).click()
    tab.wait_for_function("location.search.includes('assets=AAA')")
    assert f"run={RULES_RUN}" in tab.url
    tab.locator('[data-testid="stSidebarNav"]').get_by_text("Equity").click()
    tab.get_by_role("heading", name="The drawn lines in numbers").wait_for()
    settled(tab)
    assert "Rule-based stand-ins, no LLM" in tab.locator("body").inner_text()


def test_equity_survives_its_controls(served: Served, tab: Any) -> None:
    tab.goto(f"{served.address}/equity?eq_asset=AAA")
    tab.get_by_role("heading", name="What each agent did").wait_for()
    settled(tab)
    tab.get_by_text("Log", exact=True).click()
    tab.wait_for_function("location.search.includes('eq_log=true')")
    tab.get_by_text("Growth of 100, net").wait_for()
    assert "eq_asset=AAA" in tab.url
    assert not tab.errors
    assert not tab.foreign


def test_hostile_names_stay_text(served: Served, tab: Any) -> None:
    """Names of an import are free: no image of theirs is loaded, no script runs, no link appears."""
    dialogs: list[str] = []
    tab.on("dialog", lambda d: (dialogs.append(d.message), d.dismiss()))
    for path in ("/", "/equity"):
        tab.goto(f"{served.address}{path}?run={HOSTILE_RUN}")
        settled(tab)
        tab.get_by_text("<script>alert(1)</script>").first.wait_for()
        main = tab.locator('[data-testid="stMain"]')
        assert main.locator("img, a[href^='javascript:']").count() == 0
        # Our own links carry such names in their parameters; none leads to another host.
        hosts = main.locator("a").evaluate_all("links => links.map(a => new URL(a.href).host)")
        assert set(hosts) <= {urlparse(served.address).netloc}
    tab.goto(f"{served.address}/equity?run={HOSTILE_RUN}&eq_asset=AAA")
    tab.get_by_role("heading", name="What each agent did").wait_for()
    settled(tab)
    assert not tab.foreign
    assert not dialogs


def test_a_phone_has_no_sideways_scroll(served: Served) -> None:
    context = served.chrome.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(served.address)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()

"""The page on architecture and model in a browser: a cold link, its controls in the URL, hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

import pytest

from tests.browser.harness import Served
from tests.browser.test_app import PATIENCE_MS, _note, settled
from tests.ui.made_store import HOSTILE_RUN

pytestmark = pytest.mark.browser


@pytest.fixture
def tab(served: Served) -> Iterator[Any]:
    """A fresh session. `tab.foreign` lists requests to other hosts, `tab.errors` page errors."""
    page = served.tab(1440, 3000)
    page.set_default_timeout(PATIENCE_MS)
    page.foreign, page.errors = [], []
    home = urlparse(served.address).netloc
    page.on("request", lambda r: _note(page, r.url, home))
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    yield page
    page.close()


def test_a_cold_link_and_its_controls(served: Served, tab: Any) -> None:
    tab.goto(f"{served.address}/architecture")
    tab.get_by_role("heading", name="Architecture or model?", exact=True).wait_for()
    settled(tab)
    tab.get_by_text("the asset explains 1% of the spread in return").wait_for()
    tab.get_by_text("Models over agents").click()
    tab.get_by_role("heading", name="Mean return with the range over 2 agents").wait_for()
    assert "ar_bands=Models" in tab.url
    tab.reload()
    settled(tab)
    tab.get_by_role("heading", name="Mean return with the range over 2 agents").wait_for()
    tab.get_by_role("button", name="AAA", exact=True).click()
    tab.get_by_text("equal weight over 1 asset, strategy").wait_for()
    assert "assets=AAA" in tab.url
    assert not tab.errors
    assert not tab.foreign


def test_hostile_names_reach_nobody(served: Served, tab: Any) -> None:
    tab.goto(f"{served.address}/architecture?run={HOSTILE_RUN}")
    settled(tab)
    tab.get_by_role("heading", name="Two accounts on one asset").wait_for()
    assert not tab.foreign
    assert not tab.errors


def test_a_phone_does_not_scroll_sideways(served: Served) -> None:
    context = served.chrome.new_context(viewport={"width": 390, "height": 900}, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{served.address}/architecture")
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth") <= 390
    context.close()

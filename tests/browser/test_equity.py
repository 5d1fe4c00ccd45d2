"""The Equity page in a real browser: a mark leads to its decision, zoom stays, the link is the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.ui.made_equity_store import GOING, RUN, build

pytestmark = pytest.mark.browser
WHERE = """(plot, [name, i]) => {
    const t = plot._fullData.find(t => t.name === name), lay = plot._fullLayout;
    const x = lay['xaxis' + t.xaxis.slice(1)], y = lay['yaxis' + t.yaxis.slice(1)];
    const box = plot.getBoundingClientRect();
    return [box.left + x._offset + x.d2p(t.x[i]), box.top + y._offset + y.d2p(t.y[i])];
}"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder = tmp_path_factory.mktemp("equity")
    with serve(build(folder / "odd.duckdb"), folder / "app.log", forked=True) as address, browser() as chrome:
        yield Served(address, chrome)


@pytest.fixture
def tab(odd: Served) -> Iterator[Any]:
    page = odd.tab(1440, 1400)
    page.set_default_timeout(PATIENCE_MS)
    page.errors = []
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    yield page
    assert not page.errors
    page.close()


def plot(page: Any, n: int) -> Any:
    found = page.locator(".js-plotly-plot").nth(n)
    found.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    return found


def test_a_mark_opens_its_decision(odd: Served, tab: Any) -> None:
    tab.goto(f"{odd.address}/equity?run={RUN}&eq_asset=AAA&eq_entries=a1@m&eq_fees=Gross")
    settled(tab)
    x, y = plot(tab, 1).evaluate(WHERE, ["failed, acts as HOLD", 0])
    tab.mouse.move(x, y)
    tab.wait_for_timeout(300)
    tab.mouse.click(x, y)
    tab.get_by_role("heading", name="Decisions", exact=True).wait_for()
    # a1 fails on the day with index 4.
    tab.wait_for_function("location.search.includes('slot=2025-08-05')")
    assert "entry=a1%40m" in tab.url
    # The browser's way back is the Equity page, not a loop into the decision.
    tab.go_back()
    tab.get_by_role("heading", name="The drawn lines in numbers").wait_for()
    settled(tab)
    assert "/equity" in tab.url


def test_a_zoom_outlives_a_control_that_does_not_change_the_curves(odd: Served, tab: Any) -> None:
    tab.goto(f"{odd.address}/equity?run={RUN}&eq_entries=a1@m")
    settled(tab)
    tab.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout?.xaxis")
    span = "() => document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.join()"
    whole = tab.evaluate(span)
    box = plot(tab, 0).bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 200, y + 60, steps=8)
    tab.mouse.up()
    tab.wait_for_function(f"({span})() !== '{whole}'")
    tab.wait_for_timeout(500)
    zoomed = tab.evaluate(span)
    tab.get_by_role("button", name="Correlation", exact=True).click()
    tab.get_by_role("heading", name="Correlation of session returns").wait_for()
    settled(tab)
    assert tab.evaluate(span) == zoomed
    assert "eq_more=Correlation" in tab.url


def test_lines_chosen_in_the_popover_are_in_the_link(odd: Served, tab: Any) -> None:
    tab.goto(f"{odd.address}/equity?run={RUN}")
    settled(tab)
    tab.get_by_test_id("stPopoverButton").click()
    tab.get_by_role("button", name="SPY", exact=True).click()
    tab.get_by_text("Median and range", exact=True).click()
    tab.wait_for_function("location.search.includes('eq_form=Median')")
    link = tab.url
    fresh = odd.chrome.new_context(viewport={"width": 1440, "height": 1000})
    page = fresh.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(link)
    settled(page)
    page.wait_for_function(
        "document.querySelector('.js-plotly-plot')?._fullLayout?.annotations"
        "?.some(a => a.text.startsWith('SPY (not traded)'))"
    )
    names = "document.querySelector('.js-plotly-plot')._fullData.map(t => t.name)"
    assert "median" in page.evaluate(names)
    fresh.close()


def test_a_run_that_goes_on_is_not_redrawn_by_itself(odd: Served, tab: Any) -> None:
    tab.goto(f"{odd.address}/equity?run={GOING}")
    settled(tab)
    tab.get_by_text("Up to date").wait_for()


def test_a_phone_has_no_sideways_scroll(odd: Served) -> None:
    context = odd.chrome.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, user_agent="Phone Mobile"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{odd.address}/equity?run={RUN}")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_text("The last 24 days; a wider screen shows all.").wait_for()
    context.close()

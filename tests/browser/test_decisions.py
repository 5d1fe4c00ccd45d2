"""The analyst's path through decisions, in a browser; and no request to a foreign address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.ui.links import decision_url
from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.ui.made_talk_store import BIG_CHARS, IDS, NEEDLE, build

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "user_agent": "Linux; Android 14 Mobi"}


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder: Path = tmp_path_factory.mktemp("decisions")
    with serve(build(folder / "talk.duckdb"), folder / "app.log", forked=True) as address, browser() as chrome:
        yield Served(address, chrome)


def visitor(served: Served, path: str, **look: Any) -> Any:
    page = served.chrome.new_context(**look).new_page() if look else served.tab(1440, 2400)
    page.set_default_timeout(PATIENCE_MS)
    page.foreign = []
    host = urlsplit(served.address).netloc
    page.on("request", lambda r: page.foreign.append(r.url) if foreign(r.url, host) else None)
    page.on("dialog", lambda d: (page.foreign.append(f"dialog {d.message}"), d.dismiss()))
    page.goto(f"{served.address}{path}")
    page.get_by_role("heading", name="What the roles said").first.wait_for()
    settled(page)
    return page


def foreign(url: str, host: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != host


def asks(page: Any, name: str) -> str | None:
    return parse_qs(urlsplit(page.url).query).get(name, [None])[0]


def heading(page: Any, day: str) -> None:
    page.get_by_role("heading", name=f"AAA · {day}").first.wait_for()


def choose_last(page: Any, box: Any) -> None:
    """A list that is opened while the page is still being drawn closes again: then once more."""
    for _ in range(5):
        box.click()
        page.wait_for_timeout(1_000)
        if page.get_by_role("option").count():
            break
    page.get_by_role("option").last.click()


def test_the_path_of_an_analyst(talking: Served) -> None:
    page = visitor(talking, decision_url(IDS[1]))
    heading(page, "Sat 2 Aug 2025")
    page.get_by_role("button", name="Next").click()
    heading(page, "Sun 3 Aug 2025")
    assert asks(page, "slot") == "2025-08-03"

    settled(page)
    page.get_by_test_id("stMain").get_by_test_id("stBaseButton-tertiary").filter(has_text="Open").first.click()
    page.get_by_text("No role was asked").wait_for()
    assert asks(page, "entry") == "hedge@m-one"

    field = page.get_by_label("Search prompts, answers and reasons")
    field.fill(NEEDLE)
    field.press("Enter")
    page.get_by_text("1 decision", exact=True).wait_for()
    settled(page)
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 16, "y": 35 + 17})
    heading(page, "Sat 2 Aug 2025")
    assert (asks(page, "entry"), asks(page, "slot"), asks(page, "q")) == ("trade@m-one", "2025-08-02", NEEDLE)

    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    whole = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert whole["decision"] == IDS[1]
    assert [c["role"] for c in whole["calls"]][-1] == "portfolio_manager"

    page.get_by_role("button", name="Link").click()
    address = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    other = visitor(talking, address.removeprefix(talking.address))
    heading(other, "Sat 2 Aug 2025")
    assert page.foreign == other.foreign == []


def test_side_by_side_and_back(talking: Served) -> None:
    page = visitor(talking, decision_url(IDS[1]))
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Close comparison").wait_for()
    settled(page)
    assert page.get_by_role("heading", name="What the roles said").count() == 2
    page.reload()
    page.get_by_role("button", name="Close comparison").click()
    page.get_by_role("heading", name="Other agents, same slot").wait_for()
    assert asks(page, "compare") is None


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desk", "phone"])
def test_hostile_texts_fetch_nothing_and_widen_nothing(talking: Served, look: dict[str, Any]) -> None:
    page = visitor(talking, decision_url(IDS[4]), **look)
    page.get_by_text("20,000 characters in all").wait_for()
    page.get_by_text("Raw answers (5)").click()
    box = page.get_by_role("combobox", name="Which answer")
    box.wait_for()
    settled(page)
    choose_last(page, box)
    page.get_by_text(f"The first 20,000 of {BIG_CHARS:,} characters.").wait_for()
    settled(page)
    wide = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1]
    assert page.foreign == []
    page.get_by_role("heading", name="Decision and outcome").wait_for()


def test_the_overview_leads_to_the_decisions_of_an_account(talking: Served) -> None:
    page = talking.tab(1440, 2400)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(talking.address)
    page.get_by_role("link", name="Decisions on AAA").click()
    page.get_by_role("heading", name="What the roles said").first.wait_for()
    settled(page)
    assert asks(page, "asset") == "AAA"
    assert "@m-one" in str(asks(page, "entry"))

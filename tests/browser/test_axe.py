"""No page breaks a rule of accessibility that axe can see, in light or in dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from arena.ui.links import decision_url
from tests.browser.axe import findings
from tests.browser.harness import browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.live.made_arena import clock_of, small
from tests.ui.made_news_store import NEWS_RUN
from tests.ui.made_news_store import build as build_news
from tests.ui.made_store import HOSTILE_RUN, MODELS_RUN
from tests.ui.made_talk_store import IDS, build

pytestmark = pytest.mark.browser

PAGES = {
    "talk": (
        f"/?run={MODELS_RUN}",
        f"/?run={HOSTILE_RUN}",
        f"/equity?run={MODELS_RUN}&eq_asset=AAA",
        f"/architecture?run={MODELS_RUN}",
        decision_url(IDS[1]),
        f"{decision_url(IDS[3])}&compare={IDS[2]}",
        "/launch",
        "/methods",
        "/health",
    ),
    "news": (f"/market?run={NEWS_RUN}",),
    "live": (
        "/",
        "/equity?eq_asset=XXX",
        "/decisions?entry=vanilla%40offline%2Fcontrarian&asset=XXX&slot=2026-03-10",
        "/health",
    ),
}
"""Ranked models beside stand-ins, names that are markup, a whole committee, a failure beside a success,
a live season with late and missed slots and with quotes."""

Visit = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """Open a path of a store's app, always in one tab: a new one would have everything to load again."""
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder: Path = tmp_path_factory.mktemp("axe")
    makers = {"talk": build, "news": build_news, "live": small}
    clock = {"live": {"ARENA_CLOCK_FILE": str(clock_of(folder / "live.duckdb"))}}
    with ExitStack() as stack:
        at = {
            name: stack.enter_context(
                serve(make(folder / f"{name}.duckdb"), folder / f"{name}.log", forked=True, **clock.get(name, {}))
            )
            for name, make in makers.items()
        }
        chrome = stack.enter_context(browser())
        page = chrome.new_context(viewport={"width": 1440, "height": 3000}).new_page()
        page.set_default_timeout(PATIENCE_MS)

        def opened(store: str, path: str) -> Any:
            page.emulate_media(color_scheme="light")
            page.goto(at[store] + path)
            settled(page)
            return page

        yield opened


DARK = (
    "getComputedStyle(document.querySelector('[data-testid=\"stApp\"]')).backgroundColor"
    ".match(/\\d+/g).slice(0, 3).every(c => Number(c) < 60)"
)


@pytest.mark.parametrize(
    ("store", "path"), [(store, path) for store, paths in PAGES.items() for path in paths]
)
def test_nothing_of_ours(visit: Visit, store: str, path: str) -> None:
    """Every rule in light, contrast in dark."""
    page = visit(store, path)
    page.wait_for_timeout(500)
    light = findings(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(DARK)
    page.wait_for_timeout(500)
    settled(page)
    assert light + findings(page, "color-contrast") == []


def test_a_fault_is_seen(visit: Visit) -> None:
    """White on white and an image without words, put into a page of ours."""
    page = visit("talk", "/methods")
    page.get_by_test_id("stMain").evaluate(
        "main => main.insertAdjacentHTML('afterbegin', '<img src=\"data:,\"><p style=\"color: #eee\">pale</p>')"
    )
    rules = {line.split(":")[0] for line in findings(page)}
    assert {"image-alt", "color-contrast"} <= rules

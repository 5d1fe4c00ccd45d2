"""An analyst's way through the arena in one go: from four filters to a worst day, another agent, a word
of an answer, a file, and a link that shows a colleague the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from arena.core.season import RunSpec, Season
from arena.market.sources import open_source
from arena.runner.replay import run_replay
from arena.store import reader
from arena.store.store import open_store
from arena.ui import decision_queries, queries
from arena.ui import format as fmt
from arena.ui.tokens import strategy_label
from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.browser.test_decisions import asks, visitor

pytestmark = pytest.mark.browser

ASSET, STRATEGY = "QUBIXCOIN", "flip_on_reversal"
RANK_1 = "trade@offline/trend"
ROW_PX, HEAD_PX = 34, 35


@dataclass(frozen=True)
class Known:
    """The track's slots as the page lists them, which of them lost most, and the deepest fall of its
    account under the chosen strategy."""

    slots: tuple[str, ...]
    worst: int
    drawdown: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("path") / "a.duckdb"
    spec = RunSpec(
        kind="replay", season=Season(), source="sample", assets=(ASSET, "ZORVANE"),
        agents=("trade", "vanilla"), models=("offline/contrarian", "offline/trend"),
        start=date(2025, 8, 1), end=date(2025, 8, 24), warmup=0,
    )  # fmt: skip
    with open_store(path) as store:
        run_replay(spec, ("baseline", "flip_on_reversal"), open_source("sample"), store)
    return path


@pytest.fixture(scope="module")
def known(played: Path) -> Known:
    with open_store(played, read=True) as store:
        run = str(reader.runs(store)["run"].iloc[0])
        key = queries.version(store)
        listed = decision_queries.listing(key, store, run, f"{run}:trade@offline%2Ftrend:{ASSET}")
        (row,) = (
            r for r in queries.rows(
                key, store, run, "account", ("trade",), ("offline/trend",), (ASSET,), (STRATEGY,)
            ) if r["group"] != "benchmark"
        )  # fmt: skip
    worst = int((listed["side_after"] * listed["next_return"]).argmin())
    return Known(tuple(listed["slot_key"]), worst, fmt.percent(-row["metrics"]["MDD"]["value"]))


@pytest.fixture(scope="module")
def served(played: Path, known: Known) -> Iterator[Served]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    with serve(played, played.with_name("app.log"), forked=True) as address, browser() as chrome:
        yield Served(address, chrome)


def test_from_the_board_to_a_link_that_shows_the_same(served: Served, known: Known) -> None:
    page = served.chrome.new_context(viewport={"width": 1440, "height": 2400}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(served.address)
    settled(page)
    filters = {
        "agents": "trade", "models": "offline/trend", "assets": ASSET,
        "strategy": strategy_label(STRATEGY),
    }  # fmt: skip
    for name, label in filters.items():
        page.get_by_test_id("stButtonGroup").get_by_text(label, exact=True).first.click()
        page.wait_for_function(f"location.search.includes('{name}=')")
        settled(page)
    fall = page.get_by_test_id("stMetric").filter(has_text="Worst drawdown").get_by_text(known.drawdown)
    fall.wait_for()
    page.reload()
    settled(page)
    fall.wait_for()
    assert all(asks(page, name) for name in filters)

    page.get_by_test_id("stExpander").locator("summary", has_text=f"{RANK_1} · ").wait_for()
    page.get_by_role("link", name=f"Decisions on {ASSET}").click()
    heading(page, None)
    assert (asks(page, "entry"), asks(page, "asset")) == (RANK_1, ASSET)
    page.get_by_test_id("stDataFrame").first.click(
        position={"x": 16, "y": HEAD_PX + ROW_PX * known.worst + ROW_PX // 2}
    )
    slot = known.slots[known.worst]
    heading(page, slot)
    page.get_by_text("against ").first.wait_for()

    page.get_by_test_id("stMain").get_by_test_id("stBaseButton-tertiary").filter(has_text="Open").first.click()
    page.wait_for_function("!location.search.includes('entry=trade%40offline')")
    heading(page, slot)
    settled(page)
    other = asks(page, "entry")

    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    whole = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert (f"{whole['agent']}@{whole['model']}", whole["slot_key"]) == (other, slot)
    word = next(w for w in whole["calls"][-1]["answer"].split() if any(map(str.isdigit, w))).strip('",.{}:')

    field = page.get_by_label("Search prompts, answers and reasons")
    field.fill(word)
    field.press("Enter")
    page.get_by_text(f"“{word}”").wait_for()
    settled(page)
    page.get_by_role("button", name="Link").click()
    address = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    colleague = visitor(served, address.removeprefix(served.address))
    heading(colleague, slot)
    assert (asks(colleague, "entry"), asks(colleague, "slot")) == (other, slot)
    said = "[data-testid=stText]"
    assert colleague.locator(said).all_inner_texts() == page.locator(said).all_inner_texts()


def heading(page: Any, slot: str | None) -> None:
    """The decision of a slot is open, or any."""
    words = f"{ASSET} · {'' if slot is None else fmt.weekday(date.fromisoformat(slot))}"
    page.get_by_role("heading", name=words).first.wait_for()
    settled(page)
    # What stood there before is drawn pale until the script comes to it, and its buttons do nothing.
    page.wait_for_function("!document.querySelector('[data-stale=\"true\"]')")

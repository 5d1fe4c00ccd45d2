"""The Overview in a browser: what is opened stays open, a refresh is small, and `/overview` is a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.ui.made_board_store import REPLAY_RUN, build

pytestmark = pytest.mark.browser

ROW_PX, HEAD_PX = 34, 35
MOST_BYTES = 5_000
EVERY_S = 4
"""Seconds between two looks for new data of the app that changes; 30 would be waited for."""
LOW = {"width": 1440, "height": 700}
"""A window in which there is much to scroll."""


@pytest.fixture(scope="module")
def boarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder: Path = tmp_path_factory.mktemp("overview")
    with serve(build(folder / "board.duckdb"), folder / "app.log", forked=True) as address, browser() as chrome:
        yield Served(address, chrome)


@pytest.fixture(scope="module")
def changing(boarded: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """An app whose store changes once a `.go` lies beside it, and the store."""
    folder: Path = tmp_path_factory.mktemp("changing")
    store = build(folder / "board.duckdb")
    with serve(
        store, folder / "log", app="tests/browser/changing_app.py", forked=True, ARENA_REFRESH_S=str(EVERY_S)
    ) as address:
        yield Served(address, boarded.chrome), store


def visitor(served: Served, path: str, **look: Any) -> Any:
    page = served.chrome.new_context(**look).new_page() if look else served.tab(1440, 1800)
    page.set_default_timeout(PATIENCE_MS)
    page.received = []
    page.on(
        "websocket", lambda ws: ws.on("framereceived", lambda data: page.received.append(len(data)))
    )
    page.goto(f"{served.address}{path}")
    settled(page)
    return page


def asks(page: Any, name: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(name, [])


def opened(page: Any, name: str) -> None:
    """The card of the open row carries this name, sooner or later."""
    page.get_by_test_id("stExpander").locator("summary", has_text=f"{name} · ").wait_for()


def click_row(page: Any, row: int, x: int) -> None:
    board = page.get_by_test_id("stDataFrame").first
    board.click(position={"x": x, "y": HEAD_PX + ROW_PX * row + ROW_PX // 2})


def test_overview_is_a_page_by_its_name_and_keeps_its_parameters(boarded: Served) -> None:
    page = visitor(boarded, f"/overview?run={REPLAY_RUN}&assets=AAA&agents=trade&agents=hedge")
    page.get_by_role("heading", name="Board by entry").wait_for()
    assert "Page not found" not in page.locator("body").inner_text()
    assert urlsplit(page.url).path == "/"
    assert (asks(page, "run"), asks(page, "assets")) == ([REPLAY_RUN], ["AAA"])
    assert sorted(asks(page, "agents")) == ["hedge", "trade"]
    menu = page.locator('[data-testid="stSidebarNavLink"]').all_inner_texts()
    assert [m.split("\n")[-1] for m in menu].count("Overview") == 1


def test_a_clicked_row_is_in_the_address_and_survives_reload_filter_and_switch(boarded: Served) -> None:
    page = visitor(boarded, f"/?run={REPLAY_RUN}")
    opened(page, "trade@m-good")
    click_row(page, 2, 16)
    page.wait_for_function("location.search.includes('open=trade%40m-mid')")
    settled(page)
    opened(page, "trade@m-mid")
    page.reload()
    settled(page)
    opened(page, "trade@m-mid")
    page.get_by_role("button", name="BBB", exact=True).click()
    page.wait_for_function("location.search.includes('assets=BBB')")
    settled(page)
    assert asks(page, "open") == ["trade@m-mid"]
    page.get_by_role("radio", name="Luck").click()
    page.wait_for_function("location.search.includes('ov_columns=Luck')")
    settled(page)
    opened(page, "trade@m-mid")


def test_open_leads_to_the_newest_decision_of_the_row(boarded: Served) -> None:
    page = visitor(boarded, f"/?run={REPLAY_RUN}")
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    click_row(page, 2, int(box["width"]) - 28)
    page.wait_for_function("location.pathname.includes('decisions')")
    assert asks(page, "entry") == ["trade@m-mid"]
    assert asks(page, "run") == [REPLAY_RUN]


def test_an_unchanged_refresh_is_small_and_a_paused_one_is_none(changing: tuple[Served, Path]) -> None:
    served, _ = changing
    looking, paused = (visitor(served, "/") for _ in range(2))
    paused.get_by_text("Refresh", exact=True).click()
    paused.get_by_text("not refreshed").wait_for()
    settled(paused)
    looking.wait_for_timeout(2_000)
    for page in (looking, paused):
        page.received.clear()
    for _ in range(10 * (EVERY_S + 2)):
        if looking.received:
            break
        looking.wait_for_timeout(100)
    # One refresh, whole, and not yet the next.
    looking.wait_for_timeout(1_000 * EVERY_S // 2)
    assert 0 < sum(looking.received) < MOST_BYTES, looking.received
    assert sum(paused.received) == 0
    for page in (looking, paused):
        page.close()


def test_changed_ranks_arrive_by_themselves_and_the_opened_row_stays(
    changing: tuple[Served, Path],
) -> None:
    served, store = changing
    page = visitor(served, f"/?run={REPLAY_RUN}&assets=AAA&open=trade%40m-mid", viewport=LOW)
    opened(page, "trade@m-mid")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 300)")
    before = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    store.with_suffix(".go").touch()
    page.locator('[data-testid="stMetric"]', has_text="Best vs B&H").get_by_text("hedge@m-good").wait_for()
    settled(page)
    opened(page, "trade@m-mid")
    assert asks(page, "open") == ["trade@m-mid"]
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == before


def test_csv_and_parquet_of_what_is_shown(boarded: Served) -> None:
    page = visitor(boarded, f"/?run={REPLAY_RUN}&assets=AAA")
    page.get_by_role("button", name="Export").click()
    for kind, head in (("CSV", b"run,entry,agent"), ("Parquet", b"PAR1")):
        with page.expect_download() as download:
            page.get_by_test_id("stPopoverBody").get_by_role("button", name=kind).click()
        assert Path(download.value.path()).read_bytes().startswith(head)


def test_a_phone_has_no_sideways_scroll(boarded: Served) -> None:
    page = visitor(
        boarded, "/", viewport={"width": 390, "height": 844}, is_mobile=True,
        user_agent="Linux; Android 14 Mobi",
    )  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

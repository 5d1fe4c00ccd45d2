"""Two people review briefs by clicks, each in a browser session of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import PATIENCE_MS, settled
from tests.ui.made_news_store import build

pytestmark = pytest.mark.browser

TOKEN = "a-token-of-the-test"
DESK = (1440, 2800)
ALONE = {"viewport": {"width": DESK[0], "height": DESK[1]}}
"""In a browser that nobody else uses."""
ANN = ("2220", "2121", "2112", "2022")
BOB = ("2222", "2111", "2010", "2022")
"""Scores of the first four briefs of the sample: dates, coverage, bias, diversity."""

AGREEMENT = {
    # All twos: nothing that chance could be told from.
    "dates": (100.0, "– one score only"),
    # Ann 2 1 1 0, Bob 2 1 0 0: p_o = 3/4, p_e = (1*1 + 2*1 + 1*2) / 16 = 5/16, kappa = 7/11.
    "coverage": (75.0, "0.64"),
    # Ann 2 2 1 2, Bob 2 1 1 2: p_o = 3/4, p_e = (3*2 + 1*2) / 16 = 1/2, kappa = 1/2.
    "bias": (75.0, "0.50"),
    # Ann 0 1 2 2, Bob 2 1 0 2: p_o = 1/2, p_e = (1*1 + 1*1 + 2*2) / 16 = 3/8, kappa = 1/5.
    "diversity": (50.0, "0.20"),
}


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app with its runner, as a host has it; the store is filled, so that no first run starts."""
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder: Path = tmp_path_factory.mktemp("market")
    switches = {"ARENA_RUNNER": "on", "ARENA_ADMIN_TOKEN": TOKEN, "ARENA_DATA": f"files:{folder}"}
    store = build(folder / "news.duckdb")
    with serve(store, folder / "app.log", forked=True, **switches) as address, browser() as chrome:
        yield Served(address, chrome)


def visitor(served: Served, **look: Any) -> Any:
    page = served.chrome.new_context(**look).new_page() if look else served.tab(*DESK)
    page.set_default_timeout(PATIENCE_MS)
    page.dialogs = []
    page.on("dialog", lambda d: (page.dialogs.append(d.message), d.dismiss()))
    page.goto(f"{served.address}/market")
    page.get_by_role("heading", name="Market & news", exact=True).wait_for()
    settled(page)
    return page


def sign_in(page: Any, name: str) -> None:
    field = page.get_by_label("Token of the host, to score briefs")
    field.fill(TOKEN)
    field.press("Enter")
    named = page.get_by_label("Your name")
    named.wait_for()
    settled(page)
    named.fill(name)
    named.press("Enter")
    scored(page, 0)


def scored(page: Any, done: int) -> None:
    """So many are, and the form of the next brief is there.

    The count is drawn before the form: until the script ends, the form of the brief before still stands
    below it, and takes clicks that nobody will read.
    """
    page.get_by_text(f"{done} of 9 scored").wait_for()
    settled(page)


def score(page: Any, scores: str, done: int, *, reject: bool = False) -> None:
    form = page.locator('[data-testid="stForm"]', has_text="Save scores")
    rows = form.locator('[data-testid="stButtonGroup"]')
    for i, digit in enumerate(scores):
        rows.nth(i).get_by_role("radio", name=digit, exact=True).click()
    if reject:
        form.get_by_text("Reject this brief").click()
    form.get_by_role("button", name="Save scores").click()
    scored(page, done)


def cells(page: Any, heading: str, ready: Callable[[list[str]], bool]) -> list[str]:
    """Cells of the table that has a column of that heading, as a screen reader finds them.

    A table is drawn a moment after the words around it: `ready` says what to wait for.
    """
    grid = page.locator('[data-testid="stDataFrame"] table', has=page.locator("th", has_text=heading))
    found: list[str] = []
    for _ in range(PATIENCE_MS // 200):
        found = [str(text) for text in grid.locator("td").all_text_contents()]
        if ready(found):
            break
        page.wait_for_timeout(200)
    return found


def test_two_reviewers_agree_as_worked_out_by_hand(writable: Served) -> None:
    ann = visitor(writable, **ALONE)
    sign_in(ann, "Ann")
    for i, scores in enumerate(ANN):
        score(ann, scores, i + 1, reject=i == 3)
    assert "Agreement appears once two people" in ann.locator("body").inner_text()

    bob = visitor(writable, **ALONE)
    sign_in(bob, "Bob")
    # Ann is done with four; Bob sees nothing of it while he has given nothing himself.
    assert "Agreement appears once two people" in bob.locator("body").inner_text()
    for i, scores in enumerate(BOB):
        score(bob, scores, i + 1)
    bob.get_by_text("Bob 4 of 9").wait_for()
    got = cells(bob, "Kappa", lambda found: found[1::4] == ["4"] * 4)
    assert len(got) == 16, got
    rows = [got[i : i + 4] for i in range(0, 16, 4)]
    assert {rule: (float(agree), kappa) for rule, _, agree, kappa in rows} == AGREEMENT
    assert "They disagree 4 times" in bob.locator("body").inner_text()

    reader = visitor(writable)
    assert "Ann 4 of 9" in reader.locator("body").inner_text()
    # Ann rejected the fourth brief of the sample.
    days = cells(reader, "Diversity", lambda found: "⊘ rejected" in found)
    assert days.count("⊘ rejected") == 1
    assert not [p.dialogs for p in (ann, bob, reader) if p.dialogs]
    for page in (ann, bob, reader):
        page.close()


def test_a_double_click_stores_a_review_and_a_note_once(writable: Served) -> None:
    page = visitor(writable)
    page.goto(f"{writable.address}/market?day=2025-08-02")
    page.get_by_role("heading", name="AAA · Sat 2 Aug 2025").wait_for()
    sign_in(page, "Cid")
    # A second click on a score that is chosen leaves it chosen.
    form = page.locator('[data-testid="stForm"]', has_text="Save scores")
    for i in range(4):
        form.locator('[data-testid="stButtonGroup"]').nth(i).get_by_role("radio", name="1").dblclick()
    form.get_by_role("button", name="Save scores").dblclick()
    scored(page, 1)
    note = page.locator('[data-testid="stForm"]', has_text="Add note")
    note.get_by_label("Note").fill("R&D &lt;b&gt;")
    note.get_by_label("By").fill("Cid")
    note.get_by_role("button", name="Add note").dblclick()
    told = page.locator('[data-testid="stText"]', has_text="R&D &lt;b&gt;")
    told.first.wait_for()
    settled(page)
    assert told.count() == 1
    assert page.get_by_text("1 of 9 scored").count() == 1
    # Plotly reads entities in the words of a pin; what was typed is what is shown.
    pins = "[...document.querySelectorAll('.annotation-text')].map(a => a.textContent)"
    assert "1 note: R&D &lt;b&gt;" in page.evaluate(pins)
    page.close()


def test_a_wrong_token_opens_nothing(writable: Served) -> None:
    page = visitor(writable)
    field = page.get_by_label("Token of the host, to score briefs")
    field.fill("wrong")
    field.press("Enter")
    page.get_by_text("That is not the token.").wait_for()
    assert page.get_by_label("Your name").count() == 0
    page.close()


def test_a_click_on_the_strip_opens_that_day(writable: Served) -> None:
    page = visitor(writable)
    marks = page.locator(".js-plotly-plot .scatterlayer path.point")
    marks.last.wait_for()
    # The last traces are the strip's; its hollow square is the day without a story.
    box = marks.last.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_role("heading", name="AAA · Sat 9 Aug 2025").wait_for()
    assert "day=2025-08-09" in page.url
    page.reload()
    page.get_by_role("heading", name="AAA · Sat 9 Aug 2025").wait_for()
    page.close()


def test_hostile_news_stays_text_and_a_phone_shows_it(writable: Served) -> None:
    page = visitor(writable, viewport={"width": 390, "height": 844}, is_mobile=True)
    foreign: list[str] = []
    page.on("request", lambda r: foreign.append(r.url) if "invalid" in r.url else None)
    page.get_by_text("<script>alert(1)</script>").first.wait_for()
    main = page.locator('[data-testid="stMain"]')
    assert main.locator("img, a[href^='javascript:'], a[href*='invalid']").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not foreign
    assert not page.dialogs
    page.close()

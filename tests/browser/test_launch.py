"""Launching on a public address: what a visitor, a guesser, the admin and a visitor with a key can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from arena.core.clock import utc_now
from arena.core.rows import WriteUnit
from arena.core.season import RunSpec, Season
from arena.runner.replay import run_row, season_row
from arena.store import jobs_reader, reader
from arena.store.export import export
from arena.store.store import open_store
from tests.browser.harness import Served, browser, chromium, serve
from tests.browser.test_app import settled
from tests.llm.mock_provider import MockProvider, Say
from tests.runner.made_jobs import audit
from tests.ui.made_store import build

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000
TOKEN, HOST_KEY, OWN_KEY = "token-of-the-host-1", "key-of-the-host-271828", "key-of-a-visitor-314159"
USAGE = (1_000, 100)  # 1,000 x 10 + 100 x 50 millionths: 0.015 USD a call
MODEL = """
[[model]]
id = "mock/priced"
label = "Mock"
kind = "model"
route = "openai/priced"
key_env = "MOCK_API_KEY"
api_base = "{url}"
price_in_usd_per_mtok = 10.0
price_out_usd_per_mtok = 50.0
"""


def wanted(model: str) -> RunSpec:
    """Four days of one coin, as the form can be filled in from."""
    return RunSpec(
        kind="replay", season=Season(), source="sample", assets=("QUBIXCOIN",), agents=("vanilla",),
        models=(model,), start=date(2025, 8, 4), end=date(2025, 8, 7), warmup=0,
    )  # fmt: skip


FREE, PAID = wanted("offline/trend"), wanted("mock/priced")


def store_with_two_runs(path: Path) -> Path:
    """The made store, and two runs of which only the rules are known."""
    build(path)
    with open_store(path) as store:
        rows = [
            r
            for spec in (FREE, PAID)
            for r in (
                season_row(spec),
                run_row(spec, spec.run_id(), 1, 0, 0, True, utc_now(), status="done"),
            )
        ]
        store.write([WriteUnit(rows=tuple(rows))])
    return path


class House:
    """A served arena with its mock provider and its folder."""

    def __init__(
        self, served: Served, mock: MockProvider, folder: Path, store: Path, close: Callable[[], None]
    ) -> None:
        self.address, self.chrome, self.mock, self.folder, self.store, self.close = (
            served.address, served.chrome, mock, folder, store, close,
        )  # fmt: skip

    def somebody(self) -> Any:
        """A browser of their own."""
        return self.chrome.new_context(viewport={"width": 1440, "height": 1600})

    def form(self, context: Any, run: str) -> Any:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{self.address}/launch?from_run={run}")
        page.get_by_text("What it will do").wait_for()
        page.get_by_text("Protocol details").click()
        page.get_by_text("Run it again from nothing").click()
        settled(page)
        return page

    def press(self, page: Any, *, budget: str = "") -> None:
        if budget:
            page.get_by_role("spinbutton", name="Budget, $").first.fill(budget)
            page.keyboard.press("Enter")
            settled(page)
        page.get_by_role("button", name="Launch run").click()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    return tmp_path_factory.mktemp("launch")


@pytest.fixture(scope="module")
def house(folder: Path, root: Path) -> Iterator[House]:
    store = store_with_two_runs(folder / "made.duckdb")
    with ExitStack() as running:
        mock = running.enter_context(MockProvider(Say(usage=USAGE)))
        roster = folder / "models.toml"
        roster.write_text((root / "data/models.toml").read_text() + MODEL.format(url=mock.url))
        switches = {
            "ARENA_RUNNER": "on", "ARENA_MODELS": str(roster), "ARENA_ADMIN_TOKEN": TOKEN,
            "MOCK_API_KEY": HOST_KEY,
        }  # fmt: skip
        address = running.enter_context(serve(store, folder / "app.log", forked=True, **switches))
        chrome = running.enter_context(browser())
        yield House(Served(address, chrome), mock, folder, store, running.close)


def finished(page: Any, count: str) -> None:
    """The card says so; its timer brings it there without a reload, and ends."""
    page.get_by_role("heading", name="Job", exact=True).wait_for()
    page.get_by_text(count).first.wait_for()


def test_a_visitor_comes_back_by_the_address_and_opens_the_result(house: House) -> None:
    anna = house.somebody()
    page = house.form(anna, FREE.run_id())
    house.press(page)
    page.wait_for_url("**job=job-*")
    address = page.url
    page.close()
    page = anna.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    finished(page, "4 of 4")
    page.get_by_role("link", name="Open results").first.click()
    page.get_by_role("heading", name="Overview").wait_for()
    page.wait_for_url("**run=replay-*")
    anna.close()


def test_another_visitor_cannot_spend_the_key_and_a_wrong_token_is_refused(house: House) -> None:
    ben = house.somebody()
    page = house.form(ben, PAID.run_id())
    house.press(page, budget="5")
    page.get_by_text("needs the admin or a key of your own").wait_for()
    field = page.get_by_label("Token of the host, to spend this host's keys or enrol a season")
    field.fill("a-guess")
    page.keyboard.press("Enter")
    page.get_by_text("That is not the token.").wait_for()
    assert house.mock.asked == []
    ben.close()


def test_the_admins_run_stops_at_its_budget_with_a_part(house: House) -> None:
    admin = house.somebody()
    page = house.form(admin, PAID.run_id())
    page.get_by_label("Token of the host, to spend this host's keys or enrol a season").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_text("Token of the host").wait_for(state="detached")
    # The worst case of a call is about 0.08 USD, its cost 0.015: two calls fit into 0.10, a third does not.
    house.press(page, budget="0.10")
    page.get_by_text("are spent or set aside").wait_for()
    finished(page, "2 of 4")
    assert {a.headers["authorization"] for a in house.mock.asked} == {f"Bearer {HOST_KEY}"}
    assert len(house.mock.asked) == 2
    admin.close()


def test_a_visitor_pays_with_a_key_of_their_own(house: House) -> None:
    house.mock.asked.clear()
    clara = house.somebody()
    page = house.form(clara, PAID.run_id())
    page.get_by_text("It stays in the memory of this tab").wait_for()
    page.get_by_label("MOCK_API_KEY").fill(OWN_KEY)
    page.keyboard.press("Enter")
    page.get_by_text("is held in this tab").wait_for()
    house.press(page, budget="5")
    page.wait_for_url("**job=job-*")
    finished(page, "4 of 4")
    assert {a.headers["authorization"] for a in house.mock.asked} == {f"Bearer {OWN_KEY}"}
    clara.close()


def test_afterwards_no_key_is_in_any_file_and_all_is_on_record(house: House) -> None:
    """Last, with the server down: its files, its log, its snapshot, and an export."""
    house.close()
    with open_store(house.store, read=True) as store:
        export(store, house.folder / "out", with_timing=True)
        actions = [(who, action) for who, action, _, _ in audit(store)]
        jobs = jobs_reader.jobs(store)
        runs = reader.runs(store)
    assert ("visitor", "wrong token") in actions
    assert ("visitor", "refused") in actions
    assert actions.count(("visitor", "launch")) == 2
    assert actions.count(("admin", "launch")) == 1
    assert sorted(j["status"] for j in jobs) == ["done", "done", "stopped"]
    assert runs["workbench"].sum() == 3
    for path in house.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for secret in (OWN_KEY, HOST_KEY, TOKEN):
                assert secret.encode() not in content, path

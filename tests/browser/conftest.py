"""A real browser on a real server. Skips, with a reason, where chromium or playwright is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.harness import Served, browser, chromium, serve
from tests.ui.made_store import build


# Not for the session: while playwright is open its event loop runs in this thread, and no other
# test could start one of its own.
@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if chromium() is None:
        pytest.skip("no chromium in PATH; `make chromium` installs it where it can")
    folder = tmp_path_factory.mktemp("browser")
    with serve(build(folder / "made.duckdb"), folder / "app.log") as address, browser() as chrome:
        yield Served(address, chrome)

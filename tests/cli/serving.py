"""A `serve-agent` on a free port, for tests that ask it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import forked

START_S = 60.0


@contextmanager
def serving(folder: Path, agent: str, models: str) -> Iterator[str]:
    """Its URL."""
    log = folder / f"{agent}.log"
    server = forked.start("serve-agent", "--agent", agent, "--model", models, "--port", "0", err=log)
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        server.wait(20)


def _address(server: forked.Command, log: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        said = log.read_text("utf-8") if log.exists() else ""
        if found := re.search(r"http://127\.0\.0\.1:\d+/trading_action/", said):
            return found[0]
        time.sleep(0.01)
    raise RuntimeError(f"the agent's server did not start:\n{log.read_text('utf-8')[-4000:]}")

"""Start the app and a browser, for tests and for screenshots."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import forked as fork

ROOT = Path(__file__).resolve().parents[2]
START_S = 40.0


@dataclass(frozen=True)
class Served:
    address: str
    chrome: Any
    _profiles: list[Any] = field(default_factory=list)

    def tab(self, width: int, height: int) -> Any:
        """A new session in a browser that has been here before: only the first tab loads the app's files,
        which takes longer than most of what is tested."""
        if not self._profiles:
            self._profiles.append(self.chrome.new_context())
        page = self._profiles[0].new_page()
        page.set_viewport_size({"width": width, "height": height})
        return page


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for n in names if (path := shutil.which(n))), None)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def serve(
    store: Path, log: Path, *, app: str = "app.py", forked: bool = False, **switches: str
) -> Iterator[str]:
    """The app on `store`, yields its address once it answers.

    Read only and without a runner, unless `switches` (environment variables) say otherwise. `forked`: with
    imports made beforehand, for tests of what comes later.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    env = os.environ | {
        "ARENA_STORE": str(store), "ARENA_DATA": "sample", "ARENA_RUNNER": "off",
        "ARENA_NETWORK": "off", **switches,
    }  # fmt: skip
    words = ["run", app, "--server.port", str(port), "--server.address", "127.0.0.1"]
    process = (
        fork.start(*words, env=env, out=log, err=log, main=fork.streamlit)
        if forked
        else popen(words, env, log)
    )
    try:
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except (subprocess.TimeoutExpired, TimeoutError):
            process.kill()
            process.wait()


def popen(words: list[str], env: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "streamlit", *words]
    with log.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT)


def _wait(address: str, process: subprocess.Popen[bytes] | fork.Command, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start:\n{log.read_text(errors='replace')[-4000:]}")


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        chrome = tool.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chrome
        chrome.close()

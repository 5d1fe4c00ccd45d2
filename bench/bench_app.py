"""The app as a visitor meets it: start to data, memory, a filter click. Needs chromium."""

from __future__ import annotations

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.bench_replay import ROOT, quiet_env, replay, sample_assets

WARM_S, FIRST_S, RSS_MB, CLICK_MS = 4.0, 20.0, 320.0, 300.0
REPEATS, CLICKS, PATIENCE_S = 3, 12, 90.0
HEAVY = ("litellm", "ccxt", "yfinance")
DATA = '[data-testid="stMetricValue"]'

# Clicks the pill named `label`; resolves with the milliseconds until the tiles show other figures.
CLICK_TO_NUMBER = """
(label) => new Promise((resolve) => {
  const figures = () => [...document.querySelectorAll('[data-testid="stMetric"]')]
      .map(e => e.innerText).join('|');
  const pill = [...document.querySelectorAll('[data-testid="stMain"] button')]
      .find(b => b.innerText.trim() === label);
  if (!pill) { resolve(-1); return; }
  const before = figures(), start = performance.now();
  const watch = new MutationObserver(() => {
    if (figures() !== before && figures() !== '') done(performance.now() - start);
  });
  const timer = setTimeout(() => done(5000), 5000);
  function done(ms) { watch.disconnect(); clearTimeout(timer); resolve(ms); }
  watch.observe(document.body, {subtree: true, childList: true, characterData: true});
  pill.click();
})
"""


def chromium() -> str | None:
    """Path of a browser, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for n in names if (path := shutil.which(n))), None)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def app(
    store: Path, *python: str, **env: str
) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """The app on `store`: (process, address, its log). `python` are interpreter options, `env` are
    further environment variables."""
    port = free_port()
    log = store.with_suffix(f".{port}.log")
    command = [
        sys.executable, *python, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true",
    ]  # fmt: skip
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, env=quiet_env(ARENA_STORE=str(store), **env), stdout=out, stderr=out
        )
        try:
            yield process, f"http://127.0.0.1:{port}", log
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def launched() -> Iterator[Any]:
    """A headless browser.

    Raises:
        FileNotFoundError: there is none on this machine.
    """
    path = chromium()
    if path is None:
        raise FileNotFoundError("no chromium here")
    from playwright.sync_api import sync_playwright

    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=path, args=[*sandbox, *quiet, "--disable-gpu", "--no-first-run"]
        )
        yield browser
        browser.close()


def wait_for_page(page: Any, address: str, selector: str, since: float) -> float:
    """Seconds from `since` until `selector` is on screen.

    Raises:
        TimeoutError: not within `PATIENCE_S`.
    """
    from playwright.sync_api import Error

    port = int(address.rsplit(":", 1)[1])
    while time.perf_counter() - since < PATIENCE_S:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.02)
    try:
        page.goto(address, wait_until="commit")
        page.locator(selector).first.wait_for(state="visible", timeout=PATIENCE_S * 1e3)
    except Error as error:
        raise TimeoutError(f"nothing on screen after {PATIENCE_S:g} s: {error}") from error
    return time.perf_counter() - since


def rss_mb(pid: int) -> float:
    """Resident memory of one process, by `ps`."""
    out = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(out.stdout) / 1024


def row(name: str, value: float, unit: str, target: float) -> dict[str, Any]:
    return {
        "name": name, "value": round(value, 2), "unit": unit, "target": f"<= {target:g}",
        "ok": value <= target,
    }  # fmt: skip


def first_start(browser: Any, store: Path) -> list[dict[str, Any]]:
    """An empty store: words of progress, then the first figures."""
    page = browser.new_page()
    start = time.perf_counter()
    with app(store) as (_, address, _log):
        shown = wait_for_page(page, address, f'{DATA}, [data-testid="stProgress"]', start)
        page.locator(DATA).first.wait_for(state="visible", timeout=PATIENCE_S * 1e3)
        figures = time.perf_counter() - start
        page.close()
    return [
        row("first start ever: progress or data on screen", shown, "s", FIRST_S),
        row("first start ever: data on screen", figures, "s", FIRST_S),
    ]


def warm_starts(browser: Any, store: Path) -> list[dict[str, Any]]:
    """A filled store: start to data, memory after the first render, filter clicks."""
    took, memory, clicks = [], [], []
    for _ in range(REPEATS):
        page = browser.new_page()
        start = time.perf_counter()
        with app(store) as (process, address, _log):
            took.append(wait_for_page(page, address, DATA, start))
            memory.append(rss_mb(process.pid))
            page.wait_for_timeout(1500)
            for i in range(CLICKS // REPEATS):
                clicks.append(page.evaluate(CLICK_TO_NUMBER, sample_assets()[i % 2]))
                page.wait_for_timeout(700)
            page.close()
    if min(clicks) < 0:
        raise RuntimeError("an asset pill was not found on the Overview")
    return [
        row("start to data on screen, warm", statistics.median(took), "s", WARM_S),
        row("resident memory after the first render", statistics.median(memory), "MB", RSS_MB),
        row("filter click to a new number", statistics.median(clicks), "ms", CLICK_MS),
    ]


def heavy_imports(browser: Any, store: Path) -> list[dict[str, Any]]:
    """How many of litellm, ccxt and yfinance the server imported before they were needed."""
    page = browser.new_page()
    with app(store, "-X", "importtime") as (_, address, log):
        wait_for_page(page, address, DATA, time.perf_counter())
        page.close()
        text = log.read_text(errors="replace")
    if not re.search(r"\|\s+streamlit\b", text):
        raise RuntimeError("the import log is empty")
    found = [name for name in HEAVY if re.search(rf"\|\s+{name}\s*$", text, re.MULTILINE)]
    return [row(f"of {', '.join(HEAVY)} imported by the first page", len(found), "modules", 0)]


def run() -> list[dict[str, Any]]:
    """Every figure above; one line saying so where there is no browser."""
    if chromium() is None:
        return [
            {"name": "app: no chromium here, not measured", "value": 0, "unit": "", "target": "",
             "ok": None},
        ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder, launched() as browser:
        filled = Path(folder) / "filled.duckdb"
        replay(filled)
        rows = first_start(browser, Path(folder) / "empty.duckdb")
        rows += warm_starts(browser, filled) + heavy_imports(browser, filled)
    return rows


if __name__ == "__main__":
    for line in run():
        print(line)

"""The large store in a real browser: page changes, filter clicks, a refresh without news, memory."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from bench.bench_app import CLICK_TO_NUMBER, DATA, app, launched, rss_mb, wait_for_page

SESSIONS = 10
REFRESH_S = 30
WAIT_MS = 60_000
MENU = {
    "Equity": "equity", "Decisions": "decisions", "Agent or model?": "architecture",
    "Market & news": "market", "Methods": "methods", "Health": "health", "Overview": "",
}  # fmt: skip
TITLES = {"Agent or model?": "Architecture or model?"}

# Clicks a link of the menu; resolves with the milliseconds until the page it leads to stands: its
# title, and something drawn below it that is not left over from the page before.
CLICK_TO_PAGE = """
([label, title]) => new Promise((resolve) => {
  const link = [...document.querySelectorAll('[data-testid="stSidebarNavLink"]')]
      .find(a => a.innerText.trim().endsWith(label));
  if (!link) { resolve(-1); return; }
  const start = performance.now();
  const stands = () => {
    const main = document.querySelector('[data-testid="stMain"]');
    const head = main.querySelector('h1');
    const drawn = [...main.querySelectorAll(
        '[data-testid="stDataFrame"], [data-testid="stPlotlyChart"], [data-testid="stMetric"], table, p')]
        .filter(e => !e.closest('[data-stale="true"]'));
    return head && head.innerText.trim() === title && drawn.length > 2;
  };
  const look = () => {
    if (stands()) resolve(performance.now() - start);
    else if (performance.now() - start > 60000) resolve(60000);
    else requestAnimationFrame(look);
  };
  link.click();
  requestAnimationFrame(look);
})
"""


def measure(store: Path) -> dict[str, float]:
    """Name -> milliseconds, MB or bytes; the app reads only, without its runner."""
    found: dict[str, float] = {}
    with launched() as browser, app(store, ARENA_RUNNER="off") as (process, address, _log):
        page = browser.new_page()
        frames: list[int] = []
        page.on("websocket", lambda ws: ws.on("framereceived", lambda f: frames.append(len(f))))
        found["first_s"] = wait_for_page(page, address, DATA, time.perf_counter())
        settle(page)
        found["first_kb"] = sum(frames) / 1e3
        found |= clicks(page)
        found |= page_changes(page)
        found["refresh_bytes"] = quiet_bytes(page, frames)
        others = [browser.new_context().new_page() for _ in range(SESSIONS - 1)]
        for i, other in enumerate(others):
            other.goto(f"{address}/{list(MENU.values())[i % len(MENU)]}", wait_until="commit")
            other.locator("h1").first.wait_for(state="visible", timeout=WAIT_MS)
            settle(other)
        found["rss_mb"] = rss_mb(process.pid)
        for other in others:
            other.close()
        page.close()
    return found


def settle(page: Any) -> None:
    """Until the page's script has run to its end and the browser has drawn what it made."""
    page.wait_for_timeout(400)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(
        state="attached", timeout=WAIT_MS
    )
    page.wait_for_timeout(400)


def clicks(page: Any) -> dict[str, float]:
    """Filter clicks on the Overview until other figures stand in its tiles."""
    new, known = [], []
    for agent in ("agent-01", "agent-02", "agent-03", "agent-04", "agent-05"):
        for times in (new, known):
            # On, then off again: the second leads back to what has been shown before.
            times.append(float(page.evaluate(CLICK_TO_NUMBER, agent)))
            settle(page)
    if min(*new, *known) < 0:
        raise RuntimeError("an agent's pill was not found on the Overview")
    return {"click_new": statistics.median(new), "click_known": statistics.median(known)}


def page_changes(page: Any) -> dict[str, float]:
    """Through the menu once, so that everything has been read, and then again."""
    found: dict[str, float] = {}
    for turn in ("first", "again"):
        times = []
        for label in MENU:
            ms = float(page.evaluate(CLICK_TO_PAGE, [label, TITLES.get(label, label)]))
            if ms < 0:
                raise RuntimeError(f"the menu has no `{label}`")
            times.append(ms)
            settle(page)
            found[f"page_{turn} {label}"] = ms
        found[f"page_{turn}"] = statistics.median(times)
    return found


def quiet_bytes(page: Any, frames: list[int]) -> float:
    """What one refresh of an Overview without news sends, everything of its half minute counted."""
    settle(page)
    frames.clear()
    page.wait_for_timeout(1e3 * (REFRESH_S + 3))
    return float(sum(frames))


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))

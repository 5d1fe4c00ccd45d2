"""The pages on 8 million equity rows: scripts, queries, a browser, and the same sums by other means.

The store is made once (`bench.big_store`). Wall times depend on who else uses the machine, so the
processor's milliseconds stand beside them; where no more of it was free than the work took, the two
are equal.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import big_store
from bench.bench_app import chromium
from bench.bench_replay import ROOT, quiet_env

SCRIPTS = (
    ("overview", "Overview script, its 200 best of {entries} entries, p95", 150.0),
    ("overview filtered", "filtered to an agent and an asset, p95", 60.0),
    ("overview filtered first", "the same filter chosen for the first time, luck included", None),
    ("overview new version", "Overview after a change of the data, luck of 50 entries included", None),
    ("ten curves", "10 curves of 500 sessions out of 8 million rows, p95", 80.0),
    ("decision", "opening a decision: everything behind it, p95", 60.0),
    ("decision page", "Decisions script at a slot not seen before", None),
    ("search rare", "search for a word in 0.04 % of the texts", 1500.0),
    ("search common", "search for a word in every text", 1500.0),
    ("search absent", "search for a word in none", 1500.0),
    ("luck", "bootstrap, random floor and flags of 50 accounts out of the store", 2000.0),
    ("Equity", "Equity script, p95", None),
    ("Decisions", "Decisions script, p95", None),
    ("Agent or model?", "Agent or model? script, p95", None),
    ("Agent or model? first", "Agent or model? after a change of the data", None),
    ("Market & news", "Market & news script, p95", None),
    ("Health", "Health script, p95", None),
)
BROWSER = (
    ("click_known", "browser: filter click to a new number, median", "ms", 300.0),
    ("click_new", "browser: the same where nobody chose that filter before", "ms", None),
    ("page_again", "browser: page change by the menu, median of 7 pages", "ms", 1200.0),
    ("page_first", "browser: the same, each page for the first time", "ms", None),
    ("refresh_bytes", "browser: a refresh without news receives", "bytes", 5000.0),
    ("rss_mb", "browser: resident memory with 10 sessions open", "MB", 450.0),
)
OTHERS = (
    ("pandas", "board of 300 entries: pandas from the rows, over ours"),
    ("sql", "board of 300 entries: window SQL, over ours"),
    ("curves pandas", "10 curves: a pandas filter of the whole table, over ours"),
)


def run() -> list[dict[str, Any]]:
    """Every figure; the browser's are left out, saying so, where there is none."""
    size, store = big_store.FULL, big_store.big_store()
    scripts = _child("bench.dashboard_scripts", store)
    entries = size.newest.agents * size.newest.models
    rows = [
        _row(f"{what.format(entries=entries)} (processor {scripts[name][1]:.0f} ms)", scripts[name][0], "ms", target)
        for name, what, target in SCRIPTS
    ]  # fmt: skip
    ratios = _child("bench.dashboard_peers", store)
    rows += [_row(what, ratios[name], "x", None) for name, what in OTHERS]
    busy = os.getloadavg()[0]
    rows.append(_row("processes waiting for the processor meanwhile (load)", busy, "", None))
    if chromium() is None:
        return [*rows, _row("browser: no chromium here, not measured", 0, "", None)]
    found = _child("bench.browser_dashboard", store)
    return rows + [_row(what, found[name], unit, target) for name, what, unit, target in BROWSER]


def _row(name: str, value: float, unit: str, target: float | None) -> dict[str, Any]:
    ok = None if target is None else value <= target
    return {"name": name, "value": round(value, 1), "unit": unit, "target": target, "ok": ok}


def _child(module: str, store: Path) -> dict[str, Any]:
    """What a process of its own found: DuckDB lets one process at a time open a store."""
    command = [sys.executable, "-m", module, str(store)]
    done = subprocess.run(
        command, cwd=ROOT, env=quiet_env(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module} ended with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    for line in run():
        print(line)

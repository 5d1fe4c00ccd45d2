"""Pictures of the pages into a folder: `python tests/browser/screenshots.py --out docs/img`.

Replays 61 days of sample data into a throw-away store (or takes `--store`, or makes a live arena up with
`--live`), starts the app on it and photographs each page at 1440 px in light and dark and at 390 px in light.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser.harness import browser, chromium, serve  # noqa: E402

ASSETS = "ZORVANE,HELIQUA,QUBIXCOIN,LUMRACOIN"
SHOTS = {
    "overview": "/",
    "equity": "/equity?eq_asset=QUBIXCOIN",
    "decisions": "/decisions?entry=trade%40offline%2Ftrend&asset=QUBIXCOIN",
    "architecture": "/architecture?ar_asset=QUBIXCOIN",
    "market": "/market?mk_asset=QUBIXCOIN",
    "launch": "/launch",
    "methods": "/methods",
    "health": "/health",
}
LIVE_SHOTS = SHOTS | {
    "equity": "/equity?eq_asset=XXX",
    "decisions": "/decisions?entry=vanilla%40offline%2Ftrend&asset=XXX&slot=2026-03-05",
    "architecture": "/architecture?ar_asset=XXX",
    "market": "/market?mk_asset=XXX",
}
"""The same pages of a live arena: the open decision was made late."""
LOOKS = {"light": (1440, "light"), "dark": (1440, "dark"), "mobile": (390, "light")}
SETTLE_MS = 1500
PHONE = "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36"


def replay(store: Path) -> None:
    command = [
        sys.executable, "-m", "arena", "replay", "--data", "sample", "--store", str(store),
        "--assets", ASSETS, "--agents", "vanilla,investor,trade,hedge,deepfund",
        "--models", "offline/trend,offline/contrarian", "--warmup", "20",
        "--start", "2025-08-01", "--end", "2025-09-30", "--json",
    ]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def shoot(
    chrome: Any, address: str, look: str, out: Path, shots: dict[str, str] = SHOTS
) -> None:
    width, scheme = LOOKS[look]
    context = chrome.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, is_mobile=width < 600,
        user_agent=PHONE if width < 600 else None,
    )
    page = context.new_page()
    for name, path in shots.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address + path)
        page.get_by_text("Simulated paper trading, not investment advice").last.wait_for()
        page.wait_for_timeout(SETTLE_MS)
        # The page scrolls inside an element: a window as high as its content shows all of it.
        tall = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
        page.set_viewport_size({"width": width, "height": int(tall)})
        page.wait_for_timeout(SETTLE_MS)
        page.screenshot(path=str(out / f"{name}_{look}.png"))
    context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/img")
    parser.add_argument("--store", type=Path, help="a filled store; default: a fresh sample replay")
    parser.add_argument(
        "--live", action="store_true",
        help="a made-up live arena: two seasons, late and missed slots, quotes, jobs (two minutes)",
    )
    args = parser.parse_args()
    if chromium() is None:
        print("No chromium in PATH; `make chromium` installs it where it can.", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = args.store or Path(folder) / "made.duckdb"
        switches: dict[str, str] = {}
        if args.live:
            from tests.live.made_arena import build, clock_of

            switches = {"ARENA_CLOCK_FILE": str(clock_of(build(store))), "ARENA_DATA": "live"}
        elif args.store is None:
            replay(store)
        shots = LIVE_SHOTS if args.live else SHOTS
        with serve(store, Path(folder) / "app.log", **switches) as address, browser() as chrome:
            for look in LOOKS:
                shoot(chrome, address, look, args.out, shots)
    print(f"{len(LOOKS) * len(shots)} pictures in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

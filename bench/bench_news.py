"""News: a whole pack of items into stories, a day's items, and a slot sealed with what was read.

Measured on the real pack (`ARENA_SHARED`, or `../shared/market`) where it is there, else on the sample.
What one would otherwise reach for is measured beside it: equal titles by pandas, which finds no
retelling, and rapidfuzz on every pair of one asset, which looks at no date and no figures.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.bench_replay import ROOT, quiet_env

TARGET_S, TARGET_MB, TARGET_DAY_MS, TARGET_SEAL_MS = 20.0, 400.0, 300.0, 10.0
DAY_ITEMS, DAY_ASSETS = 200, 4
EVER, NOW = datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
SHARED = Path(os.environ.get("ARENA_SHARED") or ROOT.parent / "shared" / "market")
REPEATS = 5


def run() -> list[dict[str, Any]]:
    """The lines of the table; the whole pack is read in a process of its own."""
    real = (SHARED / "news.parquet").is_file()
    choice = f"files:{SHARED}" if real else "sample"
    whole = _child(choice)
    what = "real" if real else "sample (no real pack here)"
    day_ms = day_of_items(choice)
    rows = [
        _row(f"{whole['n_items']:,} {what} items of {whole['n_assets']} assets, cleaned, into "
             f"{whole['n_stories']:,} stories", whole["seconds"], "s", TARGET_S),
        _row("peak memory of that process, imports included", whole["peak_mb"], "MB", TARGET_MB),
        _row(f"a day's {DAY_ITEMS} items for {DAY_ASSETS} assets", day_ms, "ms", TARGET_DAY_MS),
    ]  # fmt: skip
    rows += [
        _row(f"{asset} sealed with the day's stories, brief and {n} figures", ms, "ms", TARGET_SEAL_MS)
        for asset, n, ms in sealings(choice)
    ]
    return rows + beside(choice)


def _row(name: str, value: float, unit: str, target: float | None) -> dict[str, Any]:
    ok = None if target is None else value <= target
    digits = 3 if value < 1 else 2
    return {"name": name, "value": round(value, digits), "unit": unit, "target": target, "ok": ok}


def _median_ms(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def _child(choice: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bench_news", choice]
    done = subprocess.run(
        command, cwd=ROOT, env=quiet_env(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"bench.bench_news ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _assets(choice: str) -> list[Any]:
    """Every asset that the news is tagged with."""
    import pandas as pd

    from arena.core.settings import SAMPLE
    from arena.core.types import Asset
    from arena.market.sources import open_source

    folder = SAMPLE if choice == "sample" else SHARED
    known = open_source(choice).assets()
    tags = sorted(set(pd.read_parquet(folder / "news.parquet", columns=["asset"])["asset"]) - {""})
    return [known.get(tag) or Asset(tag, tag, "stock") for tag in tags]


def _raws(choice: str, assets: list[Any]) -> list[Any]:
    from arena.market.sources.news.files import open_news

    source = open_news(choice)
    assert source is not None
    return source.fetch(assets, EVER, NOW)


def whole_pack(choice: str) -> dict[str, Any]:
    """Reading, cleaning, identity and clustering of everything, in this process."""
    from arena.market.news.archive import make_archives

    assets = _assets(choice)
    began = time.perf_counter()
    raws = _raws(choice, assets)
    archives = make_archives(assets, raws, NOW)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "n_items": len(raws),
        "n_assets": len(assets),
        "n_stories": sum(len(archive.stories) for archive in archives.values()),
    }


def day_of_items(choice: str) -> float:
    """Milliseconds for the newest 50 items of each of the four assets most written about, all of them
    told within one day, so that each may be a retelling of any other."""
    from arena.market.news.archive import make_archives

    assets = _assets(choice)
    raws = _raws(choice, assets)
    n = DAY_ITEMS // DAY_ASSETS
    by_asset = {a.id: [r for r in raws if r.asset == a.id] for a in assets}
    most = sorted(assets, key=lambda a: (-len(by_asset[a.id]), a.id))[:DAY_ASSETS]
    day = datetime(2025, 8, 6, tzinfo=UTC)
    items = [
        replace(raw, ts_quality="exact", published_utc=day + timedelta(minutes=20 * i), collected_at_utc=None)
        for asset in most for i, raw in enumerate(by_asset[asset.id][-n:])
    ]  # fmt: skip

    def work() -> None:
        for archive in make_archives(most, items, NOW).values():
            archive.day(EVER, NOW)

    return _median_ms(work)


def sealings(choice: str) -> list[tuple[str, int, float]]:
    """Asset, filed figures and milliseconds: a coin with all its real news, and a company with filings."""
    cases = [("sample", "ZORVANE", date(2025, 8, 7))]
    if choice != "sample":
        cases.insert(0, (choice, "BTC", date(2025, 8, 6)))
    return [(asset, *sealing(where, asset, session)) for where, asset, session in cases]


def sealing(choice: str, name: str, session: date) -> tuple[int, float]:
    """Figures in the context, and milliseconds from an archive and stored facts to the market hash."""
    from arena.market.calendars import slot, slot_before
    from arena.market.filings.known import known_facts
    from arena.market.history import load_history
    from arena.market.news.archive import make_archive
    from arena.market.news.digest import digest
    from arena.market.seal import seal
    from arena.market.sources import open_source
    from arena.market.sources.filings.open import open_filings

    source = open_source(choice)
    asset = source.assets()[name]
    history = load_history(source, asset, date(2024, 1, 1), session, NOW)
    archive = make_archive(asset, _raws(choice, [asset]), NOW)
    filings = open_filings(choice)
    facts = filings.facts(asset) if filings is not None else ()
    now, before = slot(asset, session), slot_before(asset, session)
    stories = archive.day(before.as_of_utc, now.as_of_utc)
    brief = digest(asset, stories).facts(stories)
    n_facts = 0

    def work() -> None:
        nonlocal n_facts
        day = archive.day(before.as_of_utc, now.as_of_utc)
        known = known_facts(facts, now.as_of_utc, history.bars[-1].close)
        market = seal(history, now, stories=day.facts(), brief=brief, fundamentals=known)
        n_facts = len(market.fundamentals)
        assert market.stories
        assert market.market_hash

    ms = _median_ms(work, 20)
    return n_facts, ms


def beside(choice: str) -> list[dict[str, Any]]:
    """What else one could use on the same items, and how long that takes."""
    import pandas as pd
    from rapidfuzz import fuzz, process

    from arena.market.news.archive import make_archive

    assets = _assets(choice)
    raws = _raws(choice, assets)
    titles = pd.DataFrame({"asset": [r.asset for r in raws], "title": [r.title for r in raws]})
    pandas_s = _median_ms(titles.drop_duplicates) / 1e3
    one = next(a for a in assets if a.id == ("ETH" if choice != "sample" else "QUBIXCOIN"))
    own = [r for r in raws if r.asset == one.id]
    texts = [f"{r.title} {r.text[:300]}" for r in own]
    ours_ms = _median_ms(lambda: make_archive(one, own, NOW), 1)
    pairs_ms = _median_ms(
        lambda: process.cdist(texts, texts, scorer=fuzz.token_set_ratio, workers=1), 1
    )
    return [
        _row("the same items by pandas.drop_duplicates, which finds equal titles only", pandas_s, "s", None),
        _row(f"{len(own):,} items of {one.id}: times as fast as rapidfuzz on every pair, which "
             "neither cleans nor dates", pairs_ms / ours_ms, "x", None),
    ]  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(whole_pack(sys.argv[1])))
    else:
        for line in run():
            print(line)

"""Reading on real news: no look-ahead, and a hash that nothing can slip past."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.clock import utc_now
from arena.core.season import RunSpec, Season
from arena.core.types import Asset, MarketContext, Slot
from arena.market.calendars import slot_before, slots
from arena.market.history import History, load_history
from arena.market.news.archive import Archive, make_archive
from arena.market.news.digest import digest
from arena.market.news.intake import admit
from arena.market.news.items import RawItem
from arena.market.news.subjects import subject_of
from arena.market.seal import seal
from arena.market.sources import open_source
from arena.market.sources.news.files import FilesNews
from arena.runner.intelligence import EVER, gather
from arena.runner.replay import run_replay
from arena.runner.sealing import parse_part
from arena.store.store import Store, open_store

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LEAD = datetime(2025, 6, 1, tzinfo=UTC)
START, END = date(2025, 8, 1), date(2025, 9, 30)


class World:
    """Real prices of an asset around the paper's window, and everything its news files hold."""

    def __init__(self, folder: Path, asset: str) -> None:
        prices = open_source(f"files:{folder}")
        self.asset: Asset = prices.assets()[asset]
        self.history: History = load_history(
            prices, self.asset, date(2024, 1, 2), date(2025, 10, 10), NOW
        )
        # Two months of lead are enough for what came before; the whole past would only take time.
        every = FilesNews(folder).fetch([self.asset], EVER, NOW)
        self.raws = [r for r in every if r.published_utc is None or r.published_utc >= LEAD]
        subject = subject_of(self.asset)
        self.ids = [getattr(admit(r, subject, NOW), "id", None) for r in self.raws]
        self.slots = slots(self.asset, START, END)
        self.archive = make_archive(self.asset, self.raws, NOW)

    def context(self, archive: Archive, slot: Slot) -> MarketContext:
        day = archive.day(slot_before(self.asset, slot.session).as_of_utc, slot.as_of_utc)
        brief = digest(self.asset, day).facts(day) if day.stories else None
        return seal(self.history, slot, stories=day.facts(), brief=brief)

    def hashes(self, archive: Archive, until: Slot) -> list[str]:
        return [
            self.context(archive, s).market_hash for s in self.slots if s.as_of_utc <= until.as_of_utc
        ]


@cache
def world(folder: Path, asset: str) -> World:
    return World(folder, asset)


def invented(at: datetime, asset: str, n: int) -> RawItem:
    return RawItem(
        f"{asset} soars, insiders knew it {n}", f"https://example.com/{n}", "It could not be known.",
        "Example", "files", "press", "exact", at, None, asset,
    )  # fmt: skip


def later_than(raws: Sequence[RawItem], moment: datetime) -> list[RawItem]:
    return [r for r in raws if r.published_utc is not None and r.published_utc > moment]


@pytest.mark.parametrize("asset", ["BTC", "ETH", "TSLA"])
@settings(max_examples=12)
@given(data=st.data())
def test_what_is_known_later_changes_nothing(
    shared_market: Path, asset: str, data: st.DataObject
) -> None:
    """Items after a slot are taken away, doubled or invented; everything up to the slot stays."""
    w = world(shared_market, asset)
    until = data.draw(st.sampled_from(w.slots))
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    future = later_than(w.raws, until.as_of_utc)
    gone = {id(r) for r in rng.sample(future, k=rng.randint(0, len(future)))}
    added = [
        invented(until.as_of_utc + timedelta(seconds=rng.randint(1, 10**7)), asset, n)
        for n in range(rng.randint(0, 30))
    ]
    changed = [*(r for r in w.raws if id(r) not in gone), *added]
    rng.shuffle(changed)
    archive = make_archive(w.asset, changed, NOW)
    assert w.hashes(archive, until) == w.hashes(w.archive, until)


@pytest.mark.parametrize("asset", ["BTC", "ETH", "TSLA"])
@settings(max_examples=12)
@given(data=st.data())
def test_one_known_item_changes_the_hash(
    shared_market: Path, asset: str, data: st.DataObject
) -> None:
    """Taken away, or with another word in its text: also an item that only retells a story."""
    w = world(shared_market, asset)
    told = [s for s in w.slots if w.context(w.archive, s).stories]
    slot = data.draw(st.sampled_from(told))
    day = w.archive.day(slot_before(w.asset, slot.session).as_of_utc, slot.as_of_utc)
    item = data.draw(st.sampled_from([i for t in day.stories for i in t.items]))
    hit = [r for r, known in zip(w.raws, w.ids, strict=True) if known == item.id]
    assert hit
    before = w.context(w.archive, slot).market_hash
    left = [r for r, known in zip(w.raws, w.ids, strict=True) if known != item.id]
    assert w.context(make_archive(w.asset, left, NOW), slot).market_hash != before
    told_otherwise = [*left, *(replace(r, text=f"{r.text[:400]} Denied.") for r in hit)]
    assert w.context(make_archive(w.asset, told_otherwise, NOW), slot).market_hash != before


def query(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cur:
        return cur.execute(sql).fetchall()


@pytest.fixture(scope="module")
def played(shared_market: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Agents on the real pack, with the figures of a made-up company filed for TSLA."""
    folder = tmp_path_factory.mktemp("real")
    for name in ("daily.parquet", "news.parquet"):
        (folder / name).symlink_to(shared_market / name)
    made = Path(__file__).parents[1] / "market/filings/fundamentals.csv"
    (folder / "fundamentals.csv").write_text(made.read_text("utf-8").replace("ACME", "TSLA"), "utf-8")
    spec = RunSpec(
        kind="replay", season=Season(), source="files", assets=("BTC", "TSLA"),
        agents=("deepfund", "hedge", "investor", "trade", "vanilla"), models=("offline/news",),
        start=date(2025, 7, 22), end=date(2025, 8, 12), warmup=0, brief="digest",
    )  # fmt: skip
    source = open_source(f"files:{folder}")
    path = folder / "r.duckdb"
    with open_store(path) as store:
        read = gather(spec, f"files:{folder}", source.assets(), store, utc_now())
        run_replay(spec, ("baseline",), source, store, intelligence=read)
    return path


def test_agents_cite_stories_of_their_own_context(played: Path) -> None:
    cited = {"deepfund": 0, "trade": 0}
    with open_store(played, read=True) as store:
        rows = query(
            store,
            "SELECT d.agent, d.evidence_json, t.text FROM decisions d JOIN contexts c "
            "USING (market_hash) LEFT JOIN blobs t ON t.sha256 = c.stories_sha256",
        )
    for agent, evidence, text in rows:
        told = {s["id"] for s in parse_part(text)} if text else set()
        stories = {e for e in json.loads(evidence) if e.startswith("n-")}
        assert stories <= told, agent
        if agent in cited:
            cited[agent] += len(stories)
    assert min(cited.values()) > 0


def test_the_personas_run_on_what_was_filed_by_then(played: Path) -> None:
    """The second quarter was filed on 24 July: known from midnight on, so first at the slot after the
    session of the 24th, half an hour before the open of the 25th."""
    with open_store(played, read=True) as store:
        rows = query(
            store,
            "SELECT c.session, f.text, d.n_calls FROM decisions d JOIN contexts c USING (market_hash) "
            "JOIN blobs f ON f.sha256 = c.fundamentals_sha256 "
            "WHERE d.asset = 'TSLA' AND d.agent = 'hedge' ORDER BY c.session",
        )
        coins = query(store, "SELECT count(fundamentals_sha256) FROM contexts WHERE asset = 'BTC'")
    assert coins == [(0,)]
    known = {session: {r["period"] for r in parse_part(text)} for session, text, _ in rows}
    assert "2025Q2" not in known[date(2025, 7, 23)]
    assert "2025Q2" in known[date(2025, 7, 24)]
    # Figures to go by: the specialists are asked, so more than the manager alone is on the trace.
    assert min(n for _, _, n in rows) > 10


def test_the_figures_of_one_session_by_hand(played: Path) -> None:
    """market_cap = close x shares last filed: 305.30 x 98 on 24 July 2025 (both from the files)."""
    made = Path(__file__).parents[1] / "market/filings/fundamentals.csv"
    shares = [r for r in made.read_text("utf-8").splitlines() if r.startswith("ACME,shares,2025Q2")]
    assert len(shares) == 1
    count = float(shares[0].split(",")[3])
    with open_store(played, read=True) as store:
        (text, close), = query(
            store,
            "SELECT f.text, b.close FROM contexts c JOIN blobs f ON f.sha256 = c.fundamentals_sha256 "
            "JOIN bars b ON b.asset = c.asset AND b.session = c.session "
            "WHERE c.asset = 'TSLA' AND c.session = DATE '2025-07-24'",
        )
    rows = {(r["field"], r["period"]): r["value"] for r in parse_part(text)}
    assert close == pytest.approx(305.30)
    assert rows["market_cap", "TTM"] == pytest.approx(305.30 * count)

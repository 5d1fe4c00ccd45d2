"""Runs that read, cut off and gone on with: nothing is written or asked twice, and no byte differs."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arena.audit.check import check_store
from arena.audit.manifest import build_manifest
from arena.core.errors import ConfigError, StoreError
from arena.core.rows import WriteUnit
from arena.core.season import RunSpec
from arena.core.settings import SAMPLE
from arena.core.types import Slot
from arena.llm.types import BudgetStop
from arena.market.news.brief import Brief
from arena.market.news.items import DayNews
from arena.market.sources import open_source
from arena.runner import sealing
from arena.runner.behind import behind
from arena.runner.intelligence import Intelligence, from_files
from arena.runner.replay import RunResult, run_replay
from arena.runner.sealing import Sealed, Sealer
from arena.store import news_reader, reader
from arena.store.store import Store, open_store
from tests.runner.news_writer import NewsWriter, new_writer
from tests.runner.test_intelligence import BASELINE, digests, play, query, spec

SHORT = {"start": date(2025, 8, 4), "end": date(2025, 8, 6)}
SOURCE = open_source("sample")
NOW = datetime(2025, 10, 1, tzinfo=UTC)


@cache
def read(assets: tuple[str, ...]) -> Intelligence:
    known = SOURCE.assets()
    return from_files("sample", [known[a] for a in assets], NOW, NOW)[0]


def play_sample(store: Store, run: RunSpec, **more: Any) -> RunResult:
    """`play` with the news of the sample read once for all tests."""
    return run_replay(run, BASELINE, SOURCE, store, intelligence=read(run.assets), **more)


@pytest.fixture
def writer(request: pytest.FixtureRequest) -> NewsWriter:
    return new_writer(f"writer-{request.node.name.partition('[')[0]}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample as somebody's own files, to be changed."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("assets.toml", "daily.parquet", "fundamentals.parquet", "news.parquet"):
        shutil.copy(SAMPLE / name, data / name)
    return data


class PowerCut(Exception):
    pass


def cut_after(monkeypatch: pytest.MonkeyPatch, n_units: int) -> Callable[[], None]:
    """The store takes `n_units` units of work, then the power is gone. Returns the way back."""
    real, left = Store.submit, [n_units]

    def submit(store: Store, unit: WriteUnit) -> Future[bool]:
        if left[0] == 0:
            raise PowerCut
        left[0] -= 1
        return real(store, unit)

    monkeypatch.setattr(Store, "submit", submit)
    return lambda: monkeypatch.setattr(Store, "submit", real)


def test_cut_between_any_two_units(
    writer: NewsWriter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every unit is a possible last one: the seal with its brief, a decision, a vote, Buy & Hold."""
    run = spec(brief=writer.id, agents=("investor",), warmup=1, **SHORT)
    with open_store(tmp_path / "calm.duckdb") as store:
        play_sample(store, run)
        calm = digests(store, tmp_path / "calm")
        briefs = query(store, "SELECT count(*) FROM briefs")[0][0]
    assert writer.asked == briefs > 3
    cuts = 0
    for n in range(2, 100, 7):
        path = tmp_path / f"{n}.duckdb"
        with open_store(path) as store:
            back = cut_after(monkeypatch, n)
            try:
                play_sample(store, run)
                break
            except PowerCut:
                cuts += 1
            finally:
                back()
        with open_store(path) as store:
            decided = len(reader.decisions(store, run.run_id(), phase=None))
            made = query(store, "SELECT count(*) FROM briefs")[0][0]
            writer.asked = 0
            play_sample(store, run)
            assert writer.asked == briefs - made, f"{n}: a stored brief was written again"
            assert digests(store, tmp_path / str(n)) == calm, f"{n} units, {decided} decisions"
    assert cuts >= 5


def test_one_worker_or_eight_epochs_share_their_briefs(writer: NewsWriter, tmp_path: Path) -> None:
    run = spec(brief=writer.id, **SHORT)
    found = []
    for workers in (1, 8):
        with open_store(tmp_path / f"{workers}.duckdb") as store:
            writer.asked = 0
            play_sample(store, run, workers=workers, epochs=2)
            briefs = query(store, "SELECT count(*) FROM briefs")[0][0]
            assert writer.asked == briefs > 3
            hashes = query(store, "SELECT run, slot_key, asset, market_hash FROM decisions")
            seen = {epoch: {h[1:] for h in hashes if h[0] == run.run_id(epoch)} for epoch in (1, 2)}
            assert seen[1] == seen[2] != set()
            found.append(digests(store, tmp_path / f"out{workers}"))
    assert found[0] == found[1]


def test_briefs_of_one_round_are_written_by_as_many_workers(
    writer: NewsWriter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now, most = 0, 0
    real = writer.complete

    async def slow(req: Any) -> Any:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        return await real(req)

    monkeypatch.setattr(writer, "complete", slow)
    run = spec(brief=writer.id, assets=("LUMRACOIN", "QUBIXCOIN"), agents=("vanilla",), **SHORT)
    for workers, at_once in ((1, 1), (2, 2)):
        most = 0
        with open_store(tmp_path / f"{workers}.duckdb") as store:
            play_sample(store, run, workers=workers)
        assert most == at_once


def test_a_failed_brief_is_kept_shown_and_not_asked_for_again(
    writer: NewsWriter, tmp_path: Path
) -> None:
    run = spec(brief=writer.id, **SHORT)
    writer.fails = True
    with open_store(tmp_path / "a.duckdb") as store:
        play_sample(store, run)
        asked, before = writer.asked, digests(store, tmp_path / "1")
        assert set(query(store, "SELECT status, content_json, error FROM briefs")) == {
            ("provider_error", "null", "nobody is in today")
        }
        writer.fails = False
        assert play_sample(store, run).n_resumed == 3 * 2 * 2 * 2
        assert writer.asked == asked
        assert digests(store, tmp_path / "2") == before
        play_sample(store, run.model_copy(update={"ordinal": 2}))
        assert writer.asked == asked, "what was made of the same stories is shared, a failure too"
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        (one,) = query(store, "SELECT min(decision) FROM decisions WHERE asset = 'QUBIXCOIN'")
        found = behind(store, one[0])
        assert found is not None
        assert (found["brief"], found["context"]["brief"]) == (None, None)
        assert len(found["stories"]) > 0
        assert found["brief_failure"]["error"] == "nobody is in today"
        slots = news_reader.slots(store, run.run_id(), "QUBIXCOIN")
        assert {s["row"]["status"] for s in slots if s["n_stories"]} == {"provider_error"}


def test_what_was_read_does_not_depend_on_whose_failure_came_first(tmp_path: Path) -> None:
    """Two makers that fail leave the same market; its row names neither."""
    a, b = new_writer("fails-a"), new_writer("fails-b")
    a.fails = b.fails = True
    contexts = []
    for makers in ((a, b), (b, a)):
        with open_store(tmp_path / f"{makers[0].id[-1]}.duckdb") as store:
            for maker in makers:
                play_sample(store, spec(brief=maker.id, agents=("vanilla",), **SHORT))
            contexts.append(digests(store, tmp_path / makers[0].id[-1])["contexts.csv"])
    assert contexts[0] == contexts[1]


def test_other_makers_read_beside_each_other(writer: NewsWriter, tmp_path: Path) -> None:
    with open_store(tmp_path / "a.duckdb") as store:
        for maker in (writer.id, "digest"):
            play_sample(store, spec(brief=maker, agents=("vanilla",), **SHORT))
        play(store, spec(brief="none", agents=("vanilla",), **SHORT))
        assert [f for f in check_store(store).findings if f.level == "breach"] == []
        makers = query(store, "SELECT maker, count(*) FROM briefs GROUP BY maker")
        assert {m for m, _ in makers} == {writer.id, "digest"}
        assert len({n for _, n in makers}) == 1
        rows = query(
            store,
            "SELECT run, slot_key, market_hash FROM decisions WHERE asset = 'QUBIXCOIN' "
            "AND model = 'offline/trend'",
        )
        assert len({h for _, _, h in rows}) == len(rows) == 3 * 3


def change(folder: Path, alter: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    news = pd.read_parquet(SAMPLE / "news.parquet")
    alter(news).to_parquet(folder / "news.parquet")


def reworded(news: pd.DataFrame) -> pd.DataFrame:
    inside = (news["asset"] == "QUBIXCOIN") & news["published_at_utc"].astype(str).between(
        "2025-08-04 01", "2025-08-04 22"
    )
    row = news.index[inside][0]
    news.loc[row, "text"] = "It was not so: nothing of the kind was said on that day."
    return news


def with_a_later_one(news: pd.DataFrame) -> pd.DataFrame:
    row = news[news["asset"] == "QUBIXCOIN"].head(1).copy()
    row["title"], row["url"] = "Qubix opens a hall for visitors", "https://later.example.org/1"
    row["published_at_utc"] = pd.Timestamp("2025-08-20", tz="UTC")
    return pd.concat([news, row])


@pytest.mark.parametrize("maker", ["digest", "model"])
def test_news_changed_under_a_run_is_refused_and_leaves_it_as_it_was(
    maker: str, writer: NewsWriter, folder: Path, tmp_path: Path
) -> None:
    data = f"files:{folder}"
    name = writer.id if maker == "model" else maker
    run = spec(brief=name, source="files", agents=("vanilla",), **SHORT)
    with open_store(tmp_path / "a.duckdb") as store:
        done = play(store, run, data)
        asked, before = writer.asked, digests(store, tmp_path / "1")
        change(folder, with_a_later_one)
        assert play(store, run, data).n_resumed == done.n_decisions
        change(folder, reworded)
        with pytest.raises(ConfigError, match="data changed; use --new"):
            play(store, run, data)
        assert writer.asked == asked
        assert digests(store, tmp_path / "2") == before
        # The new run reads the new words; the article stays as it first came, and `check` says so.
        play(store, run.model_copy(update={"ordinal": 2}), data)
        found = check_store(store).findings
        assert {(f.level, f.rule) for f in found} == {("warning", "articles")}
        assert found[0].text.startswith("1 stories of QUBIXCOIN are not among the articles")


def test_a_stop_of_the_budget_keeps_the_briefs_of_the_other_assets(
    writer: NewsWriter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One brief of the round may be paid for, the next may not: the first is there afterwards."""
    run = spec(brief=writer.id, assets=("LUMRACOIN", "QUBIXCOIN"), agents=("vanilla",), **SHORT)
    with open_store(tmp_path / "calm.duckdb") as store:
        play_sample(store, run)
        calm = digests(store, tmp_path / "1")
    real = Sealer.seal

    async def broke(sealer: Sealer, slot: Slot) -> Sealed:
        if slot.asset == "LUMRACOIN" and slot.session == date(2025, 8, 5):
            raise BudgetStop("0.00 USD are left")
        return await real(sealer, slot)

    with open_store(tmp_path / "a.duckdb") as store:
        monkeypatch.setattr(Sealer, "seal", broke)
        assert play_sample(store, run).budget_stop == "0.00 USD are left"
        monkeypatch.setattr(Sealer, "seal", real)
        assert query(
            store, "SELECT count(*) FROM briefs WHERE asset = 'QUBIXCOIN' AND session = '2025-08-05'"
        ) == [(1,)]
        writer.asked = 0
        play_sample(store, run)
        assert writer.asked == query(
            store, "SELECT count(*) FROM briefs WHERE session >= '2025-08-05'"
        )[0][0] - 1
        assert digests(store, tmp_path / "2") == calm


def test_no_decision_without_its_market(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The store refuses what was sealed (a score of 3): then it gets no decision on it either."""

    def rate(asset: Any, day: DayNews, brief: Brief) -> list[Any]:
        return [replace(real(asset, day, brief)[0], score=3)]

    real = sealing.rate
    monkeypatch.setattr(sealing, "rate", rate)
    with open_store(tmp_path / "a.duckdb") as store:
        with pytest.raises(StoreError, match="score BETWEEN 0 AND 2"):
            play_sample(store, spec(agents=("vanilla",), assets=("QUBIXCOIN",), **SHORT))
        assert query(store, "SELECT count(*) FROM decisions") == [(0,)]


def test_stopped_by_hand_and_gone_on_with(writer: NewsWriter, tmp_path: Path) -> None:
    run = spec(brief=writer.id, **SHORT)
    with open_store(tmp_path / "calm.duckdb") as store:
        play_sample(store, run)
        calm = digests(store, tmp_path / "1")
    stop = threading.Event()
    with open_store(tmp_path / "a.duckdb") as store:
        assert play_sample(store, run, progress=lambda _: stop.set(), stop=stop).stopped
        play_sample(store, run)
        assert digests(store, tmp_path / "2") == calm


def test_the_manifest_names_who_wrote_the_briefs(writer: NewsWriter, tmp_path: Path) -> None:
    with open_store(tmp_path / "a.duckdb") as store:
        runs = {maker: spec(brief=maker, **SHORT) for maker in (writer.id, "digest", "none")}
        for run in runs.values():
            play(store, run)
        found = {m: build_manifest(store, run.run_id()) for m, run in runs.items()}
        n = query(store, "SELECT count(*) FROM briefs WHERE maker = ?", [writer.id])[0][0]
    assert "briefs" not in found["none"]  # its id is the one it had before there was news
    own, digest = found[writer.id]["briefs"], found["digest"]["briefs"]
    assert own["n_briefs"] == digest["n_briefs"] == n
    assert (own["knowledge_cutoffs"], digest["knowledge_cutoffs"]) == (
        {writer.id: None}, {"digest": None},
    )  # fmt: skip
    assert own["prompts_sha256"] != digest["prompts_sha256"]
    assert found[writer.id]["id"] != found["digest"]["id"]

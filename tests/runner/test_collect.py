"""Live news and figures: what sources said goes into the store, and a run reads it back from there only."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.audit.check import check_store
from arena.core.errors import SourceError
from arena.core.season import RunSpec, Season
from arena.core.types import Asset
from arena.market.filings.facts import Fact
from arena.market.filings.fields import known_from
from arena.market.news.items import RawItem, Trust
from arena.market.sources import open_source
from arena.market.sources.filings.edgar import EdgarFacts
from arena.market.sources.news.base import LimitedError, poll
from arena.runner import collect
from arena.runner.intelligence import gather, live_now
from arena.runner.replay import RunResult, Tick, fresh_spec, run_replay
from arena.store.store import Store, open_store
from tests.llm.paid import KEY

START = datetime(2025, 8, 9, 9, tzinfo=UTC)
ASSETS = open_source("sample").assets()
COIN, STOCK = ASSETS["QUBIXCOIN"], ASSETS["ZORVANE"]


class Ticking:
    """A clock that is a second later whenever it is asked."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def item(title: str, asset: Asset, **changes: Any) -> RawItem:
    at = changes.pop("at", datetime(2025, 8, 4, 12, tzinfo=UTC))
    known: dict[str, Any] = {
        "title": f"{asset.name} {title}", "url": f"https://wire.example/{title.replace(' ', '-')}",
        "text": f"{title} {title} by {asset.name}", "outlet": "Wire", "origin": "wire", "trust": "press",
        "ts_quality": "exact", "published_utc": at, "collected_at_utc": START, "asset": asset.id,
    }  # fmt: skip
    return RawItem(**{**known, **changes})


@dataclass
class Says:
    """A source that hands over `answer`, or raises it."""

    name: str
    answer: Sequence[RawItem] | Exception
    trust: Trust = "press"
    asked: int = 0

    def fetch(self, *_: object) -> list[RawItem]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return list(self.answer)


@dataclass
class Filed:
    """A source of figures: facts by asset, or what it raises for one."""

    answers: dict[str, tuple[Fact, ...] | Exception] = field(default_factory=dict)
    name: str = EdgarFacts.name
    asked: list[str] = field(default_factory=list)

    def facts(self, asset: Asset) -> tuple[Fact, ...]:
        self.asked.append(asset.id)
        answer = self.answers.get(asset.id, ())
        if isinstance(answer, Exception):
            raise answer
        return answer


def revenue(period: str, filed: date, value: float) -> Fact:
    return Fact(STOCK.id, "revenue", period, value, filed, known_from(filed), "10-Q", "edgar")


FACTS = (revenue("2025Q1", date(2025, 5, 2), 10.0), revenue("2025Q2", date(2025, 8, 5), 12.0))


@dataclass
class World:
    """What live sources say at the moment; `clock` stands behind the run."""

    news: list[Says] = field(default_factory=list)
    filed: Filed = field(default_factory=Filed)
    clock: Ticking = field(default_factory=Ticking)

    def spec(self, **changes: object) -> RunSpec:
        values = {
            "kind": "replay", "season": Season(), "source": "live", "assets": (COIN.id, STOCK.id),
            "agents": ("deepfund",), "models": ("offline/news",), "warmup": 0, "brief": "digest",
            "start": date(2025, 8, 1), "end": date(2025, 8, 7),
        }  # fmt: skip
        return RunSpec.model_validate({**values, **changes})

    def play(self, store: Store, spec: RunSpec, **more: Any) -> RunResult:
        read = gather(spec, "live", ASSETS, store, self.clock())
        prices = open_source("sample")
        return run_replay(
            spec, ("baseline",), prices, store, clock=self.clock, intelligence=read, **more
        )

    def begin(self, store: Store, spec: RunSpec, session: str) -> RunResult:
        """Play until the stock's `session` is decided."""
        stop = threading.Event()

        def watch(tick: Tick) -> None:
            if f"{STOCK.id} {session}" in tick.where:
                stop.set()

        return self.play(store, spec, stop=stop, progress=watch)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(
        [
            Says("wire", [item("opens a plant", STOCK), item("forks", COIN)]),
            Says("post", SourceError("post: answered 500.")),
            Says("board", LimitedError("board: asks to wait (429).", 60.0)),
        ],
        Filed({STOCK.id: FACTS}),
    )
    monkeypatch.setattr(collect, "live_news", lambda _assets: list(world.news))
    monkeypatch.setattr(collect, "open_filings", lambda _choice: world.filed)
    monkeypatch.setattr(collect, "poll", partial(poll, clock=world.clock))
    return world


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "live.duckdb") as opened:
        yield opened


def query(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.cursor() as cur:
        return cur.execute(sql).fetchall()


def contexts(store: Store, run: str) -> list[tuple[Any, ...]]:
    return query(
        store,
        "SELECT DISTINCT d.asset, d.session, d.market_hash, n_stories, fundamentals_sha256 "
        f"FROM decisions d JOIN contexts USING (market_hash) WHERE run = '{run}' ORDER BY ALL",
    )


def health(store: Store) -> dict[str, tuple[Any, ...]]:
    rows = query(store, "SELECT source, status, n_items, n_kept, error, retry_after_s FROM source_health")
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1:] for row in rows}


def test_what_sources_said_is_stored_and_read_back(world: World, store: Store) -> None:
    spec = world.spec()
    result = world.play(store, spec)
    assert result.n_failed == 0
    assert health(store) == {
        "wire": ("ok", 2, 2, None, None),
        "post": ("failed", 0, 0, "post: answered 500.", None),
        "board": ("limited", 0, 0, "board: asks to wait (429).", 60.0),
        EdgarFacts.name: ("ok", 2, 2, None, None),
    }
    assert query(store, "SELECT asset, title FROM articles ORDER BY asset") == [
        (COIN.id, f"{COIN.name} forks"), (STOCK.id, f"{STOCK.name} opens a plant")
    ]  # fmt: skip
    assert query(store, "SELECT period, value FROM fundamentals ORDER BY period") == [
        ("2025Q1", 10.0), ("2025Q2", 12.0)
    ]  # fmt: skip
    read = {(a, s): (n, sha) for a, s, _, n, sha in contexts(store, spec.run_id())}
    # Noon of Monday the 4th: before the stock market opens after Friday's session, and within the coin's day.
    assert {key for key, (n, _) in read.items() if n} == {
        (STOCK.id, date(2025, 8, 1)), (COIN.id, date(2025, 8, 4))
    }  # fmt: skip
    # Filed on 5 August, so known when that day is over: at the opening of the 6th, the slot after the 5th.
    figures = {day: sha for (a, day), (_, sha) in read.items() if a == STOCK.id}
    assert figures[date(2025, 8, 1)] == figures[date(2025, 8, 4)] != figures[date(2025, 8, 5)]
    assert all(sha is None for (a, _), (_, sha) in read.items() if a == COIN.id)
    assert [f for f in check_store(store).findings if f.level == "breach"] == []


def test_a_run_that_goes_on_asks_nobody_and_reads_what_it_began_with(
    world: World, store: Store
) -> None:
    spec = world.spec()
    first = world.begin(store, spec, "2025-08-04")
    assert first.stopped
    begun = contexts(store, spec.run_id())
    asked = [source.asked for source in world.news], len(world.filed.asked)
    # The sources say other things now, and another run collects them into the same store.
    world.news[0].answer = [item("opens a plant", STOCK, text="Another text."), item("burns", STOCK)]
    world.filed.answers[STOCK.id] = (*FACTS, revenue("2024Q4", date(2025, 2, 3), 9.0))
    other = fresh_spec(store, spec)
    world.play(store, other)
    now = [source.asked for source in world.news], len(world.filed.asked)
    done = world.play(store, spec)
    assert (done.stopped, done.n_resumed, done.n_failed) == (False, first.n_decisions, 0)
    assert ([source.asked for source in world.news], len(world.filed.asked)) == now
    assert now == ([n + 1 for n in asked[0]], asked[1] + 1)
    whole = contexts(store, spec.run_id())
    assert set(begun) < set(whole)
    # Read from the beginning once more, it is still the same run.
    assert world.play(store, spec).n_resumed == done.n_decisions
    later = {(a, s): (n, sha) for a, s, _, n, sha in contexts(store, other.run_id())}
    mine = {(a, s): (n, sha) for a, s, _, n, sha in whole}
    at = (STOCK.id, date(2025, 8, 1))
    assert (mine[at][0], later[at][0]) == (1, 2)
    assert mine[at][1] != later[at][1]


def test_figures_that_failed_stay_away_from_the_run_that_began_without_them(
    world: World, store: Store
) -> None:
    world.filed.answers[STOCK.id] = SourceError("edgar: refused (403).")
    spec = world.spec()
    assert world.begin(store, spec, "2025-08-05").stopped
    assert health(store)[EdgarFacts.name] == ("failed", 0, 0, "edgar: refused (403).", None)
    world.filed.answers[STOCK.id] = FACTS
    other = fresh_spec(store, spec)
    world.play(store, other)
    assert world.play(store, spec).stopped is False
    assert {sha for *_, sha in contexts(store, spec.run_id())} == {None}
    assert any(sha for *_, sha in contexts(store, other.run_id()))


def test_companies_are_asked_one_by_one_and_coins_not_at_all(world: World, store: Store) -> None:
    second = replace(STOCK, id="SECOND")
    world.filed.answers["SECOND"] = SourceError("edgar: SECOND is gone.")
    rows = collect.poll_figures((COIN, STOCK, second), START)
    assert world.filed.asked == [STOCK.id, "SECOND"]
    told = rows[0]
    assert (told.source, told.status, told.n_kept) == (EdgarFacts.name, "failed", 2)
    assert collect.poll_figures((COIN,), START) == []


def test_a_source_with_a_defect_is_failed_and_says_where(
    world: World, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    world.news.insert(0, Says("torn", TypeError(f"https://a.example/?token={KEY}")))
    world.filed.answers[STOCK.id] = KeyError(KEY)
    world.play(store, world.spec())
    found = health(store)
    assert found["wire"][0] == "ok"
    assert found["torn"][:3] == ("failed", 0, 0)
    assert "torn: TypeError at test_collect.py:" in found["torn"][3]
    assert "KeyError at test_collect.py:" in found[EdgarFacts.name][3]
    assert "TypeError at test_collect.py:" in caplog.text
    assert KEY not in f"{found}{caplog.text}"


def test_what_arrives_while_others_are_asked_is_kept(world: World, store: Store) -> None:
    """A page without a date counts from when it was seen, which is after the poll began."""

    class Searching(Says):
        def fetch(self, *_: object) -> list[RawItem]:
            seen = world.clock()
            late = item("sues", COIN, at=seen, origin="search")
            return [
                item("splits", COIN, at=None, ts_quality="collected", collected_at_utc=seen, origin="search"),
                replace(late, collected_at_utc=seen),
            ]  # fmt: skip

    world.news.append(Searching("search", ()))
    began = world.clock()
    world.play(store, world.spec())
    assert health(store)["search"][:3] == ("ok", 2, 2)
    known = query(store, "SELECT title FROM articles WHERE origin = 'search' AND known_at_utc > '2025-08-09'")
    assert len(known) == 2
    read, rows = live_now((COIN, STOCK), began)
    assert {row.source: row.n_kept for row in rows}["search"] == 2
    assert len(read.archives[COIN.id].stories) == 3

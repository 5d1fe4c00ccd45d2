"""What clocks and calendars do to a live season, and to the tick that looks at them."""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arena.market import calendars, closures
from arena.runner import ticking
from arena.runner.follow import Follower
from arena.runner.keeper import Keeper
from arena.runner.ticking import Ticker, by_name, start_clock
from tests.live.test_live import SEASON, Arena, day

TUESDAY = datetime(2026, 3, 3, 0, 10, tzinfo=UTC)


@pytest.fixture
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The process in another time zone, as a host has one."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def hours(frame) -> list[str]:  # type: ignore[no-untyped-def]
    return list(frame["as_of_utc"].dt.strftime("%d %H:%M"))


CHANGES = {
    # New York: second Sunday of March, first of November. London: last Sundays of March and October.
    "New York, spring": (
        datetime(2026, 3, 5, 15, tzinfo=UTC), [5, 6, 9, 10], ["06 14:00", "09 13:00", "10 13:00", "11 13:00"],
    ),
    "London, spring": (
        datetime(2026, 3, 26, 14, tzinfo=UTC), [26, 27, 30, 31], ["27 13:00", "30 13:00", "31 13:00", "01 13:00"],
    ),
    "London, autumn": (
        datetime(2026, 10, 22, 14, tzinfo=UTC), [22, 23, 26, 27], ["23 13:00", "26 13:00", "27 13:00", "28 13:00"],
    ),
    "New York, autumn": (
        datetime(2026, 10, 29, 14, tzinfo=UTC), [29, 30, 2, 3], ["30 13:00", "02 14:00", "03 14:00", "04 14:00"],
    ),
}  # fmt: skip


@pytest.mark.fault(15)
@pytest.mark.parametrize("host_zone", ["America/New_York", "Europe/London"], indirect=True)
@pytest.mark.parametrize("change", CHANGES)
def test_fault_15_one_decision_a_session_whatever_the_clocks_do(
    change: str, host_zone: str, tmp_path: Path
) -> None:
    """The arena is looked at every hour over six days, in the middle of which clocks change."""
    began, sessions, moments = CHANGES[change]
    arena = Arena(tmp_path / "live.duckdb", now=began)
    arena.run_until(began + timedelta(days=6), hours=1)
    stock, coin = arena.decisions("AAA"), arena.decisions("XXX")
    assert [day(stock, i).day for i in range(len(stock))] == sessions
    assert hours(stock) == moments
    # A coin's slot is five minutes past midnight UTC, every day, once.
    assert [day(coin, i) for i in range(len(coin))] == [
        began.date() + timedelta(days=i) for i in range(6)
    ]
    assert {h[3:] for h in hours(coin)} == {"00:05"}
    assert not stock["late"].any()
    assert not coin["late"].any()
    assert arena.breaches() == []
    arena.store.close()


@pytest.mark.fault(16)
def test_fault_16_half_day_holiday_and_mourning_in_a_live_season(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thanksgiving, the half day after it, and a day closed by the table of a host."""
    table = tmp_path / "closures.toml"
    table.write_text('[[closed]]\nday = 2026-12-02\nwhy = "a storm"\n', "utf-8")
    monkeypatch.setattr(closures, "FILE", table)
    calendars._built.clear()
    try:
        arena = Arena(tmp_path / "live.duckdb", now=datetime(2026, 11, 24, 15, tzinfo=UTC))
        arena.run_until(datetime(2026, 12, 4, 15, tzinfo=UTC), hours=1)
        stock = arena.decisions("AAA")
        # Not 26 November (holiday), not the weekend, not 2 December (closed).
        assert [day(stock, i).day for i in range(len(stock))] == [24, 25, 27, 30, 1, 3]
        # Each is due half an hour before the next open: Wednesday's on Friday, Tuesday's on Thursday.
        assert hours(stock) == ["25 14:00", "27 14:00", "30 14:00", "01 14:00", "03 14:00", "04 14:00"]
        assert set(stock["status"]) == {"ok"}
        # The half day ended at 13:00 in New York.
        assert calendars.close_utc("stock", date(2026, 11, 27)) == datetime(2026, 11, 27, 18, tzinfo=UTC)
        assert arena.breaches() == []
        arena.store.close()
    finally:
        monkeypatch.undo()
        calendars._built.clear()


@pytest.mark.fault(14)
def test_fault_14_after_three_days_of_sleep_contexts_hold_nothing_newer(tmp_path: Path) -> None:
    """What was slept through is decided late, on exactly what an arena that was awake had seen."""
    awake, asleep = Arena(tmp_path / "awake.duckdb"), Arena(tmp_path / "asleep.duckdb")
    asleep.run_until(datetime(2026, 3, 4, 1, tzinfo=UTC))
    awake.run_until(datetime(2026, 3, 7, 1, tzinfo=UTC))
    asleep.clock.now_utc = datetime(2026, 3, 7, 1, tzinfo=UTC)
    asleep.live.reconcile()
    for asset in ("AAA", "XXX"):
        one, other = awake.decisions(asset), asleep.decisions(asset)
        assert one["market_hash"].tolist() == other["market_hash"].tolist()
        assert one["action"].tolist() == other["action"].tolist()
        assert not one["late"].any()
    # 2 and 3 March in time; 4 and 5 slept through; 6 March was due 55 minutes ago, within its wait.
    assert asleep.decisions("XXX")["late"].tolist() == [False, False, True, True, False]
    assert awake.breaches() == asleep.breaches() == []
    for arena in (awake, asleep):
        arena.store.close()


@pytest.fixture
def ticker(tmp_path: Path) -> Iterator[Ticker]:
    arena = Arena(tmp_path / "live.duckdb", SEASON)
    made = Ticker(
        arena.store, Keeper(arena.store), Follower(arena.store), arena.live, None, threading.Event()
    )
    made.arena = arena  # type: ignore[attr-defined]
    yield made
    made.end(5.0)
    arena.store.close()


def until(good, what: str, timeout_s: float = 30.0) -> None:  # type: ignore[no-untyped-def]
    ends_at = time.monotonic() + timeout_s
    while not good():
        assert time.monotonic() < ends_at, what
        time.sleep(0.01)


@pytest.mark.fault(32)
def test_fault_32_a_tick_that_raises_is_on_record_and_the_next_one_goes_on(
    ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, real, calls = ticker.arena, ticker.live.reconcile, []  # type: ignore[attr-defined, union-attr]

    def twice_broken() -> list:
        calls.append(threading.get_ident())
        if len(calls) == 1:
            raise RuntimeError("out of the blue")
        if len(calls) == 2:
            time.sleep(0.5)  # ten times the interval
        return real()

    monkeypatch.setenv("ARENA_TICK_S", "0.05")
    arena.live.reconcile()
    monkeypatch.setattr(ticker.live, "reconcile", twice_broken)
    arena.clock.now_utc = TUESDAY
    scheduler = start_clock(arena.store, by_name(ticker))
    try:
        until(lambda: len(calls) >= 4, "ticks go on")
    finally:
        scheduler.shutdown(wait=True)
    assert ticker.failures == 1
    assert len(arena.decisions("XXX")) == 1
    rows = [r for r in audit(arena) if r["action"] != "backup"]
    assert [(r["action"], r["detail"]) for r in rows] == [
        ("rounds failed", '{"what":"RuntimeError: out of the blue"}')
    ]


@pytest.mark.fault(32)
def test_fault_32_what_breaks_a_whole_tick_is_on_record_too(
    ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_ticks = []

    def tick() -> None:
        n_ticks.append(1)
        if len(n_ticks) == 1:
            raise RuntimeError("nobody caught this")

    monkeypatch.setenv("ARENA_TICK_S", "0.05")
    scheduler = start_clock(ticker.store, tick)
    try:
        until(lambda: len(n_ticks) >= 3, "ticks go on")
    finally:
        scheduler.shutdown(wait=True)
    assert [(r["action"], r["detail"]) for r in audit(ticker.arena)] == [  # type: ignore[attr-defined]
        ("tick failed", '{"what":"nobody caught this"}')
    ]


def audit(arena: Arena) -> list[dict[str, str]]:
    with arena.store.cursor() as cur:
        cur.execute("SELECT action, detail_json AS detail FROM audit ORDER BY seq")
        return [dict(zip(("action", "detail"), row, strict=True)) for row in cur.fetchall()]


@pytest.mark.fault(12)
def test_fault_12_code_that_is_reloaded_during_a_round(
    ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round under way ends as it began, once; the next tick runs the new code; one scheduler."""
    arena, real = ticker.arena, ticker.live.reconcile  # type: ignore[attr-defined, union-attr]
    inside, go_on, new = threading.Event(), threading.Event(), threading.Event()

    def slowly() -> list:
        inside.set()
        go_on.wait(30)
        return real()

    monkeypatch.setenv("ARENA_TICK_S", "0.05")
    arena.live.reconcile()
    arena.clock.now_utc = TUESDAY
    monkeypatch.setattr(ticker.live, "reconcile", slowly)
    scheduler = start_clock(arena.store, by_name(ticker))
    try:
        assert inside.wait(30)
        importlib.reload(ticking)
        old_tick = ticking.Ticker.tick

        def tick(self: Ticker) -> None:
            new.set()
            old_tick(self)

        monkeypatch.setattr(ticking.Ticker, "tick", tick)
        assert not new.is_set()
        go_on.set()
        assert new.wait(30)
    finally:
        go_on.set()
        scheduler.shutdown(wait=True)
    assert arena.decisions("XXX")["status"].tolist() == ["ok"]
    assert ticker.failures == 0
    assert arena.breaches() == []
    logging.getLogger("apscheduler").setLevel(logging.NOTSET)

"""A live season under a clock that tests move: due, late, missed, gaps, restarts, quotes, revisions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from arena.audit.check import check_store
from arena.core.errors import StoreError
from arena.core.rows import WriteUnit
from arena.core.rows_host import QuoteRow
from arena.runner.live import Live
from arena.runner.live_run import MOST_LATE
from arena.runner.live_seasons import Section, live_seasons
from arena.store import live_reader, reader
from arena.store.store import Store, open_store
from tests.live.world import Hands, World

MONDAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""New York is five hours behind until 8 March, then four."""

SEASON = Section(
    label="Test", assets=("AAA", "XXX"), agents=("vanilla",), models=("offline/trend",),
    strategies=("baseline",), brief="none", warmup=0,
)  # fmt: skip


class Arena:
    """A live arena on a store of its own."""

    def __init__(self, path: Path, section: Section = SEASON, now: datetime = MONDAY) -> None:
        self.path, self.world, self.clock = path, World(), Hands(now)
        self.sections = {"test": section}
        self.store = open_store(path)
        self.live = self._open()

    def _open(self) -> Live:
        def seasons(store: Store, now: datetime) -> list:
            return live_seasons(store, "live", now.date(), self.sections)

        return Live(self.store, "live", self.clock, source=self.world, seasons=seasons)

    def restart(self) -> None:
        self.store.close()
        self.store = open_store(self.path)
        self.live = self._open()

    def run_until(self, end: datetime, **step: float) -> list:
        reports = []
        while self.clock() <= end:
            reports += self.live.reconcile()
            self.clock.forward(**(step or {"minutes": 30}))
        return reports

    @property
    def run(self) -> str:
        """The season that goes on."""
        (name,) = live_reader.going_on(self.store)
        return name

    def decisions(self, asset: str = "XXX"):
        frame = reader.decisions(self.store, self.run)
        return frame[frame["asset"] == asset].sort_values("session").reset_index(drop=True)

    def breaches(self) -> list[str]:
        return [f.text for f in check_store(self.store).findings if f.level == "breach"]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    made = Arena(tmp_path / "live.duckdb")
    yield made
    made.store.close()


def day(frame, at: int) -> date:
    return frame["session"].iloc[at].date()


def test_each_slot_is_decided_once_and_on_time(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 9, 14, 0, tzinfo=UTC))
    coin, stock = arena.decisions("XXX"), arena.decisions("AAA")
    # Coins: sessions 2 to 8 March, each due at 00:05 UTC of the next day.
    assert [day(coin, i).day for i in range(len(coin))] == [2, 3, 4, 5, 6, 7, 8]
    assert coin["as_of_utc"].dt.strftime("%d %H:%M").iloc[0] == "03 00:05"
    # Stocks: 2 to 6 March, due half an hour before the next open: 14:00 UTC in winter time,
    # 13:00 on Monday the 9th, for New York had put its clocks forward on Sunday.
    assert [day(stock, i).day for i in range(len(stock))] == [2, 3, 4, 5, 6]
    assert list(stock["as_of_utc"].dt.strftime("%d %H:%M"))[-2:] == ["06 14:00", "09 13:00"]
    assert not coin["late"].any()
    assert not stock["late"].any()
    assert set(coin["status"]) == set(stock["status"]) == {"ok"}
    assert arena.breaches() == []


def test_a_restart_changes_nothing(arena: Arena, tmp_path: Path) -> None:
    """Started anew after every round: the same decisions, bars, chains and balances as undisturbed."""
    other = Arena(tmp_path / "undisturbed.duckdb")
    end = datetime(2026, 3, 7, 0, 30, tzinfo=UTC)
    other.run_until(end)
    while arena.clock() <= end:
        if arena.live.reconcile():
            arena.restart()
        arena.clock.forward(minutes=30)
    same = ["decision", "action", "status", "late", "market_hash", "view_hash", "chain_hash"]
    for asset in ("XXX", "AAA"):
        assert len(arena.decisions(asset)) >= 4
        assert arena.decisions(asset)[same].equals(other.decisions(asset)[same])
    keep = ["account", "balance", "balance_gross", "position", "n_sessions", "n_decisions"]
    assert reader.summaries(arena.store)[keep].equals(reader.summaries(other.store)[keep])
    assert arena.breaches() == []
    other.store.close()


def test_what_was_slept_through_is_late_and_what_is_too_old_is_missed(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 4, 1, 0, tzinfo=UTC))
    arena.clock.now_utc = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
    arena.live.reconcile()
    coin = arena.decisions("XXX")
    # On time: 2 and 3 March. Slept through: 4 to 19 March, 16 slots, of which the newest ten are
    # decided; the six before are missed.
    assert len(coin) == 18
    assert coin["status"].tolist() == ["ok"] * 2 + ["missed"] * 6 + ["ok"] * MOST_LATE
    assert coin["late"].tolist() == [False] * 8 + [True] * MOST_LATE
    # They see the market as it was at their slot, not as it is now.
    assert coin["price"].iloc[-1] == arena.world.close("XXX", date(2026, 3, 19))
    assert (coin["as_of_utc"].dt.strftime("%H:%M") == "00:05").all()
    assert arena.breaches() == []


def test_a_bar_is_waited_for_and_then_given_up(arena: Arena) -> None:
    gone = date(2026, 3, 3)
    arena.world.late.add(("XXX", gone))
    arena.run_until(datetime(2026, 3, 4, 1, 30, tzinfo=UTC))
    assert [day(arena.decisions(), i).day for i in range(len(arena.decisions()))] == [2]
    # At 02:00 UTC the wait is over.
    arena.run_until(datetime(2026, 3, 4, 2, 30, tzinfo=UTC))
    coin = arena.decisions()
    assert coin["status"].tolist() == ["ok", "no_data"]
    assert coin["late"].tolist() == [False, False]
    # It comes after all: later contexts hold it, the gap stays a gap, and a restart agrees.
    arena.world.late.clear()
    arena.run_until(datetime(2026, 3, 6, 1, 0, tzinfo=UTC))
    arena.restart()
    arena.run_until(datetime(2026, 3, 7, 1, 0, tzinfo=UTC))
    assert arena.decisions()["status"].tolist() == ["ok", "no_data", "ok", "ok", "ok"]
    bars = reader.bars(arena.store, "XXX", 99)
    assert gone in set(bars["session"].dt.date)
    assert arena.breaches() == []


def test_a_bar_that_is_late_but_in_time_is_used(arena: Arena) -> None:
    arena.world.late.add(("XXX", date(2026, 3, 3)))
    arena.run_until(datetime(2026, 3, 4, 1, 0, tzinfo=UTC))
    arena.world.late.clear()
    arena.run_until(datetime(2026, 3, 4, 2, 0, tzinfo=UTC))
    coin = arena.decisions()
    assert coin["status"].tolist() == ["ok", "ok"]
    assert not coin["late"].any()


def test_a_source_that_is_down_takes_nothing_from_the_others(arena: Arena) -> None:
    arena.live.reconcile()
    arena.world.down.add("XXX")
    arena.run_until(datetime(2026, 3, 5, 15, 0, tzinfo=UTC))
    assert arena.decisions("AAA")["status"].tolist() == ["ok"] * 3
    assert arena.decisions("XXX")["status"].tolist() == ["no_data"] * 3
    # Asked every half hour by the tick at most, but never in a tight loop.
    asked = [a for a in arena.world.asked if a[0] == "XXX"]
    assert len(asked) < 3 * 8
    assert arena.breaches() == []


def test_a_revised_bar_leaves_what_was_settled(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 5, 1, 0, tzinfo=UTC))
    before = reader.summaries(arena.store, arena.run)[["account", "balance"]]
    arena.world.revised["XXX", date(2026, 3, 3)] = arena.world.close("XXX", date(2026, 3, 3)) * 1.05
    arena.run_until(datetime(2026, 3, 6, 1, 0, tzinfo=UTC))
    arena.restart()
    arena.run_until(datetime(2026, 3, 7, 1, 0, tzinfo=UTC))
    checks = reader.price_checks(arena.store, ["XXX"])
    assert checks.loc[checks["kind"] == "revision", "session"].dt.date.tolist() == [date(2026, 3, 3)]
    rows = reader.equity(arena.store, [before["account"].iloc[-1]])
    at = rows[rows["session"].dt.date == date(2026, 3, 3)]
    assert at["price"].iloc[0] == arena.world.close("XXX", date(2026, 3, 3))
    assert arena.breaches() == []


def test_a_coin_fills_at_the_first_quote_after_its_slot(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 3, 1, 0, tzinfo=UTC))
    slot = datetime(2026, 3, 3, 0, 5, tzinfo=UTC)
    price = arena.world.close("XXX", date(2026, 3, 2))
    for minute, factor in ((-3, 2.0), (2, 1.01), (7, 1.02)):
        at = slot + timedelta(minutes=minute)
        arena.store.write([WriteUnit(rows=(QuoteRow("XXX", at, "world", price * factor, at),))])
    arena.run_until(datetime(2026, 3, 5, 1, 0, tzinfo=UTC))
    account = f"{arena.run}:buy_hold@-:XXX:buy_hold"
    (fill,) = reader.fills(arena.store, account).to_dict("records")
    assert (fill["rule"], fill["price"]) == ("quote", price * 1.01)
    assert fill["filled_at_utc"].to_pydatetime() == slot + timedelta(minutes=2)
    # 100,000 less 10 bp at that price: (100000 * 0.999) / (price * 1.01) units.
    assert fill["units"] == pytest.approx(99_900 / (price * 1.01), rel=1e-12)
    assert arena.breaches() == []
    arena.restart()
    arena.run_until(datetime(2026, 3, 6, 1, 0, tzinfo=UTC))
    assert arena.breaches() == []


def test_a_changed_season_is_another_one(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 4, 1, 0, tzinfo=UTC))
    first = arena.run
    arena.sections["test"] = SEASON.model_copy(update={"agents": ("vanilla", "investor")})
    arena.run_until(datetime(2026, 3, 5, 1, 0, tzinfo=UTC))
    runs = reader.runs(arena.store).set_index("run")
    assert arena.run != first
    assert (runs.loc[first, "status"], runs.loc[arena.run, "status"]) == ("done", "running")
    assert runs.loc[arena.run, "start"].date() == date(2026, 3, 4)
    assert arena.breaches() == []


def test_a_clock_that_goes_back_stops_everything_until_it_is_right(arena: Arena) -> None:
    arena.run_until(datetime(2026, 3, 5, 1, 0, tzinfo=UTC))
    n = len(arena.decisions())
    for restarted in (False, True):
        if restarted:
            arena.restart()
        arena.clock.now_utc = datetime(2026, 3, 4, 23, 0, tzinfo=UTC)
        assert arena.live.reconcile() == []
        assert arena.live.paused is not None
        assert "clock" in arena.live.paused
    arena.clock.now_utc = datetime(2026, 3, 6, 0, 30, tzinfo=UTC)
    arena.live.reconcile()
    assert arena.live.paused is None
    assert len(arena.decisions()) == n + 1


def test_a_warm_up_ends_before_the_first_session_and_is_no_late_decision(tmp_path: Path) -> None:
    section = SEASON.model_copy(update={"agents": ("trade",), "warmup": 12})
    arena = Arena(tmp_path / "w.duckdb", section)
    arena.run_until(datetime(2026, 3, 6, 15, 0, tzinfo=UTC), hours=1)
    every = reader.decisions(arena.store, arena.run, phase=None)
    for asset in ("XXX", "AAA"):
        mine = every[every["asset"] == asset]
        assert (mine["phase"] == "warmup").sum() == 12
        assert mine.loc[mine["phase"] == "live", "session"].min().date() == date(2026, 3, 2)
    assert not every["late"].any()
    assert arena.breaches() == []
    arena.store.close()


def test_an_unknown_asset_is_a_trouble_that_is_told(arena: Arena) -> None:
    arena.sections["test"] = SEASON.model_copy(update={"assets": ("AAA", "ZZZ")})
    assert arena.live.reconcile() == []
    (said,) = arena.live.troubles.values()
    assert "`ZZZ`" in said


def test_a_snapshot_that_fails_hides_no_round(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: Store) -> None:
        raise StoreError("no room for it")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "snapshot", no_room)
        reports = arena.run_until(datetime(2026, 3, 3, 1, 0, tzinfo=UTC))
        assert [r.n_decisions > 0 for r in reports] == [True]
        assert arena.live.unshown == "no room for it"
    arena.run_until(datetime(2026, 3, 4, 1, 0, tzinfo=UTC))
    assert arena.live.unshown is None

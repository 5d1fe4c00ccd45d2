"""Splits and dividends in a live season: accounts by hand, contexts, restarts, and vendors that lag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.audit.rows import load
from arena.core.hashing import canonical_json
from arena.core.ids import TrackId
from arena.core.rows import ActionRow, BlobRow, WriteUnit
from arena.core.types import Bar
from arena.llm.offline.policy import Opinion, fill
from arena.llm.scripted import SCRIPTED, register_scripted
from arena.llm.types import ChatReply, ChatRequest, ModelKind
from arena.market.actions import lesson_bars, raw_bars
from arena.market.history import load_history
from arena.runner.behind import behind
from arena.runner.live_seasons import Section
from arena.runner.prices import price_rows
from arena.store import live_reader, reader
from arena.store.actions_reader import run_bars
from tests.live.test_live import MONDAY, Arena
from tests.live.world import ASSETS, World

MON, TUE, WED, THU, FRI = (date(2026, 3, d) for d in range(2, 7))
EX = WED


@dataclass
class ByDate:
    """BUY up to a session, SELL from it on; keeps the facts it was shown."""

    sell_from: date = THU
    id: str = "scripted/by_date"
    kind: ModelKind = "scripted"
    shown: dict[date, dict[str, Any]] = field(default_factory=dict)

    async def complete(self, req: ChatRequest) -> ChatReply:
        session = date.fromisoformat(str(req.facts["session"]))
        self.shown[session] = dict(req.facts)
        lean = -1.0 if session >= self.sell_from else 1.0
        text = canonical_json(fill(req.schema, Opinion(lean, 0.5, "by date"), req.facts))
        return ChatReply(text, self.id, 0, 0, 0.0, 0.0)


SEASON = Section(
    label="Actions", assets=("AAA",), agents=("vanilla",), models=("scripted/by_date",),
    strategies=("baseline", "pyramid_exit"), brief="none", warmup=0,
    season={"fee_bps": {"stock": 10, "etf": 10, "crypto": 10}},
)  # fmt: skip


@pytest.fixture
def model() -> Iterator[ByDate]:
    made = ByDate()
    name = register_scripted("by_date", made)
    yield made
    del SCRIPTED[name]


@pytest.fixture
def arena(tmp_path: Path, model: ByDate) -> Iterator[Arena]:
    made = split_arena(tmp_path / "live.duckdb")
    yield made
    made.store.close()


def split_arena(path: Path) -> Arena:
    """400 a share, then a 4:1 split on Wednesday: open 100, close 101; Thursday open 101, close 102."""
    made = Arena(path, SEASON)
    made.world.flat["AAA"] = 400.0
    made.world.given = {
        ("AAA", WED): (100.0, 101.0, 100.0, 101.0),
        ("AAA", THU): (101.0, 102.0, 101.0, 102.0),
        ("AAA", FRI): (102.0, 102.0, 102.0, 102.0),
    }
    made.world.happened = [("AAA", EX, "split", 4.0)]
    return made


def play(arena: Arena, upto: date, *, restart: bool = False) -> None:
    """Each slot up to that of session `upto`, at 14:05 UTC of the next trading day."""
    after = {MON: TUE, TUE: WED, WED: THU, THU: FRI, FRI: date(2026, 3, 9)}
    arena.live.reconcile()
    for session in (MON, TUE, WED, THU, FRI):
        due = datetime(*after[session].timetuple()[:3], 14, 5, tzinfo=UTC)
        if session <= upto and due > arena.clock():
            if restart:
                arena.restart()
            arena.clock.now_utc = due
            arena.live.reconcile()
            assert arena.live.troubles == {}


def account(arena: Arena, strategy: str) -> str:
    entry = ("buy_hold", "-") if strategy == "buy_hold" else ("vanilla", "scripted/by_date")
    return TrackId(arena.run, *entry, "AAA").account(strategy)


def rows(arena: Arena, strategy: str) -> dict[date, Any]:
    """Equity rows of an account by session; `buy_hold` is the benchmark."""
    frame = reader.equity(arena.store, [account(arena, strategy)])
    return {r.session.date(): r for r in frame.itertuples()}


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-12)


def revisions(arena: Arena) -> list[str]:
    checks = reader.price_checks(arena.store, ["AAA"])
    return [k for k in checks["kind"] if k in ("revision", "late_action")]


def test_a_split_is_no_loss_and_no_trade(arena: Arena) -> None:
    play(arena, THU)
    held, pyramid, own = (rows(arena, s) for s in ("buy_hold", "pyramid_exit", "baseline"))
    # Tuesday, open 400: (100,000 less 0.1 %) / 400 = 249.75 shares, 999 after the split.
    assert (held[TUE].units, held[TUE].balance) == (near(249.75), near(99_900))
    assert (held[WED].units, held[WED].balance) == (near(999), near(999 * 101))
    assert held[THU].balance == near(999 * 102)
    assert own[WED].balance == near(999 * 101)
    # Three tranches of 83.25 shares for 99,900 and a fee of 99.90, so 0.10 of cash; 333 each after it.
    assert (pyramid[WED].units, pyramid[WED].cash) == (near(999), pytest.approx(0.1))
    # The last order, SELL of Thursday, has not filled: Friday's open comes later.
    assert pyramid[THU].units == near(999)
    assert arena.breaches() == []
    play(arena, FRI)
    # One tranche sold at 102: 0.1 + 333 x 102 x 0.999 = 33,932.134 beside 666 shares.
    friday = rows(arena, "pyramid_exit")[FRI]
    assert (friday.units, friday.cash) == (near(666), near(33_932.134))
    assert friday.balance == near(33_932.134 + 666 * 102)
    fills = reader.fills(arena.store, account(arena, "buy_hold"))
    assert fills["units"].tolist() == [near(249.75)]
    # Bought before the split and sold after it is one round trip: -99,900 - 100 + 101,898 x 0.999 > 0.
    (told,) = reader.summaries(arena.store, accounts=[account(arena, "baseline")])["metrics_json"]
    assert json.loads(told)["win_rate_trades"]["value"] == 1.0
    assert arena.breaches() == []
    assert revisions(arena) == []


def test_a_split_that_was_slept_through_is_the_same(arena: Arena) -> None:
    arena.live.reconcile()
    arena.clock.now_utc = datetime(2026, 3, 6, 14, 5, tzinfo=UTC)
    arena.live.reconcile()
    made = arena.decisions("AAA")
    assert made["late"].tolist() == [True, True, True, False]
    assert made["price"].tolist() == [400.0, 400.0, 101.0, 102.0]
    assert rows(arena, "buy_hold")[THU].balance == near(999 * 102)
    assert arena.breaches() == []


def test_check_sees_a_split_that_was_altered(arena: Arena) -> None:
    play(arena, WED)
    assert arena.breaches() == []
    for sql in ("UPDATE actions SET value = 5", "DELETE FROM actions"):
        arena.store._writer().submit(lambda cur, sql=sql: cur.execute(sql)).result()  # type: ignore[misc]
        said = " ".join(arena.breaches())
        assert "market contexts of AAA no longer follow" in said
        assert "decisions and bars give" in said
        assert "fills of" in said


def test_lessons_and_vendors_bars() -> None:
    def bar(day: date, close: float) -> Bar:
        return Bar(day, close, close, close, close, 100.0, MONDAY)

    (split,) = World(happened=[("AAA", EX, "split", 4.0)]).actions(ASSETS["AAA"], MON, FRI)
    # 101 after the split is 404 in Tuesday's shares: a lesson of +1 %, not of -75 %.
    after = lesson_bars([bar(WED, 101.0), bar(THU, 102.0)], [split], TUE)
    assert [b.close for b in after] == [404.0, 408.0]
    assert [b.close for b in lesson_bars([bar(THU, 102.0)], [split], WED)] == [102.0]
    # No bar follows the split yet: what was kept before tells whether the vendor has divided.
    whole, divided = [bar(MON, 396.0), bar(TUE, 400.0)], [bar(MON, 99.0), bar(TUE, 100.0)]
    for seen in (whole, divided):
        assert [b.close for b in raw_bars(seen, [split], {MON: 396.0})] == [396.0, 400.0]


def test_what_is_no_longer_traded_stops_being_due(arena: Arena) -> None:
    play(arena, TUE)
    gone = replace(ASSETS["AAA"], symbols={"yahoo": f"AAA until {WED}"})
    arena.world.assets = lambda: {"AAA": gone}  # type: ignore[method-assign]
    play(arena, FRI, restart=True)
    assert arena.decisions("AAA")["session"].dt.date.tolist() == [MON, TUE, WED]
    run = reader.run(arena.store, arena.run)
    assert (run["status"], run["note"]) == ("running", f"AAA is not traded after {WED}")
    assert arena.breaches() == []


def test_agents_see_the_shares_of_their_slot(arena: Arena, model: ByDate) -> None:
    play(arena, THU)
    # Tuesday's slot is the morning of the split: still 400. Wednesday's: 100 before, 101 now.
    assert model.shown[TUE]["return_5_pct"] == 0.0
    assert model.shown[WED]["return_5_pct"] == pytest.approx(1.0)
    assert model.shown[WED]["close"] == 101.0
    stored = reader.bars(arena.store, "AAA", 99).set_index("session")["close"]
    assert stored[[str(TUE), str(WED)]].tolist() == [400.0, 101.0]
    shown = run_bars(arena.store, live_reader.run_as_settled(arena.store, arena.run), "AAA")
    assert shown["close"].tolist()[-4:] == [100.0, 100.0, 101.0, 102.0]
    assert shown["volume"].tolist()[-4:] == [4000.0, 4000.0, 1000.0, 1000.0]
    made = arena.decisions("AAA")
    sha256 = made.loc[made["session"].dt.date == WED, "view_hash"].iloc[0]
    (blob,) = load(arena.store, BlobRow, "WHERE sha256 = ?", [sha256])
    view = json.loads(blob.text)
    # Bought at 400, in today's shares at 100; Tuesday's BUY was followed by +1 %, Monday's by nothing.
    assert view["entry_price"] == 100.0
    assert [price for _, _, price, _ in view["past"]] == [100.0, 100.0]
    assert [after for *_, after in view["past"]] == [0.0, pytest.approx(0.01)]
    told = [behind(arena.store, d) for d in made["decision"]]
    returns = [found["next_return_frac"] for found in told if found]
    assert returns[:3] == [0.0, pytest.approx(0.01), pytest.approx(1 / 101)]


def test_a_short_pays_the_dividend(arena: Arena, model: ByDate) -> None:
    model.sell_from = MON
    arena.world.happened = [("AAA", EX, "dividend", 2.0)]
    arena.world.given = {("AAA", d): (398.0, 398.0, 398.0, 398.0) for d in (WED, THU, FRI)}
    play(arena, WED)
    short, held = rows(arena, "baseline")[WED], rows(arena, "buy_hold")[WED]
    # Short 249.75 shares at 400 with 2 x 99,900 of cash; 249.75 x 2 = 499.50 go out.
    assert (short.units, short.cash) == (near(-249.75), near(199_800 - 499.5))
    # 199,300.50 - 249.75 x 398 = 99,900, and 249.75 x (398 + 2) = 99,900 for who is long.
    assert (short.balance, held.balance) == (near(99_900), near(99_900))
    assert arena.breaches() == []


def test_a_restart_over_splits_changes_nothing(tmp_path: Path, model: ByDate) -> None:
    """On a moving market with 3:1, which no float divides and multiplies back exactly, and a dividend."""
    arenas = [Arena(tmp_path / f"{n}.duckdb", SEASON) for n in "ab"]
    for arena, restart in zip(arenas, (False, True), strict=True):
        raw = {d: arena.world.close("AAA", d) / 3 for d in (WED, THU, FRI)}
        arena.world.given = {("AAA", d): (p, p * 1.01, p * 0.99, p) for d, p in raw.items()}
        arena.world.happened = [("AAA", EX, "split", 3.0), ("AAA", THU, "dividend", 0.5)]
        play(arena, FRI, restart=restart)
        assert arena.breaches() == []
        assert revisions(arena) == []
    one, other = arenas
    same = ["decision", "action", "status", "market_hash", "view_hash", "chain_hash"]
    assert one.decisions("AAA")[same].equals(other.decisions("AAA")[same])
    assert len(one.decisions("AAA")) == 5
    keep = ["account", "balance", "balance_gross", "position", "metrics_json"]
    assert reader.summaries(one.store)[keep].equals(reader.summaries(other.store)[keep])
    for arena in arenas:
        arena.store.close()


def test_a_split_whose_day_was_a_gap_counts_at_the_next_price(arena: Arena) -> None:
    """The jump is held back, so that its session is a gap; the split is told a day later."""
    arena.world.late.add(("AAA", EX))
    arena.world.untold.add(EX)
    play(arena, WED)
    arena.clock.now_utc = datetime(2026, 3, 5, 14, 45, tzinfo=UTC)
    arena.live.reconcile()
    assert arena.decisions("AAA")["status"].tolist() == ["ok", "ok", "no_data"]
    arena.world.late.clear()
    arena.world.untold.clear()
    play(arena, THU)
    held = rows(arena, "buy_hold")
    assert (held[WED].units, held[WED].price, held[WED].balance) == (
        near(249.75), 400.0, near(99_900),
    )  # fmt: skip
    assert (held[THU].units, held[THU].balance) == (near(999), near(999 * 102))
    # Its bar is there now, and stays out of the accounts.
    assert EX in set(reader.bars(arena.store, "AAA", 99)["session"].dt.date)
    assert arena.breaches() == []
    play(arena, FRI, restart=True)
    assert rows(arena, "buy_hold")[FRI].balance == near(999 * 102)
    assert arena.decisions("AAA")["status"].tolist() == ["ok", "ok", "no_data", "ok", "ok"]
    assert revisions(arena) == []
    assert arena.breaches() == []


def test_what_is_told_after_its_session_changes_no_account(arena: Arena) -> None:
    arena.world.happened = [("AAA", EX, "dividend", 2.0)]
    arena.world.given = {}
    arena.world.untold.add(EX)
    play(arena, WED)
    arena.world.untold.clear()
    play(arena, FRI, restart=True)
    assert rows(arena, "buy_hold")[FRI].balance == near(99_900)
    assert revisions(arena) == ["late_action"]
    assert [a.value for a in load(arena.store, ActionRow, "")] == [2.0]
    assert arena.breaches() == []


@pytest.mark.parametrize("behind", [True, False])
def test_the_morning_of_a_split_vendors_may_have_divided_or_not(arena: Arena, behind: bool) -> None:
    """Tuesday's slot is on Wednesday morning: the split is told, and no price follows it yet."""
    play(arena, MON)
    arena.world.behind = {EX} if behind else set()
    play(arena, TUE)
    stored = reader.bars(arena.store, "AAA", 99).set_index("session")["close"]
    # Tuesday's own bar is one of those that are divided or not; Monday's tells which.
    assert (stored[str(MON)], stored[str(TUE)]) == (400.0, 400.0)
    arena.world.behind.clear()
    play(arena, THU)
    assert rows(arena, "buy_hold")[WED].balance == near(999 * 101)
    assert revisions(arena) == []
    assert arena.breaches() == []


@pytest.mark.parametrize("last", [TUE, WED])
def test_a_replays_divided_bars_do_not_enter_a_live_season(
    arena: Arena, model: ByDate, last: date
) -> None:
    """On the evening of the split, before the season has been told of it, and a day later."""
    arena.world.untold = {EX} if last == TUE else set()
    play(arena, last)
    arena.world.untold.clear()
    now = datetime(2026, 3, last.day + 2, 13, 0, tzinfo=UTC)
    seen = load_history(arena.world, ASSETS["AAA"], date(2025, 1, 2), last + timedelta(1), now)
    assert seen.bar(TUE).close == 100.0  # type: ignore[union-attr]
    _, told = price_rows(arena.store, [seen], now)
    arena.store.write([WriteUnit(rows=tuple(told))])
    play(arena, THU)
    # 100 a share for four sessions, then 102: a second division would give 25.
    assert model.shown[THU]["return_5_pct"] == pytest.approx(2.0)
    assert rows(arena, "buy_hold")[THU].balance == near(999 * 102)
    arena.restart()
    assert arena.breaches() == []


def test_another_venue_is_no_revision(arena: Arena) -> None:
    play(arena, TUE)
    arena.world.venue = "elsewhere"
    arena.world.happened, arena.world.given = [], {}
    arena.world.flat["AAA"] = 404.0
    play(arena, WED)
    stored = reader.bars(arena.store, "AAA", 99).set_index("session")
    assert stored.loc[str(TUE), ["close", "source"]].tolist() == [400.0, "world"]
    assert stored.loc[str(WED), ["close", "source"]].tolist() == [404.0, "elsewhere"]
    assert revisions(arena) == []
    assert arena.breaches() == []

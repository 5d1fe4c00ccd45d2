"""kill -9 around an answer and around a commit, in a process of its own; and eight who decide at once."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest

from arena.core.hashing import account_key
from arena.runner.live import Live
from arena.runner.live_seasons import live_seasons
from arena.store import reader
from arena.store.store import open_store
from tests import forked
from tests.live.made_seasons import KEY, MODELS, MONDAY, RULES, cycled, days, decided, paid, rules
from tests.live.world import Hands, World
from tests.llm.mock_provider import MockProvider, Say

TUESDAY = datetime(2026, 3, 3, 0, 10, tzinfo=UTC)
"""Monday's session of the coins is due since 00:05."""

USAGE = (1_000, 100)  # 1,000 x 10 + 100 x 50 millionths of a dollar: 0.015 a call

Once = Callable[..., int]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "live.duckdb"


@pytest.fixture
def mock() -> Iterator[MockProvider]:
    with MockProvider(Say(usage=USAGE)) as provider:
        yield provider


@pytest.fixture
def once(store: Path, tmp_path: Path, mock: MockProvider) -> Once:
    """`round --once` at a moment, in a process of its own; its exit code."""
    roster = tmp_path / "models.toml"
    roster.write_text(MODELS.format(url=mock.url, more=""))

    def run(at: datetime, before: Callable[[], None] = rules, **env: str) -> int:
        if before is paid:
            env |= {"ARENA_MODELS": str(roster), "MOCK_API_KEY": KEY}
        return _start(store, tmp_path, at, before, **env).wait()

    return run


def _start(
    store: Path, folder: Path, at: datetime, before: Callable[[], None], **env: str
) -> forked.Command:
    clock = folder / "clock"
    clock.write_text(at.isoformat())
    return forked.start(
        "round", "--once", "--data", "live", "--store", store, before=before,
        out=folder / "out", err=folder / "err",
        env={**os.environ, "ARENA_CLOCK_FILE": str(clock), **env},
    )  # fmt: skip


@pytest.mark.fault(1)
def test_fault_01_killed_before_a_model_is_asked(once: Once, store: Path) -> None:
    assert once(MONDAY) == 0
    assert once(TUESDAY, ARENA_CRASH_AT="asking") == -9
    assert decided(store) == []
    for _ in range(2):
        assert once(TUESDAY) == 0
        assert decided(store) == [
            (f"{agent}@offline%2Ftrend:XXX", "2026-03-02") for agent in ("investor", "vanilla")
        ]


@pytest.mark.fault(2)
def test_fault_02_killed_between_answer_and_commit_pays_once(
    once: Once, store: Path, mock: MockProvider
) -> None:
    assert once(MONDAY, paid) == 0
    assert once(TUESDAY, paid, ARENA_CRASH_AT="answered") == -9
    assert decided(store) == []
    paid_for = len(mock.asked)
    # Both coins are asked about at once; the first answer ends the process.
    assert paid_for in (1, 2)
    with duckdb.connect(str(store)) as con:
        (n_kept,) = con.execute("SELECT count(*) FROM attempts WHERE answer IS NOT NULL").fetchall()[0]
    assert n_kept >= 1
    assert once(TUESDAY, paid) == 0
    assert decided(store) == [
        (f"vanilla@mock%2Fpriced:{coin}", "2026-03-02") for coin in ("XXX", "YYY")
    ]
    # What was answered is taken from the journal; only what was in flight is asked again.
    assert len(mock.asked) == paid_for + (2 - n_kept)
    with duckdb.connect(str(store)) as con:
        assert con.execute("SELECT round(sum(cost_usd), 6) FROM decisions").fetchall() == [(0.03,)]


@pytest.mark.fault(3)
def test_fault_03_no_decision_without_its_postings(once: Once, store: Path, tmp_path: Path) -> None:
    """Killed at random instants while a fortnight is caught up: what is there is whole, each time."""
    assert once(MONDAY, cycled) == 0
    end, log = datetime(2026, 3, 13, 0, 10, tzinfo=UTC), tmp_path / "calls.log"
    rng, seen = random.Random(3), [0]
    env = {"ARENA_CALL_LOG": str(log), "ARENA_SCRIPTED_DELAY_MS": "15"}
    for goal in (4, 12, 20, 28):
        run = _start(store, tmp_path, end, cycled, **env)
        while run.poll() is None and not (log.exists() and log.read_text().count("\n") >= goal):
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.03))
        run.kill()
        run.wait()
        found = decided(store)
        seen.append(len(found))
        assert {(f"{track}:baseline", day) for track, day in found} <= accounts_and_days(store)
    assert seen == sorted(seen)
    assert sum(0 < n < 38 for n in seen) >= 3, seen
    assert once(end, cycled) == 0
    found = decided(store)
    # 2 to 12 March: eleven days of the coin; 2 to 11 March: eight sessions of the stock, the ninth
    # of which is due at 13:00 UTC only. Two agents each.
    assert [s for t, s in found if t == "vanilla@scripted%2Fcycle:XXX"] == days(date(2026, 3, 2), 11)
    assert len(found) == 2 * (11 + 8)


def accounts_and_days(path: Path) -> set[tuple[str, str]]:
    """Every account (within its run) and day with a row of equity."""
    with open_store(path, read=True) as store:
        frame = reader.decisions(store, str(reader.runs(store)["run"].iloc[0]))
        with store.cursor() as cur:
            cur.execute("SELECT account_key, session FROM equity")
            marked = set(cur.fetchall())
    found = set()
    for track, session, run in zip(frame["track"], frame["session"], frame["run"], strict=True):
        account = f"{track}:baseline"
        if (account_key(account), session.date()) in marked:
            found.add((account.removeprefix(f"{run}:"), session.date().isoformat()))
    return found


@pytest.mark.fault(31)
def test_fault_31_eight_who_decide_the_same_at_once(store: Path) -> None:
    """Eight arenas on one store, let go at one moment: each slot is decided once, and all agree."""
    clock, gate = Hands(MONDAY), threading.Barrier(8)
    n_reports: list[int] = []
    with open_store(store) as opened:
        lives = [
            Live(
                opened, "live", clock, source=World(),
                seasons=lambda s, now: live_seasons(s, "live", now.date(), {"small": RULES}),
            ) for _ in range(8)
        ]  # fmt: skip
        for live in lives:
            live.reconcile()
        clock.now_utc = datetime(2026, 3, 5, 1, 0, tzinfo=UTC)

        def look(live: Live) -> None:
            gate.wait()
            n_reports.append(len(live.reconcile()))

        threads = [threading.Thread(target=look, args=(live,)) for live in lives]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [live.troubles for live in lives] == [{}] * 8
        assert len(n_reports) == 8
        # All eight remember the same chain, and it is the stored one.
        plans = [live.runs[run].plan for live in lives for run in live.runs]
        assert len({tuple(t.chain for t in plan.all_tracks) for plan in plans}) == 1
    # 2 to 4 March of the coin, 2 and 3 March of the stock; two agents.
    assert len(decided(store)) == 2 * (3 + 2)

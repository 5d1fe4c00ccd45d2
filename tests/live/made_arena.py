"""A store as a host's is after some weeks: what every page has to show of a live arena, on made-up prices.

A season that was ended by a change, and one that goes on: with slots slept through (late and missed), an
asset whose source was silent (no_data) and a provider that was down; quotes of some minutes ago; a voided
replay; an ad-hoc run, and jobs in every state. The present moment is `NOW`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from arena.core.rows import WriteUnit
from arena.core.rows_host import JobRow, QuoteRow
from arena.core.season import RunSpec, Season
from arena.llm.scripted import SCRIPTED
from arena.runner.live import Live
from arena.runner.live_seasons import Section, live_seasons
from arena.runner.replay import run_replay
from arena.runner.voiding import void_run
from arena.store import reader
from arena.store.store import Store, open_store
from tests.live.node import SHAKY, Faults, Shaky
from tests.live.world import Hands, World

BEGAN = datetime(2026, 2, 2, 12, 0, tzinfo=UTC)
CHANGED = datetime(2026, 2, 9, 12, 0, tzinfo=UTC)
ASLEEP = (datetime(2026, 2, 20, 12, 0, tzinfo=UTC), datetime(2026, 3, 7, 12, 0, tzinfo=UTC))
SILENT = (datetime(2026, 3, 12, 0, 0, tzinfo=UTC), datetime(2026, 3, 14, 12, 0, tzinfo=UTC))
NOW = datetime(2026, 3, 20, 15, 30, tzinfo=UTC)
LAST_SLOT = datetime(2026, 3, 20, 0, 5, tzinfo=UTC)
"""The last one of a coin before NOW; the provider is down at it."""

SEASON = Section(
    label="Made", assets=("AAA", "BBB", "XXX", "YYY"), agents=("vanilla", "investor"),
    models=("offline/trend", "offline/contrarian", SHAKY), strategies=("baseline", "pyramid_exit"),
    brief="none", warmup=0,
)  # fmt: skip


ONE_COIN = Section(
    label="Small", assets=("XXX",), agents=("vanilla",), models=("offline/contrarian", SHAKY),
    strategies=("baseline",), brief="none", warmup=0,
)  # fmt: skip


def build(path: Path) -> Path:
    """All of it, for the eye; with files for a fault and a clock beside the store."""
    with _shaky(path) as faults, open_store(path) as store:
        _seasons(store, faults)
        _replays(store)
        _jobs(store)
        store.snapshot()
    return path


def small(path: Path) -> Path:
    """One coin, a rule and a model that fails last: two slots on time, four missed, ten late, and two on
    time again, at the second of which the rule, flat, buys; a quote at the last close for its order to fill
    at, another 1.5 % lower; then a replay."""
    with _shaky(path) as faults, open_store(path) as store:
        world, clock = World(), Hands(datetime(2026, 3, 2, 12, 0, tzinfo=UTC))
        live = _live(store, clock, world, {"small": ONE_COIN})
        for day in (2, 3, 4, 19, 20):
            clock.now_utc = datetime(2026, 3, day, 0, 30, tzinfo=UTC)
            faults.write_text(json.dumps(["model"] if day == 20 else []), "utf-8")
            live.reconcile()
        close, seen = world.close("XXX", date(2026, 3, 19)), NOW - timedelta(minutes=3)
        filled = LAST_SLOT + timedelta(minutes=1)
        quotes = (
            QuoteRow("XXX", filled, "world", close, filled),
            QuoteRow("XXX", seen, "world", 0.985 * close, seen),
        )
        store.write([WriteUnit(rows=quotes)])
        spec = RunSpec(
            kind="replay", season=Season(), source="live", assets=("XXX",), agents=("vanilla",),
            models=("offline/trend",), start=date(2026, 1, 5), end=date(2026, 1, 8),
        )  # fmt: skip
        run_replay(spec, ("baseline",), world, store)
    return path


@contextmanager
def _shaky(path: Path) -> Iterator[Path]:
    """The model whose provider can be down, registered; and a clock that shows NOW."""
    faults = path.with_suffix(".faults")
    faults.write_text("[]", "utf-8")
    before = SCRIPTED.get(SHAKY)
    SCRIPTED[SHAKY] = Shaky(Faults(faults))
    try:
        yield faults
    finally:
        if before is None:
            del SCRIPTED[SHAKY]
        else:
            SCRIPTED[SHAKY] = before
    clock_of(path).write_text(NOW.isoformat(), "utf-8")


def _live(store: Store, clock: Hands, world: World, listed: dict[str, Section]) -> Live:
    return Live(
        store, "live", clock, source=world,
        seasons=lambda s, now: live_seasons(s, "live", now.date(), listed),
    )  # fmt: skip


def clock_of(path: Path) -> Path:
    """The file for ARENA_CLOCK_FILE of an app that shows this store."""
    return path.with_suffix(".clock")


def _seasons(store: Store, faults: Path) -> None:
    world, clock = World(), Hands(BEGAN)
    listed = {"made": SEASON.model_copy(update={"assets": ("AAA", "XXX")})}
    live = _live(store, clock, world, listed)
    while clock() <= NOW:
        if clock() >= CHANGED:
            listed["made"] = SEASON
        world.down = {"YYY"} if SILENT[0] <= clock() < SILENT[1] else set()
        quiet = clock().date() in (date(2026, 3, 16), date(2026, 3, 20))
        faults.write_text(json.dumps(["model"] if quiet else []), "utf-8")
        live.reconcile()
        clock.forward(hours=1)
        if ASLEEP[0] <= clock() < ASLEEP[1]:
            clock.now_utc = ASLEEP[1]
    quotes = [
        QuoteRow(asset, NOW - timedelta(minutes=m), "world", at, NOW - timedelta(minutes=m))
        for asset, move, minutes in (("AAA", 1.012, (120, 4)), ("XXX", 0.985, (920, 3)), ("YYY", 1.02, (920, 3)))
        for m in minutes
        for at in (move * world.close(asset, date(2026, 3, 19)),)
    ]  # fmt: skip
    store.write([WriteUnit(rows=tuple(quotes))])


def _replays(store: Store) -> None:
    for start, agents in ((date(2025, 12, 1), ("vanilla",)), (date(2026, 1, 5), ("investor",))):
        spec = RunSpec(
            kind="replay", season=Season(), source="live", assets=("XXX", "YYY"), agents=agents,
            models=("offline/trend",), start=start, end=start + timedelta(days=20),
        )  # fmt: skip
        run_replay(spec, ("baseline",), World(), store)
    voided, adhoc = sorted(
        (r for r in reader.runs(store).to_dict("records") if r["kind"] == "replay"),
        key=lambda r: r["start"],
    )
    void_run(store, voided["run"], "A revision of the prices of December came too late.")
    store.update_run(adhoc["run"], workbench=True, expires_at_utc=NOW + timedelta(days=5))


def _jobs(store: Store) -> None:
    request = {
        "agents": ["investor"], "models": ["offline/trend"], "assets": ["XXX", "YYY"],
        "strategies": ["baseline"], "start": "2026-01-05", "end": "2026-01-25",
    }  # fmt: skip
    adhoc = next(r["run"] for r in reader.runs(store).to_dict("records") if r["workbench"])
    states = (
        ("done", 42, adhoc, None), ("failed", 0, None, "No price source answered about XXX."),
        ("stopped", 12, None, None), ("running", 30, None, None), ("queued", 0, None, None),
    )  # fmt: skip
    rows = []
    for i, (status, done, run, error) in enumerate(states):
        made = NOW - timedelta(hours=5 - i)
        rows.append(
            JobRow(
                f"job{i}", "replay", "Investor, trend, 2 assets", json.dumps(request), "visitor", "",
                status, "YYY 20 Jan" if done else "", done, 42, 0.0, None,
                12.0 if status == "running" else None, run, error, False, made,
                None if status == "queued" else made + timedelta(seconds=5),
                None if status in ("queued", "running") else made + timedelta(minutes=1),
            )
        )  # fmt: skip
    store.write([WriteUnit(rows=tuple(rows))])


if __name__ == "__main__":
    build(Path(sys.argv[1]))

"""A host's year in minutes: a fake clock, kills, outages and sleeps; then everything is counted.

`make soak` runs a year; the test suite runs a month. The arena is a process of its own, so that a
kill is a kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from pathlib import Path

from arena.audit.check import check_store
from arena.market.calendars import slot, slots
from arena.store import reader
from arena.store.store import open_store
from tests import forked as fork
from tests.live.node import SEASON, SHAKY, node
from tests.live.world import ASSETS

ROOT = Path(__file__).resolve().parents[2]
LOOKS = ("00:06", "01:00", "02:05", "13:05", "14:05", "14:35")
"""Moments of a day (UTC) at which the clock stops: soon after every slot, and after its wait."""


@dataclass(frozen=True)
class Plan:
    """`kills`, `outages` of a source or of the model (half each, a day long), and `sleeps` of three days."""

    start: date
    days: int
    kills: int
    outages: int
    sleeps: int
    seed: int = 1


@dataclass
class Result:
    n_decisions: int = 0
    n_late: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    n_kills: int = 0
    faults: list[str] = field(default_factory=list)
    took_s: float = 0.0
    peak_mb: float = 0.0
    first_mb: float = 0.0


class Node:
    """The arena's process, started again after a kill. `forked`: with imports made beforehand, which
    takes a start's seconds away and makes its memory another one."""

    def __init__(self, folder: Path, *, forked: bool) -> None:
        self.store, self.clock = folder / "live.duckdb", folder / "clock"
        self.down, self.ack = folder / "faults.json", folder / "ack"
        self.log = (folder / "log").open("a")
        self.forked, self.n_starts = forked, 0
        self.process: subprocess.Popen[bytes] | fork.Command | None = None

    def start(self) -> None:
        env = {
            **os.environ, "ARENA_CLOCK_FILE": str(self.clock), "ARENA_NETWORK": "off",
            "ARENA_BACKUPS_KEPT": "0,0", "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        words = [str(self.store), str(self.down), str(self.ack)]
        if self.forked:
            self.n_starts += 1
            log = f"{self.log.name}{self.n_starts}"
            self.process = fork.start(*words, env=env, out=log, err=log, main=node)
            return
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.node", *words],
            env=env, cwd=ROOT, stdout=self.log, stderr=self.log,
        )  # fmt: skip

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.log.close()

    def set(self, now_utc: datetime) -> None:
        part = self.clock.with_suffix(".part")
        part.write_text(now_utc.isoformat(), "utf-8")
        part.replace(self.clock)

    def wait(self, now_utc: datetime, timeout_s: float = 120.0) -> None:
        ends_at = time.monotonic() + timeout_s
        while not (self.ack.exists() and self.ack.read_text("utf-8") == now_utc.isoformat()):
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > ends_at:
                raise AssertionError(f"the arena ended or hangs at {now_utc}: {self.log.name}")
            time.sleep(0.001)

    def rss_mb(self) -> float:
        assert self.process is not None
        text = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


def soak(plan: Plan, folder: Path, *, forked: bool = False) -> Result:
    """Play a plan and check what is left; `Result.faults` is what is wrong."""
    rng = random.Random(plan.seed)
    moments = [
        datetime.combine(plan.start + timedelta(d), clock_time.fromisoformat(look), UTC)
        for d in range(plan.days) for look in LOOKS
    ]  # fmt: skip
    days = sorted(rng.sample(range(3, plan.days - 6), plan.outages + plan.sleeps))
    sleeping = {d for i, d in enumerate(days) if i % (len(days) // max(plan.sleeps, 1) or 1) == 0}
    sleeping = set(sorted(sleeping)[: plan.sleeps])
    outages = {d: rng.choice(["AAA", "XXX"]) if i % 2 else "model"
               for i, d in enumerate(x for x in days if x not in sleeping)}  # fmt: skip
    killed = set(rng.sample(range(6, len(moments)), plan.kills))
    result, node, began = Result(), Node(folder, forked=forked), time.monotonic()
    node.down.write_text("[]", "utf-8")
    node.set(moments[0])
    node.start()
    asleep = set()
    for at, moment in enumerate(moments):
        day = (moment.date() - plan.start).days
        if any(s <= day < s + 3 for s in sleeping):
            asleep.add(moment.date())
            continue
        node.down.write_text(json.dumps([outages[day]] if day in outages else []), "utf-8")
        node.set(moment)
        if at in killed:
            time.sleep(rng.random() * 0.25)
            node.kill()
            result.n_kills += 1
            node.start()
        node.wait(moment)
        if not result.first_mb and at >= len(LOOKS) * 5:
            result.first_mb = node.rss_mb()
        result.peak_mb = max(result.peak_mb, node.rss_mb())
    node.close()
    result.took_s = time.monotonic() - began
    _count(plan, node.store, moments[-1], asleep, outages, result)
    return result


def _count(
    plan: Plan, path: Path, end_utc: datetime, asleep: set[date], outages: dict[int, str], result: Result
) -> None:
    with open_store(path) as store:
        (run,) = reader.runs(store)["run"]
        rows = reader.decisions(store, str(run))
        breaches = [f.text for f in check_store(store).findings if f.level == "breach"]
    result.faults += breaches
    result.n_decisions, result.n_late = len(rows), int(rows["late"].sum())
    result.statuses = Counter(rows["status"])
    n_tracks = len(SEASON.agents) * (len(SEASON.models) + 1)  # the vote of the two stand-ins
    tracks = {str(t): f for t, f in rows.groupby("track")}
    if len(tracks) != n_tracks * len(ASSETS):
        result.faults.append(f"{len(tracks)} tracks, {n_tracks * len(ASSETS)} expected")
    for track, frame in tracks.items():
        asset = ASSETS[frame["asset"].iloc[0]]
        due = [s for s in slots(asset, plan.start, end_utc.date()) if s.as_of_utc <= end_utc]
        got = [(r.session.date(), r.as_of_utc.to_pydatetime()) for r in frame.itertuples()]
        if got != [(s.session, s.as_of_utc) for s in due]:
            result.faults.append(f"{track} has not one decision per due slot, in order")
        for r in frame.itertuples():
            _explained(r, plan, asleep, outages, result)


def _explained(r, plan: Plan, asleep: set[date], outages: dict[int, str], result: Result) -> None:  # type: ignore[no-untyped-def]
    """Whatever is not an answer on time has its reason in the plan, and says the right word."""
    due = slot(ASSETS[r.asset], r.session.date()).as_of_utc.date()
    down = outages.get((due - plan.start).days)
    wanted = (
        "no_data" if down == r.asset
        else "provider_error" if down == "model" and r.model == SHAKY
        else "ok"
    )  # fmt: skip
    if r.model == "offline/vote" and wanted == "no_data":
        wanted = "no_quorum"
    if due in asleep:
        wanted = "ok"
    if r.status != wanted:
        result.faults.append(f"{r.decision} is {r.status}, {wanted} expected")
    if bool(r.late) != (due in asleep):
        result.faults.append(f"{r.decision} late: {r.late}, asleep: {due in asleep}")


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--days", type=int, default=365)
    given.add_argument("--kills", type=int, default=40)
    given.add_argument("--outages", type=int, default=5)
    given.add_argument("--sleeps", type=int, default=2)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--start", type=date.fromisoformat, default=date(2024, 12, 20))
    args = given.parse_args()
    plan = Plan(args.start, args.days, args.kills, args.outages, args.sleeps, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        result = soak(plan, Path(folder))
    print(
        f"{plan.days} days, {result.n_kills} kills, {plan.outages} outages, {plan.sleeps} sleeps: "
        f"{result.n_decisions} decisions ({dict(result.statuses)}, {result.n_late} late) in "
        f"{result.took_s:.0f} s; RSS {result.first_mb:.0f} MB after five days, at most {result.peak_mb:.0f} MB"
    )
    for fault in result.faults[:20]:
        print(f"  {fault}")
    print("No fault." if not result.faults else f"{len(result.faults)} faults.")
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())

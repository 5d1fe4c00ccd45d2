"""A store for the Equity page: 70 days of one coin, curves that are easy to get wrong, and SPY beside it.

Entries of RUN (two epochs), strategy baseline, final growth of V_0 on AAA:

    a1@m  1.30  straight up               a2@m  1.20  no equity row on day 30
    a3@m  1.10  begins 20 days late       a4@m  1.05  (1.15 in epoch 2)
    a5@m  1.02                            a6@m  1.00
    a7@m  0.90                            a8@m  0.00  bankrupt on day 40
    Buy & Hold 1.07

ONE has a single session, GOING is still running with 10 sessions. Decisions: a1 buys on time, late on
day 3, fails on day 4, has no decision on day 5.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from arena.analytics.series import AccountSeries, compute
from arena.core.hashing import account_key, canonical_json, sha256_text
from arena.core.ids import TrackId
from arena.core.rows import (
    AssetRow,
    BarRow,
    ContextRow,
    DecisionRow,
    EquityRow,
    RunRow,
    SeasonRow,
    SummaryRow,
    WriteUnit,
)
from arena.core.season import RunSpec, Season
from arena.store.store import Store, open_store

FIRST, N, CAPITAL, LATE_BY, HOLE, RUIN = date(2025, 8, 1), 70, 100_000.0, 20, 30, 40
DAYS = [FIRST + timedelta(i) for i in range(N)]
RUN, TWIN = "replay-0000000e01-e1", "replay-0000000e01-e2"
ONE, GOING = "replay-0000000e02-e1", "replay-0000000e03-e1"
ENDS = {"a1": 1.3, "a2": 1.2, "a3": 1.1, "a4": 1.05, "a5": 1.02, "a6": 1.0, "a7": 0.9, "a8": 0.0}
HOLD_END, SPY_END = 1.07, 1.05
ODD = {3: ("ok", True), 4: ("timeout", False), 5: ("missed", False)}
"""Status and lateness of a1's decisions on these days; all others are ok and punctual."""


def path_of(agent: str, end: float, n: int) -> np.ndarray:
    """V_0 and n marks: V_0 again, then a straight line to `end`; a8 is at 0 from RUIN on."""
    if agent == "a8":
        line = np.linspace(1.0, 0.1, RUIN)[:n]
        return np.concatenate([[1.0], line, np.zeros(max(n - RUIN, 0))])
    return np.concatenate([[1.0], np.linspace(1.0, end, n)]) if n > 1 else np.ones(2)


def account(
    track: TrackId, strategy: str, group: str, values: np.ndarray, days: list[date]
) -> list[object]:
    """The rows of one account; a2 has no row on day HOLE. The summary comes last."""
    name, n = track.account(strategy), len(days)
    metrics = compute(
        AccountSeries(
            equity=CAPITAL * values, base=365, asset_class="crypto", equity_gross=CAPITAL * values,
            benchmark=CAPITAL * path_of("hold", HOLD_END, n), side=np.ones(n),
            notional=CAPITAL * values[1:], traded=np.zeros(n), trip_pnl=(1.0,),
        )
    )  # fmt: skip
    rows: list[object] = [
        EquityRow(account_key(name), d, 10.0, 1, 1.0, 0.0, CAPITAL * float(v), CAPITAL * float(v))
        for d, v in zip(days, values[1:], strict=True)
        if not (track.agent == "a2" and d == DAYS[HOLE])
    ]
    held = group == "benchmark"
    rows.append(
        SummaryRow(
            name, account_key(name), track.run, track.agent, track.model, track.asset, strategy, group,
            days[0], days[-1], n, 0 if held else n, 1 if track.agent == "a1" else 0, 0, 0,
            CAPITAL * float(values[-1]), CAPITAL * float(values[-1]), bool((values <= 0).any()), 1,
            None if held else "BUY", None if held else days[-1],
            canonical_json({k: v.to_json() for k, v in metrics.items()}), "[0.0]",
        )
    )  # fmt: skip
    return rows


def decided(track: TrackId, i: int) -> DecisionRow:
    day = DAYS[i]
    status, late = ODD.get(i, ("ok", False)) if track.agent == "a1" else ("ok", False)
    return DecisionRow(
        track.decision(day.isoformat()), track.run, str(track), track.agent, track.model, track.asset,
        day.isoformat(), day, datetime(day.year, day.month, day.day, 0, 5, tzinfo=UTC) + timedelta(1),
        i, "live", "long", "BUY", status, late, 0.5, "because", "[]", 10.0, 0, f"hAAA{i}",
        sha256_text("v"), 1, None, None, None, sha256_text(f"{track}{i}"),
        datetime(2025, 11, 1, tzinfo=UTC), 1.0,
    )  # fmt: skip


def add_run(
    store: Store, run: str, n: int, ends: dict[str, float], *, status: str = "done", day: int = 0
) -> None:
    """A run of `n` sessions from the first day on; decisions on its first ten."""
    spec = RunSpec(
        kind="replay", season=Season(), source="sample", assets=("AAA",), agents=tuple(ends),
        models=("m",), start=DAYS[0], end=DAYS[n - 1],
    )  # fmt: skip
    made = datetime(2025, 11, 1 + day, tzinfo=UTC)
    rows: list[object] = [
        RunRow(
            run, "replay", int(run[-1]), spec.season.season_id, None,
            canonical_json(spec.model_dump(mode="json")), "next", "sample", True, DAYS[0],
            DAYS[n - 1], n, 0, status, None, None, "0", made, made if status == "done" else None,
        )
    ]  # fmt: skip
    hold = TrackId(run, "buy_hold", "-", "AAA")
    plays = [account(hold, "buy_hold", "benchmark", path_of("hold", HOLD_END, n), DAYS[:n])]
    for agent, end in ends.items():
        track = TrackId(run, agent, "m", "AAA")
        days = DAYS[LATE_BY:n] if agent == "a3" and n > LATE_BY else DAYS[:n]
        plays.append(account(track, "baseline", "model", path_of(agent, end, len(days)), days))
        rows += [decided(track, i) for i in range(min(n, 10)) if DAYS[i] in days]
    summaries = []
    for play in plays:
        rows += play[:-1]
        summaries.append(play[-1])
    store.write([WriteUnit(tuple(rows), tuple(summaries))])  # type: ignore[arg-type]


def build(path: Path) -> Path:
    season, made = Season(), datetime(2025, 11, 1, tzinfo=UTC)
    ground: list[object] = [
        SeasonRow(season.season_id, canonical_json(season.model_dump(mode="json"))),
        AssetRow("AAA", "AAA coin", "crypto", True, 365, "{}"),
        AssetRow("SPY", "S&P 500", "etf", True, 252, "{}"),
        AssetRow("QQQ", "Nasdaq 100", "etf", True, 252, "{}"),
    ]
    spy = np.linspace(400.0, 400.0 * SPY_END, N)
    for i, day in enumerate(DAYS):
        ground.append(BarRow("AAA", day, 0, 10, 12, 9, 10.0 + i / 10, None, 1.0, "sample", made, made))
        ground.append(ContextRow(f"hAAA{i}", "AAA", day, made, DAYS[0], 260, 0))
        if day.weekday() < 5:
            close = float(spy[i])
            ground.append(BarRow("SPY", day, 0, close, close, close, close, None, 1.0, "sample", made, made))
            if i < 20:  # QQQ ends in the middle of the run: no reference
                ground.append(BarRow("QQQ", day, 0, 1.0, 1.0, 1.0, 1.0, None, 1.0, "sample", made, made))
    with open_store(path) as store:
        store.write([WriteUnit(tuple(ground))])  # type: ignore[arg-type]
        add_run(store, TWIN, N, {**ENDS, "a4": 1.15})
        add_run(store, ONE, 1, {"a1": 1.0, "a2": 1.0})
        add_run(store, GOING, 10, {"a1": 1.1, "a2": 0.95}, status="running")
        add_run(store, RUN, N, ENDS, day=1)
    return path

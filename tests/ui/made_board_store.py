"""A store for the board: 40 sessions of two coins, real models with votes, and rows that need a flag.

LIVE_RUN goes on; REPLAY_RUN has the same entries, WORKBENCH_RUN is an ad-hoc run, VOID_RUN is voided.
Entries of LIVE_RUN and REPLAY_RUN, strategy baseline, drift a session on AAA and BBB (Buy & Hold +0.2 %):

    trade@m-good      +1.5 %   with little noise: above Buy & Hold beyond luck
    trade@m-mid       +0.25 %  with much noise
    hedge@m-good      +0.2 %   with much noise, decided late twice
    hedge@m-mid       -0.6 %   starts ten sessions later: partial
    trade@vote        +0.5 %   the vote of trade's models
    trade@offline/trend +2 %   a stand-in
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
from arena.core.season import OPEN_END, RunSpec, Season
from arena.store.store import Store, open_store

FIRST, N, CAPITAL, LATE_BY = date(2025, 8, 1), 40, 100_000.0, 10
SESSIONS = [FIRST + timedelta(i) for i in range(N)]
ASSETS = ("AAA", "BBB")
LIVE_RUN, REPLAY_RUN = "live-00000000ab-e1", "replay-00000000ab-e1"
WORKBENCH_RUN, VOID_RUN = "replay-00000000cd-e1", "replay-00000000ef-e1"
HOLD_DRIFT = 0.002

ENTRIES: dict[tuple[str, str], tuple[float, float]] = {
    ("trade", "m-good"): (0.015, 0.002),
    ("trade", "m-mid"): (0.0025, 0.02),
    ("hedge", "m-good"): (0.002, 0.03),
    ("hedge", "m-mid"): (-0.006, 0.01),
    ("trade", "vote"): (0.005, 0.02),
    ("trade", "offline/trend"): (0.020, 0.02),
}
"""Drift a session and noise of each entry's accounts, as fractions."""

COST_USD = {"m-good": 0.25, "m-mid": None, "vote": 0.0, "offline/trend": 0.0}
"""Of a decision; None where the price of the model is unknown."""


def growth(drift: float, noise: float, seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    moves = drift + noise * rng.standard_normal(n)
    return np.concatenate([[1.0], np.cumprod(1.0 + moves - (moves.mean() - drift))])


def group_of(model: str) -> str:
    return "vote" if model == "vote" else "stand_in" if "/" in model else "model"


def decided(track: TrackId, i: int, *, late: bool = False) -> DecisionRow:
    session = SESSIONS[i]
    as_of = datetime(session.year, session.month, session.day, 0, 5, tzinfo=UTC) + timedelta(1)
    failed = track.model == "m-mid" and i == N - 1
    long = (i // 3) % 2 == 0
    return DecisionRow(
        track.decision(session.isoformat()), track.run, str(track), track.agent, track.model,
        track.asset, session.isoformat(), session, as_of, i, "live",
        "hold" if failed else "long" if long else "short", "HOLD" if failed else "BUY" if long else "SELL",
        "timeout" if failed else "ok", late, 0.5, "because", "[]", 10.0, 1 if i % 3 else -1,
        f"h{track.asset}{i}", sha256_text("v"), 1, 10, 10, COST_USD[track.model],
        sha256_text(f"{track}{i}"), as_of + timedelta(minutes=1), 1.0,
    )  # fmt: skip


def summed(
    track: TrackId, strategy: str, group: str, values: np.ndarray, hold: np.ndarray, n_late: int
) -> tuple[list[EquityRow], SummaryRow]:
    account, n = track.account(strategy), len(values) - 1
    days, benchmark = SESSIONS[N - n :], group == "benchmark"
    gross = np.concatenate([[1.0], 1.01 * values[1:]])
    metrics = compute(
        AccountSeries(
            equity=CAPITAL * values, base=365, asset_class="crypto", equity_gross=CAPITAL * gross,
            benchmark=CAPITAL * hold[-n - 1 :] / hold[-n - 1], side=np.ones(n),
            notional=CAPITAL * values[1:], traded=np.full(n, 1_000.0), trip_pnl=(),
        )
    )  # fmt: skip
    equity = [
        EquityRow(account_key(account), s, 10.0 + i, 1, 1.0, 0.0, CAPITAL * float(v), CAPITAL * float(v) * 1.01)
        for i, (s, v) in enumerate(zip(days, values[1:], strict=True))
    ]
    end = CAPITAL * float(values[-1])
    return equity, SummaryRow(
        account, account_key(account), track.run, track.agent, track.model, track.asset, strategy,
        group, days[0], days[-1], n, 0 if benchmark else n, 1 if track.model == "m-mid" else 0, 0,
        n_late, end, end, False, 1, None if benchmark else "BUY", None if benchmark else days[-2],
        canonical_json({k: v.to_json() for k, v in metrics.items()}),
        canonical_json([round(float(v) - 1, 6) for v in values[1:]]),
    )  # fmt: skip


def write_run(store: Store, run: str, *, day: int, workbench: bool = False, void: str | None = None) -> None:
    """One run of all entries, made on day `day` of September."""
    live = run.startswith("live")
    made = datetime(2025, 9, 10 + day, tzinfo=UTC)
    end = OPEN_END if live else SESSIONS[-1]
    spec = RunSpec(
        kind="live" if live else "replay", season=Season(), source="sample", assets=ASSETS,
        agents=("trade", "hedge"), models=("m-good", "m-mid"), start=FIRST, end=end,
    )  # fmt: skip
    rows: list[object] = [
        RunRow(
            run, spec.kind, 1, spec.season.season_id, None, canonical_json(spec.model_dump(mode="json")),
            "next", "sample", True, FIRST, end, 480, 0, "running" if live else "done", None, void, "0",
            made, None if live else made, workbench,
        )
    ]  # fmt: skip
    summaries = []
    for a, asset in enumerate(ASSETS):
        hold = growth(HOLD_DRIFT, 0.02, a, N)
        plays = [(TrackId(run, "buy_hold", "-", asset), "buy_hold", "benchmark", hold, 0)]
        for e, ((agent, model), (drift, noise)) in enumerate(ENTRIES.items()):
            track, partial = TrackId(run, agent, model, asset), (agent, model) == ("hedge", "m-mid")
            late = (agent, model) == ("hedge", "m-good")
            n = N - LATE_BY if partial else N
            # The good one moves with Buy & Hold, so that little but its drift tells them apart.
            beside = hold / (1 + HOLD_DRIFT) ** np.arange(N + 1) if model == "m-good" and agent == "trade" else 1.0
            values = beside * growth(drift, noise, 10 * a + e + 100, N) if not partial else growth(drift, noise, e, n)
            for strategy in ("baseline", "flip_on_reversal"):
                plays.append((track, strategy, group_of(model), values, 2 if late else 0))
            rows += [decided(track, i, late=late and i < 2) for i in range(N - n, N)]
        for track, strategy, group, values, n_late in plays:
            equity, summary = summed(track, strategy, group, values, hold, n_late)
            rows += equity
            summaries.append(summary)
    store.write([WriteUnit(tuple(rows), tuple(summaries))])  # type: ignore[arg-type]


def build(path: Path) -> Path:
    """The store at `path`, four runs; the live one is the newest."""
    season, made = Season(), datetime(2025, 9, 1, tzinfo=UTC)
    rows: list[object] = [
        SeasonRow(season.season_id, canonical_json(season.model_dump(mode="json")))
    ]
    for asset in ASSETS:
        rows.append(AssetRow(asset, f"{asset} coin", "crypto", True, 365, "{}"))
        for i, s in enumerate(SESSIONS):
            rows.append(BarRow(asset, s, 0, 10 + i, 60, 9, 10.0 + i, None, 1.0, "sample", made, made))
            rows.append(ContextRow(f"h{asset}{i}", asset, s, made, FIRST, 260, 0))
    with open_store(path) as store:
        store.write([WriteUnit(tuple(rows))])  # type: ignore[arg-type]
        write_run(store, VOID_RUN, day=0, void="Prices of BBB were wrong.")
        write_run(store, REPLAY_RUN, day=1)
        write_run(store, WORKBENCH_RUN, day=3, workbench=True)
        write_run(store, LIVE_RUN, day=2)
    return path

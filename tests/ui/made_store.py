"""A small store with chosen numbers: two coins over five sessions, models, a stand-in, Buy & Hold.

Final balances of 100,000 (strategy baseline; `flip_on_reversal` ends 1,000 lower each):

    entry                  AAA      BBB      mean     against Buy & Hold (0 %)
    trade@m-one            130,000  110,000  +20 %    +20 pp
    trade@m-two            105,000   95,000    0 %      0 pp
    hedge@m-one             80,000  100,000  -10 %    -10 pp
    trade@offline/trend    150,000  150,000  +50 %    a stand-in: no rank, no tile
    Buy & Hold             110,000   90,000    0 %
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

FIRST, N, CAPITAL = date(2025, 8, 1), 5, 100_000.0
SESSIONS = [FIRST + timedelta(i) for i in range(N)]
ASSETS = ("AAA", "BBB")
HOSTILE = "<script>alert(1)</script> ![x](http://tracker.invalid/p.png) [y](javascript:alert(1))"

ENDS: dict[tuple[str, str], tuple[float, float]] = {
    ("trade", "m-one"): (130_000.0, 110_000.0),
    ("trade", "m-two"): (105_000.0, 95_000.0),
    ("hedge", "m-one"): (80_000.0, 100_000.0),
    ("trade", "offline/trend"): (150_000.0, 150_000.0),
}
HOLD_ENDS = (110_000.0, 90_000.0)


def curve(end: float) -> np.ndarray:
    """V_0 twice (nothing happens on the first session), then a straight line to `end`."""
    return np.array([CAPITAL, *np.linspace(CAPITAL, end, N)])


def spec(kind: str = "replay", models: tuple[str, ...] = ("m-one", "m-two")) -> RunSpec:
    return RunSpec(
        kind=kind, season=Season(), source="sample", assets=ASSETS, agents=("trade", "hedge"),
        models=models, start=SESSIONS[0], end=SESSIONS[-1],
    )  # fmt: skip


def run_row(run: str, run_spec: RunSpec, day: int = 0) -> RunRow:
    made = datetime(2025, 9, 1 + day, tzinfo=UTC)
    return RunRow(
        run, run_spec.kind, 1, run_spec.season.season_id, None,
        canonical_json(run_spec.model_dump(mode="json")), "next", "sample", True, SESSIONS[0],
        SESSIONS[-1], 30, 0, "done", None, None, "0", made, made,
    )  # fmt: skip


def account_rows(
    track: TrackId, strategy: str, group: str, end: float, hold_end: float
) -> tuple[list[EquityRow], SummaryRow]:
    values, account = curve(end), track.account(strategy)
    metrics = compute(
        AccountSeries(
            equity=values, base=365, asset_class="crypto", equity_gross=values,
            benchmark=curve(hold_end), side=np.ones(N), notional=values[1:], traded=np.zeros(N),
            trip_pnl=(),
        )
    )  # fmt: skip
    equity = [
        EquityRow(account_key(account), s, 10.0, 1, 1.0, 0.0, float(v), float(v))
        for s, v in zip(SESSIONS, values[1:], strict=True)
    ]
    benchmark = group == "benchmark"
    summary = SummaryRow(
        account, account_key(account), track.run, track.agent, track.model, track.asset, strategy,
        group, SESSIONS[0], SESSIONS[-1], N, 0 if benchmark else N,
        1 if track.agent == "hedge" else 0, 0, 0, end, end, False, 1, None if benchmark else "BUY",
        None if benchmark else SESSIONS[-2],
        canonical_json({k: v.to_json() for k, v in metrics.items()}),
        canonical_json([round(float(v) / CAPITAL - 1, 6) for v in values[1:]]),
    )  # fmt: skip
    return equity, summary


def decision_row(track: TrackId, i: int) -> DecisionRow:
    session, words = SESSIONS[i], ("BUY", "HOLD", "SELL")
    failed = track.agent == "hedge" and i == N - 1
    action = "HOLD" if failed else words[i % 3]
    return DecisionRow(
        track.decision(session.isoformat()), track.run, str(track), track.agent, track.model,
        track.asset, session.isoformat(), session,
        datetime(session.year, session.month, session.day, 0, 5, tzinfo=UTC) + timedelta(1), i,
        "live", {"BUY": "long", "HOLD": "hold", "SELL": "short"}[action], action,
        "timeout" if failed else "ok", False, 0.5, HOSTILE, "[]", 10.0, 0,
        f"h{track.asset}{i}", sha256_text("v"), 1, None, None, None, sha256_text(f"{track}{i}"),
        datetime(2025, 9, 1, tzinfo=UTC), 1.0,
    )  # fmt: skip


def write_run(
    store: Store, run: str, ends: dict[tuple[str, str], tuple[float, float]], *, day: int = 0
) -> None:
    """One settled run with `ends` as final balances of baseline, in the order of ASSETS."""
    rows: list[object] = [run_row(run, spec(), day)]
    summaries = []
    for asset, hold_end, *own in zip(ASSETS, HOLD_ENDS, *ends.values(), strict=True):
        hold = TrackId(run, "buy_hold", "-", asset)
        plays = [(hold, "buy_hold", "benchmark", hold_end)]
        for (agent, model), end in zip(ends, own, strict=True):
            track = TrackId(run, agent, model, asset)
            group = "stand_in" if model.startswith("offline/") else "model"
            plays += [
                (track, "baseline", group, end),
                (track, "flip_on_reversal", group, end - 1_000),
            ]
            rows += [decision_row(track, i) for i in range(N)]
        for track, strategy, group, end in plays:
            equity, summary = account_rows(track, strategy, group, end, hold_end)
            rows += equity
            summaries.append(summary)
    store.write([WriteUnit(tuple(rows), tuple(summaries))])  # type: ignore[arg-type]


def ground(store: Store) -> None:
    """Season, assets, bars and contexts that the runs stand on."""
    season = Season()
    made = datetime(2025, 9, 1, tzinfo=UTC)
    rows: list[object] = [
        SeasonRow(season.season_id, canonical_json(season.model_dump(mode="json")))
    ]
    for asset in ASSETS:
        rows.append(AssetRow(asset, f"{asset} coin", "crypto", True, 365, "{}"))
        for i, s in enumerate(SESSIONS):
            rows.append(BarRow(asset, s, 0, 10, 12, 9, 10.0 + i, None, 1.0, "sample", made, made))
            rows.append(ContextRow(f"h{asset}{i}", asset, s, made, SESSIONS[0], 260, 0))
    store.write([WriteUnit(tuple(rows))])  # type: ignore[arg-type]


MODELS_RUN, RULES_RUN = "replay-00000000aa-e1", "replay-00000000bb-e1"
HOSTILE_RUN = "import-00000000cc-e1"


def build(path: Path) -> Path:
    """The store at `path`, three runs.

    The newest has models and a stand-in, another only a stand-in, the third an agent and a model
    whose names (free in an import) try to be markup.
    """
    with open_store(path) as store:
        ground(store)
        rules = {("trade", "offline/trend"): ENDS["trade", "offline/trend"]}
        write_run(store, RULES_RUN, rules)
        write_run(store, HOSTILE_RUN, {(HOSTILE, HOSTILE): (120_000.0, 90_000.0)})
        write_run(store, MODELS_RUN, ENDS, day=1)
    return path

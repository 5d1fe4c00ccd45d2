"""The board: one row an account, or one an entry and strategy, ranked by net return."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any, Literal

import numpy as np
import pandas as pd

from arena.analytics.entry_curve import Curve, curves_of, entry_curve
from arena.analytics.entry_metrics import USED, row_metrics
from arena.analytics.epochs import one_of_many
from arena.analytics.result import MetricResult
from arena.analytics.window import Mode
from arena.core.errors import UnknownNameError

SPARKLINE_POINTS = 60
RANKED_GROUPS = ("model", "stand_in", "import", "vote")
"""The first of these that is on the board is numbered; the others stand there without a rank."""

COUNTS = ("n_decisions", "n_failed", "n_gaps", "n_late")

Account = dict[str, Any]
"""A row of `account_summary`."""
Row = dict[str, Any]
Benchmarks = Mapping[tuple[str, str], Curve]


def board(
    summaries: pd.DataFrame,
    equity: pd.DataFrame,
    *,
    by: Literal["entry", "account"] = "entry",
    mode: Mode = "standard",
    capital: Mapping[str, float] | float = 100_000.0,
    voided: AbstractSet[str] = frozenset(),
    fills: Mapping[str, str] | None = None,
    unranked: AbstractSet[str] = frozenset(),
    cutoffs: Mapping[str, date] | None = None,
    curves: Mapping[str, Curve] | None = None,
) -> list[Row]:
    """Rows of the leaderboard, best first; Buy & Hold stands among them without a rank.

    Args:
        summaries: rows of `account_summary`, already filtered; Buy & Hold of the same assets in it.
        equity: their curves with a column `account`; one account in mode standard needs none.
        by: `entry` averages an agent@model over its assets, per run and strategy.
        capital: V_0 of each run.
        voided: runs that take no rank and come last.
        fills: fill rule of each run, where the caller knows it.
        unranked: runs that take no rank for another reason (decided after the fills they use).
        cutoffs: day up to which a model may know what happened, by model id.
        curves: `curves_of` these accounts or more, where the caller has them; `equity` is not read then.

    Returns:
        Plain dicts; `metrics` maps a name to its result object. `position` is {asset: side}. Epochs
        of one run are one row, see `epochs.one_of_many`.

    Raises:
        UnknownNameError: `by` or `mode` is none of the above.
    """
    for kind, value, known in (
        ("grouping", by, ("entry", "account")),
        ("metrics mode", mode, ("standard", "ama")),
    ):
        if value not in known:
            raise UnknownNameError(kind, value, known)
    if summaries.empty:
        return []
    capitals = capital if isinstance(capital, Mapping) else dict.fromkeys(summaries["run"], capital)
    if curves is None:
        curves = curves_of(summaries, equity, capitals)
    accounts: list[Account] = [
        {str(k): v for k, v in a.items()} for a in summaries.to_dict("records")
    ]
    benchmarks = {
        (a["run"], a["asset"]): curves[a["account"]]
        for a in accounts
        if a["grp"] == "benchmark" and a["account"] in curves
    }
    first_start = summaries.groupby(["run", "asset"])["start"].transform("min")
    late_starters = set(summaries.loc[summaries["start"] > first_start, "account"])
    windows = _windows(summaries)
    keys = ("account",) if by == "account" else ("run", "agent", "model", "strategy")
    groups: dict[tuple[Any, ...], list[Account]] = {}
    for account in accounts:
        groups.setdefault(tuple(account[k] for k in keys), []).append(account)
    rows = []
    for group in groups.values():
        row = _row(group, curves, benchmarks, mode, late_starters)
        run = row["run"]
        row |= {
            "epoch": _epoch(run),
            "fill": (fills or {}).get(run),
            "voided": run in voided,
            "capital": capitals[run],
            "window": windows[run],
            "unranked": run in unranked,
            "may_know": may_know(row, cutoffs or {}),
        }
        rows.append({**_names(group, by), **row})
    ranked = rank(one_of_many(rows))
    return [{k: v for k, v in row.items() if k not in ("window", "unranked")} for row in ranked]


def _names(group: Sequence[Account], by: str) -> Row:
    first = group[0]
    if by == "account":
        return {"account": first["account"], "asset": first["asset"]}
    benchmark = first["grp"] == "benchmark"
    return {
        "entry": "buy_hold" if benchmark else f"{first['agent']}@{first['model']}",
        "assets": sorted(a["asset"] for a in group),
        "accounts": sorted(a["account"] for a in group),
        "n_accounts": len(group),
    }


def may_know(row: Row, cutoffs: Mapping[str, date]) -> bool | None:
    """Whether the model's knowledge reaches into the row's window; None where nobody says."""
    cutoff = cutoffs.get(row["model"])
    return None if cutoff is None else row["start"] <= cutoff.isoformat()


def _epoch(run: str) -> int:
    tail = run.rsplit("-e", 1)[-1]
    return int(tail) if tail.isdigit() else 1


def _windows(summaries: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """First and last session of each run: only runs of one window are ranked together."""
    spans = summaries.groupby("run").agg(start=("start", "min"), end=("end", "max"))
    return {str(s.Index): (_day(s.start), _day(s.end)) for s in spans.itertuples()}


def _row(
    group: Sequence[Account],
    curves: Mapping[str, Curve],
    benchmarks: Benchmarks,
    mode: Mode,
    late_starters: AbstractSet[str],
) -> Row:
    first = group[0]
    names = [a["account"] for a in group]
    own = [curves[n] for n in names if n in curves]
    bench = [
        benchmarks.get((first["run"], asset)) for asset in dict.fromkeys(a["asset"] for a in group)
    ]
    found = [b for b in bench if b is not None]
    curve = entry_curve(own)
    metrics = row_metrics(
        own,
        curve,
        entry_curve(found) if len(found) == len(bench) else None,
        [_stored(a, USED if len(group) > 1 else None) for a in group],
        mode,
        ("partial_window",) if not late_starters.isdisjoint(names) else (),
    )
    acted = [a for a in group if not pd.isna(a["last_action_session"])]
    last = max(acted, key=lambda a: (a["last_action_session"], a["asset"]), default=None)
    return {
        "agent": first["agent"],
        "model": first["model"],
        "strategy": first["strategy"],
        "run": first["run"],
        "group": first["grp"],
        "start": _day(min(a["start"] for a in group)),
        "end": _day(max(a["end"] for a in group)),
        "n_sessions": int(max(a["n_sessions"] for a in group)),
        **{n: int(sum(a[n] for a in group)) for n in COUNTS},
        "bankrupt": any(bool(a["bankrupt"]) for a in group),
        "rank": None,
        "balance": sum(float(a["balance"]) for a in group) / len(group),
        "position": {a["asset"]: int(a["position"]) for a in group},
        "last_action": None if last is None else str(last["last_action"]),
        "last_action_asset": None if last is None else str(last["asset"]),
        "last_action_session": None if last is None else _day(last["last_action_session"]),
        "sparkline": json.loads(first["sparkline_json"]) if len(group) == 1 else _sparkline(curve),
        "metrics": {name: result.to_json() for name, result in metrics.items()},
    }


def _stored(account: Account, names: Sequence[str] | None) -> dict[str, MetricResult]:
    found = json.loads(account["metrics_json"])
    return {k: MetricResult.from_json(found[k]) for k in names or found}


def _day(value: Any) -> str:
    return pd.Timestamp(value).date().isoformat()


def _sparkline(curve: Curve) -> list[float]:
    """Return since the start at up to 60 evenly spaced marks, the last one included."""
    values = curve.values[1:] - 1.0
    n = len(values)
    picks = np.unique(np.linspace(0, n - 1, min(n, SPARKLINE_POINTS)).round().astype(int))
    return [round(float(v), 6) for v in values[picks]]


def rank(rows: list[Row]) -> list[Row]:
    """Sort and number: net CR, then Sharpe, then smaller drawdown, then name; undefined last.

    Bankrupt rows come after all others, voided ones at the very end. One group is numbered (see
    `RANKED_GROUPS`), from 1 in each window; late starters, voided runs and Buy & Hold never are.
    """
    rows = sorted(rows, key=_order)
    present = {r["group"] for r in rows}
    ranked = next((g for g in RANKED_GROUPS if g in present), None)
    places: dict[Any, int] = {}
    for row in rows:
        cr = row["metrics"]["CR"]
        late = "partial_window" in cr["flags"] or row.get("unranked", False)
        if row["group"] != ranked or row["voided"] or late or cr["value"] is None:
            continue
        window = row.get("window")
        places[window] = row["rank"] = places.get(window, 0) + 1
    return rows


def _order(row: Row) -> tuple[Any, ...]:
    cr, sr, mdd = (row["metrics"][m]["value"] for m in ("CR", "SR", "MDD"))
    return (
        row["voided"], row["bankrupt"],
        cr is None, -(cr or 0.0), sr is None, -(sr or 0.0), mdd is None, mdd or 0.0,
        row.get("account") or row["entry"], row["strategy"], row["run"],
    )  # fmt: skip

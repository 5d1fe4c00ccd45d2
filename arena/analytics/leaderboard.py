"""The board: one row an account, or one an entry and strategy, ranked by net return."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from typing import Any, Literal

import numpy as np
import pandas as pd

from arena.analytics.entry_curve import CRYPTO_BASE, Curve, curves_of, entry_curve
from arena.analytics.registry import BOARD_METRICS
from arena.analytics.result import MetricResult, Reason
from arena.analytics.series import AccountSeries, compute
from arena.analytics.window import Mode

CURVE_METRICS = ("CR", "CR_gross", "AR", "AV", "SR", "MDD", "Sortino", "Calmar", "excess_bh", "days_over_bh")
POOLED = ("win_rate_trades", "win_rate_active", "time_in_market")
SPARKLINE_POINTS = 60

Row = dict[str, Any]
Stored = dict[str, MetricResult]


def board(
    summaries: pd.DataFrame,
    equity: pd.DataFrame,
    *,
    by: Literal["entry", "account"] = "entry",
    mode: Mode = "standard",
    capital: Mapping[str, float] | float = 100_000.0,
    voided: Set[str] = frozenset(),
) -> list[Row]:
    """Rows of the leaderboard, best first; Buy & Hold stands among them without a rank.

    Args:
        summaries: rows of `account_summary`, already filtered; Buy & Hold of the same assets in it.
        equity: their curves with a column `account`.
        by: `entry` averages an agent@model over its assets, per run and strategy.
        capital: V_0 of each run.
        voided: runs that take no rank.

    Returns:
        Plain dicts; `metrics` maps a name to its result object.
    """
    if summaries.empty:
        return []
    capitals = dict.fromkeys(summaries["run"], capital) if isinstance(capital, float | int) else capital
    curves = curves_of(summaries, equity, capitals)
    keys = ["account"] if by == "account" else ["run", "agent", "model", "strategy"]
    rows = []
    for _, group in summaries.groupby(keys, sort=True):
        row = _row(group, curves, summaries, mode, capitals)
        row["voided"] = row["run"] in voided
        if by == "account":
            row = {"account": group["account"].iloc[0], **row, "asset": group["asset"].iloc[0]}
            row["epoch"] = _epoch(row["run"])
        else:
            row = {
                "entry": _entry_name(group), **row, "assets": sorted(group["asset"]),
                "accounts": sorted(group["account"]), "n_accounts": len(group),
                "epoch": _epoch(row["run"]),
            }  # fmt: skip
        rows.append(row)
    return rank(rows)


def _entry_name(group: pd.DataFrame) -> str:
    agent, model = group["agent"].iloc[0], group["model"].iloc[0]
    return "buy_hold" if group["grp"].iloc[0] == "benchmark" else f"{agent}@{model}"


def _epoch(run: str) -> int:
    return int(run.rsplit("-e", 1)[1])


def _row(
    group: pd.DataFrame, curves: Mapping[str, Curve], everyone: pd.DataFrame, mode: Mode,
    capital: Mapping[str, float],
) -> Row:  # fmt: skip
    first = group.iloc[0]
    own = [curves[a] for a in group["account"] if a in curves]
    benchmark = _benchmark(group, curves, everyone)
    stored = [_stored(text) for text in group["metrics_json"]]
    metrics = _metrics(own, benchmark, stored, mode, bool(group["bankrupt"].any()))
    latest = group.dropna(subset=["last_action_session"]).sort_values("last_action_session")
    start_capital = capital[first["run"]]
    return {
        "agent": first["agent"],
        "model": first["model"],
        "strategy": first["strategy"],
        "run": first["run"],
        "fill": None,
        "group": first["grp"],
        "start": _day(group["start"].min()),
        "end": _day(group["end"].max()),
        "n_sessions": int(group["n_sessions"].max()),
        "n_decisions": int(group["n_decisions"].sum()),
        "n_failed": int(group["n_failed"].sum()),
        "n_gaps": int(group["n_gaps"].sum()),
        "n_late": int(group["n_late"].sum()),
        "bankrupt": bool(group["bankrupt"].any()),
        "rank": None,
        "balance": float(group["balance"].mean()),
        "position": {a: int(p) for a, p in zip(group["asset"], group["position"], strict=True)},
        "last_action": None if latest.empty else str(latest["last_action"].iloc[-1]),
        "last_action_asset": None if latest.empty else str(latest["asset"].iloc[-1]),
        "last_action_session": None if latest.empty else _day(latest["last_action_session"].iloc[-1]),
        "sparkline": _sparkline(own),
        "capital": start_capital,
        "metrics": {name: result.to_json() for name, result in metrics.items()},
    }


def _day(value: Any) -> str:
    return pd.Timestamp(value).date().isoformat()


def _stored(text: str) -> Stored:
    return {k: MetricResult.from_json(v) for k, v in json.loads(text).items()}


def _benchmark(
    group: pd.DataFrame, curves: Mapping[str, Curve], everyone: pd.DataFrame
) -> Curve | None:
    """Buy & Hold of the same run over the same assets, averaged the same way."""
    same = everyone[
        (everyone["grp"] == "benchmark")
        & (everyone["run"] == group["run"].iloc[0])
        & everyone["asset"].isin(set(group["asset"]))
    ]
    found = [curves[a] for a in same["account"] if a in curves]
    return entry_curve(found) if len(found) == group["asset"].nunique() else None


def _metrics(
    own: list[Curve], benchmark: Curve | None, stored: list[Stored], mode: Mode, bankrupt: bool
) -> dict[str, MetricResult]:
    if len(stored) == 1 and mode == "standard":
        return stored[0]
    curve = entry_curve(own)
    mixed = mode == "ama" and len({c.base for c in own}) > 1
    flags = ("bankrupt",) if bankrupt else ()
    if any("forced_close" in s["CR"].flags for s in stored):
        flags = (*flags, "forced_close")
    stale = sum(int(f.split(":")[1]) for s in stored for f in s["CR"].flags if f.startswith("stale"))
    if stale:
        flags = (*flags, f"stale_marks:{stale}")
    series = AccountSeries(
        equity=curve.values,
        base=curve.base,
        asset_class="crypto" if curve.base == CRYPTO_BASE else "stock",
        equity_gross=curve.gross,
        benchmark=benchmark.values if benchmark is not None else None,
        flags=flags,
    )
    computed = compute(series, mode, CURVE_METRICS)
    if mixed:
        computed = {k: _undefined(r, "mixed_classes") for k, r in computed.items()}
    pooled = {name: _pool([s[name] for s in stored]) for name in POOLED}
    pooled["turnover"] = _mean([s["turnover"] for s in stored])
    merged = {**computed, **pooled}
    return {name: merged[name] for name in BOARD_METRICS}


def _undefined(result: MetricResult, reason: Reason) -> MetricResult:
    return MetricResult(
        result.metric, None, "undefined", reason, result.n, result.unit, result.basis, result.flags
    )


def _pool(results: list[MetricResult]) -> MetricResult:
    """Counts of all accounts together: shares weighted by what they are shares of."""
    known = [r for r in results if r.value is not None and r.n > 0]
    n = sum(r.n for r in known)
    if not known:
        return results[0]
    value = sum(float(r.value or 0.0) * r.n for r in known) / n
    first = known[0]
    return MetricResult(first.metric, value, "ok", None, n, first.unit, first.basis, first.flags)


def _mean(results: list[MetricResult]) -> MetricResult:
    known = [r for r in results if r.value is not None]
    if not known:
        return results[0]
    value = float(np.mean([float(r.value or 0.0) for r in known]))
    first = known[0]
    n = sum(r.n for r in known)
    return MetricResult(first.metric, value, "ok", None, n, first.unit, first.basis, first.flags)


def _sparkline(own: list[Curve]) -> list[float]:
    values = entry_curve(own).values - 1.0
    n = len(values)
    picks = np.unique(np.linspace(0, n - 1, min(n, SPARKLINE_POINTS)).round().astype(int))
    return [round(float(v), 6) for v in values[picks]]


def rank(rows: list[Row]) -> list[Row]:
    """Sort and number: net CR, then Sharpe, then smaller drawdown, then name; undefined last.

    Bankrupt accounts come after all others. Only group `model` is numbered; where no model played,
    stand-ins (or imports) are numbered among themselves. Voided runs and Buy & Hold take no number.
    """
    rows = sorted(rows, key=_order)
    groups = {r["group"] for r in rows}
    ranked = next((g for g in ("model", "stand_in", "import") if g in groups), None)
    place = 0
    for row in rows:
        if row["group"] == ranked and not row["voided"] and _value(row, "CR") is not None:
            place += 1
            row["rank"] = place
    return rows


def _value(row: Row, name: str) -> float | None:
    value = row["metrics"][name]["value"]
    return None if value is None else float(value)


def _order(row: Row) -> tuple[Any, ...]:
    cr, sr, mdd = (_value(row, m) for m in ("CR", "SR", "MDD"))
    return (
        row["bankrupt"], cr is None, -(cr or 0.0), sr is None, -(sr or 0.0), mdd is None, mdd or 0.0,
        row.get("account") or row.get("entry") or row["agent"],
    )  # fmt: skip

"""What an account is worth, and every figure of a board about it, from decisions, fills and bars alone.

Plain Python after the formulas of `docs/metrics.md`, on the curve of the slow second engine; nothing
of `arena.portfolio`, `arena.analytics` or a stored summary is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, pairwise
from statistics import fmean, stdev

from arena.audit.rows import load
from arena.audit.slow_engine import SlowRow, replay_account
from arena.core.actions import Intent
from arena.core.rows import AssetRow, BarRow, DecisionRow, FillRow, RunRow
from arena.core.season import Season
from arena.store.store import Store


@dataclass(frozen=True)
class Recomputed:
    """`curve` and `gross` begin with the capital; `from_fills` is the curve as its trades make it, and
    `before_end` the rows without the forced close at the end."""

    sessions: tuple[date, ...]
    rows: tuple[SlowRow, ...]
    before_end: tuple[SlowRow, ...]
    curve: tuple[float, ...]
    gross: tuple[float, ...]
    from_fills: tuple[float, ...]
    fills: tuple[FillRow, ...]
    closes: tuple[float, ...]
    base: int


def recompute(store: Store, account: str) -> Recomputed:
    """One account; Buy & Hold's id does as well.

    Its run must have ended, and may pay no borrow for `from_fills` to hold (interest is no trade).
    """
    track, strategy = account.rsplit(":", 1)
    run_id, entry, asset = track.split(":")
    (run,) = load(store, RunRow, "WHERE run = ?", [run_id])
    season = Season.model_validate(json.loads(run.spec_json)["season"])
    (info,) = load(store, AssetRow, "WHERE asset = ?", [asset])
    bars = {
        b.session: b
        for b in load(store, BarRow, "WHERE asset = ? AND revision <= ? ORDER BY revision", [asset, run.revision])
    }
    if entry.startswith("buy_hold@"):
        sessions = tuple(sorted(s for s in bars if run.start <= s <= run.end))
        intents = [Intent.LONG] * len(sessions)
    else:
        made = load(store, DecisionRow, "WHERE track = ? AND phase = 'live' ORDER BY session", [track])
        sessions, intents = tuple(d.session for d in made), [Intent(d.intent) for d in made]
    closes = tuple(bars[s].close for s in sessions)

    def replay(
        fee_bps: float, slippage_bps: float, borrow_bps_year: float, *, to_the_end: bool = True
    ) -> list[SlowRow]:
        return replay_account(
            "baseline" if strategy == "buy_hold" else strategy, intents,
            [bars[s].open for s in sessions], closes, capital=season.capital, fee_bps=fee_bps,
            slippage_bps=slippage_bps, borrow_bps_year=borrow_bps_year, fill=season.fill,
            force_close=to_the_end,
            days=[1, *((b - a).days for a, b in pairwise(sessions))],
        )  # fmt: skip

    costs = (season.fee_bps[info.asset_class], season.slippage_bps, season.borrow_bps_year)  # type: ignore[index]
    net = replay(*costs)
    fills = tuple(load(store, FillRow, "WHERE account = ? ORDER BY session, leg", [account]))
    return Recomputed(
        sessions, tuple(net), tuple(replay(*costs, to_the_end=False)), (season.capital, *(r.balance for r in net)),
        (season.capital, *(r.balance for r in replay(0.0, 0.0, 0.0))),
        tuple(_worth(season.capital, fills, s, c) for s, c in zip(sessions, closes, strict=True)),
        fills, closes, 365 if info.asset_class == "crypto" else 252,
    )  # fmt: skip


def _worth(capital: float, fills: Sequence[FillRow], session: date, close: float) -> float:
    """Cash and units that the trades up to a session leave, at its close."""
    done = [f for f in fills if f.session <= session]
    cash = capital - sum(f.units * f.price + f.fee for f in done)
    return cash + sum(f.units for f in done) * close


def figures(own: Recomputed, hold: Recomputed) -> dict[str, float | None]:
    """The board's metrics as fractions; None where a formula has no value."""
    v, b, t = own.curve, own.base, len(own.sessions)
    r = [y / x - 1.0 for x, y in pairwise(v)]
    s, m = (stdev(r) if t > 1 else None), fmean(r)
    peaks = list(accumulate(v, max))
    mdd = max((p - x) / p for p, x in zip(peaks, v, strict=True))
    ar = (v[-1] / v[0]) ** (b / t) - 1.0
    down = math.sqrt(fmean(min(x, 0.0) ** 2 for x in r))
    held = [abs(row.units) > 0 for row in own.rows]
    active = [x for x, was_in in zip(r[1:], held, strict=False) if was_in]
    trips = _trips(own.fills)
    hold_growth = [x / hold.curve[0] for x in hold.curve]
    flat = s is None or s < 1e-12
    return {
        "CR": v[-1] / v[0] - 1.0,
        "CR_gross": own.gross[-1] / own.gross[0] - 1.0,
        "AR": ar,
        "AV": None if s is None else 0.0 if flat else s * math.sqrt(b),
        "SR": None if s is None or flat else m / s * math.sqrt(b),
        "MDD": mdd,
        "Sortino": None if down < 1e-12 else m / down * math.sqrt(b),
        "Calmar": None if mdd == 0 else ar / mdd,
        "win_rate_trades": sum(p > 0 for p in trips) / len(trips) if trips else None,
        "win_rate_active": sum(x > 0 for x in active) / len(active) if active else None,
        "time_in_market": sum(held) / t,
        "turnover": sum(abs(f.units) * f.price for f in own.fills) / fmean(v[1:]),
        "excess_bh": v[-1] / v[0] - hold_growth[-1],
        "days_over_bh": sum(x / v[0] > h for x, h in zip(v[1:], hold_growth[1:], strict=True)) / t,
    }


def _trips(fills: Sequence[FillRow]) -> list[float]:
    """Net result of each round trip, from flat to flat."""
    out, units, most, cash = [], 0.0, 0.0, 0.0
    for f in fills:
        units += f.units
        cash -= f.units * f.price + f.fee
        most = max(most, abs(units))
        if abs(units) <= 1e-9 * most:
            out.append(cash)
            units = most = cash = 0.0
    return out

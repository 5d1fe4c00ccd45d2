"""Which lines the Equity page draws, and their values in the shown window. No streamlit here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from arena.analytics.entry_curve import Curve
from arena.analytics.series import AccountSeries, compute
from arena.core.ids import TrackId
from arena.ui.tokens import BUY_HOLD, TOKENS, Theme, agent_color, model_dash, short_model

MOST_LINES = 6
"""With a colour and a label of their own; more cannot be told apart."""

MOST_DRAWN = 120
"""Of the chosen lines, by balance; a browser is slow with more, and an eye sees no more."""

WINDOW_METRICS = ("CR", "CR_gross", "excess_bh", "AV", "SR", "MDD")
"""What the curve alone tells of any window; the rest needs the whole run's trades."""

HOLD_NAME = "Buy & Hold"
CLOSED = pd.Timedelta(days=5)
"""An exchange may be closed that long; more at the end of a window is a hole in the data."""


@dataclass(frozen=True)
class Pick:
    """One line to draw: an entry under one strategy, or one account. `asset` None: several."""

    name: str
    agent: str
    model: str
    asset: str | None
    strategy: str
    group: str
    accounts: tuple[str, ...]
    balance: float

    @property
    def benchmark(self) -> bool:
        return self.group == "benchmark"

    @property
    def entry(self) -> str:
        return f"{self.agent}@{self.model}"


@dataclass(frozen=True, eq=False)
class LineData:
    """A pick's curve over the whole run, and the sessions inside it that no account row covers."""

    curve: Curve
    missing: tuple[date, ...] = ()
    epochs: tuple[Curve, ...] = ()
    """The same line in every epoch of the run, itself among them; empty for a run of one."""


@dataclass(frozen=True, eq=False)
class Line:
    """One drawn curve: `growth` (T,) is V / V_0 at `sessions` (T,), NaN on days without a value."""

    name: str
    short: str
    sessions: pd.DatetimeIndex
    growth: np.ndarray
    balance: np.ndarray
    color: str
    dash: str
    benchmark: bool = False
    faint: bool = False
    """Drawn in grey without a label, where more lines are there than can be told apart."""
    words: str = ""
    """What the tooltip says behind the value: the strategy."""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    """Lowest and highest of the epochs, where there are several."""
    bankrupt: bool = False
    reference: bool = False
    """The price of a market, not an account: it has no balance."""
    peak: float = field(default=1.0)
    """Highest growth before the window, the start included: drawdown counts from it."""

    @property
    def end(self) -> float:
        """The last value there is."""
        known = self.growth[np.isfinite(self.growth)]
        return float(known[-1]) if len(known) else float("nan")

    @property
    def drawdown(self) -> np.ndarray:
        """Fall from the running peak (`peak` included), <= 0; NaN where there is no value."""
        filled = np.where(np.isfinite(self.growth), self.growth, -np.inf)
        peak = np.maximum(np.maximum.accumulate(filled), self.peak)
        return self.growth / peak - 1.0


def is_late(own: LineData, start: pd.Timestamp) -> bool:
    """Whether a line begins later than its run, by more than an exchange may be closed."""
    return bool(own.curve.sessions[0] > start + CLOSED)


def entries_of(summaries: pd.DataFrame) -> list[str]:
    """`agent@model` of everyone who played, sorted."""
    played = summaries[summaries["grp"] != "benchmark"]
    return sorted({f"{a}@{m}" for a, m in zip(played["agent"], played["model"], strict=True)})


def account_name(account: str) -> str:
    """An account's id for people and without its run: `trade@gpt-4.1 · BTC · baseline`."""
    track = TrackId.parse(account)
    return f"{track.entry} · {track.asset} · {account.rsplit(':', 1)[1]}"


def picks(
    summaries: pd.DataFrame,
    *,
    by_account: bool,
    chosen: Iterable[str] = (),
    agents: Sequence[str] = (),
    models: Sequence[str] = (),
    asset: str | None = None,
    strategy: str | None = None,
) -> list[Pick]:
    """Lines to draw, the best first, and Buy & Hold of their assets last.

    `chosen` are entries, or accounts without their run; none chosen means all. An entry is held
    over `asset` (None: all of them) under `strategy`; accounts that are chosen by name are drawn
    whatever `asset` and `strategy` say. `agents` and `models` are filters where nothing is chosen.
    """
    frame = summaries[summaries["grp"] != "benchmark"]
    names = set(chosen)
    entry = frame["agent"] + "@" + frame["model"]
    if by_account and names:
        frame = frame[frame["account"].map(account_name).isin(names)]
    else:
        keep = frame["strategy"] == strategy
        if asset is not None:
            keep &= frame["asset"] == asset
        if names:
            keep &= entry.isin(names)
        else:
            for column, values in (("agent", agents), ("model", models)):
                if values:
                    keep &= frame[column].isin(list(values))
        frame = frame[keep]
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    columns = ["account", "agent", "model", "asset", "strategy", "grp", "balance"]
    for row in frame[columns].to_dict("records"):
        keys = ("account",) if by_account else ("agent", "model", "strategy")
        groups.setdefault(tuple(str(row[k]) for k in keys), []).append({str(k): v for k, v in row.items()})
    found = []
    for rows in groups.values():
        first = rows[0]
        found.append(
            Pick(
                account_name(first["account"]) if by_account else f"{first['agent']}@{first['model']}",
                first["agent"], first["model"],
                first["asset"] if len({r["asset"] for r in rows}) == 1 else None, first["strategy"],
                first["grp"], tuple(r["account"] for r in rows),
                float(np.mean([r["balance"] for r in rows])),
            )
        )  # fmt: skip
    found.sort(key=lambda p: (-p.balance, p.name))
    held = summaries[(summaries["grp"] == "benchmark") & summaries["asset"].isin(set(frame["asset"]))]
    if len(held):
        only = str(held["asset"].iloc[0]) if len(held) == 1 else None
        found.append(
            Pick(
                HOLD_NAME, BUY_HOLD, "-", only, BUY_HOLD, "benchmark", tuple(held["account"]),
                float(held["balance"].mean()),
            )
        )  # fmt: skip
    return found


def most(found: Sequence[Pick], limit: int = MOST_DRAWN) -> list[Pick]:
    """The best `limit` lines, and Buy & Hold."""
    own = [p for p in found if not p.benchmark]
    return [*own[:limit], *(p for p in found if p.benchmark)]


def lines_of(
    drawn: Sequence[Pick],
    data: Mapping[str, LineData],
    window: tuple[pd.Timestamp, pd.Timestamp],
    *,
    capital: float,
    net: bool,
    rebase: bool,
    theme: Theme,
    marked: Sequence[str] = (),
) -> list[Line]:
    """Curves as drawn: cut to the window and, with `rebase`, 0 % at the close before it.

    `marked` are the names that keep colour and label where there are more than MOST_LINES; none
    means the best. A line without a session in the window is left out.
    """
    agents = tuple(sorted({p.agent for p in drawn if not p.benchmark}))
    models = tuple(sorted({p.model for p in drawn if not p.benchmark}))
    several = {
        "asset": len({p.asset for p in drawn if not p.benchmark}) > 1,
        "strategy": len({p.strategy for p in drawn if not p.benchmark}) > 1,
    }
    lines = []
    for pick in drawn:
        if pick.name not in data:
            continue
        found = data[pick.name]
        days, growth, start, peak = _cut(found.curve, found.missing, window, net=net)
        if not len(days):
            continue
        base = start if rebase and start > 0 else 1.0
        low, high = _epoch_range(found.epochs, days, window, net=net, rebase=rebase)
        color = TOKENS[theme].benchmark if pick.benchmark else agent_color(pick.agent, agents, theme)
        lines.append(
            Line(
                pick.name, _short(pick, agents, models, several), days, growth / base, capital * growth, color,
                "dot" if pick.benchmark else model_dash(pick.model, models), pick.benchmark,
                words="" if pick.benchmark else pick.strategy, low=low, high=high,
                bankrupt=bool((growth <= 0).any()),
                peak=1.0 if base != 1.0 else peak,
            )
        )  # fmt: skip
    return with_faint(lines, marked)


def _cut(
    curve: Curve, missing: Sequence[date], window: tuple[pd.Timestamp, pd.Timestamp], *, net: bool
) -> tuple[pd.DatetimeIndex, np.ndarray, float, float]:
    """Sessions and values inside the window, the value before it (V_0 = 1), and the peak up to there."""
    values = curve.values if net else curve.gross
    first, last = _positions(curve, window)
    days = curve.sessions[first:last]
    inside: np.ndarray = values[first + 1 : last + 1].copy()
    if missing and len(days):
        absent = pd.DatetimeIndex(list(missing))
        absent = absent[(absent >= window[0]) & (absent <= window[1])]
        inside[days.isin(absent)] = np.nan
        values_by_day = pd.Series(inside, index=days)
        days = pd.DatetimeIndex(days.union(pd.Index(absent.astype(days.dtype))))
        inside = values_by_day.reindex(days).to_numpy(dtype=np.float64)
    return days, inside, float(values[first]), float(values[: first + 1].max())


def _positions(curve: Curve, window: tuple[pd.Timestamp, pd.Timestamp]) -> tuple[int, int]:
    """Where the window begins in the curve's sessions, and where it has ended."""
    first = int(curve.sessions.searchsorted(window[0], side="left"))
    return first, int(curve.sessions.searchsorted(window[1], side="right"))


def _epoch_range(
    epochs: Sequence[Curve],
    days: pd.DatetimeIndex,
    window: tuple[pd.Timestamp, pd.Timestamp],
    *,
    net: bool,
    rebase: bool,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Lowest and highest growth of the epochs on `days`; an epoch that has ended is no longer counted."""
    if len(epochs) < 2:
        return None, None
    rows = []
    for curve in epochs:
        own, growth, start, _ = _cut(curve, (), window, net=net)
        base = start if rebase and start > 0 else 1.0
        rows.append(pd.Series(growth / base, index=own).reindex(days).to_numpy(float))
    table = pd.DataFrame(rows)
    return table.min().to_numpy(float), table.max().to_numpy(float)


def _short(
    pick: Pick, agents: Sequence[str], models: Sequence[str], several: Mapping[str, bool]
) -> str:
    """What tells a line apart; the asset and the strategy where they differ."""
    if pick.benchmark:
        return "B&H"
    parts = [short_name(pick.agent, pick.model, agents, models)]
    if several["asset"] and pick.asset:
        parts.append(pick.asset)
    if several["strategy"]:
        parts.append(pick.strategy.replace("_", " "))
    if several["asset"] and several["strategy"] and len(agents) == len(models) == 1:
        parts = parts[1:]
    return " ".join(parts)


def short_name(agent: str, model: str, agents: Sequence[str], models: Sequence[str]) -> str:
    """The agent alone while one model plays, the model alone while one agent does; else both."""
    if len(models) == 1:
        return agent
    return short_model(model) if len(agents) == 1 else f"{agent} {short_model(model)}"


def with_faint(lines: Sequence[Line], marked: Sequence[str] = ()) -> list[Line]:
    """Grey lines first, then those with colour and label (`marked`, or the best MOST_LINES; the best
    first, as a tooltip lists them), then the benchmark."""
    own = sorted((x for x in lines if not x.benchmark), key=lambda x: (-np.nan_to_num(x.end, nan=-9.0), x.name))
    names = {x.name for x in own} & set(marked)
    bright = [x for x in own if x.name in names][:MOST_LINES] if names else own[:MOST_LINES]
    if len(own) <= MOST_LINES and not names:
        bright = own
    kept = {x.name for x in bright}
    faint = [replace(x, faint=True) for x in own if x.name not in kept]
    return [*faint, *bright, *(x for x in lines if x.benchmark)]


def window_row(
    curve: Curve, hold: Curve | None, window: tuple[pd.Timestamp, pd.Timestamp]
) -> dict[str, float | None]:
    """`WINDOW_METRICS` of a curve inside a window, by name, `balance` (V / V_0) and `days`.

    V_0 of the window is the close before it. None where a metric is undefined, as for a curve that
    was bankrupt before.
    """
    first, last = _positions(curve, window)
    values, gross = curve.values[first : last + 1], curve.gross[first : last + 1]
    n = last - first
    row: dict[str, float | None] = {"balance": float(values[-1]), "days": float(n)}
    if n <= 0 or values[0] <= 0 or gross[0] <= 0:
        return row | dict.fromkeys(WINDOW_METRICS)
    same = hold is not None and hold.sessions.equals(curve.sessions)
    bench = hold.values[first : last + 1] if hold is not None and same else None
    series = AccountSeries(
        equity=values / values[0], base=curve.base, asset_class="crypto",
        equity_gross=gross / gross[0],
        benchmark=None if bench is None or bench[0] <= 0 else bench / bench[0],
    )  # fmt: skip
    return row | {k: r.value for k, r in compute(series, names=WINDOW_METRICS).items()}

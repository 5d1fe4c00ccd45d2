"""The curve of an entry: the mean of its accounts' V / V_0, not rebalanced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.analytics.window import FloatArray

CRYPTO_BASE = 365
STOCK_BASE = 252


@dataclass(frozen=True, eq=False)
class Curve:
    """`values` (T+1,) relative to V_0 = 1, whose first item is V_0 itself; `sessions` (T,)."""

    sessions: pd.DatetimeIndex
    values: FloatArray
    gross: FloatArray
    base: int


def account_curve(rows: pd.DataFrame, capital: float, base: int) -> Curve:
    """One account's rows (session, balance, balance_gross in order) relative to its capital."""
    start = np.ones(1)
    return Curve(
        pd.DatetimeIndex(rows["session"]),
        np.concatenate([start, rows["balance"].to_numpy(float) / capital]),
        np.concatenate([start, rows["balance_gross"].to_numpy(float) / capital]),
        base,
    )


def entry_curve(curves: Sequence[Curve]) -> Curve:
    """Equal-weight mean of accounts over their common marks.

    With a coin among them every calendar day is a mark and closed days carry the last value (base
    365); else the sessions are the marks (252). A mark before an account's first row is its V_0,
    one after its last row is that row. No curve gives the curve without a mark.
    """
    if not curves:
        return Curve(pd.DatetimeIndex([]), np.ones(1), np.ones(1), STOCK_BASE)
    if len(curves) == 1:
        return curves[0]
    base = max(c.base for c in curves)
    shared = curves[0].sessions
    if all(c.sessions is shared for c in curves) and (base != CRYPTO_BASE or _every_day(shared)):
        return Curve(
            shared,
            np.mean([c.values for c in curves], axis=0),
            np.mean([c.gross for c in curves], axis=0),
            base,
        )
    marks = [c.sessions.to_numpy("datetime64[D]") for c in curves]
    days = np.unique(np.concatenate(marks))
    if base == CRYPTO_BASE:
        days = np.arange(days[0], days[-1] + np.timedelta64(1, "D"))
    # searchsorted counts the rows up to each day, which is the index into [V_0, rows...].
    picks = [np.searchsorted(m, days, "right") for m in marks]
    values = np.mean([c.values[p] for c, p in zip(curves, picks, strict=True)], axis=0)
    gross = np.mean([c.gross[p] for c, p in zip(curves, picks, strict=True)], axis=0)
    start = np.ones(1)
    return Curve(
        pd.DatetimeIndex(days),
        np.concatenate([start, values]),
        np.concatenate([start, gross]),
        base,
    )


def _every_day(days: pd.DatetimeIndex) -> bool:
    marks = days.to_numpy()
    return bool(marks[-1] - marks[0] == np.timedelta64(len(marks) - 1, "D"))


def curves_of(
    summaries: pd.DataFrame, equity: pd.DataFrame, capital: Mapping[str, float]
) -> dict[str, Curve]:
    """Curve of every account in `summaries` that has equity rows, by account id.

    Accounts over the same days share one `sessions`.
    """
    places, names = pd.factorize(equity["account"])
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(names)))
    days, net, gross = (
        equity[c].to_numpy()[order] for c in ("session", "balance", "balance_gross")
    )
    rows = {str(name): slice(end - n, end) for name, end, n in zip(names, ends, np.diff(ends, prepend=0), strict=True)}
    spans: dict[bytes, pd.DatetimeIndex] = {}
    start, made = np.ones(1), {}
    for s in summaries.itertuples():
        account = str(s.account)
        if account in rows:
            own, v0 = rows[account], capital[str(s.run)]
            span = days[own].tobytes()
            if span not in spans:
                spans[span] = pd.DatetimeIndex(days[own])
            made[account] = Curve(
                spans[span],
                np.concatenate([start, net[own].astype(float) / v0]),
                np.concatenate([start, gross[own].astype(float) / v0]),
                base_of(s),
            )
    return made


_BASE = re.compile(r'"B":\s*(\d+)')


def base_of(summary: object) -> int:
    """Marks a year of an account (a row of `account_summary`), from the basis of its stored metrics.

    All of them have the same; the first is found without parsing the text, which takes ten times as long.
    """
    found = _BASE.search(summary.metrics_json)  # type: ignore[attr-defined]
    assert found is not None
    return int(found[1])

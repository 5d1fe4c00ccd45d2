"""What the Equity page reads, cached by the store's data version."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from arena.analytics.entry_curve import (
    CRYPTO_BASE,
    Curve,
    curves_of,
    entry_curve,
)
from arena.analytics.epochs import stem
from arena.analytics.leaderboard import board
from arena.store import live_reader, reader
from arena.store.actions_reader import run_bars
from arena.store.marks import decision_marks
from arena.store.store import Store
from arena.ui.equity_lines import CLOSED, LineData, window_row

Key = tuple[str, int]
Named = tuple[tuple[str, tuple[str, ...]], ...]
"""Lines by name with their account ids; Buy & Hold's among them."""

REFERENCES = ("SPY", "QQQ", "BTC")
_cached = st.cache_data(max_entries=32, show_spinner=False)


def epochs_of(runs: pd.DataFrame, run: str) -> tuple[str, ...]:
    """Ids of all epochs of a run that are not voided, itself among them, in order."""
    valid = runs[runs["voided_reason"].isna() | (runs["run"] == run)]["run"]
    return tuple(sorted(str(r) for r in valid if stem(str(r)) == stem(run)))


@_cached
def lines(
    key: Key, _store: Store, run: str, named: Named, capital: float, epochs: tuple[str, ...] = ()
) -> dict[str, LineData]:
    """Curve of every line by its name; a line without an equity row is absent."""
    accounts = {a for _, own in named for a in own}
    others = [r for r in epochs if r != run]
    twins = {(r, a): f"{r}:{a.split(':', 1)[1]}" for r in others for a in accounts}
    summaries = pd.concat([reader.summaries(_store, r) for r in (run, *others)], ignore_index=True)
    wanted = accounts | set(twins.values())
    curves, expected = _curves(_store, summaries[summaries["account"].isin(wanted)], capital)
    asset = dict(zip(summaries["account"], summaries["asset"], strict=True))
    made = {}
    for name, own in named:
        found = [a for a in own if a in curves]
        if not found:
            continue
        gaps = {d for a in found for d in _missing(curves[a], expected[asset[a]])}
        runs_of = [[twins.get((r, a), a) for a in own] for r in (run, *others)]
        every = [[curves[a] for a in ids if a in curves] for ids in runs_of] if others else []
        made[name] = LineData(
            entry_curve([curves[a] for a in found]), tuple(sorted(gaps)),
            tuple(entry_curve(e) for e in every if len(e) == len(found)),
        )  # fmt: skip
    return made


def _curves(
    store: Store, summaries: pd.DataFrame, capital: float
) -> tuple[dict[str, Curve], dict[str, np.ndarray]]:
    """Curve of each account, and the sessions that accounts of each asset have."""
    rows = reader.equity(store, summaries["account"].tolist())
    curves = curves_of(summaries, rows, dict.fromkeys(summaries["run"], capital))
    spans: dict[str, dict[int, pd.DatetimeIndex]] = {}
    for account, asset in zip(summaries["account"], summaries["asset"], strict=True):
        if account in curves:
            sessions = curves[account].sessions
            spans.setdefault(str(asset), {})[id(sessions)] = sessions
    days = {
        a: np.unique(np.concatenate([s.to_numpy("datetime64[D]") for s in own.values()]))
        for a, own in spans.items()
    }
    return curves, days


def _missing(curve: Curve, expected: np.ndarray) -> list[date]:
    """Sessions between a curve's first and last row that other accounts of the asset have, and it has not."""
    own = curve.sessions.to_numpy("datetime64[D]")
    inside = expected[(expected > own[0]) & (expected < own[-1])]
    return [d.item() for d in np.setdiff1d(inside, own)]


@_cached
def rows(
    key: Key, _store: Store, run: str, named: Named, by_account: bool, capital: float
) -> dict[str, dict[str, Any]]:
    """Board row of every line over the whole run, by the line's name."""
    summaries = reader.summaries(_store, run)
    accounts = {a: name for name, own in named for a in own}
    held = summaries["grp"] == "benchmark"
    assets = set(summaries.loc[summaries["account"].isin(accounts), "asset"])
    chosen = summaries[
        summaries["account"].isin(accounts) | (held & summaries["asset"].isin(assets))
    ]
    equity = reader.equity(_store, chosen["account"].tolist())
    found: dict[str, dict[str, Any]] = {}
    if by_account:
        one = chosen[chosen["grp"] != "benchmark"]
        rest = chosen[chosen["grp"] == "benchmark"]
        for row in board(pd.concat([one, rest]), equity, by="account", capital=capital):
            if row["group"] != "benchmark":
                found[accounts[row["account"]]] = row
        chosen = rest
    for row in board(chosen, equity, by="entry", capital=capital):
        found[accounts.get(row["accounts"][0], str(row["entry"]))] = row
    return found


@_cached
def window_rows(
    key: Key, _store: Store, run: str, named: Named, capital: float,
    window: tuple[pd.Timestamp, pd.Timestamp],
) -> dict[str, dict[str, float | None]]:  # fmt: skip
    """`equity_lines.window_row` of every line, each against Buy & Hold of its own assets."""
    summaries = reader.summaries(_store, run)
    asset = dict(zip(summaries["account"], summaries["asset"], strict=True))
    held = {
        str(s.asset): str(s.account)
        for s in summaries[summaries["grp"] == "benchmark"].itertuples()
    }
    curves = lines(key, _store, run, named, capital)
    wanted = {
        tuple(sorted({held[asset[a]] for a in own if asset[a] in held})) for _, own in named
    } - {()}
    holds = lines(key, _store, run, tuple((",".join(w), w) for w in sorted(wanted)), capital)
    made = {}
    for name, own in named:
        if name not in curves:
            continue
        against = ",".join(sorted({held[asset[a]] for a in own if asset[a] in held}))
        hold = holds[against].curve if against in holds else None
        is_hold = all(a in held.values() for a in own)
        made[name] = window_row(curves[name].curve, None if is_hold else hold, window)
    return made


@_cached
def marks(key: Key, _store: Store, run: str, asset: str) -> pd.DataFrame:
    """What every entry decided on an asset: what a tape needs, without reasons and hashes of views."""
    return decision_marks(_store, run, asset)


@_cached
def references(key: Key, _store: Store, run: str) -> dict[str, Curve]:
    """Price of the well-known markets that the store has for the whole of a run, by asset: close over
    the close at the run's start, whether or not the run trades them."""
    row = live_reader.run_as_settled(_store, run)
    start, end = pd.Timestamp(row["start"]), pd.Timestamp(row["end"])
    known = set(reader.assets(_store)["asset"])
    found: dict[str, Curve] = {}
    for asset in (a for a in REFERENCES if a in known):
        bars = run_bars(_store, row, asset)
        closes = bars[bars["session"] <= end].set_index("session")["close"]
        shown = closes.iloc[max(int((closes.index <= start).sum()) - 1, 0) :]
        if (
            shown.empty
            or shown.index[0] > start
            or max(start - shown.index[0], end - shown.index[-1]) > CLOSED
        ):
            continue
        growth = np.concatenate([[1.0], shown.to_numpy(float) / float(shown.to_numpy()[0])])
        found[asset] = Curve(pd.DatetimeIndex(shown.index), growth, growth, CRYPTO_BASE)
    return found

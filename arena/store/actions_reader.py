"""Reading stored splits and dividends, what had been kept before they were known, and prices across them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import pandas as pd

from arena.core.rows import ActionRow
from arena.store import reader
from arena.store.schema import columns, quote
from arena.store.store import Store


def corporate_actions(store: Store, asset: str) -> tuple[ActionRow, ...]:
    """All of an asset by ex-date; where two sources have the same one, both."""
    names = ", ".join(quote(name) for name in columns(ActionRow))
    with store.cursor() as cur:
        cur.execute(
            f"SELECT {names} FROM actions WHERE asset = ? ORDER BY ex_date, kind, source", [asset]
        )
        return tuple(ActionRow(*row) for row in cur.fetchall())


def closes_before(store: Store, asset: str, moment_utc: datetime) -> dict[date, float]:
    """Closes by session as they had been fetched before a moment."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT session, arg_max(close, revision) FROM bars WHERE asset = ? "
            "AND fetched_at_utc < ? GROUP BY session",
            [asset, moment_utc],
        )
        return dict(cur.fetchall())


def settled_over(store: Store, asset: str, ex_date: date) -> bool:
    """Whether a live run that goes on began before an ex-date and has settled a price from then on."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT 1 FROM decisions d JOIN runs r USING (run) WHERE r.kind = 'live' "
            "AND r.status <> 'done' AND r.start < ? AND d.asset = ? AND d.session >= ? "
            "GROUP BY d.run, d.session HAVING NOT bool_or(d.status = 'no_data') LIMIT 1",
            [ex_date, asset, ex_date],
        )
        return bool(cur.fetchall())


def run_bars(store: Store, run: Mapping[str, Any], asset: str) -> pd.DataFrame:
    """`reader.bars` of a run's row, as one series: those of a live run, which are kept as they were paid,
    in the shares of its last session; those of a replay have splits worked in by their vendor."""
    frame = reader.bars(store, asset, int(run["revision"]))
    for ex_date, ratio in _splits(store, run, asset).items():
        before = frame["session"] < pd.Timestamp(ex_date)
        frame.loc[before, ["open", "high", "low", "close"]] /= ratio
        frame.loc[before, "volume"] *= ratio
    return frame


def share_ratio(store: Store, run: Mapping[str, Any], asset: str, session: date) -> float:
    """How many shares at the end of a live run one share of `session` has become; 1 in a replay."""
    return math.prod(r for day, r in _splits(store, run, asset).items() if day > session)


def _splits(store: Store, run: Mapping[str, Any], asset: str) -> dict[date, float]:
    if run["kind"] != "live":
        return {}
    actions = corporate_actions(store, asset)
    return {
        a.ex_date: a.value for a in actions
        if a.kind == "split" and pd.Timestamp(a.ex_date) <= pd.Timestamp(run["end"])
    }  # fmt: skip

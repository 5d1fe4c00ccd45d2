"""Decisions as marks of a chart: what was decided when, without the texts behind it."""

from __future__ import annotations

import pandas as pd

from arena.store.reader import _frame
from arena.store.store import Store


def decision_marks(store: Store, run: str, asset: str) -> pd.DataFrame:
    """Live decisions of a run on one asset, by slot and then by track.

    Columns: decision, agent, model, session, slot_key, action, status, late, market_hash.
    """
    return _frame(
        store,
        "SELECT decision, agent, model, session, slot_key, action, status, late, market_hash "
        "FROM decisions WHERE run = ? AND asset = ? AND phase = 'live' ORDER BY as_of_utc, track",
        [run, asset],
    )

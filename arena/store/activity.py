"""What was decided and what it cost, counted in the store: questions of the Overview."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd

from arena.store.store import Store


def spend(store: Store, run: str) -> pd.DataFrame:
    """Per track with live decisions: `n` of them, `n_priced` (those whose cost is known), `cost_usd` of these."""
    with store.cursor() as cur:
        cur.execute(
            "SELECT track, count(*) AS n, count(cost_usd) AS n_priced, sum(cost_usd) AS cost_usd "
            "FROM decisions WHERE run = ? AND phase = 'live' GROUP BY track ORDER BY track",
            [run],
        )
        return cur.fetchdf()


def fresh_decisions(
    store: Store,
    run: str,
    since_utc: datetime | None,
    agents: Sequence[str] = (),
    models: Sequence[str] = (),
    assets: Sequence[str] = (),
) -> pd.DataFrame:
    """Live decisions made after `since_utc`, or those of the newest session where it is None.

    Counted (`n`, and their first session in `first_session`) by intent, status and the side held
    before; an empty axis means all of it.
    """
    new = (
        "session = (SELECT max(session) FROM decisions WHERE run = ? AND phase = 'live')"
        if since_utc is None
        else "decided_at_utc > ?"
    )
    axes = {"agent": agents, "model": models, "asset": assets}
    chosen = {name: list(values) for name, values in axes.items() if values}
    only = "".join(f" AND {name} IN (SELECT unnest(?::VARCHAR[]))" for name in chosen)
    with store.cursor() as cur:
        cur.execute(
            "SELECT intent, status, position_before, count(*) AS n, min(session) AS first_session "
            f"FROM decisions WHERE run = ? AND phase = 'live' AND {new}{only} "
            "GROUP BY ALL ORDER BY ALL",
            [run, run if since_utc is None else since_utc, *chosen.values()],
        )
        return cur.fetchdf()

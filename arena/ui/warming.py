"""What a visitor without a link sees of a new round, worked out before the round shows.

The first one to look would else wait for it, a second for a small arena and several for a large one.
"""

from __future__ import annotations

from arena.store import reader
from arena.store.store import Store
from arena.ui import board_queries, filters, overview, overview_data, queries
from arena.ui.filters import Axes
from arena.ui.page import RunPage


def warm(store: Store) -> None:
    """Fill the caches behind the Overview of the first run, without a filter, with its best row open."""
    key = (store.store_id, reader.data_version(store))
    runs = queries.runs(key, store)
    if runs.empty:
        return
    run = filters.in_groups(runs).iloc[0]
    page = RunPage(store, key, run, queries.summaries(key, store, str(run["run"])))
    axes = Axes((), (), (), filters.strategies_of(page.summaries)[0])
    data = overview_data.read(page, axes)
    if data is None:
        return
    overview_data.news(page, data, None)
    board_queries.spend(key, store, page.run_id)
    best = next(r for r in overview.on_board(data.entries) if r["group"] != "benchmark")
    overview_data.unfold(page, data, best)

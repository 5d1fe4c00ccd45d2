"""The numbers behind the Overview, read once a page run: rows, luck, cost, and what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from arena.runner.luck_board import row_key
from arena.ui import board, board_queries, marks, overview, pulse, queries, since
from arena.ui.board_flags import windows_of
from arena.ui.board_view import BoardView, Shown, matching, search_field, top
from arena.ui.filters import Axes
from arena.ui.page import RunPage

Row = dict[str, Any]

Chosen = tuple[queries.Axis, queries.Axis, queries.Axis, queries.Axis]
"""Agents, models, assets, strategies."""

LUCK_ROWS = 50
"""Rows that luck is worked out for: some milliseconds an account, once after each change of the data."""


@dataclass(frozen=True, eq=False)
class OverviewData:
    """Rows under the axes, whose models are those past their cut-off where that is asked for.

    `key` changes with anything here does. `held` are the Buy & Hold accounts of the chosen assets.
    """

    key: tuple[object, ...]
    axes: Axes
    entries: list[Row]
    held: list[Row]
    entry_luck: Mapping[str, Row]
    last_round: dict[str, Any] | None

    @property
    def chosen(self) -> Chosen:
        return _chosen(self.axes)

    @property
    def last_session(self) -> date:
        return date.fromisoformat(max(r["end"] for r in self.entries))


def _chosen(axes: Axes) -> Chosen:
    return axes.agents, axes.models, axes.assets, (axes.strategy,)


def read(page: RunPage, axes: Axes) -> OverviewData | None:
    """What the axes leave, or None where that is Buy & Hold alone."""
    here = (page.key, page.store, page.run_id)
    entries = queries.rows(*here, "entry", *_chosen(axes))
    if axes.after_cutoff:
        models = overview.after_cutoff(entries)
        if not models:
            return None
        axes = replace(axes, models=models)
        entries = queries.rows(*here, "entry", *_chosen(axes))
    played = [r for r in entries if r["group"] != "benchmark"]
    if not played:
        return None
    held = [r for r in accounts_of(page, axes, played[0]) if r["group"] == "benchmark"]
    luck = queries.luck(*here, "entry", *_chosen(axes), limit=LUCK_ROWS)
    key = (page.key, page.run_id, *_chosen(axes))
    return OverviewData(key, axes, entries, held, luck, queries.last_round(*here))


def accounts_of(page: RunPage, axes: Axes, row: Row) -> list[Row]:
    """Accounts of a row's agent and model, and Buy & Hold's; of Buy & Hold these alone.

    Not all accounts of the run: there may be thousands.
    """
    here = (page.key, page.store, page.run_id)
    return queries.rows(
        *here, "account", (row["agent"],), (row["model"],), axes.assets, (axes.strategy,)
    )


def board_of(page: RunPage, data: OverviewData, view: BoardView) -> Shown:
    """Rows of the table under the switches and the search, with what belongs to them."""
    here = (page.key, page.store, page.run_id)
    by_entry = view.by == "entry"
    every = data.entries if by_entry else queries.rows(*here, "account", *data.chosen)
    every = overview.on_board(every)
    found = matching(every, search_field(len(every)))
    rows = top(found)
    luck = data.entry_luck if by_entry else queries.luck(*here, "account", *data.chosen, limit=LUCK_ROWS)
    spent = board_queries.spend(*here)
    return Shown(
        rows, [row_key(r) for r in rows], luck,
        [board_queries.cost_per_decision(r, spent) for r in rows],
        windows_of(data.held), {r["asset"]: board.value(r, "CR_gross") for r in data.held}, len(found),
        unrealised(page, data),
    )  # fmt: skip


def unrealised(page: RunPage, data: OverviewData) -> Mapping[str, marks.Mark]:
    """Marks by entry of a live season that goes on, else none."""
    if not pulse.going_on(page.run):
        return {}
    played = [r for r in data.entries if r["group"] != "benchmark"]
    agents, models = (tuple(sorted({str(r[axis]) for r in played})) for axis in ("agent", "model"))
    assets = tuple(sorted({a for r in played for a in r["position"]}))
    quoted = marks.newest_utc(page.store, assets)
    found = marks.current(
        page.key, page.store, page.run_id, data.axes.strategy, agents, models, assets, quoted
    )
    return {m.entry: m for m in found}


@dataclass(frozen=True, eq=False)
class Unfolded:
    """The accounts of the open row, and their luck by account id."""

    accounts: list[Row]
    luck: Mapping[str, Row]


def unfold(page: RunPage, data: OverviewData, picked: Row) -> Unfolded:
    if picked["group"] == "benchmark":
        return Unfolded(data.held, {})
    luck = board_queries.account_luck(
        page.key, page.store, page.run_id, picked["agent"], picked["model"], data.axes.assets,
        data.axes.strategy,
    )  # fmt: skip
    return Unfolded(accounts_of(page, data.axes, picked), luck)


def news(page: RunPage, data: OverviewData, seen: datetime | None) -> since.News:
    """What was decided since `seen`, or on the newest session, under the axes."""
    return board_queries.news(page.key, page.store, page.run_id, seen, *data.chosen)

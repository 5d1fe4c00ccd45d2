"""Board rows for whoever asks over the network: kept until the data change, one made at a time.

Pages have caches of their own; these requests come from outside any session, as often as anybody likes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from arena.analytics.leaderboard import board
from arena.core.errors import ConfigError
from arena.runner.boards import pick_runs, select_board
from arena.store import reader
from arena.store.store import Store

AXES = ("agents", "models", "assets", "strategies")
MOST_KEPT, MOST_ACCOUNTS = 32, 4_000
"""Boards that are kept, and rows of one of them and of all together: a row takes some 10 KB."""

By = Literal["entry", "account"]
Key = tuple[Any, ...]
Row = dict[str, Any]

MOST_WAITING = 8
"""Askers whose board is not made yet. Each holds one of the 28 threads that the pages' files come from."""

_LOCK, _MAKING = threading.Lock(), threading.Lock()
_PLACES = threading.BoundedSemaphore(MOST_WAITING)
_kept: OrderedDict[Key, list[Row]] = OrderedDict()


class TooMuchError(ConfigError):
    """More than a public address should be made to work out."""


class BusyError(ConfigError):
    """Too many ask for boards that are not made yet."""


def board_rows(store: Store, by: By, run: str | None, axes: Mapping[str, str]) -> list[Row]:
    """Rows of `analytics.leaderboard.board` for a run (or `all`) under comma lists by axis.

    Nobody may change them: they are shared.

    Raises:
        UnknownNameError: a run, or an axis value that no account of it has.
        TooMuchError: the runs have more than 4,000 accounts.
        BusyError: eight others wait for boards already.
    """
    chosen = {axis: _names(axes.get(axis, "")) for axis in AXES}
    key = (store.store_id, reader.data_version(store), by, run, *chosen.values())
    if (known := _known(key)) is not None:
        return known
    if not _PLACES.acquire(blocking=False):
        raise BusyError("Many ask for boards at this moment. Ask again in some seconds.")
    try:
        # One at a time: those who ask for the same board get one that was made once.
        with _MAKING:
            if (known := _known(key)) is None:
                known = _make(store, by, run, chosen)
                with _LOCK:
                    _kept[key] = known
                    while len(_kept) > 1 and (len(_kept) > MOST_KEPT or _n_rows() > MOST_ACCOUNTS):
                        _kept.popitem(last=False)
            return known
    finally:
        _PLACES.release()


def _n_rows() -> int:
    return sum(map(len, _kept.values()))


def _known(key: Key) -> list[Row] | None:
    with _LOCK:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _make(store: Store, by: By, run: str | None, chosen: Mapping[str, tuple[str, ...]]) -> list[Row]:
    runs = pick_runs(reader.runs(store), run, reader.settled_runs(store))
    n = sum(len(reader.accounts(store, name)) for name in runs)
    if n > MOST_ACCOUNTS:
        raise TooMuchError(
            f"{len(runs)} runs with {n} accounts are too many here; the limit is {MOST_ACCOUNTS}. "
            "Name one run."
        )
    picked = select_board(
        store, run, agents=chosen["agents"], models=chosen["models"], assets=chosen["assets"],
        strategies=chosen["strategies"],
    )  # fmt: skip
    return board(
        picked.summaries, picked.equity, by=by, capital=picked.capital, voided=picked.voided,
        unranked=picked.unranked, fills=picked.fills, cutoffs=picked.cutoffs,
    )  # fmt: skip

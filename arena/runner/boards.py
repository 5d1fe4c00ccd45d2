"""Which accounts a board shows: the default run, the epochs of a run, the four axes."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date

import pandas as pd

from arena.core.errors import ConfigError, UnknownNameError
from arena.core.season import RunSpec
from arena.llm.roster import roster
from arena.store import reader
from arena.store.store import Store


@dataclass(frozen=True)
class BoardData:
    """Frames for `analytics.leaderboard.board`, and what it must know about their runs."""

    summaries: pd.DataFrame
    equity: pd.DataFrame
    capital: dict[str, float]
    voided: frozenset[str]
    unranked: frozenset[str]
    fills: dict[str, str]
    cutoffs: dict[str, date]


def pick_runs(
    runs: pd.DataFrame, wanted: str | None, settled: AbstractSet[str] = frozenset()
) -> list[str]:
    """Run ids for `wanted`: an id, an id without -eN, `all`, or None for what pages show unasked.

    That is the newest live run, else the newest replay or import, else an ad-hoc run, of those with an
    account (`settled`): a live run that has just begun has nothing to show yet.

    Raises:
        ConfigError: there is no run at all, or none of that name.
    """
    if runs.empty:
        raise ConfigError("The store holds no run yet. Start one with `python -m arena replay`.")
    if wanted == "all":
        return list(runs["run"])
    if wanted is None:
        shown = runs[runs["run"].isin(list(settled))] if settled else runs
        for some in (shown[shown["kind"] == "live"], shown[~shown["workbench"]], shown, runs):
            if len(some):
                return [str(some["run"].iloc[0])]
    found = [r for r in runs["run"] if r == wanted or r.rsplit("-e", 1)[0] == wanted]
    if not found:
        raise UnknownNameError("run", str(wanted), runs["run"])
    return found


def select_board(
    store: Store,
    run: str | None,
    *,
    agents: Sequence[str] = (),
    assets: Sequence[str] = (),
    models: Sequence[str] = (),
    strategies: Sequence[str] = (),
    with_equity: bool = True,
) -> BoardData:
    """Summaries and curves of the chosen runs, filtered on the four axes.

    Buy & Hold of the chosen assets is always in; an empty axis means all of it. Without `with_equity`
    the frame of curves stays empty, for a caller that has them already.

    Raises:
        UnknownNameError: an axis value that no account of these runs has.
    """
    runs = reader.runs(store)
    chosen = pick_runs(runs, run, reader.settled_runs(store))
    frames = [reader.accounts(store, r) for r in chosen]
    every = pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)
    benchmark = every["grp"] == "benchmark"
    keep = pd.Series(True, index=every.index)
    axes = (("agent", agents), ("asset", assets), ("model", models), ("strategy", strategies))
    for column, values in axes:
        known = set(every[column] if column == "asset" else every.loc[~benchmark, column])
        for value in values:
            if value not in known:
                raise UnknownNameError(column, value, known)
        if values:
            hit = every[column].isin(list(values))
            keep &= hit if column == "asset" else hit | benchmark
    names = every.loc[keep, "account"].tolist()
    # The long texts only of those that are left; in the order of the runs.
    kept = [reader.summaries(store, r, names) for r in chosen]
    summaries = pd.concat([f for f in kept if len(f)] or kept[:1], ignore_index=True)
    specs = {str(r["run"]): RunSpec.model_validate_json(str(r["spec_json"])) for r in runs.to_dict("records")}
    return BoardData(
        summaries,
        reader.equity(store, names if with_equity else []),
        {r: specs[r].season.capital for r in chosen},
        frozenset(runs.loc[runs["voided_reason"].notna(), "run"]),
        frozenset(runs.loc[runs["note"].str.startswith("unranked", na=False), "run"]),
        dict(zip(runs["run"], runs["fill"], strict=True)),
        {m: info.knowledge_cutoff for m, info in roster().items() if info.knowledge_cutoff},
    )

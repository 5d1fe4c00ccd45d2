"""Runs that ask nobody: imported decisions, and stored decisions under another fill."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arena.core.actions import WORD_INTENT, Intent, Status
from arena.core.clock import Clock, utc_now
from arena.core.errors import ConfigError
from arena.core.rows import WriteUnit
from arena.core.season import Fill, RunSpec, Season
from arena.core.types import Decision, Slot
from arena.market.sources import PriceSource
from arena.portfolio.strategies import get_strategy
from arena.runner.actions_file import ActionsFile
from arena.runner.history_store import StoredSource
from arena.runner.plan import Plan, lay_out, load_histories
from arena.runner.prices import price_rows
from arena.runner.replay import RunResult, run_row, season_row
from arena.runner.round import benchmark_unit, record, step_benchmark
from arena.runner.sealing import Sealed
from arena.store import reader
from arena.store.store import Store

UNRANKED = "unranked: decided after the close that these fills use"


def run_import(
    actions: ActionsFile, agent: str, model: str, asset: str, season: Season,
    strategies: Sequence[str], source: PriceSource, source_kind: str, store: Store,
    *, clock: Clock = utc_now,
) -> RunResult:  # fmt: skip
    """Score a file of decisions like any track. The window is its first to its last date.

    Rows on closed days are ignored and counted, a session without a row is `missed`, an unknown
    word is `invalid_output`.

    Raises:
        ConfigError: unknown asset or strategy, or a window outside the prices.
    """
    for strategy in strategies:
        get_strategy(strategy)
    spec = RunSpec(
        kind="import", season=season, source=source_kind, assets=(asset,), agents=(agent,),
        models=(model,), start=min(actions.actions), end=max(actions.actions),
        actions_sha256=actions.sha256,
    )  # fmt: skip
    histories = load_histories(source, spec, clock(), n_bars=1)
    plan = lay_out(spec, source, strategies, histories, [(agent, model, "import")])
    slots = [slot for rnd in plan.rounds for slot in rnd.slots]
    decisions = {(str(plan.tracks[0].id), s.key): _imported(actions, s) for s in slots}
    result = _carry_out(plan, store, decisions, clock)
    result.n_ignored = len(set(actions.actions) - {s.session for s in slots})
    return result


def _imported(actions: ActionsFile, slot: Slot) -> Decision:
    word = actions.actions.get(slot.session)
    if word is None:
        return Decision(Intent.KEEP, Status.MISSED, "no row for this session")
    intent = WORD_INTENT.get(word.strip().upper())
    if intent is None:
        return Decision(Intent.HOLD, Status.INVALID_OUTPUT, f"unknown action `{word[:80]}`")
    return Decision(intent, Status.OK, "")


def run_rescore(store: Store, parent: str, fill: Fill, *, clock: Clock = utc_now) -> RunResult:
    """The same decisions under another fill: a sibling run without a call.

    Raises:
        ConfigError: no such run, or it has that fill already.
    """
    row = reader.run(store, parent)
    spec = RunSpec.model_validate_json(row["spec_json"])
    if spec.season.fill == fill:
        raise ConfigError(f"{parent} has fill `{fill}` already; choose the other one.")
    if row["status"] != "done":
        raise ConfigError(
            f"{parent} is `{row['status']}`: not every decision is there. Run its command again to "
            "finish it, then rescore."
        )
    season = spec.season.model_copy(update={"fill": fill})
    child = spec.model_copy(update={"kind": "rescore", "season": season, "parent": parent})
    summaries = reader.summaries(store, parent)
    played = summaries[summaries["grp"] != "benchmark"]
    entries = sorted(set(zip(played["agent"], played["model"], played["grp"], strict=True)))
    source = StoredSource(store, int(row["revision"]), bool(row["synthetic"]))
    histories = load_histories(source, child, clock(), n_bars=1)
    plan = lay_out(child, source, sorted(set(played["strategy"])), histories, entries)
    decisions = {
        (plan.run + r["track"].removeprefix(parent), r["slot_key"]): Decision(
            Intent(r["intent"]), Status(r["status"]), r["reason"], _known(r["conviction"])
        )
        for r in reader.decisions(store, parent).to_dict("records")
    }
    return _carry_out(plan, store, decisions, clock, note=UNRANKED if fill == "close" else None)


def _together(units: Sequence[WriteUnit]) -> WriteUnit:
    """One transaction of all: a run that is there is whole, since nothing goes on with half of it."""
    return WriteUnit(
        rows=tuple(row for unit in units for row in unit.rows),
        summaries=tuple(row for unit in units for row in unit.summaries),
        heads=tuple(head for unit in units for head in unit.heads),
    )


def _known(number: float) -> float | None:
    """Frames say NaN for a conviction nobody gave."""
    return None if math.isnan(number) else float(number)


def _carry_out(
    plan: Plan, store: Store, decisions: Mapping[tuple[str, str], Decision], clock: Clock,
    *, note: str | None = None,
) -> RunResult:  # fmt: skip
    """Settle given decisions slot by slot and store the whole run in one batch."""
    result = RunResult(runs=[plan.run])
    if plan.run in set(reader.runs(store)["run"]):
        stored = reader.decisions(store, plan.run)["status"].tolist()
        result.count(stored)
        result.n_resumed = len(stored)
        return result
    now = clock()
    revision, rows = price_rows(store, plan.histories.values(), now)
    head = run_row(
        plan.spec, plan.run, 1, revision, len(decisions), plan.synthetic, now,
        note=note, status="done",
    )  # fmt: skip
    units = [WriteUnit(rows=(season_row(plan.spec), head, *rows))]
    for slot in (slot for rnd in plan.rounds for slot in rnd.slots):
        at = Sealed(slot, plan.histories[slot.asset].bar(slot.session), None)
        hold = step_benchmark(plan, at)
        for track in (t for t in plan.tracks if t.wants(slot)):
            settled = track.begin(slot, at.bar)
            view = track.view(at.bar.close if at.bar else track.ledger.last_price)
            decision = decisions[str(track.id), slot.key]
            units.append(record(plan, track, at, view, decision, settled, now))
        units.append(benchmark_unit(plan.benchmarks[slot.asset], hold))
    store.write([_together(units)])
    store.snapshot()
    result.count([d.status.value for d in decisions.values()])
    return result

"""The layout of the paper's Table 1: agent x model down, asset x (CR, AR, AV, SR, MDD) across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

METRICS = ("CR", "AR", "AV", "SR", "MDD")
"""The paper's columns. All but SR are fractions here and percent where they are printed."""

PAPER_ASSETS = ("TSLA", "BMRN", "BTC", "ETH")
"""In the paper's order; others follow by name."""

BUY_HOLD = "buy_hold"
VOTE = "vote"
BASELINE = "baseline"

Cells = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class Line:
    """One row: metric values by asset; an asset that is missing was not played."""

    run: str
    agent: str
    model: str
    strategy: str
    group: str
    voided: bool
    cells: Cells


@dataclass(frozen=True, slots=True)
class Table1:
    assets: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def several_runs(self) -> bool:
        return len({line.run for line in self.lines}) > 1

    @property
    def several_strategies(self) -> bool:
        return len({line.strategy for line in self.lines} - {BUY_HOLD}) > 1


def table1(rows: Sequence[Mapping[str, Any]]) -> Table1:
    """Board rows of accounts (`board(by="account")`) in the paper's order.

    Buy & Hold comes first, then agents by name, each with its models by name and its vote last.
    """
    groups: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = (row["run"], row["strategy"], row["agent"], row["model"])
        groups.setdefault(key, []).append(row)
    lines = [
        Line(
            run, agent, model, strategy, str(own[0]["group"]), bool(own[0]["voided"]),
            {r["asset"]: {m: r["metrics"][m]["value"] for m in METRICS} for r in own},
        )
        for (run, strategy, agent, model), own in groups.items()
    ]  # fmt: skip
    lines.sort(key=_order)
    return Table1(tuple(sorted({str(r["asset"]) for r in rows}, key=asset_order)), tuple(lines))


def asset_order(asset: str) -> tuple[int, str]:
    return (PAPER_ASSETS.index(asset) if asset in PAPER_ASSETS else len(PAPER_ASSETS), asset)


def is_vote(model: str) -> bool:
    """The vote of real models is `vote`, that of stand-ins `offline/vote`."""
    return model.rsplit("/", 1)[-1] == VOTE


def _order(line: Line) -> tuple[Any, ...]:
    return (
        line.run, line.group != "benchmark", line.strategy != BASELINE, line.strategy, line.agent,
        is_vote(line.model), line.model,
    )  # fmt: skip


def one_strategy(strategies: Sequence[str]) -> tuple[str, ...]:
    """The strategies of a table where none was asked for: Baseline (or its long-only form) alone
    where it was played, else all."""
    for name in (BASELINE, f"{BASELINE}_lo"):
        if name in strategies:
            return (name,)
    return tuple(s for s in strategies if s != BUY_HOLD)

"""Verbs that read: leaderboard, equity, decision, export, manifest. They answer from the snapshot
when another process owns the store, and say how old it is."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.analytics.leaderboard import board
from arena.analytics.table1 import Table1, one_strategy, table1
from arena.audit.manifest import build_manifest
from arena.cli import table1_text
from arena.cli.board_text import as_csv, as_latex, as_table
from arena.cli.decision_text import print_decision
from arena.cli.luck_text import luck_columns
from arena.cli.options import AsJson, Run, Store, names, resolve_store
from arena.cli.output import note, print_json
from arena.core.errors import ConfigError, UnknownNameError
from arena.core.ids import TrackId
from arena.runner.behind import behind
from arena.runner.boards import select_board
from arena.runner.luck_board import luck_board, row_key, with_luck
from arena.store import reader
from arena.store.export import export as export_tables
from arena.store.store import Store as OpenStore
from arena.store.store import open_store


@contextmanager
def reading(store: Path | None) -> Iterator[OpenStore]:
    """The store, or its snapshot with a word about its age on stderr."""
    with open_store(resolve_store(store), read=True, snapshot_ok=True) as opened:
        if opened.age_s is not None:
            note(
                f"Another process owns the store; this is its snapshot, {opened.age_s:.0f} s old."
            )
        yield opened


def leaderboard(
    store: Store = None,
    run: Run = None,
    by: Annotated[Literal["entry", "account"], typer.Option("--by")] = "entry",
    agents: Annotated[str, typer.Option("--agents")] = "",
    assets: Annotated[str, typer.Option("--assets")] = "",
    models: Annotated[str, typer.Option("--models")] = "",
    strategies: Annotated[str, typer.Option("--strategies")] = "",
    metrics: Annotated[Literal["standard", "ama"], typer.Option("--metrics")] = "standard",
    layout: Annotated[
        Literal["default", "table1"], typer.Option("--layout", help="table1: agent x model down, asset x metric across, as in the paper.")
    ] = "default",
    fmt: Annotated[Literal["table", "json", "csv", "latex"], typer.Option("--format")] = "table",
    luck: Annotated[
        bool, typer.Option("--luck", help="Intervals, floors, tests and flags too (json, csv).")
    ] = False,
) -> None:
    """Who is ahead of Buy & Hold, by entry (equal weight over assets) or by account."""
    paper = layout == "table1"
    if luck and (paper or fmt not in ("json", "csv")):
        raise ConfigError("--luck goes with --format json or csv, in the default layout.")
    with reading(store) as opened:
        picked = select_board(
            opened, run, agents=names(agents), assets=names(assets), models=names(models),
            strategies=names(strategies),
        )  # fmt: skip
        rows = board(
            picked.summaries, picked.equity, by="account" if paper else by, mode=metrics, capital=picked.capital,
            voided=picked.voided, unranked=picked.unranked, fills=picked.fills,
            cutoffs=picked.cutoffs,
        )  # fmt: skip
        answers = luck_board(opened, picked, rows) if luck else {}
    if answers and fmt == "csv":
        rows = [{**row, **luck_columns(answers[row_key(row)])} for row in rows]
    elif answers:
        rows = with_luck(rows, answers)
    if paper:
        kept = names(strategies) or one_strategy(sorted({r["strategy"] for r in rows}))
        wanted = [r for r in rows if r["strategy"] in kept or r["group"] == "benchmark"]
        _print_table1(table1(wanted), fmt)
    elif fmt == "json":
        print_json(rows)
    elif fmt == "csv":
        print(as_csv(rows), end="")
    elif fmt == "latex":
        print(as_latex(rows))
    else:
        as_table(rows)


def _print_table1(table: Table1, fmt: str) -> None:
    if fmt == "json":
        print_json(table1_text.as_json(table))
    elif fmt == "csv":
        print(table1_text.as_csv(table), end="")
    elif fmt == "latex":
        print(table1_text.as_latex(table))
    else:
        table1_text.as_table(table)


def equity(
    account: Annotated[str, typer.Option("--account", help="run:agent@model:ASSET:strategy")],
    store: Store = None,
    fmt: Annotated[Literal["csv", "json"], typer.Option("--format")] = "csv",
) -> None:
    """One account: session, price, position, balance, balance_gross."""
    track = TrackId.parse(account)
    with reading(store) as opened:
        frame = reader.equity(opened, [account])
        if frame.empty:
            known = reader.summaries(opened, track.run)["account"]
            raise UnknownNameError("account", account, known)
    rows = [
        {
            "session": r["session"].date().isoformat(),
            "price": r["price"],
            "position": int(r["side"]),
            "balance": r["balance"],
            "balance_gross": r["balance_gross"],
        }
        for r in frame.to_dict("records")
    ]
    if fmt == "json":
        print_json(rows)
    else:
        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def decision(
    id: Annotated[str, typer.Argument(help="run:agent@model:ASSET:2025-08-01")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """All that stands behind one decision: what was seen, asked, answered and done."""
    track = TrackId.parse(id)
    with reading(store) as opened:
        found = behind(opened, id)
        if found is None:
            known = reader.decisions(opened, track.run, phase=None)["decision"].tolist()
            raise UnknownNameError("decision", id, known[:20])
    if as_json:
        print_json(found)
        return
    print_decision(found)


def export(
    out: Annotated[Path, typer.Option("--out", help="Folder; made if missing.")],
    store: Store = None,
    fmt: Annotated[Literal["parquet", "csv"], typer.Option("--format")] = "parquet",
    with_timing: Annotated[bool, typer.Option("--with-timing", help="Wall clock too.")] = False,
) -> None:
    """One file a table, sorted by key: equal work gives equal bytes."""
    with reading(store) as opened:
        export_tables(opened, out, fmt, with_timing=with_timing)
    note(f"exported to {out}")


def manifest(
    run: Annotated[str, typer.Option("--run")],
    store: Store = None,
) -> None:
    """What a run was made of: code, specification, prompt and data hashes, effective parameters."""
    with reading(store) as opened:
        print_json(build_manifest(opened, run))

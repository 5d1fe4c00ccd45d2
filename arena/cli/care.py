"""Verbs that look after a store and a machine: check, doctor, restore."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.audit.check import check_chains, check_store
from arena.audit.doctor import examine
from arena.audit.finding import Finding
from arena.audit.rows import load
from arena.cli.options import AsJson, Store, resolve_store
from arena.cli.output import note, print_json
from arena.cli.reading import reading
from arena.core.clock import utc_now
from arena.core.errors import SourceError
from arena.core.rows import CallRow, DecisionRow
from arena.llm.redact import protect_environment, redact
from arena.store.restore import restore as restore_copy
from arena.store.store import Store as OpenStore


def check(store: Store = None, as_json: AsJson = False) -> int:
    """Invariants of ledger and data; exit 1 on a breach, naming it."""
    with reading(store) as opened:
        report = check_store(opened)
    if as_json:
        print_json(report.to_json())
    else:
        for finding in report.findings:
            print(f"{finding.level}: {finding.rule}: {finding.text}")
        print(f"{report.n_checked} values checked, {report.n_breaches} breaches")
    return 1 if report.n_breaches else 0


def doctor(store: Store = None, as_json: AsJson = False) -> int:
    """What this machine has: versions, sources, store; exit 1 where the arena cannot run."""
    lines = examine(resolve_store(store))
    if as_json:
        print_json([vars(line) for line in lines])
    else:
        for line in lines:
            print(f"{'ok ' if line.ok else 'NO '} {line.name:<18} {line.text}")
    return 0 if all(line.ok for line in lines if line.needed) else 1


def restore(
    source: Annotated[
        str,
        typer.Option(
            "--from", help="An upload target, a copy, a folder of backups, or an export --with-timing."
        ),
    ],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Put the newest good copy at --store; what was there is moved aside, never deleted."""
    protect_environment()
    path = resolve_store(store)
    try:
        done = restore_copy(source, path, utc_now(), _broken_chains)
    except SourceError as error:
        raise SourceError(redact(str(error))) from error
    for why in done.refused:
        note(f"Refused: {redact(why)}")
    for moved in done.moved:
        note(f"Moved aside: {moved}")
    if as_json:
        print_json(
            {
                "store": str(path), "from": done.source, "store_id": done.note.store_id,
                "data_version": done.note.data_version, "n_decisions": done.note.n_decisions,
                "at_utc": done.note.at_utc, "refused": done.refused,
                "moved": [str(moved) for moved in done.moved],
            }
        )  # fmt: skip
    else:
        print(f"{path} holds {done.note.n_decisions} decisions, from {done.source}.")


def _broken_chains(store: OpenStore) -> list[str]:
    """What `check` says of the chains of a copy."""
    decisions = load(store, DecisionRow, "ORDER BY track, seq")
    calls = load(store, CallRow, "ORDER BY decision, seq")
    return [item.text for item in check_chains(decisions, calls) if isinstance(item, Finding)]

"""Verbs that look after a store and a machine: check, doctor."""

from __future__ import annotations

from arena.audit.check import check_store
from arena.audit.doctor import examine
from arena.cli.options import AsJson, Store, resolve_store
from arena.cli.output import print_json
from arena.cli.reading import reading


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

"""Runs every `bench/bench_*.py` and prints one table. A missed target is reported, not an error."""

from __future__ import annotations

import importlib
import os
import platform
import sys
import traceback
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent


def names(wanted: list[str]) -> list[str]:
    """Benchmarks to run, the browser's last.

    Raises:
        SystemExit: a name that is not there.
    """
    known = sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    if unknown := set(wanted) - set(known):
        sys.exit(f"No benchmark `{min(unknown)}`. Known: {', '.join(known)}.")
    return sorted(wanted or known, key=lambda n: (n == "app", n))


def cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """One line of the table. A bare number as target is a ceiling, or a floor for a ratio (x)."""
    target = row["target"]
    if isinstance(target, int | float):
        target = f"{'>=' if row['unit'] == 'x' else '<='} {target:g}"
    ok = "" if row["ok"] is None else "yes" if row["ok"] else "NO"
    return row["name"], f"{row['value']:,} {row['unit']}", target or "", ok


def main() -> int:
    """0, or 1 if a benchmark itself broke."""
    console = Console()
    table = Table(title=f"Python {platform.python_version()}, {os.cpu_count()} cores, medians")
    table.add_column("what", overflow="fold")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("target", justify="right", no_wrap=True)
    table.add_column("ok")
    broken = 0
    for name in names(sys.argv[1:]):
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            rows: list[dict[str, Any]] = importlib.import_module(f"bench.bench_{name}").run()
        except Exception:  # noqa: BLE001 - the other benchmarks still run; this one is shown as broken
            traceback.print_exc()
            rows, broken = [], broken + 1
            table.add_row(name, "broke, see above", "", "no")
        for row in rows:
            table.add_row(*cells(row))
    console.print(table)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""What goes to stdout and what to stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from arena.runner.replay import Tick


def print_json(document: Any) -> None:
    """One JSON document, dates as ISO text; NaN is refused (it is not JSON)."""
    print(json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False, indent=1))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: object) -> str:
    """Text of models and of strangers, so that it cannot drive the terminal: escapes are spelt out."""
    return CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}", str(text))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    table = Table(title=title or None, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < 5 and column != "#" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def print_pairs(title: str, values: Mapping[str, Any]) -> None:
    print(title)
    for key, value in values.items():
        print(f"  {key:<18} {visible(value)}")


def note(text: str) -> None:
    print(text, file=sys.stderr)


class ReplayBar:
    """Progress of a run on stderr: bar, decisions/s, time left; plain lines where it is no terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._plain = not console.is_terminal
        self._shown = -1
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            disable=self._plain,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, tick: Tick) -> None:
        rate = f"{tick.per_s:.0f} decisions/s"
        if self._plain:
            tenth = 10 * tick.done // max(tick.planned, 1)
            if tenth != self._shown:
                self._shown = tenth
                eta = "" if tick.eta_s is None else f", {tick.eta_s:.0f} s left"
                note(f"{tick.run}: {tick.done}/{tick.planned} decisions, {rate}{eta}")
            return
        if self._task is None:
            self._task = self._bar.add_task(tick.run, total=tick.planned, rate=rate)
        self._bar.update(self._task, completed=tick.done, rate=rate, description=tick.run)

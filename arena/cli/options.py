"""Option types shared by the verbs, and the readers of their comma lists and dates."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from arena.core.errors import ConfigError
from arena.core.settings import RUNTIME, data_choice, store_path

FIRST_YEAR = 1970

Store = Annotated[
    Path | None,
    typer.Option("--store", help="Store file. Default: ARENA_STORE, else that of the data choice."),
]
Data = Annotated[str, typer.Option("--data", help="files:DIR, live or sample.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Run = Annotated[str | None, typer.Option("--run", help="Run id; without -eN all its epochs.")]


def resolve_store(store: Path | None, data: str | None = None) -> Path:
    """Absolute path of the store a verb works on."""
    return store.resolve() if store else store_path(_default_choice(data)).resolve()


def _default_choice(data: str | None) -> str:
    choice = data or data_choice()
    if choice != "auto":
        return choice
    return "live" if (RUNTIME / "live.duckdb").exists() else "sample"


def names(text: str | None) -> tuple[str, ...]:
    """`A,B` as a tuple without blanks or repeats, in the order given."""
    return tuple(dict.fromkeys(p.strip() for p in (text or "").split(",") if p.strip()))


def day(text: str, option: str) -> date:
    """A date of the command line.

    Raises:
        ConfigError: it is no date, or one that no data can have.
    """
    try:
        value = date.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{option} is `{text}`, which is no date. Write it as 2025-08-01.") from None
    if value.year < FIRST_YEAR:
        raise ConfigError(f"{option} is `{text}`; nothing here is older than {FIRST_YEAR}.")
    return value

"""Someone else's decisions: the testbed's JSON record or a CSV of `date,action`, read strictly."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from arena.core.errors import DataError


@dataclass(frozen=True)
class ActionsFile:
    """`actions` maps a date to the word as written; `sha256` is of the file's bytes."""

    path: Path
    sha256: str
    actions: dict[date, str]


def read_actions(path: Path) -> ActionsFile:
    """Read `{recommendations: [{date, recommended_action, ...}]}` or a CSV with `date,action`.

    Raises:
        DataError: the file is missing, damaged or empty, a column is missing, a date is no date or
            stands twice. The message names the row.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Cannot read actions from `{path}`: {error}.") from error
    rows = _json_rows(path, text) if path.suffix.lower() == ".json" else _csv_rows(path, text)
    actions: dict[date, str] = {}
    for where, day_text, word in rows:
        try:
            day = date.fromisoformat(day_text.strip()[:10])
        except ValueError:
            raise DataError(
                f"`{path}` {where}: `{day_text}` is no date. Write it as 2025-08-01."
            ) from None
        if day in actions:
            raise DataError(f"`{path}` {where}: {day} stands twice. Keep one row a date.")
        actions[day] = word
    if not actions:
        raise DataError(f"`{path}` holds no action. It needs at least one row with date and action.")
    return ActionsFile(path, sha256(raw).hexdigest(), actions)


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    reader = csv.DictReader(text.splitlines())
    missing = {"date", "action"} - set(reader.fieldnames or ())
    if missing:
        raise DataError(f"`{path}`: column `{min(missing)}` is missing; date,action are needed.")
    for number, row in enumerate(reader, start=2):
        yield f"line {number}", row["date"] or "", row["action"] or ""


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    try:
        document = json.loads(text)
        rows = document["recommendations"]
        for number, row in enumerate(rows):
            word = row.get("recommended_action", row.get("action"))
            yield f"recommendation {number}", str(row["date"]), "" if word is None else str(word)
    except json.JSONDecodeError as error:
        raise DataError(f"`{path}` is no JSON: {error}.") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"`{path}` has not the testbed's form {{recommendations: [{{date, recommended_action}}]}}"
            f" ({error!r})."
        ) from error

"""docs/fidelity.md names what exists and counts what is counted."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from arena.agents.memory import layers
from tests.agents.test_call_counts import COUNTS

NAME = re.compile(r"`([a-z_]+(?:\.[A-Za-z_]+)+|[a-z_]+_(?:sheet|roles|trade|views))`")
FILES = (".py", ".md", ".toml")


@pytest.fixture(scope="module")
def doc(root: Path) -> str:
    return (root / "docs/fidelity.md").read_text(encoding="utf-8")


def resolve(name: str) -> Any:
    """The part of arena.agents, or of another room of the arena, that `name` stands for."""
    parts = name.split(".")
    for base in ("arena.agents", "arena"):
        for n in range(len(parts), 0, -1):
            try:
                found: Any = importlib.import_module(".".join((base, *parts[:n])))
            except ModuleNotFoundError:
                continue
            for part in parts[n:]:
                found = getattr(found, part, None) or getattr(found, "__annotations__", {}).get(
                    part
                )
            if found is not None:
                return found
    return None


def test_every_name_in_it_exists(doc: str) -> None:
    names = [n for n in NAME.findall(doc) if not n.endswith(FILES)]
    assert len(names) > 60
    assert [n for n in names if resolve(n) is None] == []
    assert resolve("trade.agent.nobody") is None


def test_every_file_in_it_exists(doc: str, root: Path) -> None:
    tests, links = re.findall(r"`(tests/[\w/]+\.py)`", doc), re.findall(r"\]\(([\w-]+\.md)\)", doc)
    assert tests
    assert links
    assert all((root / name).is_file() for name in tests)
    assert all((root / "docs" / name).is_file() for name in links)


def test_its_calls_are_those_that_are_counted(doc: str) -> None:
    rows = re.findall(r"(?m)^\| `([\w-]+)`((?: \| \d+){5}) \|$", doc)
    told = {agent: tuple(map(int, re.findall(r"\d+", numbers))) for agent, numbers in rows}
    assert told == COUNTS


def test_its_constants_are_those_of_the_memory(doc: str) -> None:
    for ours, reference in zip(layers.OURS.specs, layers.REFERENCE.specs, strict=True):
        (row,) = re.findall(rf"(?m)^\| {ours.name} \| (.*) \|$", doc)
        cells = []
        for name in ("birth", "decay", "recency_sessions", "promote_at", "demote_below"):
            mine, theirs = getattr(ours, name), getattr(reference, name)
            shown = "-" if mine is None else f"{mine:g}"
            cells.append(shown if mine == theirs else f"{shown} ({theirs:g})")
        assert row.split(" | ") == cells

"""The house rules that no reviewer should have to check by eye, read from the source by `ast`."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAX_LINES, MEDIAN_LINES = 500, 150

ALL_ROOMS = (
    "core", "market", "llm", "agents", "portfolio", "analytics", "store", "runner", "audit", "ui",
    "shell", "cli",
)  # fmt: skip


@dataclass(frozen=True)
class Room:
    """Rooms of ours that may be imported, and which heavy libraries: anywhere, or inside functions."""

    ours: tuple[str, ...]
    anywhere: frozenset[str] = frozenset()
    in_functions: frozenset[str] = frozenset()


def room(ours: str, anywhere: str = "", in_functions: str = "") -> Room:
    return Room(tuple(ours.split()), frozenset(anywhere.split()), frozenset(in_functions.split()))


ABOVE_RUNNER = "core market llm agents portfolio analytics store"
# pydantic stands where files, settings and answers enter (market, runner, cli), besides its own rooms.
ROOMS = {
    "core": room("", "pydantic"),
    "market": room("core", "pandas numpy exchange_calendars pydantic rapidfuzz", "pyarrow"),
    "llm": room("core", "pydantic httpx", "litellm"),
    "agents": room("core llm", "pydantic numpy talib httpx"),
    "portfolio": room("core", "numpy"),
    "analytics": room("core portfolio", "numpy pandas"),
    "store": room("core", "duckdb pandas pyarrow", "fsspec"),
    "runner": room(ABOVE_RUNNER, "numpy apscheduler httpx pandas pydantic"),
    "audit": room(f"{ABOVE_RUNNER} runner", "numpy pandas"),
    "ui": room("core store analytics runner audit", "streamlit plotly numpy pandas"),
    "shell": room("core store analytics runner audit ui", "streamlit plotly numpy pandas starlette"),
    "cli": room(f"{ABOVE_RUNNER} runner audit", "typer rich click pydantic", "starlette uvicorn"),
    "pages": room("ui core", "streamlit"),
    "app": room("ui core runner shell", "streamlit"),
    "": room("core cli", ""),
}
PRICE_SOURCES = frozenset({"yfinance", "ccxt", "feedparser", "httpx"})
HEAVY = frozenset().union(
    PRICE_SOURCES, *(r.anywhere | r.in_functions for r in ROOMS.values()), {"torch", "scipy"}
)

ENV_READERS = {"arena/core/settings.py"}


def sources() -> list[Path]:
    found = [*(ROOT / "arena").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    return sorted(p for p in found if p.is_file())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "arena":
        return parts[1] if len(parts) > 2 else ""
    return "pages" if parts[0] == "pages" else "app"


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[tuple[str, bool, int]]:
    """(dotted module, inside a function, line) of every import; type-only imports count as inside."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[str, bool, int]]:
        for child in ast.iter_child_nodes(node):
            lazily = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                lazily = True
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, inside, child.lineno
            elif isinstance(child, ast.ImportFrom):
                yield child.module or "", inside, child.lineno
                if child.module == "arena":
                    for alias in child.names:
                        yield f"arena.{alias.name}", inside, child.lineno
            else:
                yield from walk(child, lazily)

    return walk(tree_of(path), False)


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    here = room_of(path)
    rule, wrong = ROOMS[here], []
    in_functions = rule.in_functions
    if name_of(path).startswith("arena/market/sources/"):
        in_functions |= PRICE_SOURCES
    for module, inside, line in imports(path):
        top, _, rest = module.partition(".")
        if top == "arena" and rest:
            there = rest.split(".")[0]
            if there in ALL_ROOMS and there != here and there not in rule.ours:
                wrong.append(f"{name_of(path)}:{line} imports arena.{there}; {here} may not")
        elif top in HEAVY and top not in rule.anywhere and not (inside and top in in_functions):
            where = " at module level" if top in in_functions else ""
            wrong.append(f"{name_of(path)}:{line} imports {top}{where}; {here or 'root'} may not")
    assert not wrong, "\n".join(wrong)


def test_every_room_is_known() -> None:
    folders = {p.name for p in (ROOT / "arena").iterdir() if p.is_dir() and p.name[0] not in "_."}
    assert folders <= set(ALL_ROOMS)


def test_modules_stay_small() -> None:
    lines = {name_of(p): len(p.read_text(encoding="utf-8").splitlines()) for p in sources()}
    too_long = {name: n for name, n in lines.items() if n > MAX_LINES}
    assert not too_long
    assert statistics.median(n for n in lines.values() if n > 1) < MEDIAN_LINES


def test_pages_lie_in_sections() -> None:
    """A page file directly in `pages/` would start Streamlit's own, second menu."""
    assert not list((ROOT / "pages").glob("*.py"))


def test_only_settings_reads_the_environment() -> None:
    readers = {
        name_of(path)
        for path in sources()
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Call | ast.Subscript))
        and "ARENA_" in ast.dump(node)
        and any(
            isinstance(n, ast.Attribute) and n.attr in ("environ", "getenv") for n in ast.walk(node)
        )
    }
    assert readers <= ENV_READERS


def test_no_page_writes_raw_html() -> None:
    wrong = [
        f"{name_of(path)}:{node.value.lineno}"
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.keyword) and node.arg == "unsafe_allow_html"
    ]
    assert not wrong, f"model and news text must not become HTML: {wrong}"


def test_no_error_is_swallowed() -> None:
    """`except: pass`, with or without `Exception`, hides what a person must see."""
    wrong = []
    for path in sources():
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ExceptHandler):
                continue
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            silent = all(
                isinstance(s, ast.Pass | ast.Continue)
                or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
                for s in node.body
            )
            if broad and silent:
                wrong.append(f"{name_of(path)}:{node.lineno}")
    assert not wrong, f"silent handlers: {wrong}"


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    kept = [x for x in lines if x and not x.startswith(("#", "-r "))]
    assert [x for x in kept if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", x)] == []
    found = dict(x.split("==") for x in kept)
    return {re.sub(r"[-_.]+", "-", k).lower(): v for k, v in found.items()}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_pins_are_exact_and_agree_with_the_constraints(name: str) -> None:
    constraints = pins("constraints.txt")
    assert {k: constraints.get(k) for k in pins(name)} == pins(name)


def test_the_import_reader_sees_what_it_should(tmp_path: Path) -> None:
    """The rules above are worth what this reader is worth."""
    file = tmp_path / "m.py"
    file.write_text(
        "import pandas as pd\nfrom arena import llm\n"
        "try:\n    import duckdb\nexcept ImportError:\n    raise\n"
        "class A:\n    def f(self):\n        import litellm\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ccxt\n"
    )
    got = {(module, inside) for module, inside, _ in imports(file)}
    assert {
        ("pandas", False), ("arena.llm", False), ("duckdb", False), ("litellm", True), ("ccxt", True),
    } <= got  # fmt: skip
